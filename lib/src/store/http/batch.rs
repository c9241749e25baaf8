//! `POST ?batch`: the host says of many files at once which it has, and where to send the others, in the manner of Git
//! LFS. Bytes that go straight to storage are not seen by the host, and who asks the host is not told to the storage.

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    sync::Mutex,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ureq::http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::{
    refusal::refusal,
    request::{Client, Request, expectation},
};
use crate::{
    Error, Kind, Result,
    key::Key,
    store::{
        Announced, Condition, Written,
        wire::{Answer, Line, Outgoing, Part, Payload, answered, exchange},
    },
    text::Escaped,
};

/// A URL is not used any more when it ends sooner than this, in seconds.
const MARGIN: i64 = 60;

#[derive(Serialize)]
struct Asked<'a> {
    files: Vec<AskedFile<'a>>,
}

#[derive(Serialize)]
struct AskedFile<'a> {
    key: &'a Key,
    size: u64,
}

#[derive(Deserialize)]
struct Told {
    files: Vec<ToldFile>,
}

#[derive(Deserialize)]
struct ToldFile {
    key: String,
    #[serde(default)]
    exists: bool,
    upload: Option<Upload>,
    error: Option<Refused>,
}

#[derive(Deserialize)]
struct Refused {
    code: u16,
    #[serde(default)]
    message: String,
}

/// Where to send a file.
#[derive(Clone, Deserialize)]
struct Upload {
    url: String,
    #[serde(default = "put_method")]
    method: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    expires_at: Option<Timestamp>,
}

fn put_method() -> String {
    "PUT".into()
}

/// The uploads that the host has agreed to.
#[derive(Default)]
pub(super) struct Uploads(Mutex<HashMap<Key, Upload>>);

impl Uploads {
    /// Asks the host about files that are to be sent; `None` where it knows no batches.
    pub fn announce(&self, client: &Client, files: &[(Key, u64)]) -> Result<Option<Vec<Announced>>> {
        let Some(mut told) = ask(client, files)? else { return Ok(None) };
        let mut uploads = self.0.lock().map_err(|_| dead())?;
        let mut announced = Vec::with_capacity(files.len());
        for (key, _) in files {
            let file = told.remove(key.as_str()).ok_or_else(|| bad(client, &format!("it says nothing of '{key}'")))?;
            announced.push(match file {
                ToldFile { exists: true, .. } => Announced::Present,
                ToldFile { upload: Some(upload), .. } => {
                    uploads.insert(key.clone(), upload);
                    Announced::Wanted
                }
                ToldFile { error: Some(Refused { code: 413, .. }), .. } => Announced::Wanted,
                ToldFile { error: Some(Refused { code, message }), .. } => {
                    let server = &client.location.server;
                    return Err(Error::store(format!("'{server}' refuses '{key}': {code} {}", Escaped(&message))));
                }
                _ => return Err(bad(client, &format!("it says nothing of '{key}'"))),
            });
        }
        Ok(Some(announced))
    }

    /// Sends a file straight to where the host said; `None` where it said nothing, and it goes through the host.
    pub fn put(&self, client: &Client, key: &Key, file: &File, size: u64) -> Result<Option<Written>> {
        let Some(upload) = self.take(key)? else { return Ok(None) };
        let fresh = |upload: &Upload| {
            upload.expires_at.is_none_or(|end| end.as_second() - Timestamp::now().as_second() > MARGIN)
        };
        if fresh(&upload) {
            let mut answer = send(client, key, &upload, file, size)?;
            if !matches!(answer.status, 401 | 403) {
                return written(client, key, size, &mut answer).map(Some);
            }
        }
        // The URL has ended before its turn came. The host is asked once more.
        match self.announce(client, &[(key.clone(), size)])?.as_deref() {
            Some([Announced::Present]) => return Ok(Some(Written::Refused)),
            Some(_) => {}
            None => return Ok(None),
        }
        let Some(upload) = self.take(key)? else { return Ok(None) };
        let mut answer = send(client, key, &upload, file, size)?;
        written(client, key, size, &mut answer).map(Some)
    }

    fn take(&self, key: &Key) -> Result<Option<Upload>> {
        Ok(self.0.lock().map_err(|_| dead())?.remove(key))
    }
}

