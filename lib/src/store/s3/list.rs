//! Lists and batch deletes: the requests that are about a bucket.

use base64::{Engine, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use percent_encoding::percent_decode_str;
use serde::Deserialize;

use super::{
    refusal::{Fault, explain, refusal},
    request::{Client, Request},
};
use crate::{
    Error, Result,
    key::Key,
    store::{ETag, Listed, Meta, wire::Payload},
};

/// How many keys one request may delete.
pub(super) const BATCH: usize = 1000;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Page {
    #[serde(default)]
    is_truncated: bool,
    next_continuation_token: Option<String>,
    encoding_type: Option<String>,
    #[serde(default)]
    contents: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    key: String,
    size: u64,
    last_modified: Timestamp,
    #[serde(rename = "ETag")]
    etag: Option<String>,
}

/// Calls `visit` with every object below `folder`, page by page; a page has at most `size` keys, or as many as the store
/// likes, which is 1000.
pub(super) fn list(
    client: &Client,
    folder: Option<&Key>,
    size: Option<usize>,
    visit: &mut dyn FnMut(Listed) -> Result<()>,
) -> Result<()> {
    let size = size.map(|size| size.to_string());
    let below = folder.map_or(String::new(), |folder| format!("{folder}/"));
    let prefix = format!("{}{below}", client.location.prefix);
    let cannot = |why: &str| Error::store(format!("cannot list '{}{below}': {why}", client.location.url));
    let mut token: Option<String> = None;
    let mut last = String::new();
    loop {
        let mut request = Request::new("GET", None);
        // In XML without this, a key could not hold every character.
        request.query = vec![("list-type", "2"), ("encoding-type", "url"), ("prefix", &prefix)];
        request.query.extend(size.as_deref().map(|size| ("max-keys", size)));
        match &token {
            Some(token) => request.query.push(("continuation-token", token)),
            None if !last.is_empty() => request.query.push(("start-after", &last)),
            None => {}
        }
        let mut answer = client.send(&request)?;
        if answer.status != 200 {
            return Err(refusal(client, "list", folder, &mut answer));
        }
        let text = answer.text().map_err(|e| cannot(&e.to_string()))?;
        if let Some(fault) = Fault::parse(&text) {
            return Err(explain(client, "list", folder, &answer, &fault));
        }
        let page: Page = quick_xml::de::from_str(&text).map_err(|e| cannot(&format!("bad answer: {e}")))?;
        let encoded = page.encoding_type.as_deref() == Some("url");
        let before = last.clone();
        for entry in page.contents {
            let key =
                if encoded { decoded(&entry.key).ok_or_else(|| cannot("a key is not UTF-8"))? } else { entry.key };
            // Keys that do not come in their order would make a page that is missing look like the end.
            if key <= last {
                return Err(cannot(&format!("'{}' comes after '{}'", key.escape_debug(), last.escape_debug())));
            }
            last.clone_from(&key);
            let Some(name) = key.strip_prefix(&client.location.prefix) else {
                return Err(cannot(&format!("'{}' is not below it", key.escape_debug())));
            };
            let meta = Meta { size: entry.size, modified: entry.last_modified, etag: entry.etag.map(ETag::new) };
            match Key::new(name) {
                Ok(key) => visit(Listed::Object(key, meta))?,
                Err(_) => visit(Listed::Foreign(name.to_owned()))?,
            }
        }
        if !page.is_truncated {
            return Ok(());
        }
        token = page.next_continuation_token.filter(|token| !token.is_empty());
        // A store that says "there is more" and not where is asked for what comes after the last key.
        if last == before && token.is_none() {
            return Err(cannot("there is more, but the answer does not say where"));
        }
    }
}

/// A key as lists encode it: like a form, so a space may be a `+`.
pub(super) fn decoded(text: &str) -> Option<String> {
    let text = text.replace('+', " ");
    percent_decode_str(&text).decode_utf8().ok().map(|text| text.into_owned())
}

#[derive(Deserialize)]
struct Deleted {
    #[serde(default, rename = "Error")]
    errors: Vec<NotDeleted>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct NotDeleted {
    key: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

/// Deletes up to [`BATCH`] objects; returns the errors of those that stay.
pub(super) fn delete_batch(client: &Client, keys: &[Key]) -> Result<Vec<(Key, Error)>> {
    let mut body = String::from("<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>");
    for key in keys {
        // A key holds nothing that XML would read as something else, nor does a prefix.
        body += &format!("<Object><Key>{}{key}</Key></Object>", client.location.prefix);
    }
    body += "</Delete>";
    let mut request = Request::new("POST", None);
    request.query = vec![("delete", "")];
    request.headers = vec![
        ("content-type", "application/xml".into()),
        // The one checksum that every S3 takes here.
        ("content-md5", STANDARD.encode(md5::compute(&body).0)),
    ];
    request.body = Payload::Bytes(body.as_bytes());
    let mut answer = client.send(&request)?;
    if answer.status != 200 {
        return Err(refusal(client, "delete", keys.first(), &mut answer));
    }
    let cannot = |why: String| Error::store(format!("cannot delete in '{}': {why}", client.location.url));
    let text = answer.text().map_err(|e| cannot(e.to_string()))?;
    if let Some(fault) = Fault::parse(&text) {
        return Err(explain(client, "delete", keys.first(), &answer, &fault));
    }
    let deleted: Deleted = quick_xml::de::from_str(&text).map_err(|e| cannot(format!("bad answer: {e}")))?;
    let mut stay = Vec::new();
    for NotDeleted { key, code, message } in deleted.errors {
        let name = key.strip_prefix(&client.location.prefix).unwrap_or_default();
        if let Some(key) = keys.iter().find(|key| key.as_str() == name) {
            stay.push((key.clone(), cannot(format!("'{name}' stays: {code} {message}"))));
        } else {
            return Err(cannot(format!("'{}' stays: {code} {message}", key.escape_debug())));
        }
    }
    Ok(stay)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_list_are_decoded_once() {
        assert_eq!(decoded("a+b%2Bc%2520%C3%A9%3D").as_deref(), Some("a b+c%20é="));
        assert_eq!(decoded("%ff"), None);
    }

    #[test]
    fn a_page_is_read() {
        let text = "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"x\"><Name>b</Name><Prefix></Prefix>\
                    <EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>\
                    <Contents><Key>a</Key><LastModified>2026-12-01T00:00:00.000Z</LastModified><ETag>&quot;e&quot;</ETag>\
                    <Size>3</Size><StorageClass>STANDARD</StorageClass></Contents></ListBucketResult>";
        let page: Page = quick_xml::de::from_str(text).unwrap();
        assert!(page.is_truncated);
        assert_eq!((page.contents[0].size, page.contents[0].etag.as_deref()), (3, Some("\"e\"")));
    }
}
