//! Requests that only the probe makes.

use std::time::{Duration, Instant};

use uuid::Uuid;

use super::{S3, STAMP, list, refusal::refusal, request::Request, rest};
use crate::{
    Error, Result,
    key::Key,
    store::{Condition, ETag, Listed, Remote, read_at_most, wire::Payload},
};

/// How long a write that was hung up on is looked for: a store may finish it after we have gone.
const PATIENCE: Duration = Duration::from_secs(2);

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(100);

impl Remote for S3 {
    fn list_in_pages(&self, folder: &Key, size: usize) -> Result<Vec<Key>> {
        let mut keys = Vec::new();
        list::list(&self.client, Some(folder), Some(size), &mut |listed| {
            if let Listed::Object(key, _) = listed {
                keys.push(key);
            }
            Ok(())
        })?;
        Ok(keys)
    }

    fn read_rest(&self, key: &Key, etag: &ETag, at: u64, size: u64) -> Result<Vec<u8>> {
        let mut body = rest(&self.client, key, etag, at, size)?;
        read_at_most(&mut body, size)
            .map_err(|e| Error::store(format!("it is cut off: {e}")))?
            .ok_or_else(|| Error::store("it is longer than it says"))
    }

    fn put_unheard(&self, key: &Key, bytes: &[u8]) -> Result<Option<bool>> {
        let stamp = Uuid::now_v7().to_string();
        let mut request = Request::new("PUT", Some(key));
        request.headers = vec![(STAMP, stamp.clone())];
        request.body = Payload::Bytes(bytes);
        self.client.send_unheard(&request)?;
        let start = Instant::now();
        loop {
            let mut answer = self.client.send(&Request::new("HEAD", Some(key)))?;
            match answer.status {
                200 => return Ok(Some(answer.header(STAMP) == Some(stamp.as_str()))),
                404 if start.elapsed() >= PATIENCE => return Ok(None),
                404 => std::thread::sleep(PAUSE),
                _ => return Err(refusal(&self.client, "read", Some(key), &mut answer)),
            }
        }
    }

    fn delete_matching(&self, key: &Key, etag: &ETag) -> Result<bool> {
        let condition = Condition::Matches(etag.clone());
        let mut request = Request::new("DELETE", Some(key));
        request.condition = &condition;
        let mut answer = self.client.send(&request)?;
        match answer.status {
            200 | 202 | 204 => Ok(true),
            404 | 409 | 412 => Ok(false),
            _ => Err(refusal(&self.client, "delete", Some(key), &mut answer)),
        }
    }
}