/// What the host says of each file.
fn ask(client: &Client, files: &[(Key, u64)]) -> Result<Option<HashMap<String, ToldFile>>> {
    let asked = Asked { files: files.iter().map(|(key, size)| AskedFile { key, size: *size }).collect() };
    let body = serde_json::to_vec(&asked).map_err(|e| Error::fatal(format!("cannot write JSON: {e}")))?;
    let mut request = Request::new("POST", None);
    request.headers.insert("content-type", HeaderValue::from_static("application/json"));
    request.headers.insert("accept", HeaderValue::from_static("application/json"));
    request.body = Payload::Bytes(&body);
    let mut answer = client.send(&request)?;
    match answer.status {
        200 => {
            let text = answer.text().map_err(|e| bad(client, &e.to_string()))?;
            let told: Told = serde_json::from_str(&text).map_err(|e| bad(client, &e.to_string()))?;
            Ok(Some(told.files.into_iter().map(|file| (file.key.clone(), file)).collect()))
        }
        404 | 405 | 413 | 501 => Ok(None),
        _ => Err(refusal(client, "write", None, &mut answer)),
    }
}

/// Sends a file to storage, until there is an answer to go by: what the host signed holds for one object and one content,
/// so sending it twice does no harm.
fn send(client: &Client, key: &Key, upload: &Upload, file: &File, size: u64) -> Result<Answer> {
    let url = checked(client, &upload.url)?;
    let storage = super::location::server(&url);
    let payload = Payload::Part(Part { file, from: 0, size });
    let mut headers = headers(client, upload, size)?;
    headers.extend(expectation(payload));
    let outgoing = || Outgoing { method: &upload.method, url: url.as_str(), headers: headers.clone(), payload };
    let line =
        Line { trace: client.trace.as_ref(), method: "UPLOAD", name: key.as_str(), condition: &Condition::Always };
    let busy = |why: &str| {
        Error::new(Kind::Busy, format!("no answer about '{key}' from '{storage}': {why}")).hint("try again later")
    };
    let unreachable = |why: &str| Error::store(format!("cannot reach '{storage}': {why}"));
    answered(false, || exchange(&client.agent, &storage, outgoing(), &line), busy, unreachable)
}

/// The URL of an upload. A host that is asked under TLS does not lead out of it.
fn checked(client: &Client, url: &str) -> Result<Url> {
    let parsed = Url::parse(url).map_err(|e| bad(client, &format!("an upload's URL: {e}")))?;
    match parsed.scheme() {
        "https" => Ok(parsed),
        "http" if client.location.url.starts_with("http:") => Ok(parsed),
        scheme => Err(bad(client, &format!("an upload goes to '{scheme}:'"))),
    }
}

/// The headers that the host signed.
fn headers(client: &Client, upload: &Upload, size: u64) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for (name, value) in &upload.headers {
        match name.to_ascii_lowercase().as_str() {
            "host" | "connection" | "transfer-encoding" => continue,
            "content-length" if *value == size.to_string() => continue,
            "content-length" => return Err(bad(client, "an upload has another length than was said")),
            _ => {}
        }
        match (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            (Ok(name), Ok(value)) => headers.insert(name, value),
            _ => return Err(bad(client, "an upload has a header that cannot be sent")),
        };
    }
    Ok(headers)
}

/// What the answer of storage means.
fn written(client: &Client, key: &Key, size: u64, answer: &mut Answer) -> Result<Written> {
    match answer.status {
        200 | 201 | 204 => Ok(Written::Done),
        412 if !answer.doubtful => Ok(Written::Refused),
        // Our own upload, whose answer was lost, or another's: the host knows what is there.
        412 | 409 => {
            let mut head = client.send(&Request::new("HEAD", Some(key)))?;
            match (head.status, head.header("content-length")) {
                (200, Some(found)) if found == size.to_string() => Ok(Written::Done),
                (200, _) => Ok(Written::Refused),
                _ => Err(refusal(client, "read", Some(key), &mut head)),
            }
        }
        status => {
            let text = answer.text().unwrap_or_default();
            let text: String = text.chars().take(300).collect();
            Err(Error::store(format!(
                "'{key}' was not taken where '{}' said: {status} {}",
                client.location.server,
                Escaped(text.trim())
            )))
        }
    }
}

fn bad(client: &Client, why: &str) -> Error {
    Error::store(format!("bad answer of '{}?batch': {why}", client.location.url))
}

fn dead() -> Error {
    Error::fatal("a thread that sent a file died")
}
