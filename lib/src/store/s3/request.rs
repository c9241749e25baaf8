//! Requests: signed, sent by ureq under our own limits, traced, and tried again where that is safe.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::FileExt,
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use time::OffsetDateTime;
use ureq::{
    SendBody, Timeout,
    http::{self, HeaderMap, HeaderName, HeaderValue},
};

use super::{
    credentials::{Credentials, Provider},
    location::Location,
    settings::{Settings, var},
    sign::{self, sign},
};
use crate::{
    Error, Kind, Result,
    key::Key,
    store::{Condition, read_at_most, trace::Trace},
};

/// How often a request is made while its answers say that it may work the next time.
const TRIES: u32 = 6;

/// The first pause between two of them; each next one may be twice as long.
const PAUSE: Duration = Duration::from_millis(100);

/// The longest pause that a store may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// How long nothing may move before a request is given up. There is no limit on the whole: a large file takes its time.
const STALL: Duration = Duration::from_secs(60);

/// The largest answer that is not an object, in bytes: a page of a list has 1000 keys of at most 1 KiB, encoded.
pub(super) const MAX_ANSWER: u64 = 16 << 20;

/// The part of a body that is in a file.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub file: &'a File,
    pub from: u64,
    pub size: u64,
}

/// What a request carries.
#[derive(Clone, Copy)]
pub(super) enum Payload<'a> {
    None,
    Bytes(&'a [u8]),
    Part(Part<'a>),
}

impl Payload<'_> {
    fn size(&self) -> u64 {
        match self {
            Payload::None => 0,
            Payload::Bytes(bytes) => bytes.len() as u64,
            Payload::Part(part) => part.size,
        }
    }
}

/// One request.
pub(super) struct Request<'a> {
    pub method: &'static str,
    /// `None` for a request to the bucket.
    pub key: Option<&'a Key>,
    pub query: Vec<(&'static str, &'a str)>,
    pub headers: Vec<(&'static str, String)>,
    pub body: Payload<'a>,
    pub condition: &'a Condition,
}

impl<'a> Request<'a> {
    pub fn new(method: &'static str, key: Option<&'a Key>) -> Request<'a> {
        let condition = &Condition::Always;
        Request { method, key, query: Vec::new(), headers: Vec::new(), body: Payload::None, condition }
    }
}

/// The answer to a request.
pub(super) struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: ureq::Body,
    /// Whether an earlier try of the same request may have done its work, though its answer did not come.
    pub doubtful: bool,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// How long the store wants to be left alone.
    pub fn retry_after(&self) -> Option<Duration> {
        self.header("retry-after").and_then(|text| text.trim().parse().ok()).map(Duration::from_secs)
    }

    /// The body of an answer that is no object.
    pub fn text(&mut self) -> io::Result<String> {
        match read_at_most(&mut self.body.as_reader(), MAX_ANSWER)? {
            Some(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            None => Err(io::Error::other(format!("the answer is larger than {MAX_ANSWER} bytes"))),
        }
    }
}

/// Why no answer came.
pub(super) enum Failure {
    /// The request never reached the store.
    Unsent(String),
    /// It may have: the connection broke or stood still.
    Lost(String),
    /// It cannot be made at all.
    Error(Error),
}

/// Makes requests to one bucket.
pub(super) struct Client {
    pub location: Location,
    pub settings: Settings,
    provider: Provider,
    agent: ureq::Agent,
    trace: Option<Trace>,
}

impl Client {
    /// A client for the part of the URL after `s3://`.
    pub fn new(url: &str) -> Result<Client> {
        let settings = Settings::load()?;
        let location = Location::new(url, &settings)?;
        let stall = match var("FDL_STALL_TIMEOUT")? {
            None => STALL,
            Some(text) => match text.parse() {
                Ok(seconds) if seconds > 0 => Duration::from_secs(seconds),
                _ => return Err(Error::fatal(format!("FDL_STALL_TIMEOUT: '{text}' is no number of seconds"))),
            },
        };
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // ureq turns a PUT that is redirected into a GET and returns that one's 200. A signature is for one host
            // anyway, so no redirect is followed, whatever the method.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("fdl/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(Duration::from_secs(10)))
            .timeout_per_read(Some(stall))
            .timeout_per_write(Some(stall))
            .max_idle_connections(64)
            .max_idle_connections_per_host(64)
            .tls_config(tls()?)
            .build()
            .new_agent();
        Ok(Client { location, settings, provider: Provider::new(), agent, trace: Trace::from_env() })
    }

    /// The keys that requests are signed with.
    pub fn credentials(&self) -> Result<Option<Credentials>> {
        self.provider.get(&self.settings)
    }

