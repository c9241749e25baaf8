//! Tries whether a store has what a repository needs of it; one line a property.

use std::process::ExitCode;

use fdl::{
    Error, Kind, Result,
    cli::{self, Arg, Args, Output},
    probe, store,
};

const USAGE: &str = "usage: fdl-probe-store [-z] URL";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut z, mut url) = (false, None);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Short('z') => z = true,
            Arg::Value(value) if url.is_none() => url = Some(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let store = store::open(&cli::required(url, "URL")?)?;
    let mut output = Output::new(z);
    let mut trusted = true;
    probe::probe(store.as_ref(), &mut |finding| {
        trusted &= finding.holds || !finding.needed;
        output.record(&[&finding.name, &if finding.holds { "yes" } else { "no" }, &finding.note])
    })?;
    output.finish()?;
    if trusted { Ok(()) } else { Err(Error::new(Kind::No, "")) }
}
