//! What an answer that is a refusal means, in a line that says what to do.

use jiff::Timestamp;
use serde::Deserialize;

use super::request::Client;
use crate::{
    Error, Kind,
    key::Key,
    store::wire::{Answer, http_date},
    text::Escaped,
};

/// What a store says of a failure in its body.
#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Fault {
    /// One word, by which programs go.
    pub code: String,
    message: String,
    region: String,
}

impl Fault {
    /// Reads the body of an answer; one that is no such document says nothing.
    pub fn read(answer: &mut Answer) -> Fault {
        answer.text().ok().and_then(|text| Fault::parse(&text)).unwrap_or_default()
    }

    /// Reads the document, if it is one.
    pub fn parse(text: &str) -> Option<Fault> {
        // Other documents have fields of other names; only this one has a code.
        quick_xml::de::from_str(text).ok().filter(|fault: &Fault| !fault.code.is_empty())
    }
}

/// The error for an answer that does not do what was asked: `doing` is a verb, "read".
pub(super) fn refusal(client: &Client, doing: &str, key: Option<&Key>, answer: &mut Answer) -> Error {
    let fault = Fault::read(answer);
    explain(client, doing, key, answer, &fault)
}

/// The same, where the body was read already.
pub(super) fn explain(client: &Client, doing: &str, key: Option<&Key>, answer: &Answer, fault: &Fault) -> Error {
    let location = &client.location;
    let (bucket, endpoint) = (&location.bucket, &location.endpoint);
    let url = location.url.trim_end_matches('/');
    let what = key.map_or(format!("'{url}'"), |key| format!("'{key}' in '{url}'"));
    let credentials = client.credentials().ok().flatten();
    let (id, source) = credentials.as_ref().map_or(("", ""), |c| (c.key.as_str(), c.source.as_str()));
    if matches!(answer.status, 301 | 307 | 308 | 400)
        && let Some(region) = other_region(client, answer, fault)
    {
        let ours = &client.settings.region;
        return Error::store(format!("the bucket '{bucket}' is in the region '{region}', not in '{ours}'"))
            .hint(format!("set AWS_REGION={region}"));
    }
    match (answer.status, fault.code.as_str()) {
        (_, "NoSuchBucket") => Error::store(format!("there is no bucket '{bucket}' at '{endpoint}'"))
            .hint(format!("make it first: aws s3 mb s3://{bucket}")),
        (_, "InvalidAccessKeyId") => {
            Error::store(format!("'{endpoint}' does not know the access key '{id}', which comes from {source}"))
        }
        (_, "SignatureDoesNotMatch") => {
            Error::store(format!("the secret for the access key '{id}' is wrong; it comes from {source}"))
                .hint("a secret that was cut or copied with a space looks so too")
        }
        (_, "ExpiredToken" | "TokenRefreshRequired") => {
            Error::store(format!("the session of the access key '{id}' has ended; it comes from {source}"))
        }
        (_, "InvalidToken" | "InvalidClientTokenId") => {
            Error::store(format!("the session token for the access key '{id}' is wrong; it comes from {source}"))
        }
        (_, "RequestTimeTooSkewed" | "RequestExpired") => Error::store(skewed(endpoint, answer.header("date")))
            .hint("set the clock: a signature holds for 15 minutes"),
        (_, "AuthorizationHeaderMalformed" | "PermanentRedirect" | "IllegalLocationConstraintException") => {
            Error::store(format!(
                "the bucket '{bucket}' is not in the region '{}': {}",
                client.settings.region,
                Escaped(&fault.message)
            ))
            .hint("set AWS_REGION to its region")
        }
        (300..=399, _) => Error::store(format!(
            "'{endpoint}' answers {doing} of {what} with a redirect to '{}', which fdl does not follow",
            Escaped(answer.header("location").unwrap_or("nowhere"))
        ))
        .hint("AWS_ENDPOINT_URL and AWS_REGION decide where a bucket is"),
        (401 | 403, _) if credentials.is_none() => {
            Error::store(format!("{what}: access denied, and no credentials were found to sign with"))
                .hint("set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        }
        (401 | 403, _) => Error::store(format!("{what}: the access key '{id}' from {source} may not {doing} it")).hint(
            "'fdl policy' prints the rights that are needed; without s3:ListBucket a missing object is denied, too",
        ),
        (501, _) => {
            Error::store(format!("'{endpoint}' cannot do what is needed to {doing} {what}: {}", said(answer, fault)))
        }
        (507, _) => Error::store(format!("'{endpoint}' has no room to {doing} {what}")),
        // S3 says so in a body that comes with 200 as well.
        (status, code) if status >= 500 || matches!(code, "InternalError" | "SlowDown" | "ServiceUnavailable") => {
            Error::new(Kind::Busy, format!("cannot {doing} {what}: the store answers {}", said(answer, fault)))
                .hint("try again later")
        }
        _ => Error::store(format!("cannot {doing} {what}: the store answers {}", said(answer, fault))),
    }
}

fn said(answer: &Answer, fault: &Fault) -> String {
    let text = format!("{} {} {}", answer.status, fault.code, fault.message);
    Escaped(text.trim()).to_string()
}

/// The bucket's region, where the answer tells one that is not ours.
fn other_region(client: &Client, answer: &Answer, fault: &Fault) -> Option<String> {
    let region = answer.header("x-amz-bucket-region").unwrap_or(&fault.region);
    let plain = region.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    (plain && !region.is_empty() && region != client.settings.region).then(|| region.to_owned())
}

fn skewed(endpoint: &str, date: Option<&str>) -> String {
    match date.and_then(http_date) {
        Some(theirs) => {
            let minutes = (Timestamp::now().as_second() - theirs.as_second()) / 60;
            let side = if minutes < 0 { "behind" } else { "ahead of" };
            format!("the clock of this machine is {} minutes {side} the one of '{endpoint}'", minutes.abs())
        }
        None => format!("the clock of this machine is too far from the one of '{endpoint}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_document_with_a_code_is_a_fault() {
        let fault = Fault::parse("<?xml version=\"1.0\"?><Error><Code>SlowDown</Code><Message>m</Message></Error>");
        assert_eq!(fault.unwrap().code, "SlowDown");
        assert!(
            Fault::parse("<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>").is_none()
        );
        assert!(Fault::parse("<html>").is_none());
        assert!(Fault::parse("").is_none());
    }
}
