//! Tells who signed a version, and whether he may.

use std::process::ExitCode;

use fdl::{
    Error, Result,
    cli::{self, Arg, Args, Output},
    resolve::resolve,
    trust::Trust,
    version::Version,
};

const USAGE: &str = "\
usage: fdl-verify-signature [--repo URL] [--allowed-signers FILE] [--revoked FILE]
                            [--principal NAME] NAME...";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut allowed, mut revoked, mut principal, mut names) = (None, None, None, None, Vec::new());
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Long("allowed-signers") => allowed = Some(args.path()?),
            Arg::Long("revoked") => revoked = Some(args.path()?),
            Arg::Long("principal") => principal = Some(args.value()?),
            Arg::Value(value) => names.push(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    if names.is_empty() {
        return Err(Error::usage("NAME is missing"));
    }
    let trust = Trust::read(allowed, revoked, principal)?.ok_or_else(|| {
        Error::fatal("nobody was said to be allowed to sign")
            .hint("give --allowed-signers FILE, or 'fdl config set gpg.ssh.allowedSignersFile FILE'")
    })?;
    trust.faults().iter().for_each(|fault| cli::warning(fault));
    let repository = cli::repository(repo)?;
    let mut output = Output::new(false);
    for name in names {
        let id = resolve(&repository, &name)?.id;
        let (signer, _) = trust.signer(&repository, id, &Version::bytes(&repository, id)?)?;
        output.record(&[&"good", &signer.principal, &signer.key])?;
    }
    output.finish()
}
