//! Prints the `dataset.json` of a catalog.

use std::process::ExitCode;

use fdl::{
    Result,
    cli::{self, Arg, Args, Output},
    json,
};
use fdl_catalog::{Catalog, describe};

const USAGE: &str = "usage: fdl-build-dataset-json CATALOG";

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
    let mut output = Output::new(false);
    output.bytes(&json::to_bytes(&describe(&catalog)?)?)?;
    output.finish()
}