    /// Makes a request until there is an answer to go by: everything but "try again". A write on condition is not tried
    /// again after an answer that was lost, or says nothing: the caller must look first whether it took place.
    pub fn send(&self, request: &Request<'_>) -> Result<Answer> {
        let once = *request.condition != Condition::Always && matches!(request.method, "PUT" | "POST");
        let mut retry = Retry::default();
        loop {
            match self.try_once(request) {
                Ok(answer) if once || !may_work_later(answer.status) => {
                    return Ok(Answer { doubtful: retry.doubtful, ..answer });
                }
                Ok(answer) => {
                    retry.doubtful |= is_doubtful(answer.status);
                    let status = answer.status;
                    retry.pause(answer.retry_after(), || self.busy(request, &format!("it answers {status}")))?;
                }
                Err(Failure::Lost(why)) if once => return Err(self.busy(request, &why)),
                Err(Failure::Lost(why)) => {
                    retry.doubtful = true;
                    retry.pause(None, || self.busy(request, &why))?;
                }
                Err(Failure::Unsent(why)) => retry.pause(None, || self.unreachable(&why))?,
                Err(Failure::Error(e)) => return Err(e),
            }
        }
    }

    /// Makes a request once.
    pub fn try_once(&self, request: &Request<'_>) -> Result<Answer, Failure> {
        let url = self.location.request(request.key, &request.query).map_err(Failure::Error)?;
        let mut headers = HeaderMap::new();
        for (name, value) in &request.headers {
            let value = HeaderValue::from_str(value)
                .map_err(|_| Failure::Error(Error::fatal(format!("'{}' cannot be sent", value.escape_debug()))))?;
            headers.insert(HeaderName::from_static(name), value);
        }
        match request.condition {
            Condition::Always => {}
            Condition::Absent => {
                headers.insert("if-none-match", HeaderValue::from_static("*"));
            }
            Condition::Matches(etag) => {
                let value = HeaderValue::from_str(&etag.to_string()).map_err(|_| {
                    Failure::Error(Error::fatal(format!("'{}' is no ETag", etag.to_string().escape_debug())))
                })?;
                headers.insert("if-match", value);
            }
        }
        if let Some(credentials) = self.credentials().map_err(Failure::Error)? {
            let digest = match request.body {
                Payload::None => sign::digest(b""),
                Payload::Bytes(bytes) => sign::digest(bytes),
                Payload::Part(_) => sign::UNSIGNED.into(),
            };
            sign(&credentials, &self.settings.region, request.method, &url, &mut headers, &digest, now())
                .map_err(Failure::Error)?;
        }
        let start = Instant::now();
        let answer = self.exchange(request, url.as_str(), headers);
        if let Some(trace) = &self.trace {
            let (method, name) = trace_name(&self.location, request);
            let condition = request.condition.to_string();
            match &answer {
                Ok(answer) => {
                    let bytes = match request.method {
                        "GET" => answer.header("content-length").and_then(|n| n.parse().ok()).unwrap_or(0),
                        _ => request.body.size(),
                    };
                    trace.line(method, &name, &answer.status, bytes, start, &condition);
                }
                Err(Failure::Unsent(_)) => trace.line(method, &name, &"unsent", 0, start, &condition),
                Err(_) => trace.line(method, &name, &"lost", 0, start, &condition),
            }
        }
        answer
    }

    fn exchange(&self, request: &Request<'_>, url: &str, mut headers: HeaderMap) -> Result<Answer, Failure> {
        let size = request.body.size();
        if matches!(request.method, "PUT" | "POST") {
            headers.insert("content-length", HeaderValue::from(size));
        }
        let mut builder = http::Request::builder().method(request.method).uri(url);
        if let Some(to) = builder.headers_mut() {
            *to = headers;
        }
        let cannot = |e: http::Error| Failure::Error(Error::fatal(format!("cannot make a request: {e}")));
        let answer = match request.body {
            Payload::None => self.agent.run(builder.body(()).map_err(cannot)?),
            Payload::Bytes(mut bytes) => {
                self.agent.run(builder.body(SendBody::from_reader(&mut bytes)).map_err(cannot)?)
            }
            Payload::Part(mut part) => self.agent.run(builder.body(SendBody::from_reader(&mut part)).map_err(cannot)?),
        };
        match answer {
            Ok(answer) => {
                let (head, body) = answer.into_parts();
                Ok(Answer { status: head.status.as_u16(), headers: head.headers, body, doubtful: false })
            }
            Err(e) => Err(self.failure(e)),
        }
    }

    fn failure(&self, e: ureq::Error) -> Failure {
        let endpoint = &self.location.endpoint;
        match e {
            ureq::Error::HostNotFound => {
                Failure::Error(Error::store(format!("cannot reach '{endpoint}': no such host")))
            }
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::Pem(_) => {
                Failure::Error(Error::store(format!("cannot reach '{endpoint}' safely: {e}")))
            }
            ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
                Failure::Unsent("no connection in time".into())
            }
            ureq::Error::Io(e) if e.kind() == io::ErrorKind::ConnectionRefused => {
                Failure::Unsent("connection refused".into())
            }
            ureq::Error::Io(e) if e.get_ref().is_some_and(|inner| inner.is::<Changed>()) => {
                Failure::Error(Error::mismatch(e.to_string()))
            }
            ureq::Error::Timeout(_) => Failure::Lost("nothing moved for too long".into()),
            e => Failure::Lost(e.to_string()),
        }
    }

    fn busy(&self, request: &Request<'_>, why: &str) -> Error {
        let name = request.key.map_or(self.location.bucket.as_str(), Key::as_str);
        let url = self.location.url.trim_end_matches('/');
        Error::new(Kind::Busy, format!("no answer about '{name}' in '{url}': {why}")).hint("try again later")
    }

    fn unreachable(&self, why: &str) -> Error {
        Error::store(format!("cannot reach '{}': {why}", self.location.endpoint))
    }
}

