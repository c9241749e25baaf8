//! `s3://bucket/prefix/`, and where its requests go.

use s3::signing::uri_encode;
use url::Url;

use super::settings::Settings;
use crate::{Error, Result, key::Key};

/// A prefix of a bucket, and the server that has it.
#[derive(Debug)]
pub(super) struct Location {
    /// The bucket's name.
    pub bucket: String,
    /// `s3://bucket/prefix/`.
    pub url: String,
    /// The server, as errors name it.
    pub endpoint: String,
    /// What stands before every key in the bucket: empty, or ends with `/`.
    pub prefix: String,
    /// What stands before a key in a request: `https://host/` or `https://host/bucket/`.
    base: String,
}

impl Location {
    /// Reads `url`, the part after `s3://`.
    pub fn new(url: &str, settings: &Settings) -> Result<Location> {
        let (bucket, prefix) = split(url)?;
        let virtual_host = settings.endpoint.is_none() && !bucket.contains('.');
        let endpoint = match &settings.endpoint {
            Some(endpoint) => endpoint.clone(),
            None => format!("https://s3.{}.{}", settings.region, domain(&settings.region)),
        };
        let mut base = Url::parse(&endpoint).map_err(|e| bad_endpoint(&endpoint, &e.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
            return Err(bad_endpoint(&endpoint, "it begins neither http:// nor https://"));
        }
        if base.query().is_some()
            || base.fragment().is_some()
            || !base.username().is_empty()
            || base.password().is_some()
        {
            return Err(bad_endpoint("", "it holds more than a scheme, a host, a port and a path"));
        }
        if virtual_host {
            let host = format!("{bucket}.{}", base.host_str().unwrap_or_default());
            base.set_host(Some(&host)).map_err(|e| bad_endpoint(&endpoint, &e.to_string()))?;
        }
        let mut base = base.as_str().trim_end_matches('/').to_owned();
        if !virtual_host {
            base = format!("{base}/{bucket}");
        }
        Ok(Location {
            url: format!("s3://{bucket}/{prefix}"),
            base: base + "/",
            bucket: bucket.to_owned(),
            prefix,
            endpoint,
        })
    }

    /// The place as a browser names it, with a trailing `/`.
    pub fn http_url(&self) -> String {
        format!("{}{}", self.base, uri_encode(&self.prefix, false))
    }

    /// The URL of a request for an object, or with `None` for the bucket. Every byte of a name and a value that could mean
    /// something else is encoded, and a [`Key`] has no `..`, so the request cannot leave the prefix.
    pub fn request(&self, key: Option<&Key>, query: &[(&str, &str)]) -> Result<Url> {
        let mut text = self.base.clone();
        if let Some(key) = key {
            text += &uri_encode(&self.prefix, false);
            text += &uri_encode(key.as_str(), false);
        }
        for (i, (name, value)) in query.iter().enumerate() {
            text.push(if i == 0 { '?' } else { '&' });
            text = text + name + "=" + &uri_encode(value, true);
        }
        Url::parse(&text).map_err(|e| Error::fatal(format!("'{text}' is no URL: {e}")))
    }
}

fn bad_endpoint(endpoint: &str, why: &str) -> Error {
    Error::fatal(format!("bad endpoint '{endpoint}': {why}")).hint("it comes from AWS_ENDPOINT_URL or the profile")
}

/// AWS has a partition of its own in China.
fn domain(region: &str) -> &'static str {
    if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" }
}

/// The bucket, and the prefix with its final `/`.
fn split(url: &str) -> Result<(&str, String)> {
    let (bucket, prefix) = url.split_once('/').unwrap_or((url, ""));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if bucket.len() < 3
        || bucket.len() > 255
        || !bucket.chars().all(plain)
        || bucket.starts_with(['.', '-'])
        || bucket.contains("..")
    {
        let bucket = bucket.escape_debug();
        return Err(Error::fatal(format!("'s3://{bucket}': '{bucket}' is not the name of a bucket")));
    }
    let prefix = prefix.trim_end_matches('/');
    if prefix.is_empty() {
        return Ok((bucket, String::new()));
    }
    let prefix = Key::new(prefix).map_err(|e| e.context(format_args!("'s3://{}'", url.escape_debug())))?;
    Ok((bucket, format!("{prefix}/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(url: &str, endpoint: Option<&str>) -> Result<Location> {
        Location::new(url, &Settings::plain("eu-west-1", endpoint))
    }

    fn asked(url: &str, endpoint: Option<&str>, key: &str) -> String {
        location(url, endpoint).unwrap().request(Some(&Key::new(key).unwrap()), &[]).unwrap().to_string()
    }

    #[test]
    fn a_bucket_is_a_host_at_aws_and_a_folder_elsewhere() {
        assert_eq!(asked("bucket/lake", None, "HEAD"), "https://bucket.s3.eu-west-1.amazonaws.com/lake/HEAD");
        assert_eq!(asked("a.bucket/", None, "HEAD"), "https://s3.eu-west-1.amazonaws.com/a.bucket/HEAD");
        let other = Some("http://127.0.0.1:9000/");
        assert_eq!(asked("bucket//", other, "HEAD"), "http://127.0.0.1:9000/bucket/HEAD");
        assert_eq!(asked("bucket", Some("https://h/s3"), "HEAD"), "https://h/s3/bucket/HEAD");
    }

    #[test]
    fn names_are_encoded_so_that_they_mean_nothing_else() {
        let key = "data/a b+c=d/größe/.hidden";
        let url = asked("bucket/x y", Some("http://h"), key);
        assert_eq!(url, "http://h/bucket/x%20y/data/a%20b%2Bc%3Dd/gr%C3%B6%C3%9Fe/.hidden");
    }

    #[test]
    fn a_url_that_leads_elsewhere_is_refused() {
        for url in [
            "",
            "/",
            "ab",
            "..",
            "a/../b",
            "bucket/../other",
            "bucket/a//b",
            "bucket/a?b",
            "user@host/x",
            "-bucket",
            "bucket/%2e",
        ] {
            assert!(location(url, None).is_err(), "{url:?} was accepted");
        }
        for endpoint in ["ftp://h", "h:9000", "http://user:pw@h", "http://h?x"] {
            assert!(location("bucket", Some(endpoint)).is_err(), "{endpoint:?} was accepted");
        }
    }
}
