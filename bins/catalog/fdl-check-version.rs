//! Checks a version as a host does before a ref moves to it; prints the reasons why it may not.

use std::process::ExitCode;

use fdl::{
    Error, Kind, Result,
    cli::{self, Arg, Args, Output},
    fsck,
    id::VersionId,
    trust::Trust,
    version::Version,
};
use fdl_catalog::Frozen;

const USAGE: &str = "\
usage: fdl-check-version [--repo URL] [-z] [--parent ID | --no-parent] [--require-signature]
                         [--allowed-signers FILE] [--revoked FILE] ID";

pub fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut z, mut parent, mut signed, mut id) = (None, false, None, false, None);
    let (mut allowed, mut revoked) = (None, None);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Short('z') => z = true,
            Arg::Long("parent") => parent = Some(Some(args.value()?.parse::<VersionId>()?)),
            Arg::Long("no-parent") => parent = Some(None),
            Arg::Long("require-signature") => signed = true,
            Arg::Long("allowed-signers") => allowed = Some(args.path()?),
            Arg::Long("revoked") => revoked = Some(args.path()?),
            Arg::Value(value) if id.is_none() => id = Some(cli::utf8(value)?.parse::<VersionId>()?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let id = cli::required(id, "ID")?;
    let repository = cli::repository(repo)?;
    let mut output = Output::new(z);
    let mut reasons = 0;
    fsck::check_version(&repository, &Frozen, id, &mut |_, key, text| {
        reasons += 1;
        output.record(&[&format_args!("{key}: {text}")])
    })?;
    let version = match Version::read(&repository, id) {
        Ok(version) => version,
        // It is among the reasons.
        Err(_) => return output.finish().and(Err(Error::new(Kind::No, ""))),
    };
    if let Some(wanted) = parent.filter(|wanted| *wanted != version.parent()) {
        reasons += 1;
        let name = |id: Option<VersionId>| id.map_or("no version".into(), |id| format!("version {id}"));
        let (found, wanted) = (name(version.parent()), name(wanted));
        output.record(&[&format_args!("version {id} is built on {found}, not on {wanted}")])?;
    }
    if signed {
        let trust = Trust::read(allowed, revoked, None)?.ok_or_else(|| {
            Error::fatal("nobody may sign: no allowed signers are known").hint("see fdl-verify-signature")
        })?;
        if let Err(e) = trust.signer(&repository, id, &Version::bytes(&repository, id)?) {
            reasons += 1;
            output.record(&[&e])?;
        }
    }
    output.finish()?;
    if reasons == 0 { Ok(()) } else { Err(Error::new(Kind::No, "")) }
}
