//! What an object is, and how long it may be kept, for readers over HTTP and the caches between; see
//! `Documentation/fdl-format.md`.

use crate::{expired, key::Key};

/// The `Content-Type` and `Cache-Control` of the object at `key`.
pub(crate) fn headers(key: &Key) -> Vec<(&'static str, String)> {
    vec![("content-type", content_type(key).into()), ("cache-control", cache_control(key).into())]
}

fn content_type(key: &Key) -> &'static str {
    let text = key.as_str();
    let name = key.segments().next_back().unwrap_or_default();
    match name.rsplit_once('.') {
        _ if text == "HEAD" || key.below("refs").is_some() => "text/plain; charset=utf-8",
        Some((_, "json")) => "application/json",
        Some((_, "parquet")) => "application/vnd.apache.parquet",
        Some((_, "sig")) => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

fn cache_control(key: &Key) -> &'static str {
    let text = key.as_str();
    let name = key.segments().next_back().unwrap_or_default();
    if text == "HEAD" || text == "refs.json" || text == "gc.json" || key.below("refs").is_some() {
        // Where a ref points now is the one thing that a reader must not be told late.
        "no-store"
    } else if (key.below("versions").is_some() && name != expired::NAME) || name.ends_with(".parquet") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_changes_may_be_kept_and_a_ref_may_not() {
        let of = |text: &str| (content_type(&Key::new(text).unwrap()), cache_control(&Key::new(text).unwrap()));
        assert_eq!(of("HEAD"), ("text/plain; charset=utf-8", "no-store"));
        assert_eq!(of("refs/heads/a.json"), ("text/plain; charset=utf-8", "no-store"));
        assert_eq!(of("refs.json"), ("application/json", "no-store"));
        assert_eq!(of("fdl.json"), ("application/json", "no-cache"));
        assert_eq!(of("versions/1/version.json").1, "public, max-age=31536000, immutable");
        assert_eq!(of("versions/1/expired.json"), ("application/json", "no-cache"));
        assert_eq!(of("data/t/1.parquet").0, "application/vnd.apache.parquet");
        assert_eq!(of("tables/t/1.parquet").1, "public, max-age=31536000, immutable");
    }
}
