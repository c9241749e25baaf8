//! From what a user types to a version: a ref, a short name, an id or the beginning of one, and `~n` steps back.

use crate::{
    Error, Result, expired, history,
    id::VersionId,
    key::Key,
    refname::RefName,
    refs,
    repository::Repository,
    store::{ETag, Listed},
    version::NAME,
};

/// The shortest beginning of an id that is looked up: shorter ones are words that somebody mistyped.
const MIN_PREFIX: usize = 4;

/// What a name stands for.
#[derive(Debug)]
pub struct Resolved {
    /// The version.
    pub id: VersionId,
    /// The ref that holds it and the ref's tag, where the name is a ref's.
    pub found_at: Option<(RefName, ETag)>,
}

/// Resolves `name`: `HEAD`, `refs/...`, a branch's or tag's short name, a version id, an unambiguous beginning of one;
/// any of them followed by `~` or `~<n>` for the version so many steps before.
pub fn resolve(repository: &Repository, name: &str) -> Result<Resolved> {
    let Some((base, steps)) = name.split_once('~') else { return resolve_name(repository, name) };
    let steps: usize = match steps {
        "" => 1,
        steps => steps
            .parse()
            .map_err(|_| Error::fatal(format!("bad name '{}': after '~' comes a number", name.escape_debug())))?,
    };
    let tip = resolve_name(repository, base)?.id;
    for (step, version) in history::walk(repository, tip).enumerate() {
        // One that cannot be read is an error, not the end of history.
        let id = version?.id;
        if step == steps {
            return Ok(Resolved { id, found_at: None });
        }
    }
    Err(Error::not_found(format!("'{name}' does not exist: the history of '{base}' is shorter")))
}

/// Refuses a version that is not there, or was taken away. One that a ref holds was written before the ref, so only its mark is
/// looked for.
pub fn check_live(repository: &Repository, resolved: &Resolved) -> Result<()> {
    match resolved.found_at {
        Some(_) => expired::check_live(repository, resolved.id),
        None => expired::read_live(repository, resolved.id).map(|_| ()),
    }
}

fn resolve_name(repository: &Repository, name: &str) -> Result<Resolved> {
    if name == "HEAD" {
        let branch = refs::head(repository)?;
        return read_ref(repository, &branch)?.ok_or_else(|| {
            Error::not_found(format!("HEAD names '{branch}', which holds no version yet in '{}'", repository.url()))
        });
    }
    if name.starts_with("refs/") {
        let full = name.parse()?;
        return read_ref(repository, &full)?.ok_or_else(|| unknown(repository, name));
    }
    if let Ok(id) = name.parse() {
        return Ok(Resolved { id, found_at: None });
    }
    if let (Ok(branch), Ok(tag)) = (RefName::branch(name), RefName::tag(name)) {
        match (read_ref(repository, &branch)?, read_ref(repository, &tag)?) {
            (Some(_), Some(_)) => {
                return Err(Error::fatal(format!("'{name}' is ambiguous: it is '{branch}' and '{tag}'")));
            }
            (Some(found), None) | (None, Some(found)) => return Ok(found),
            (None, None) => {}
        }
    } else {
        // The name could be a ref's only if its alphabet were: say what is wrong with it.
        RefName::branch(name)?;
    }
    by_prefix(repository, name)
}

fn read_ref(repository: &Repository, name: &RefName) -> Result<Option<Resolved>> {
    let value = refs::read(repository, name)?;
    Ok(value.map(|value| Resolved { id: value.id, found_at: Some((name.clone(), value.etag)) }))
}

fn by_prefix(repository: &Repository, prefix: &str) -> Result<Resolved> {
    if prefix.len() < MIN_PREFIX || !prefix.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f' | b'-')) {
        return Err(unknown(repository, prefix));
    }
    let mut ids: Vec<VersionId> = Vec::new();
    repository.store().list(Some(&Key::literal("versions")), &mut |listed| {
        if let Listed::Object(key, _) = listed
            && let Some((id, NAME)) = key.below("versions").and_then(|rest| rest.split_once('/'))
            && id.starts_with(prefix)
            && let Ok(id) = id.parse()
        {
            ids.push(id);
        }
        Ok(())
    })?;
    match ids[..] {
        [id] => Ok(Resolved { id, found_at: None }),
        [] => Err(unknown(repository, prefix)),
        _ => {
            let candidates: Vec<String> = ids.iter().map(VersionId::to_string).collect();
            Err(Error::fatal(format!("'{prefix}' is ambiguous: it begins {}", candidates.join(", "))))
        }
    }
}

fn unknown(repository: &Repository, name: &str) -> Error {
    Error::not_found(format!("'{name}' is neither a ref nor a version of '{}'", repository.url()))
}
