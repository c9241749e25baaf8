//! Uploads in parts that were begun and not ended: their parts are paid for and are in no list of objects.

use jiff::Timestamp;
use serde::Deserialize;

use super::{
    list::decoded,
    multipart,
    refusal::{Fault, explain, refusal},
    request::{Client, Request},
};
use crate::{Error, Result, key::Key, store::LeftOver};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Page {
    #[serde(default)]
    is_truncated: bool,
    next_key_marker: Option<String>,
    next_upload_id_marker: Option<String>,
    encoding_type: Option<String>,
    #[serde(default, rename = "Upload")]
    uploads: Vec<Upload>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Upload {
    key: String,
    upload_id: String,
    initiated: Timestamp,
}

/// The uploads below the prefix.
pub(super) fn list(client: &Client) -> Result<Vec<LeftOver>> {
    let cannot = |why: &str| Error::store(format!("cannot list the uploads in '{}': {why}", client.location.url));
    let mut found = Vec::new();
    let mut after: Option<(String, String)> = None;
    loop {
        let mut request = Request::new("GET", None);
        request.query = vec![("uploads", ""), ("encoding-type", "url"), ("prefix", &client.location.prefix)];
        if let Some((key, upload)) = &after {
            request.query.extend([("key-marker", key.as_str()), ("upload-id-marker", upload.as_str())]);
        }
        let mut answer = client.send(&request)?;
        if answer.status != 200 {
            return Err(refusal(client, "list", None, &mut answer));
        }
        let text = answer.text().map_err(|e| cannot(&e.to_string()))?;
        if let Some(fault) = Fault::parse(&text) {
            return Err(explain(client, "list", None, &answer, &fault));
        }
        let page: Page = quick_xml::de::from_str(&text).map_err(|e| cannot(&format!("bad answer: {e}")))?;
        let is_encoded = page.encoding_type.as_deref() == Some("url");
        let plain = |key: &str| if is_encoded { decoded(key) } else { Some(key.to_owned()) };
        for Upload { key, upload_id, initiated } in page.uploads {
            let key = plain(&key).ok_or_else(|| cannot("a key is not UTF-8"))?;
            // What is no key of ours is another program's.
            if let Some(name) = key.strip_prefix(&client.location.prefix).filter(|name| Key::new(name).is_ok()) {
                found.push(LeftOver { name: name.to_owned(), upload: Some(upload_id), size: 0, modified: initiated });
            }
        }
        if !page.is_truncated {
            return Ok(found);
        }
        let next = page.next_key_marker.as_deref().and_then(plain).zip(page.next_upload_id_marker);
        if next.is_none() || next == after {
            return Err(cannot("there is more, but the answer does not say where"));
        }
        after = next;
    }
}

/// Ends an upload; its parts are deleted.
pub(super) fn clear(client: &Client, left: &LeftOver) -> Result<()> {
    let Some(upload) = &left.upload else { return Ok(()) };
    let key = Key::new(&left.name)?;
    let mut answer = multipart::abort(client, &key, upload)?;
    match answer.status {
        // It may have come to its end meanwhile.
        200 | 204 | 404 => Ok(()),
        _ => Err(refusal(client, "delete", Some(&key), &mut answer)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read() {
        let text = "<?xml version=\"1.0\"?><ListMultipartUploadsResult xmlns=\"x\"><Bucket>b</Bucket><KeyMarker/>\
                    <UploadIdMarker/><NextKeyMarker>a</NextKeyMarker><NextUploadIdMarker>u</NextUploadIdMarker>\
                    <EncodingType>url</EncodingType><MaxUploads>1</MaxUploads><IsTruncated>true</IsTruncated>\
                    <Upload><Key>a</Key><UploadId>u</UploadId><Owner><ID>o</ID></Owner><StorageClass>STANDARD</StorageClass>\
                    <Initiated>2026-12-01T00:00:00.000Z</Initiated></Upload></ListMultipartUploadsResult>";
        let page: Page = quick_xml::de::from_str(text).unwrap();
        assert!(page.is_truncated);
        assert_eq!(page.next_upload_id_marker.as_deref(), Some("u"));
        assert_eq!(page.uploads[0].initiated, "2026-12-01T00:00:00Z".parse().unwrap());
    }
}
