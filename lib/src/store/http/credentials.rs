//! Who asks: `FDL_HTTP_TOKEN`, then `~/.netrc`. Either is sent to the host of the repository only.

use std::io;

use base64::{Engine, engine::general_purpose::STANDARD};
use camino::Utf8PathBuf;
use ureq::http::HeaderValue;
use url::Url;

use super::netrc;
use crate::{Error, Result, store::wire::var};

/// What proves who asks.
#[derive(Clone)]
pub(super) struct Credentials {
    /// The value of `Authorization`.
    pub header: HeaderValue,
    /// Where it comes from, in the words of an error.
    pub source: String,
}

/// What is known of who asks the host of `url`, if anything is.
pub(super) fn find(url: &str) -> Result<Option<Credentials>> {
    if let Some(token) = var("FDL_HTTP_TOKEN")? {
        return header(&format!("Bearer {token}"), "FDL_HTTP_TOKEN").map(Some);
    }
    let file = match var("NETRC")? {
        Some(path) => Some(Utf8PathBuf::from(path)),
        None => var("HOME")?.map(|home| Utf8PathBuf::from(home).join(".netrc")),
    };
    let Some(file) = file else { return Ok(None) };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(None),
        Err(e) => return Err(Error::fatal(format!("cannot read '{file}': {e}"))),
    };
    let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    let Some(login) = netrc::find(&text, &host) else { return Ok(None) };
    if login.user.contains(':') {
        return Err(Error::fatal(format!("the login for '{host}' in '{file}' holds a ':', which HTTP cannot carry")));
    }
    let pair = STANDARD.encode(format!("{}:{}", login.user, login.password));
    header(&format!("Basic {pair}"), &format!("'{file}'")).map(Some)
}

fn header(value: &str, source: &str) -> Result<Credentials> {
    let mut header = HeaderValue::from_str(value).map_err(|_| {
        Error::fatal(format!("what {source} holds cannot be sent in a header: it has a line break or such"))
    })?;
    header.set_sensitive(true);
    Ok(Credentials { header, source: source.to_owned() })
}
