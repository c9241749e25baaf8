//! What is tried on a bucket only.

use super::{NAMES, Probe, difference};
use crate::{
    Result,
    store::{Condition, Remote},
};

impl Probe<'_> {
    pub(super) fn list_pages(&self, remote: &dyn Remote) -> Result<(bool, String)> {
        let folder = self.key("keys")?;
        let expected = self.written("keys")?;
        for size in [1, NAMES.len() - 1] {
            match remote.list_in_pages(&folder, size) {
                Ok(found) => {
                    if let Some(why) = difference(&found, &expected) {
                        return Ok((false, format!("in pages of {size}, {why}: branches would be left out")));
                    }
                }
                Err(e) => return Ok((false, format!("in pages of {size}: {e}"))),
            }
        }
        Ok((true, "a list in pages is the whole list".into()))
    }

    pub(super) fn range(&self, remote: &dyn Remote) -> Result<(bool, String)> {
        let key = self.key("range")?;
        let text = "0123456789";
        self.put(&key, text, &Condition::Always)?;
        let (_, Some(tag)) = self.read(&key)? else { return Ok((false, "the object has no ETag".into())) };
        Ok(match remote.read_rest(&key, &tag, 4, text.len() as u64) {
            Ok(rest) if rest == b"456789" => (true, "a part of an object is read, so a download goes on".into()),
            Ok(_) => (false, "another part of an object is read than was asked for".into()),
            Err(e) => (false, format!("no part of an object can be read: {e}")),
        })
    }

    pub(super) fn lost_answer(&self, remote: &dyn Remote) -> Result<(bool, String)> {
        Ok(match remote.put_unheard(&self.key("unheard")?, b"unheard")? {
            Some(true) => (true, "a write whose answer was lost is known again".into()),
            None => (true, "a write that was hung up on did not take place".into()),
            Some(false) => {
                (false, "a write whose answer was lost is not known again: it looks like another writer's".into())
            }
        })
    }

    pub(super) fn delete_stale(&self, remote: &dyn Remote) -> Result<(bool, String)> {
        let key = self.key("delete")?;
        self.put(&key, "old", &Condition::Always)?;
        let (_, Some(old)) = self.read(&key)? else { return Ok((false, "the object has no ETag".into())) };
        self.put(&key, "new", &Condition::Always)?;
        let refused = match remote.delete_matching(&key, &old) {
            Ok(deleted) => !deleted,
            Err(e) => return Ok((false, format!("'If-Match' cannot be said of a delete: {e}"))),
        };
        let (found, _) = self.read(&key)?;
        Ok(if refused && found == "new" {
            (true, "what was replaced meanwhile is not deleted".into())
        } else {
            (false, "'If-Match' of a delete is ignored: a branch that moves while it is deleted is gone".into())
        })
    }
}