/// How a request stands that is made more than once.
#[derive(Default)]
pub(super) struct Retry {
    failed: u32,
    /// Whether one of the tries may have done its work.
    pub doubtful: bool,
}

impl Retry {
    /// Waits before the next try: as long as the store asked, else a random part of a pause that grows, so that many
    /// writers who failed together do not come back together. After the last try, fails with `last`.
    pub fn pause(&mut self, asked: Option<Duration>, last: impl FnOnce() -> Error) -> Result<()> {
        self.failed += 1;
        if self.failed >= TRIES || asked.is_some_and(|asked| asked > LONGEST_PAUSE) {
            return Err(last());
        }
        let longest = PAUSE * 2u32.pow(self.failed - 1);
        thread::sleep(asked.unwrap_or_else(|| longest.mul_f64(0.5 + 0.5 * random())));
        Ok(())
    }
}

/// A number from 0 to 1 that two processes do not share.
fn random() -> f64 {
    let bytes = uuid::Uuid::now_v7().into_bytes();
    f64::from(u16::from_be_bytes([bytes[14], bytes[15]])) / f64::from(u16::MAX)
}

/// Answers of a server that failed half-way: it may have written first.
pub(super) fn is_doubtful(status: u16) -> bool {
    matches!(status, 500 | 502 | 504)
}

/// Answers that say nothing about the request but that its time was bad.
pub(super) fn may_work_later(status: u16) -> bool {
    matches!(status, 429 | 500 | 502 | 503 | 504)
}

/// The method and the object of a request as a trace names them: a list is `LIST` and its folder, as for a folder store.
fn trace_name(location: &Location, request: &Request<'_>) -> (&'static str, String) {
    let value = |name: &str| request.query.iter().find(|(n, _)| *n == name).map(|(_, value)| *value);
    let name = match (request.key, value("prefix")) {
        (None, Some(prefix)) => {
            return ("LIST", prefix.strip_prefix(&location.prefix).unwrap_or(prefix).to_owned());
        }
        (None, None) => "?delete".into(),
        (Some(key), _) => match value("partNumber") {
            Some(number) => format!("{key}?partNumber={number}"),
            None if value("uploads").is_some() => format!("{key}?uploads"),
            None if value("uploadId").is_some() => format!("{key}?uploadId"),
            None => key.to_string(),
        },
    };
    (request.method, name)
}

fn now() -> OffsetDateTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    OffsetDateTime::from_unix_timestamp(since.as_secs().try_into().unwrap_or(0)).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

/// Trusts the authorities of `AWS_CA_BUNDLE`, as the AWS tools do, else those of Mozilla.
fn tls() -> Result<ureq::tls::TlsConfig> {
    use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
    let Some(path) = var("AWS_CA_BUNDLE")? else { return Ok(TlsConfig::default()) };
    let bytes =
        std::fs::read(&path).map_err(|e| Error::fatal(format!("cannot read '{path}' of AWS_CA_BUNDLE: {e}")))?;
    let mut certificates = Vec::new();
    for item in parse_pem(&bytes) {
        let item = item.map_err(|e| Error::fatal(format!("'{path}' of AWS_CA_BUNDLE is no PEM file: {e}")))?;
        if let PemItem::Certificate(certificate) = item {
            certificates.push(certificate);
        }
    }
    if certificates.is_empty() {
        return Err(Error::fatal(format!("'{path}' of AWS_CA_BUNDLE holds no certificate")));
    }
    Ok(TlsConfig::builder().root_certs(RootCerts::new_with_certs(&certificates)).build())
}

/// Says that a file is not what it was when its upload began.
#[derive(Debug)]
struct Changed(u64);

impl std::fmt::Display for Changed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the file changed while it was sent: {} bytes are missing", self.0)
    }
}

impl std::error::Error for Changed {}

/// Reads the part, wherever the file's own position is: parts are sent side by side.
impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(usize::try_from(self.size).unwrap_or(usize::MAX));
        if most == 0 {
            return Ok(0);
        }
        let n = self.file.read_at(&mut buffer[..most], self.from)?;
        if n == 0 {
            return Err(io::Error::other(Changed(self.size)));
        }
        self.from += n as u64;
        self.size -= n as u64;
        Ok(n)
    }
}
