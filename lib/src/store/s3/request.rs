//! Requests to a bucket: signed, traced, and made again where that is safe.

use std::time::{SystemTime, UNIX_EPOCH};

use time::OffsetDateTime;
use ureq::http::{HeaderMap, HeaderName, HeaderValue};

use super::{
    credentials::{Credentials, Provider},
    location::Location,
    settings::Settings,
    sign::{self, sign},
};
use crate::{
    Error, Kind, Result,
    key::Key,
    store::{
        Condition,
        trace::Trace,
        wire::{self, Answer, Failure, Line, Outgoing, Payload, answered, condition_header, exchange},
    },
};

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

/// Makes requests to one bucket.
pub(super) struct Client {
    pub location: Location,
    pub settings: Settings,
    provider: Provider,
    agent: ureq::Agent,
    trace: Option<Trace>,
}

impl Client {
    /// A client for the part of the URL after `s3://`. It trusts the authorities of `AWS_CA_BUNDLE`, as the AWS tools do,
    /// else those of Mozilla.
    pub fn new(url: &str) -> Result<Client> {
        let settings = Settings::load()?;
        let location = Location::new(url, &settings)?;
        let agent = wire::agent(wire::authorities("AWS_CA_BUNDLE")?.unwrap_or_default())?;
        Ok(Client { location, settings, provider: Provider::new(), agent, trace: Trace::from_env() })
    }

    /// The keys that requests are signed with.
    pub fn credentials(&self) -> Result<Option<Credentials>> {
        self.provider.get(&self.settings)
    }

    /// Makes a request until there is an answer to go by. A write on condition is made once: the caller must look first
    /// whether one took place whose answer was lost, or says nothing.
    pub fn send(&self, request: &Request<'_>) -> Result<Answer> {
        let once = *request.condition != Condition::Always && matches!(request.method, "PUT" | "POST");
        let (busy, unreachable) = (|why: &str| self.busy(request, why), |why: &str| self.unreachable(why));
        answered(once, || self.try_once(&self.agent, request), busy, unreachable)
    }

    /// Makes a request once and hangs up before its answer can come. One that never got there is an error.
    pub fn send_unheard(&self, request: &Request<'_>) -> Result<()> {
        match self.try_once(&wire::deaf(&self.agent)?, request) {
            Ok(_) | Err(Failure::Lost(_)) => Ok(()),
            Err(Failure::Unsent(why)) => Err(self.unreachable(&why)),
            Err(Failure::Error(e)) => Err(e),
        }
    }

    /// Makes a request once.
    fn try_once(&self, agent: &ureq::Agent, request: &Request<'_>) -> Result<Answer, Failure> {
        let url = self.location.request(request.key, &request.query).map_err(Failure::Error)?;
        let mut headers = HeaderMap::new();
        for (name, value) in &request.headers {
            let value = HeaderValue::from_str(value)
                .map_err(|_| Failure::Error(Error::fatal(format!("'{}' cannot be sent", value.escape_debug()))))?;
            headers.insert(HeaderName::from_static(name), value);
        }
        headers.extend(condition_header(request.condition).map_err(Failure::Error)?);
        if let Some(credentials) = self.credentials().map_err(Failure::Error)? {
            let digest = match request.body {
                Payload::None => sign::digest(b""),
                Payload::Bytes(bytes) => sign::digest(bytes),
                Payload::Part(_) => sign::UNSIGNED.into(),
            };
            sign(&credentials, &self.settings.region, request.method, &url, &mut headers, &digest, now())
                .map_err(Failure::Error)?;
        }
        let (method, name) = trace_name(&self.location, request);
        let line = Line { trace: self.trace.as_ref(), method, name: &name, condition: request.condition };
        let outgoing = Outgoing { method: request.method, url: url.as_str(), headers, payload: request.body };
        exchange(agent, &self.location.endpoint, outgoing, &line)
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

/// The method and the object of a request as a trace names them: a list is `LIST` and its folder, as for a folder store.
fn trace_name(location: &Location, request: &Request<'_>) -> (&'static str, String) {
    let value = |name: &str| request.query.iter().find(|(n, _)| *n == name).map(|(_, value)| *value);
    let name = match (request.key, value("prefix")) {
        (None, Some(_)) if value("uploads").is_some() => "?uploads".into(),
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
