//! The agent that sends requests: its limits, and whom it trusts.

use std::time::Duration;

use ureq::{
    config::ConfigBuilder,
    tls::{PemItem, RootCerts, TlsConfig, parse_pem},
    typestate::AgentScope,
};

use super::var;
use crate::{Error, Result};

/// How long nothing may move before a request is given up. There is no limit on the whole: a large file takes its time.
const STALL: Duration = Duration::from_secs(60);

/// An agent that follows no redirect, tries nothing again and returns every status as an answer. It takes proxies from
/// the environment.
pub fn agent(tls: TlsConfig) -> Result<ureq::Agent> {
    Ok(limits(tls)?.build().new_agent())
}

/// An agent like `agent`, with connections of its own, that sends requests and hangs up before an answer can come.
pub fn deaf(agent: &ureq::Agent) -> Result<ureq::Agent> {
    let tls = agent.config().tls_config().clone();
    Ok(limits(tls)?.timeout_recv_response(Some(Duration::from_nanos(1))).build().new_agent())
}

fn limits(tls: TlsConfig) -> Result<ConfigBuilder<AgentScope>> {
    let stall = stall()?;
    Ok(ureq::Agent::config_builder()
        .http_status_as_error(false)
        // ureq turns a PUT that is redirected into a GET and returns that one's 200, and carries our headers elsewhere.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("fdl/", env!("CARGO_PKG_VERSION")))
        .timeout_connect(Some(Duration::from_secs(10)))
        .timeout_per_read(Some(stall))
        .timeout_per_write(Some(stall))
        .max_idle_connections(64)
        .max_idle_connections_per_host(64)
        .tls_config(tls))
}

fn stall() -> Result<Duration> {
    let Some(text) = var("FDL_STALL_TIMEOUT")? else { return Ok(STALL) };
    match text.parse() {
        Ok(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds)),
        _ => Err(Error::fatal(format!("FDL_STALL_TIMEOUT: '{text}' is no number of seconds"))),
    }
}

/// Trusts the authorities in the PEM file that an environment variable names; `None` where it is not set.
pub fn authorities(variable: &str) -> Result<Option<TlsConfig>> {
    let Some(path) = var(variable)? else { return Ok(None) };
    let bytes = std::fs::read(&path).map_err(|e| Error::fatal(format!("cannot read '{path}' of {variable}: {e}")))?;
    let mut certificates = Vec::new();
    for item in parse_pem(&bytes) {
        let item = item.map_err(|e| Error::fatal(format!("'{path}' of {variable} is no PEM file: {e}")))?;
        if let PemItem::Certificate(certificate) = item {
            certificates.push(certificate);
        }
    }
    if certificates.is_empty() {
        return Err(Error::fatal(format!("'{path}' of {variable} holds no certificate")));
    }
    Ok(Some(TlsConfig::builder().root_certs(RootCerts::new_with_certs(&certificates)).build()))
}
