//! Prints the branch that HEAD names, or makes it name another.

use std::process::ExitCode;

use fdl::{
    Error, Result,
    cli::{self, Arg, Args, Output},
    refs,
};

const USAGE: &str = "usage: fdl-symbolic-ref [--repo URL] [--short] HEAD [REF]";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut short, mut names) = (None, false, Vec::new());
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Long("short") => short = true,
            Arg::Value(value) if names.len() < 2 => names.push(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let (head, branch) = match names.as_slice() {
        [] => return Err(Error::usage("HEAD is missing")),
        [head] => (head, None),
        [head, branch, ..] => (head, Some(branch.parse()?)),
    };
    if head != "HEAD" {
        return Err(Error::fatal(format!("'{head}' is no symbolic ref: there is only HEAD")));
    }
    let repository = cli::repository(repo)?;
    match branch {
        Some(branch) => refs::set_head(&repository, &branch),
        None => {
            let branch = refs::head(&repository)?;
            let mut output = Output::new(false);
            output.record(&[&if short { branch.short() } else { branch.as_str() }])?;
            output.finish()
        }
    }
}
