//! Signs requests (AWS Signature Version 4) with the functions of rust-s3.
//!
//! rust-s3's own presigning knows only GET, PUT and DELETE, and leaves the query of a part's PUT out of its URL. The
//! functions below it sign every request, in a header, so no signature is ever in a URL that a log could keep.

use hmac::Mac;
use s3::{
    Region,
    signing::{HmacSha256, authorization_header, canonical_request, signed_header_string, signing_key, string_to_sign},
};
use time::OffsetDateTime;
use ureq::http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::credentials::Credentials;
use crate::{Error, Result, digest::Digest};

/// In place of a body's digest, where the body is a stream.
pub(super) const UNSIGNED: &str = "UNSIGNED-PAYLOAD";

/// The time of a request, as its headers have it.
fn amz_date(now: OffsetDateTime) -> String {
    let (date, time) = (now.date(), now.time());
    format!(
        "{:04}{:02}{:02}T{:02}{:02}{:02}Z",
        date.year(),
        u8::from(date.month()),
        date.day(),
        time.hour(),
        time.minute(),
        time.second()
    )
}

/// Adds to `headers` what shows who asks. All of `headers` is signed; `body` is the digest of the body.
pub(super) fn sign(
    credentials: &Credentials,
    region: &str,
    method: &str,
    url: &Url,
    headers: &mut HeaderMap,
    body: &str,
    now: OffsetDateTime,
) -> Result<()> {
    let cannot = |e: &dyn std::fmt::Display| Error::fatal(format!("cannot sign a request: {e}"));
    let region = Region::Custom { region: region.to_owned(), endpoint: String::new() };
    let host = match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (host, _) => host.unwrap_or_default().to_owned(),
    };
    let mut set = |name: &'static str, value: &str| -> Result<()> {
        let value = HeaderValue::from_str(value).map_err(|_| {
            Error::fatal(format!("the credentials from {} hold what no header can", credentials.source))
        })?;
        headers.insert(HeaderName::from_static(name), value);
        Ok(())
    };
    set("host", &host)?;
    set("x-amz-date", &amz_date(now))?;
    set("x-amz-content-sha256", body)?;
    if let Some(token) = &credentials.token {
        set("x-amz-security-token", token)?;
    }
    let request = canonical_request(method, url, headers, body).map_err(|e| cannot(&e))?;
    let text = string_to_sign(&now, &region, &request).map_err(|e| cannot(&e))?;
    let key = signing_key(&now, &credentials.secret, &region, "s3").map_err(|e| cannot(&e))?;
    let mut mac = HmacSha256::new_from_slice(&key).map_err(|e| cannot(&e))?;
    mac.update(text.as_bytes());
    let signature: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let signed = signed_header_string(headers);
    let authorization =
        authorization_header(&credentials.key, &now, &region, &signed, &signature).map_err(|e| cannot(&e))?;
    let authorization = HeaderValue::from_str(&authorization)
        .map_err(|_| Error::fatal(format!("the access key from {} holds what no header can", credentials.source)))?;
    headers.insert(HeaderName::from_static("authorization"), authorization);
    Ok(())
}

/// The digest of a body in memory, as it is signed.
pub(super) fn digest(body: &[u8]) -> String {
    Digest::of(body).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example "GET Object" in AWS's description of signatures in a header.
    #[test]
    fn the_signature_is_the_one_in_the_documentation() {
        let credentials = Credentials {
            key: "AKIAIOSFODNN7EXAMPLE".into(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
            token: None,
            expires: None,
            source: "a test".into(),
        };
        let url = Url::parse("https://examplebucket.s3.amazonaws.com/test.txt").unwrap();
        let mut headers = HeaderMap::new();
        headers.insert("range", HeaderValue::from_static("bytes=0-9"));
        let now = OffsetDateTime::from_unix_timestamp(1_369_353_600).unwrap();
        sign(&credentials, "us-east-1", "GET", &url, &mut headers, &digest(b""), now).unwrap();
        let authorization = headers["authorization"].to_str().unwrap();
        let signature = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
        assert!(authorization.ends_with(signature), "{authorization}");
    }

    /// Why presigning itself is not used: the URL of a part does not say which part it is.
    #[test]
    fn presigning_leaves_out_the_query_of_a_part() {
        let credentials = s3::creds::Credentials::new(Some("key"), Some("secret"), None, None, None).unwrap();
        let bucket = s3::Bucket::new("bucket", Region::UsEast1, credentials).unwrap();
        let query = [("partNumber".to_owned(), "1".to_owned())].into();
        let url = bucket.presign_put("key", 60, None, Some(query)).unwrap();
        assert!(!url.contains("partNumber"), "{url}");
    }
}
