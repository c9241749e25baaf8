//! Prints the `files.json` of a catalog.

use std::process::ExitCode;

use fdl::{
    Result,
    cli::{self, Arg, Args, Output},
    files,
};
use fdl_catalog::{Catalog, list_files};

const USAGE: &str = "usage: fdl-build-files-json CATALOG";

pub fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let mut catalog = None;
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Value(value) if catalog.is_none() => catalog = Some(cli::path(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let catalog = Catalog::open(&cli::required(catalog, "CATALOG")?)?;
    let mut bytes = Vec::new();
    let mut writer = files::Writer::new(&mut bytes)?;
    list_files(&catalog, None, &mut |file| writer.file(file))?;
    writer.finish()?;
    let mut output = Output::new(false);
    output.bytes(&bytes)?;
    output.finish()
}
