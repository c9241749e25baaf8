//! Lists the data files that a catalog needs.

use std::process::ExitCode;

use fdl::{
    Result,
    cli::{self, Arg, Args, Output},
};
use fdl_catalog::{Catalog, list_files};

const USAGE: &str = "usage: fdl-ls-files [-z] [--snapshot N] [--prefix TEXT] CATALOG";

pub fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut z, mut snapshot, mut prefix, mut catalog) = (false, None, String::new(), None);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Short('z') => z = true,
            Arg::Long("snapshot") => snapshot = Some(args.number()?),
            Arg::Long("prefix") => prefix = args.value()?,
            Arg::Value(value) if catalog.is_none() => catalog = Some(cli::path(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let catalog = Catalog::open(&cli::required(catalog, "CATALOG")?)?;
    let mut output = Output::new(z);
    list_files(&catalog, snapshot, &mut |file| {
        output.record(&[&format_args!("{prefix}{}", file.path), &file.size, &file.kind.as_str()])
    })?;
    output.finish()
}
