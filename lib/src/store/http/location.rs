//! `https://host/path/`, and where its requests go.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::{Position, Url};

use crate::{Error, Result, key::Key};

/// What of a key goes into a URL as it is: RFC 3986's unreserved characters and the `/`. A `+` is encoded, for some
/// servers take it for a space.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A path of a host.
#[derive(Clone, Debug)]
pub(super) struct Location {
    /// `https://host/path/`, as the URL standard spells it.
    pub url: String,
    /// The host, as errors name it and as credentials belong to it: `https://host:8080`.
    pub server: String,
}

impl Location {
    pub fn new(url: &str) -> Result<Location> {
        let bad = |why: &str| Error::fatal(format!("bad URL '{}': {why}", url.escape_debug()));
        let parsed = Url::parse(url).map_err(|e| bad(&e.to_string()))?;
        if !parsed.username().is_empty() || parsed.password().is_some() {
            // Not shown again: it may hold a password.
            return Err(Error::fatal("bad URL: it holds a user or a password, which others can see")
                .hint("put them into ~/.netrc, or set FDL_HTTP_TOKEN"));
        }
        if parsed.query().is_some() || parsed.fragment().is_some() {
            return Err(bad("it holds a '?' or a '#', and a key is to follow it"));
        }
        let path = parsed[..Position::AfterPath].trim_end_matches('/');
        Ok(Location { url: format!("{path}/"), server: server(&parsed) })
    }

    /// The URL of an object. Every byte of its key that could mean something else is encoded, and a [`Key`] has no `..`, so
    /// the request cannot leave the path.
    pub fn object(&self, key: &Key) -> String {
        format!("{}{}", self.url, utf8_percent_encode(key.as_str(), ENCODED))
    }
}

/// Where a URL leads, without its path: requests to the same one may carry the same credentials.
pub(super) fn server(url: &Url) -> String {
    url[..Position::BeforePath].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(url: &str, key: &str) -> String {
        Location::new(url).unwrap().object(&Key::new(key).unwrap())
    }

    #[test]
    fn a_key_follows_the_url() {
        assert_eq!(asked("http://h:80/lake//", "HEAD"), "http://h/lake/HEAD");
        assert_eq!(asked("HTTPS://Host", "refs/heads/main"), "https://host/refs/heads/main");
        assert_eq!(asked("http://h/a%20b", "data/x=1/a+b c"), "http://h/a%20b/data/x%3D1/a%2Bb%20c");
        assert_eq!(asked("http://[::1]:8080/", "data/größe"), "http://[::1]:8080/data/gr%C3%B6%C3%9Fe");
        assert_eq!(Location::new("http://h:8080/a/b").unwrap().server, "http://h:8080");
    }

    #[test]
    fn a_url_that_holds_more_is_refused() {
        for url in ["http://", "http://u@h/", "http://u:p@h/", "http://h/?x", "http://h/#x", "http://h:x/", "http:/"] {
            assert!(Location::new(url).is_err(), "{url:?} was accepted");
        }
        let error = Location::new("http://u:secret@h/").unwrap_err();
        assert!(!error.to_string().contains("secret"));
    }
}
