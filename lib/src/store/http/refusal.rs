//! What an answer that is a refusal means, in a line that says what to do.

use serde_json::Value;

use super::request::Client;
use crate::{
    Error, Kind,
    key::Key,
    store::{read_at_most, wire::Answer},
    text::Escaped,
};

/// The most that is read of a refusal, in bytes.
const MAX_REASONS: u64 = 1 << 20;

/// The error for an answer that does not do what was asked: `doing` is a verb, "read".
pub(super) fn refusal(client: &Client, doing: &str, key: Option<&Key>, answer: &mut Answer) -> Error {
    let url = client.location.url.trim_end_matches('/');
    let server = &client.location.server;
    let what = key.map_or(format!("'{url}'"), |key| format!("'{key}' in '{url}'"));
    let said = said(answer);
    let because = if said.is_empty() { String::new() } else { format!(": {said}") };
    match (answer.status, client.provider.get().ok().flatten()) {
        (300..=399, _) => Error::store(format!(
            "'{server}' answers {doing} of {what} with a redirect to '{}'; a write is never redirected",
            Escaped(answer.header("location").unwrap_or("nowhere"))
        )),
        (401, None) => Error::store(format!("{what}: '{server}' wants to know who asks{because}"))
            .hint("set FDL_HTTP_TOKEN or credential.helper, or put a login for the host into ~/.netrc"),
        (401, Some(credentials)) => {
            Error::store(format!("{what}: '{server}' does not accept what {} holds{because}", credentials.source))
        }
        // A host that keeps refs to itself says no to the right question; so it is not an error of the store.
        (403, _) if doing != "read" && key.is_some_and(is_ref) => {
            Error::new(Kind::No, format!("'{server}' keeps {what} to itself{because}"))
        }
        (403, _) => Error::store(format!("{what}: '{server}' does not let you {doing} it{because}")),
        (404 | 405 | 501, _) => Error::store(format!(
            "'{server}' does not let anybody {doing} {what}: it answers {}{because}",
            answer.status
        ))
        .hint("a plain web server only serves what is read; writing needs a host of fdl's"),
        (409, _) => Error::store(format!("'{server}' refuses to {doing} {what}{because}")),
        (413, _) => {
            Error::store(format!("'{key}' is larger than '{server}' takes{because}", key = key.map_or("", Key::as_str)))
        }
        (507, _) => Error::store(format!("'{server}' has no room to {doing} {what}{because}")),
        (status, _) if status == 429 || status >= 500 => {
            Error::new(Kind::Busy, format!("cannot {doing} {what}: the host answers {status}{because}"))
                .hint("try again later")
        }
        (status, _) => Error::store(format!("cannot {doing} {what}: the host answers {status}{because}")),
    }
}

/// Whether the key is one that a host may keep to itself.
fn is_ref(key: &Key) -> bool {
    matches!(key.as_str(), "HEAD" | "refs.json") || key.below("refs").is_some()
}

/// The reasons of the host, word for word: those of its JSON, or its plain text. A page for a browser says nothing.
fn said(answer: &mut Answer) -> String {
    let content = answer.header("content-type").unwrap_or_default().to_ascii_lowercase();
    let Ok(Some(bytes)) = read_at_most(&mut answer.body.as_reader(), MAX_REASONS) else { return String::new() };
    let text = String::from_utf8_lossy(&bytes);
    let reasons = match content.split(';').next().unwrap_or_default().trim() {
        "application/json" | "application/problem+json" => reasons(&text),
        "text/plain" => text.lines().map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let reasons: Vec<_> = reasons.iter().map(|reason| reason.trim()).filter(|reason| !reason.is_empty()).collect();
    Escaped(&reasons.join("; ")).to_string()
}

/// `{"reasons": ["...", ...]}`, else `{"message": "..."}`, as Git LFS has it.
fn reasons(text: &str) -> Vec<String> {
    let Ok(Value::Object(answer)) = serde_json::from_str(text) else { return Vec::new() };
    let texts = |value: &Value| match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(list) => list.iter().filter_map(|reason| reason.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    };
    ["reasons", "message"]
        .iter()
        .filter_map(|name| answer.get(*name))
        .map(texts)
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_found_in_json() {
        assert_eq!(reasons(r#"{"message":"no","reasons":["a","b"]}"#), ["a", "b"]);
        assert_eq!(reasons(r#"{"message":"no","reasons":[]}"#), ["no"]);
        assert!(reasons(r#"{"other":1}"#).is_empty());
        assert!(reasons("[").is_empty());
    }
}
