//! Large files go up in parts, side by side, straight from the file: memory does not grow with them. An upload that
//! fails is aborted, so that nothing of it stays to be paid for.

use std::{
    fs::File,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use serde::Deserialize;

use super::{
    STAMP,
    refusal::{Fault, explain, refusal},
    request::{Client, Request},
};
use crate::{
    Error, Result,
    key::Key,
    store::{
        Condition,
        headers::headers,
        wire::{Answer, MAX_ANSWER, Part, Payload},
    },
};

/// Files from this size on go up in parts.
pub(super) const THRESHOLD: u64 = 64 << 20;

/// The smallest part; S3 wants 5 MiB, and no more than 10,000 of them.
const PART: u64 = 16 << 20;
const PARTS: u64 = 10_000;

/// How many parts of one file are under way at once; many files are so, too.
const AT_ONCE: u64 = 4;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Initiated {
    upload_id: String,
}

/// Sends the file in parts. The answer is the one of the request that makes the object of them.
pub(super) fn put(
    client: &Client,
    key: &Key,
    file: &File,
    size: u64,
    condition: &Condition,
    stamp: &str,
) -> Result<Answer> {
    let upload = start(client, key, stamp)?;
    let result =
        parts(client, key, &upload, file, size).and_then(|etags| complete(client, key, &upload, &etags, condition));
    if !matches!(&result, Ok(answer) if answer.status == 200) {
        // Where this fails, parts stay until gc clears them; there is nothing else to do.
        let _ = abort(client, key, &upload);
    }
    result
}

fn start(client: &Client, key: &Key, stamp: &str) -> Result<String> {
    let mut request = Request::new("POST", Some(key));
    request.query = vec![("uploads", "")];
    request.headers = headers(key);
    request.headers.push((STAMP, stamp.to_owned()));
    let mut answer = client.send(&request)?;
    if answer.status != 200 {
        return Err(refusal(client, "write", Some(key), &mut answer));
    }
    let cannot = |why: String| Error::store(format!("cannot write '{key}' in '{}': {why}", client.location.url));
    let text = answer.text().map_err(|e| cannot(e.to_string()))?;
    let initiated: Initiated = quick_xml::de::from_str(&text).map_err(|e| cannot(format!("bad answer: {e}")))?;
    Ok(initiated.upload_id)
}

/// Sends the parts; returns their tags in order.
fn parts(client: &Client, key: &Key, upload: &str, file: &File, size: u64) -> Result<Vec<String>> {
    let part = PART.max(size.div_ceil(PARTS));
    let count = size.div_ceil(part);
    let next = AtomicU64::new(0);
    let sent = Mutex::new(Ok(vec![String::new(); usize::try_from(count).unwrap_or_default()]));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(count) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let from = number * part;
                    let tag =
                        send_part(client, key, upload, number + 1, Part { file, from, size: part.min(size - from) });
                    let Ok(mut sent) = sent.lock() else { break };
                    match (&mut *sent, tag) {
                        (Ok(tags), Ok(tag)) => tags[number as usize] = tag,
                        (Ok(_), Err(e)) => {
                            *sent = Err(e);
                            // What has not begun need not begin.
                            next.store(count, Ordering::Relaxed);
                        }
                        (Err(_), _) => {}
                    }
                }
            });
        }
    });
    sent.into_inner().unwrap_or_else(|_| Err(Error::fatal("a thread that sent a part died")))
}

fn send_part(client: &Client, key: &Key, upload: &str, number: u64, part: Part<'_>) -> Result<String> {
    let number = number.to_string();
    let mut request = Request::new("PUT", Some(key));
    request.query = vec![("partNumber", &number), ("uploadId", upload)];
    request.body = Payload::Part(part);
    let mut answer = client.send(&request)?;
    match (answer.status, answer.header("etag")) {
        (200, Some(tag)) => Ok(tag.to_owned()),
        (200, None) => Err(Error::store(format!("part {number} of '{key}' was taken without a tag"))),
        _ => Err(refusal(client, "write", Some(key), &mut answer)),
    }
}

fn complete(client: &Client, key: &Key, upload: &str, tags: &[String], condition: &Condition) -> Result<Answer> {
    let mut body = String::from("<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
    for (i, tag) in tags.iter().enumerate() {
        let tag = quick_xml::escape::escape(tag.as_str());
        body += &format!("<Part><PartNumber>{}</PartNumber><ETag>{tag}</ETag></Part>", i + 1);
    }
    body += "</CompleteMultipartUpload>";
    let mut request = Request::new("POST", Some(key));
    request.query = vec![("uploadId", upload)];
    request.headers = vec![("content-type", "application/xml".into())];
    request.body = Payload::Bytes(body.as_bytes());
    request.condition = condition;
    let mut answer = client.send(&request)?;
    if answer.status != 200 {
        return Ok(answer);
    }
    // S3 answers 200 while it still works, so the body may be a failure after all.
    let text = answer.text().map_err(|e| Error::store(format!("no answer about '{key}' ({MAX_ANSWER} bytes): {e}")));
    match text.map(|text| Fault::parse(&text)) {
        Ok(None) => Ok(answer),
        Ok(Some(fault)) if fault.code == "PreconditionFailed" => Ok(Answer { status: 412, ..answer }),
        Ok(Some(fault)) => Err(explain(client, "write", Some(key), &Answer { status: 500, ..answer }, &fault)),
        Err(e) => Err(e),
    }
}

/// Ends an upload, so that its parts are deleted.
pub(super) fn abort(client: &Client, key: &Key, upload: &str) -> Result<Answer> {
    let mut request = Request::new("DELETE", Some(key));
    request.query = vec![("uploadId", upload)];
    client.send(&request)
}
