//! A prefix of an S3 bucket as a store.
//!
//! A write on condition is decided by the store (`If-Match`, `If-None-Match`), which `fdl-probe-store` proves. It also
//! carries a stamp: where an answer was lost, the object's stamp tells whether it was written by this request or by
//! another writer's. Requests are signed by rust-s3's functions and sent by ureq, so no redirect is followed, nothing is
//! tried again behind our back, and a body that is cut off is an error.

mod credentials;
mod list;
mod location;
mod multipart;
mod refusal;
mod remote;
mod request;
mod settings;
mod sign;
mod uploads;

use std::{
    io::{self, Read},
    sync::Arc,
};

use jiff::Timestamp;
use uuid::Uuid;

use self::{
    refusal::{Fault, explain, refusal},
    request::{Client, Request},
};
use super::{
    Body, Condition, ETag, LeftOver, Listed, Meta, Object, Opened, Remote, Store, Written,
    headers::headers,
    read_at_most,
    wire::{Answer, Reading, Retry, http_date, is_doubtful, may_work_later},
};
use crate::{Error, Kind, Result, key::Key, text::Escaped};

/// The header by which a writer knows its own object again.
const STAMP: &str = "x-amz-meta-fdl-write";

/// A store in a bucket.
pub struct S3 {
    client: Arc<Client>,
}

impl S3 {
    /// The store at `s3://` and `url`. No request is made.
    pub fn open(url: &str) -> Result<S3> {
        Ok(S3 { client: Arc::new(Client::new(url)?) })
    }

    /// The bucket's region.
    pub fn region(&self) -> &str {
        &self.client.settings.region
    }

    /// How another program reaches the bucket.
    pub fn access(&self) -> Result<Access> {
        let Client { settings, location, .. } = self.client.as_ref();
        let keys = self.client.credentials()?.map(|c| Keys { id: c.key, secret: c.secret, token: c.token });
        Ok(Access {
            url: location.url.clone(),
            http_url: location.http_url(),
            region: settings.region.clone(),
            endpoint: settings.endpoint.clone(),
            keys,
        })
    }

    /// Sends a body once, in parts where it is large.
    fn send(&self, key: &Key, body: Body<'_>, condition: &Condition, stamp: &str) -> Result<Answer> {
        let mut request = Request::new("PUT", Some(key));
        request.body = match body {
            Body::File(file, size) if size >= multipart::THRESHOLD => {
                return multipart::put(&self.client, key, file, size, condition, stamp);
            }
            body => body.into(),
        };
        request.headers = headers(key);
        request.headers.push((STAMP, stamp.to_owned()));
        request.condition = condition;
        self.client.send(&request)
    }

    /// What stands at `key` after a write of which it is not known whether it took place.
    fn outcome(&self, key: &Key, condition: &Condition, stamp: &str) -> Result<Outcome> {
        let mut answer = self.client.send(&Request::new("HEAD", Some(key)))?;
        match (answer.status, answer.header(STAMP), answer.header("etag"), condition) {
            (200, Some(found), ..) if found == stamp => Ok(Outcome::Ours),
            (200, _, Some(tag), Condition::Matches(etag)) if tag == etag.to_string() => Ok(Outcome::Untouched),
            (200, ..) => Ok(Outcome::Other),
            (404, _, _, Condition::Absent) => Ok(Outcome::Untouched),
            (404, ..) => Ok(Outcome::Other),
            _ => Err(refusal(&self.client, "read", Some(key), &mut answer)),
        }
    }
}

/// What a program that is not fdl must know to reach the bucket.
pub struct Access {
    /// `s3://bucket/prefix/`.
    pub url: String,
    /// The same place for a reader without keys: `https://host/prefix/`.
    pub http_url: String,
    /// The bucket's region.
    pub region: String,
    /// Another server than AWS's own; buckets are folders there.
    pub endpoint: Option<String>,
    /// The keys; without any, the bucket is a public one.
    pub keys: Option<Keys>,
}

/// Keys to sign with.
pub struct Keys {
    /// The id, which is no secret.
    pub id: String,
    /// The secret access key.
    pub secret: String,
    /// The token of a session.
    pub token: Option<String>,
}

enum Outcome {
    /// Our write.
    Ours,
    /// What the condition wants, so nothing was written yet.
    Untouched,
    /// Something else: another writer's, or nothing any more.
    Other,
}

impl Store for S3 {
    fn url(&self) -> &str {
        &self.client.location.url
    }

