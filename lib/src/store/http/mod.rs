//! A path of a web server as a store; see `Documentation/fdl-http.md`.
//!
//! Any static server will do to read from: there is no list, so refs are found in `refs.json`. Writing needs a host that
//! keeps the conditions. Where the answer to a write was lost, what stands there decides: a host is asked to keep bytes,
//! and who sent them is the same to every reader.

mod batch;
mod credentials;
mod helper;
mod location;
mod netrc;
mod refusal;
mod request;

use std::{
    io::{self, Read},
    sync::Arc,
};

use jiff::Timestamp;

use self::{
    batch::Uploads,
    refusal::refusal,
    request::{Client, Request, range_from},
};
use super::{
    Announced, Body, Condition, ETag, Listed, Meta, Object, Opened, Store, Written, read_at_most,
    wire::{Answer, Part, Reading, Retry, http_date, is_doubtful, may_work_later},
};
use crate::{Error, Kind, Result, key::Key};

/// A store behind HTTP.
pub struct Http {
    client: Arc<Client>,
    uploads: Uploads,
}

impl Http {
    /// The store at `url`. No request is made.
    pub fn open(url: &str) -> Result<Http> {
        Ok(Http { client: Arc::new(Client::new(url)?), uploads: Uploads::default() })
    }

    /// Writes an object through the host.
    fn put_through(&self, key: &Key, body: Body<'_>, condition: &Condition) -> Result<Written> {
        let mut request = Request::new("PUT", Some(key));
        request.body = body.into();
        request.condition = condition;
        let mut retry = Retry::default();
        loop {
            // What is left below is a write on condition of which it is not known whether it took place.
            let why = match self.client.send(&request) {
                Err(e) if e.kind() != Kind::Busy || *condition == Condition::Always => return Err(e),
                Err(e) => e,
                Ok(mut answer) => match answer.status {
                    200 | 201 | 204 => return Ok(Written::Done),
                    412 if !retry.doubtful => return Ok(Written::Refused),
                    412 => Error::new(Kind::Busy, "the host answers 412 after an answer that was lost"),
                    409 if *condition == Condition::Absent && key.below("refs").is_none() => {
                        // An object of other content, or a check of the host's that did not hold.
                        let error = refusal(&self.client, "write", Some(key), &mut answer);
                        return if self.head(key)?.is_some() { Ok(Written::Refused) } else { Err(error) };
                    }
                    status if is_doubtful(status) => refusal(&self.client, "write", Some(key), &mut answer),
                    status if may_work_later(status) => {
                        retry.pause(answer.retry_after(), || refusal(&self.client, "write", Some(key), &mut answer))?;
                        continue;
                    }
                    _ => return Err(refusal(&self.client, "write", Some(key), &mut answer)),
                },
            };
            retry.doubtful = true;
            match self.outcome(key, body, condition) {
                Ok(Outcome::Ours) => return Ok(Written::Done),
                Ok(Outcome::Untouched) => retry.pause(None, || why)?,
                // What never changes was not written by us and then replaced.
                Ok(Outcome::Other) if *condition == Condition::Absent && key.below("refs").is_none() => {
                    return Ok(Written::Refused);
                }
                Ok(Outcome::Other) => return Err(unknown(key, &format!("{why}; it holds something else now"))),
                Err(e) => return Err(unknown(key, &e.to_string())),
            }
        }
    }

    /// What stands at `key` after a write of which it is not known whether it took place.
    fn outcome(&self, key: &Key, body: Body<'_>, condition: &Condition) -> Result<Outcome> {
        let Some(mut opened) = self.open(key)? else {
            return Ok(if *condition == Condition::Absent { Outcome::Untouched } else { Outcome::Other });
        };
        match condition {
            Condition::Matches(etag) if opened.meta.etag.as_ref() == Some(etag) => Ok(Outcome::Untouched),
            _ if same(body, &mut opened).map_err(|e| Error::store(format!("cannot read '{key}': {e}")))? => {
                Ok(Outcome::Ours)
            }
            _ => Ok(Outcome::Other),
        }
    }

