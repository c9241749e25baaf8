//! One request and its answer.

use std::{io, time::Instant};

use ureq::{
    SendBody, Timeout,
    http::{self, HeaderMap, HeaderName, HeaderValue, header},
};

use super::{Answer, Payload, payload::Changed};
use crate::{
    Error, Result,
    store::{Condition, trace::Trace},
};

/// Why no answer came.
pub enum Failure {
    /// The request never reached the server.
    Unsent(String),
    /// It may have: the connection broke or stood still.
    Lost(String),
    /// It cannot be made at all.
    Error(Error),
}

/// What the trace says of a request.
pub struct Line<'a> {
    /// Where it goes, if the user asks for one.
    pub trace: Option<&'a Trace>,
    /// The method, or a word for what the request is.
    pub method: &'a str,
    /// The object it is about.
    pub name: &'a str,
    /// The condition it is made on.
    pub condition: &'a Condition,
}

/// The header that makes a request one on condition.
pub fn condition_header(condition: &Condition) -> Result<Option<(HeaderName, HeaderValue)>> {
    match condition {
        Condition::Always => Ok(None),
        Condition::Absent => Ok(Some((header::IF_NONE_MATCH, HeaderValue::from_static("*")))),
        Condition::Matches(etag) => {
            let value = HeaderValue::from_str(&etag.to_string())
                .map_err(|_| Error::fatal(format!("'{}' is no ETag", etag.to_string().escape_debug())))?;
            Ok(Some((header::IF_MATCH, value)))
        }
    }
}

/// A request as it goes out.
pub struct Outgoing<'a> {
    pub method: &'a str,
    pub url: &'a str,
    pub headers: HeaderMap,
    pub payload: Payload<'a>,
}

/// Makes a request once; `server` names the other side in an error.
pub fn exchange(agent: &ureq::Agent, server: &str, request: Outgoing<'_>, line: &Line<'_>) -> Result<Answer, Failure> {
    let start = Instant::now();
    let (reading, size) = (request.method == "GET", request.payload.size());
    let answer = send(agent, server, request);
    if let Some(trace) = line.trace {
        let condition = line.condition.to_string();
        match &answer {
            Ok(answer) => {
                let length = || answer.header("content-length").and_then(|n| n.parse().ok()).unwrap_or(0);
                let bytes = if reading { length() } else { size };
                trace.line(line.method, line.name, &answer.status, bytes, start, &condition);
            }
            Err(Failure::Unsent(_)) => trace.line(line.method, line.name, &"unsent", 0, start, &condition),
            Err(_) => trace.line(line.method, line.name, &"lost", 0, start, &condition),
        }
    }
    answer
}

fn send(agent: &ureq::Agent, server: &str, request: Outgoing<'_>) -> Result<Answer, Failure> {
    let Outgoing { method, url, mut headers, payload } = request;
    // A body of which the other side is not told the length would not be waited for.
    if matches!(method, "PUT" | "POST") || payload.size() > 0 {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(payload.size()));
    }
    let mut builder = http::Request::builder().method(method).uri(url);
    if let Some(to) = builder.headers_mut() {
        *to = headers;
    }
    let cannot = |e: http::Error| Failure::Error(Error::fatal(format!("cannot make a request: {e}")));
    let answer = match payload {
        Payload::None => agent.run(builder.body(()).map_err(cannot)?),
        Payload::Bytes(mut bytes) => agent.run(builder.body(SendBody::from_reader(&mut bytes)).map_err(cannot)?),
        Payload::Part(mut part) => agent.run(builder.body(SendBody::from_reader(&mut part)).map_err(cannot)?),
    };
    let (head, body) = answer.map_err(|e| failure(server, e))?.into_parts();
    Ok(Answer { status: head.status.as_u16(), headers: head.headers, body, doubtful: false })
}

fn failure(server: &str, e: ureq::Error) -> Failure {
    match e {
        ureq::Error::HostNotFound => Failure::Error(Error::store(format!("cannot reach '{server}': no such host"))),
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::Pem(_) => {
            Failure::Error(Error::store(format!("cannot reach '{server}' safely: {e}")))
        }
        ureq::Error::Io(e) if is_certificate(&e) => {
            Failure::Error(Error::store(format!("cannot reach '{server}' safely: {e}")))
        }
        ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => Failure::Unsent("no connection in time".into()),
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

/// Whether the other side is not who it should be, which comes out of the handshake as an error of its stream. Nothing was
/// sent then, and the next time will be no better.
fn is_certificate(e: &io::Error) -> bool {
    let inner = e.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(inner, Some(rustls::Error::InvalidCertificate(_)))
}