    fn get(&self, key: &Key, limit: u64) -> Result<Option<Object>> {
        let mut retry = Retry::default();
        loop {
            let mut answer = self.client.send(&Request::new("GET", Some(key)))?;
            if is_absent(&self.client, key, "read", &mut answer)? {
                return Ok(None);
            }
            let (meta, etag) = meta(&self.client, key, &answer)?;
            if meta.size > limit {
                return Err(Error::fatal(format!("'{key}' in '{}' is larger than {limit} bytes", self.url())));
            }
            let why = match read_at_most(&mut answer.body.as_reader(), meta.size) {
                Ok(Some(bytes)) if bytes.len() as u64 == meta.size => return Ok(Some(Object { bytes, etag })),
                Ok(_) => "the answer is not as long as it says".to_owned(),
                Err(e) => e.to_string(),
            };
            let url = self.url().trim_end_matches('/');
            retry.pause(None, || Error::store(format!("cannot read '{key}' in '{url}': {why}")))?;
        }
    }

    fn open(&self, key: &Key) -> Result<Option<Opened>> {
        let mut answer = self.client.send(&Request::new("GET", Some(key)))?;
        if is_absent(&self.client, key, "read", &mut answer)? {
            return Ok(None);
        }
        let (meta, etag) = meta(&self.client, key, &answer)?;
        let size = meta.size;
        let (client, key) = (Arc::clone(&self.client), key.clone());
        let rest = Box::new(move |at| rest(&client, &key, &etag, at, size));
        let body = Reading::new(size, Box::new(answer.body.into_reader()), rest);
        Ok(Some(Opened { meta, body: Box::new(body) }))
    }

    fn open_at(&self, key: &Key, at: u64) -> Result<Option<Opened>> {
        if at == 0 {
            return self.open(key);
        }
        let Some(meta) = self.head(key)? else { return Ok(None) };
        let Some(etag) = meta.etag.clone().filter(|_| at < meta.size) else {
            return Ok(Some(Opened { meta, body: Box::new(io::empty()) }));
        };
        let (client, key, size) = (Arc::clone(&self.client), key.clone(), meta.size);
        let first = rest(&client, &key, &etag, at, size)?;
        let again = Box::new(move |from| rest(&client, &key, &etag, at + from, size));
        Ok(Some(Opened { meta, body: Box::new(Reading::new(size - at, first, again)) }))
    }

    fn head(&self, key: &Key) -> Result<Option<Meta>> {
        let mut answer = self.client.send(&Request::new("HEAD", Some(key)))?;
        if is_absent(&self.client, key, "read", &mut answer)? {
            return Ok(None);
        }
        let (meta, etag) = meta(&self.client, key, &answer)?;
        Ok(Some(Meta { etag: Some(etag), ..meta }))
    }

    fn put(&self, key: &Key, body: Body<'_>, condition: &Condition) -> Result<Written> {
        let stamp = Uuid::now_v7().to_string();
        let mut retry = Retry::default();
        loop {
            // What is left below is a write on condition of which it is not known whether it took place.
            let why = match self.send(key, body, condition, &stamp) {
                Err(e) if e.kind() != Kind::Busy || *condition == Condition::Always => return Err(e),
                Err(e) => e,
                Ok(mut answer) => match (answer.status, condition) {
                    (200 | 201 | 204, _) => return Ok(Written::Done),
                    (304 | 412, Condition::Absent | Condition::Matches(_)) => return Ok(Written::Refused),
                    (404, Condition::Matches(_)) => match Fault::read(&mut answer) {
                        fault if matches!(fault.code.as_str(), "NoSuchBucket" | "NoSuchUpload") => {
                            return Err(explain(&self.client, "write", Some(key), &answer, &fault));
                        }
                        _ => return Ok(Written::Refused),
                    },
                    (status, _) if may_work_later(status) && !is_doubtful(status) => {
                        retry.pause(answer.retry_after(), || refusal(&self.client, "write", Some(key), &mut answer))?;
                        continue;
                    }
                    // 409: which of several writers comes first is being decided, and nothing is known yet.
                    (409, Condition::Absent | Condition::Matches(_)) => {
                        let fault = Fault::read(&mut answer);
                        let url = self.url().trim_end_matches('/');
                        Error::new(Kind::Busy, format!("cannot write '{key}' in '{url}': {}", Escaped(&fault.code)))
                    }
                    (status, _) if is_doubtful(status) => refusal(&self.client, "write", Some(key), &mut answer),
                    _ => return Err(refusal(&self.client, "write", Some(key), &mut answer)),
                },
            };
            match self.outcome(key, condition, &stamp) {
                Ok(Outcome::Ours) => return Ok(Written::Done),
                Ok(Outcome::Other) => return Ok(Written::Refused),
                Ok(Outcome::Untouched) => retry.pause(None, || why)?,
                Err(e) => {
                    return Err(Error::new(Kind::Busy, format!("it is not known whether '{key}' was written: {e}")));
                }
            }
        }
    }