    /// Reads a small object once; the reason why it should be tried again.
    fn read_whole(&self, answer: &mut Answer, size: u64) -> Result<Vec<u8>, String> {
        match read_at_most(&mut answer.body.as_reader(), size) {
            Ok(Some(bytes)) if bytes.len() as u64 == size => Ok(bytes),
            Ok(_) => Err("the answer is not as long as it says".to_owned()),
            Err(e) => Err(e.to_string()),
        }
    }
}

enum Outcome {
    /// What we wrote.
    Ours,
    /// What the condition wants, so nothing was written yet.
    Untouched,
    /// Something else: another writer's, or nothing any more.
    Other,
}

fn unknown(key: &Key, why: &str) -> Error {
    Error::new(Kind::Busy, format!("it is not known whether '{key}' was written: {why}"))
}

/// Whether an object holds what was to be written.
fn same(body: Body<'_>, opened: &mut Opened) -> io::Result<bool> {
    let (size, mut ours): (u64, Box<dyn Read + '_>) = match body {
        Body::Bytes(bytes) => (bytes.len() as u64, Box::new(bytes)),
        Body::File(file, size) => (size, Box::new(Part { file, from: 0, size })),
    };
    if opened.meta.size != size {
        return Ok(false);
    }
    let (mut a, mut b) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let n = opened.body.read(&mut a)?;
        if n == 0 {
            return Ok(true);
        }
        ours.read_exact(&mut b[..n])?;
        if a[..n] != b[..n] {
            return Ok(false);
        }
    }
}

impl Store for Http {
    fn url(&self) -> &str {
        &self.client.location.url
    }

    fn lists(&self) -> bool {
        false
    }

    fn get(&self, key: &Key, limit: u64) -> Result<Option<Object>> {
        let mut retry = Retry::default();
        loop {
            let mut answer = self.client.send(&Request::new("GET", Some(key)))?;
            if is_absent(&self.client, key, &mut answer)? {
                return Ok(None);
            }
            let meta = meta(&self.client, key, &answer)?;
            if meta.size > limit {
                return Err(Error::fatal(format!("'{key}' in '{}' is larger than {limit} bytes", self.url())));
            }
            let why = match self.read_whole(&mut answer, meta.size) {
                Ok(bytes) => return Ok(Some(Object { bytes, etag: meta.etag.unwrap_or_else(|| ETag::new("")) })),
                Err(why) => why,
            };
            let url = self.url().trim_end_matches('/');
            retry.pause(None, || Error::store(format!("cannot read '{key}' in '{url}': {why}")))?;
        }
    }

    fn open(&self, key: &Key) -> Result<Option<Opened>> {
        let mut answer = self.client.send(&Request::new("GET", Some(key)))?;
        if is_absent(&self.client, key, &mut answer)? {
            return Ok(None);
        }
        let meta = meta(&self.client, key, &answer)?;
        let (client, key, etag, size) = (Arc::clone(&self.client), key.clone(), meta.etag.clone(), meta.size);
        let rest = Box::new(move |at| rest(&client, &key, etag.as_ref(), at, size));
        let body = Reading::new(size, Box::new(answer.body.into_reader()), rest);
        Ok(Some(Opened { meta, body: Box::new(body) }))
    }

    fn head(&self, key: &Key) -> Result<Option<Meta>> {
        let mut answer = self.client.send(&Request::new("HEAD", Some(key)))?;
        if is_absent(&self.client, key, &mut answer)? {
            return Ok(None);
        }
        meta(&self.client, key, &answer).map(Some)
    }

    fn announce(&self, files: &[(Key, u64)]) -> Result<Option<Vec<Announced>>> {
        self.uploads.announce(&self.client, files)
    }

