//! The refs: their names, what they hold, and what `refs.json` says of them.

use std::collections::BTreeMap;

use super::{Fsck, Level};
use crate::{Result, id::VersionId, key::Key, refname::RefName, refs, store::Listed};

impl Fsck<'_> {
    /// Checks the refs; returns what each holds.
    pub(super) fn refs(&self) -> Result<BTreeMap<RefName, VersionId>> {
        let (mut names, mut others) = (Vec::<RefName>::new(), Vec::new());
        self.repository.store().list(Some(&Key::literal("refs")), &mut |listed| {
            match listed {
                Listed::Object(key, _) => match key.as_str().parse() {
                    Ok(name) => names.push(name),
                    Err(_) => others.push(key.to_string()),
                },
                Listed::Foreign(name) => others.push(name),
            }
            Ok(())
        })?;
        for name in others {
            self.error(name, "this is no name of a ref, so no command reads it")?;
        }
        let mut held = BTreeMap::new();
        for name in names {
            if let Some(Some(value)) = self.finding(&name, refs::read(self.repository, &name))? {
                held.insert(name, value.id);
            }
        }
        if let Some(head) = self.finding("HEAD", refs::head(self.repository))?
            && !held.contains_key(&head)
            && !held.is_empty()
        {
            self.note("HEAD", format_args!("it names '{head}', which does not exist yet"))?;
        }
        Ok(held)
    }

    /// Checks `refs.json`, which readers over HTTP believe.
    pub(super) fn server_info(&self) -> Result<()> {
        let what = match refs::is_server_info_current(self.repository) {
            Ok(true) => return Ok(()),
            Ok(false) => "it is not what the refs are".to_owned(),
            Err(e) => e.to_string(),
        };
        if self.options.repair && self.finding("refs.json", refs::update_server_info(self.repository, &[]))?.is_some() {
            return self.find(Level::Repaired, "refs.json", what);
        }
        self.error("refs.json", what)
    }
}