    fn delete(&self, key: &Key, condition: &Condition) -> Result<bool> {
        let mut request = Request::new("DELETE", Some(key));
        if let Condition::Matches(etag) = condition {
            // Not every store looks at the condition of a delete, so it is looked at here, too.
            match self.head(key)? {
                Some(meta) if meta.etag.as_ref() == Some(etag) => request.condition = condition,
                _ => return Ok(false),
            }
        } else if *condition == Condition::Absent {
            return Ok(false);
        }
        let mut answer = self.client.send(&request)?;
        if answer.status == 501 && *condition != Condition::Always {
            request.condition = &Condition::Always;
            answer = self.client.send(&request)?;
        }
        match answer.status {
            200 | 202 | 204 => Ok(true),
            // After an answer that was lost, what is gone was deleted by us.
            404 => match Fault::read(&mut answer) {
                fault if fault.code == "NoSuchBucket" => {
                    Err(explain(&self.client, "delete", Some(key), &answer, &fault))
                }
                _ => Ok(answer.doubtful),
            },
            412 | 409 if *condition != Condition::Always => Ok(answer.doubtful && self.head(key)?.is_none()),
            _ => Err(refusal(&self.client, "delete", Some(key), &mut answer)),
        }
    }

    fn delete_all(&self, keys: &[Key]) -> Result<Vec<(Key, Error)>> {
        if let [key] = keys {
            return Ok(self.delete(key, &Condition::Always).err().map(|e| (key.clone(), e)).into_iter().collect());
        }
        let mut stay = Vec::new();
        for batch in keys.chunks(list::BATCH) {
            stay.extend(list::delete_batch(&self.client, batch)?);
        }
        Ok(stay)
    }

    fn list(&self, folder: Option<&Key>, visit: &mut dyn FnMut(Listed) -> Result<()>) -> Result<()> {
        list::list(&self.client, folder, None, visit)
    }

    fn left_overs(&self) -> Result<Vec<LeftOver>> {
        uploads::list(&self.client)
    }

    fn clear(&self, left: &LeftOver) -> Result<()> {
        uploads::clear(&self.client, left)
    }

    fn settle(&self, _key: &Key) -> Result<()> {
        // What a bucket has answered for is settled.
        Ok(())
    }

    fn remote(&self) -> Option<&dyn Remote> {
        Some(self)
    }
}

/// Whether the answer says that there is no such object; any other refusal is an error.
fn is_absent(client: &Client, key: &Key, doing: &str, answer: &mut Answer) -> Result<bool> {
    match answer.status {
        200 | 206 => Ok(false),
        404 => {
            let fault = Fault::read(answer);
            match fault.code.as_str() {
                "" | "NoSuchKey" | "NotFound" => Ok(true),
                _ => Err(explain(client, doing, Some(key), answer, &fault)),
            }
        }
        _ => Err(refusal(client, doing, Some(key), answer)),
    }
}

/// What the headers of an answer tell of the object. Without a length and a tag nothing could be checked.
fn meta(client: &Client, key: &Key, answer: &Answer) -> Result<(Meta, ETag)> {
    let missing = |name: &str| {
        let url = client.location.url.trim_end_matches('/');
        Error::store(format!("the answer about '{key}' in '{url}' has no {name}"))
    };
    let size = answer.header("content-length").and_then(|text| text.parse().ok());
    let size = size.ok_or_else(|| missing("Content-Length"))?;
    let etag = ETag::new(answer.header("etag").filter(|tag| !tag.is_empty()).ok_or_else(|| missing("ETag"))?);
    let modified = answer.header("last-modified").and_then(http_date).unwrap_or(Timestamp::UNIX_EPOCH);
    Ok((Meta { size, modified, etag: None }, etag))
}

/// Asks for what is still missing of an object, of the same content.
fn rest(client: &Client, key: &Key, etag: &ETag, at: u64, size: u64) -> Result<Box<dyn Read + Send>> {
    let mut request = Request::new("GET", Some(key));
    request.headers = vec![("range", format!("bytes={at}-"))];
    let condition = Condition::Matches(etag.clone());
    request.condition = &condition;
    let mut answer = client.send(&request)?;
    let range = format!("bytes {at}-{}/{size}", size - 1);
    match (answer.status, answer.header("content-range")) {
        (206, Some(found)) if found == range => Ok(Box::new(answer.body.into_reader())),
        (404 | 412, _) => Err(Error::mismatch("it was replaced while it was read")),
        (200 | 206, _) => Err(Error::store("the store does not send the rest of an object")),
        _ => Err(refusal(client, "read", Some(key), &mut answer)),
    }
}