    fn put(&self, key: &Key, body: Body<'_>, condition: &Condition) -> Result<Written> {
        if let Condition::Matches(etag) = condition
            && etag.to_string().is_empty()
        {
            return Err(Error::store(format!(
                "'{}' gives '{key}' no ETag to change it by",
                self.client.location.server
            ))
            .hint("a plain web server only serves what is read; writing needs a host of fdl's"));
        }
        if let (Body::File(file, size), Condition::Absent) = (body, condition)
            && let Some(written) = self.uploads.put(&self.client, key, file, size)?
        {
            return Ok(written);
        }
        self.put_through(key, body, condition)
    }

    fn delete(&self, key: &Key, condition: &Condition) -> Result<bool> {
        if *condition == Condition::Absent {
            return Ok(false);
        }
        let mut request = Request::new("DELETE", Some(key));
        request.condition = condition;
        let mut answer = self.client.send(&request)?;
        match answer.status {
            200 | 202 | 204 => Ok(true),
            // After an answer that was lost, what is gone was deleted by us.
            404 | 410 => Ok(answer.doubtful),
            412 => Ok(answer.doubtful && self.head(key)?.is_none()),
            _ => Err(refusal(&self.client, "delete", Some(key), &mut answer)),
        }
    }

    fn list(&self, folder: Option<&Key>, _visit: &mut dyn FnMut(Listed) -> Result<()>) -> Result<()> {
        let what = folder.map_or(String::new(), |folder| format!("{folder}/"));
        Err(Error::store(format!("cannot list '{}{what}': over HTTP there are no lists", self.url()))
            .hint("run the command where the repository is kept"))
    }

    fn settle(&self, _key: &Key) -> Result<()> {
        // What a host has answered for is settled.
        Ok(())
    }
}

/// Whether the answer says that there is no such object; any other refusal is an error.
fn is_absent(client: &Client, key: &Key, answer: &mut Answer) -> Result<bool> {
    match answer.status {
        200 => Ok(false),
        404 | 410 => Ok(true),
        _ => Err(refusal(client, "read", Some(key), answer)),
    }
}

/// What the headers of an answer tell of the object. Without its length, one that is cut off would look like the whole.
fn meta(client: &Client, key: &Key, answer: &Answer) -> Result<Meta> {
    let size = answer.header("content-length").and_then(|text| text.parse().ok()).ok_or_else(|| {
        let url = client.location.url.trim_end_matches('/');
        Error::store(format!("the answer about '{key}' in '{url}' has no Content-Length"))
    })?;
    let modified = answer.header("last-modified").and_then(http_date).unwrap_or(Timestamp::UNIX_EPOCH);
    Ok(Meta { size, modified, etag: answer.header("etag").filter(|tag| !tag.is_empty()).map(ETag::new) })
}

/// Asks for what is still missing of an object, of the same content: without a tag, nobody could tell.
fn rest(client: &Client, key: &Key, etag: Option<&ETag>, at: u64, size: u64) -> Result<Box<dyn Read + Send>> {
    let cannot = || {
        Error::store(format!(
            "cut off after {at} of {size} bytes, and '{}' does not send the rest",
            client.location.server
        ))
    };
    let condition = etag.map(|etag| Condition::Matches(etag.clone())).ok_or_else(cannot)?;
    let mut request = Request::new("GET", Some(key));
    request.headers.extend([range_from(at)]);
    request.condition = &condition;
    let mut answer = client.send(&request)?;
    let range = format!("bytes {at}-{}/{size}", size - 1);
    match (answer.status, answer.header("content-range")) {
        (206, Some(found)) if found == range => Ok(Box::new(answer.body.into_reader())),
        (404 | 410 | 412, _) => Err(Error::mismatch("it was replaced while it was read")),
        (200 | 206, _) => Err(cannot()),
        _ => Err(refusal(client, "read", Some(key), &mut answer)),
    }
}
