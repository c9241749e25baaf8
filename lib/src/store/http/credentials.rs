//! Who asks: `FDL_HTTP_TOKEN`, else `~/.netrc`, else what a credential helper says once the host wants to know. They are
//! sent to the host of the repository only.

use std::{io, sync::Mutex};

use base64::{Engine, engine::general_purpose::STANDARD};
use camino::Utf8PathBuf;
use ureq::http::HeaderValue;
use url::Url;

use super::{
    helper::Helpers,
    location::Location,
    netrc::{self, Login},
};
use crate::{Error, Result, store::wire::var};

/// What proves who asks.
#[derive(Clone)]
pub(super) struct Credentials {
    /// The value of `Authorization`.
    pub header: HeaderValue,
    /// Where it comes from, in the words of an error.
    pub source: String,
}

/// Finds out who asks, and keeps it.
pub(super) struct Provider {
    helpers: Helpers,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    credentials: Option<Credentials>,
    /// What the helper said, until it was told whether that was right.
    untold: Option<Login>,
    asked: bool,
}

impl Provider {
    /// Looks where no program must be asked.
    pub fn new(location: &Location) -> Result<Provider> {
        let credentials = match var("FDL_HTTP_TOKEN")? {
            Some(token) => Some(credentials(&format!("Bearer {token}"), "FDL_HTTP_TOKEN")?),
            None => from_netrc(&location.url)?,
        };
        let known = Mutex::new(Known { credentials, ..Known::default() });
        Ok(Provider { helpers: Helpers::new(&location.server), known })
    }

    /// What is known now.
    pub fn get(&self) -> Result<Option<Credentials>> {
        Ok(self.known.lock().map_err(|_| dead())?.credentials.clone())
    }

    /// The host did not take what was sent. Whether there is something else to send now.
    pub fn refused(&self, sent: Option<&Credentials>) -> Result<bool> {
        let mut known = self.known.lock().map_err(|_| dead())?;
        if known.credentials.as_ref().map(|c| &c.header) != sent.map(|c| &c.header) {
            // Another thread has found it meanwhile.
            return Ok(true);
        }
        if let Some(login) = known.untold.take() {
            self.helpers.tell("erase", &login)?;
        }
        if sent.is_some() || known.asked {
            return Ok(false);
        }
        known.asked = true;
        let Some(login) = self.helpers.get()? else { return Ok(false) };
        known.credentials = Some(basic(&login, "the credential helper")?);
        known.untold = Some(login);
        Ok(true)
    }

    /// The host took what was sent.
    pub fn accepted(&self) -> Result<()> {
        match self.known.lock().map_err(|_| dead())?.untold.take() {
            Some(login) => self.helpers.tell("store", &login),
            None => Ok(()),
        }
    }
}

/// The login for the host of `url` in the user's file, where there is one.
fn from_netrc(url: &str) -> Result<Option<Credentials>> {
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
    netrc::find(&text, &host).map(|login| basic(&login, &format!("'{file}'"))).transpose()
}

fn basic(login: &Login, source: &str) -> Result<Credentials> {
    if login.user.contains(':') {
        return Err(Error::fatal(format!("the login in {source} holds a ':', which HTTP cannot carry")));
    }
    credentials(&format!("Basic {}", STANDARD.encode(format!("{}:{}", login.user, login.password))), source)
}

fn credentials(value: &str, source: &str) -> Result<Credentials> {
    let mut header = HeaderValue::from_str(value).map_err(|_| {
        Error::fatal(format!("what {source} holds cannot be sent in a header: it has a line break or such"))
    })?;
    header.set_sensitive(true);
    Ok(Credentials { header, source: source.to_owned() })
}

fn dead() -> Error {
    Error::fatal("a thread that looked for credentials died")
}
