//! Requests to a host: traced, made again where that is safe, and redirected where that is.

use ureq::{
    http::{HeaderMap, HeaderName, HeaderValue, header},
    tls::{RootCerts, TlsConfig},
};
use url::Url;

use super::{
    credentials::Provider,
    location::{Location, server},
};
use crate::{
    Error, Kind, Result, expired,
    key::Key,
    store::{
        Condition,
        trace::Trace,
        wire::{self, Answer, Failure, Line, Outgoing, Payload, answered, condition_header, exchange},
    },
    text::Escaped,
};

/// How many redirects one request follows.
const REDIRECTS: u32 = 5;

/// A body of this size is sent once the host has said that it wants it: one that refuses an upload may do so and hang up,
/// and its answer would be lost under the body.
const ASKED_FIRST: u64 = 1 << 20;

/// One request.
pub(super) struct Request<'a> {
    pub method: &'static str,
    /// `None` for the batch of a repository.
    pub key: Option<&'a Key>,
    pub headers: HeaderMap,
    pub body: Payload<'a>,
    pub condition: &'a Condition,
}

impl<'a> Request<'a> {
    pub fn new(method: &'static str, key: Option<&'a Key>) -> Request<'a> {
        Request { method, key, headers: HeaderMap::new(), body: Payload::None, condition: &Condition::Always }
    }
}

/// Makes requests to one repository.
pub(super) struct Client {
    pub location: Location,
    pub provider: Provider,
    pub agent: ureq::Agent,
    pub trace: Option<Trace>,
}

impl Client {
    /// A client for the repository at `url`. It trusts the authorities that the system trusts.
    pub fn new(url: &str) -> Result<Client> {
        let location = Location::new(url)?;
        let provider = Provider::new(&location)?;
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        Ok(Client { agent: wire::agent(tls)?, provider, trace: Trace::from_env(), location })
    }

    /// Makes a request until there is an answer to go by. A write on condition is made once: the caller must look first
    /// whether one took place whose answer was lost, or says nothing.
    pub fn send(&self, request: &Request<'_>) -> Result<Answer> {
        let once = *request.condition != Condition::Always && request.method == "PUT";
        let unreachable = |why: &str| Error::store(format!("cannot reach '{}': {why}", self.location.server));
        answered(once, || self.follow(request), |why| self.busy(request, why), unreachable)
    }

    /// Makes a request, and goes where the answer says if it only reads: what is written goes where the user said. What
    /// stands at the end of a path with a `/` is no object but a folder, so such a redirect says that there is none.
    fn follow(&self, request: &Request<'_>) -> Result<Answer, Failure> {
        let mut url = match request.key {
            Some(key) => self.location.object(key),
            None => format!("{}?batch", self.location.url),
        };
        for _ in 0..REDIRECTS {
            let answer = self.try_once(request, &url)?;
            if !matches!(request.method, "GET" | "HEAD") || !matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
                return Ok(answer);
            }
            let to = self.target(&url, answer.header("location")).map_err(Failure::Error)?;
            if to.strip_suffix('/') == Some(url.as_str()) {
                return Ok(Answer { status: 404, ..answer });
            }
            url = to;
        }
        Err(Failure::Error(Error::store(format!("'{url}' redirects without end"))))
    }

    /// Where a redirect leads. It must not lead out of TLS.
    fn target(&self, from: &str, location: Option<&str>) -> Result<String> {
        let cannot =
            |why: &str| Error::store(format!("'{from}' redirects to '{}': {why}", Escaped(location.unwrap_or(""))));
        let to = Url::parse(from)
            .and_then(|from| from.join(location.unwrap_or_default()))
            .map_err(|_| cannot("that is no URL"))?;
        match to.scheme() {
            "https" => Ok(to.into()),
            "http" if from.starts_with("http:") => Ok(to.into()),
            _ => Err(cannot("fdl does not go there from here")),
        }
    }

    /// Makes a request once, and again where the host wants to know who asks and that is found out now. It is told to the
    /// repository's own host, and to no other.
    fn try_once(&self, request: &Request<'_>, url: &str) -> Result<Answer, Failure> {
        let ours = Url::parse(url).is_ok_and(|url| server(&url) == self.location.server);
        let name = request.key.map_or("?batch", Key::as_str);
        loop {
            let mut headers = request.headers.clone();
            headers.extend(condition_header(request.condition).map_err(Failure::Error)?);
            headers.extend(expectation(request.body));
            headers.extend(freshness(request.key));
            let credentials = if ours { self.provider.get().map_err(Failure::Error)? } else { None };
            headers.extend(credentials.iter().map(|credentials| (header::AUTHORIZATION, credentials.header.clone())));
            let line = Line { trace: self.trace.as_ref(), method: request.method, name, condition: request.condition };
            let outgoing = Outgoing { method: request.method, url, headers, payload: request.body };
            let answer = exchange(&self.agent, &self.location.server, outgoing, &line)?;
            match answer.status {
                401 if ours && self.provider.refused(credentials.as_ref()).map_err(Failure::Error)? => {}
                200..=299 if ours => {
                    self.provider.accepted().map_err(Failure::Error)?;
                    return Ok(answer);
                }
                _ => return Ok(answer),
            }
        }
    }

    fn busy(&self, request: &Request<'_>, why: &str) -> Error {
        let name = request.key.map_or("?batch", Key::as_str);
        let url = self.location.url.trim_end_matches('/');
        Error::new(Kind::Busy, format!("no answer about '{name}' in '{url}': {why}")).hint("try again later")
    }
}

/// The header that has the host say whether it wants the body.
pub(super) fn expectation(body: Payload<'_>) -> Option<(HeaderName, HeaderValue)> {
    (body.size() >= ASKED_FIRST).then(|| (header::EXPECT, HeaderValue::from_static("100-continue")))
}

/// The header that has caches on the way ask the host: what may change must not be told late, whatever a server says of it.
fn freshness(key: Option<&Key>) -> Option<(HeaderName, HeaderValue)> {
    let changes = |key: &Key| {
        matches!(key.as_str(), "HEAD" | "refs.json" | "fdl.json")
            || key.below("refs").is_some()
            || key.segments().next_back() == Some(expired::NAME)
    };
    key.filter(|key| changes(key)).map(|_| (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")))
}

/// The header that asks for the end of an object.
pub(super) fn range_from(at: u64) -> (HeaderName, HeaderValue) {
    let value = HeaderValue::try_from(format!("bytes={at}-")).unwrap_or_else(|_| HeaderValue::from_static("bytes=0-"));
    (header::RANGE, value)
}
