//! Reads and writes the user's settings.

use std::{fmt::Display, process::ExitCode};

use fdl::{
    Error, Kind, Result,
    cli::{self, Arg, Args, Output},
    config::{Config, Name, Others},
};

const USAGE: &str = "\
usage: fdl-config [--file FILE] get [-z] [--all] [--type TYPE] [--default VALUE] NAME
   or: fdl-config [--file FILE] set [--all | --add] NAME VALUE
   or: fdl-config [--file FILE] unset [--all] NAME
   or: fdl-config [--file FILE] list [-z]";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

/// The command line.
#[derive(Default)]
struct Options {
    z: bool,
    all: bool,
    add: bool,
    kind: Option<String>,
    default: Option<String>,
}

fn run(args: &mut Args) -> Result<()> {
    let (mut file, mut options, mut words) = (None, Options::default(), Vec::new());
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("file") | Arg::Short('f') => file = Some(args.path()?),
            Arg::Short('z') => options.z = true,
            Arg::Long("all") => options.all = true,
            Arg::Long("add") => options.add = true,
            Arg::Long("type") => options.kind = Some(args.value()?),
            Arg::Long("default") => options.default = Some(args.value()?),
            Arg::Value(value) if words.len() < 3 => words.push(cli::utf8(value)?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let path = match file {
        Some(path) => path,
        None => Config::user_path()?.ok_or_else(|| Error::fatal("neither HOME nor XDG_CONFIG_HOME is set"))?,
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["get", name] => get(&Config::read(&path)?, name, &options),
        ["list"] => list(&Config::read(&path)?, options.z),
        ["set", name, value] => {
            let others = match (options.all, options.add) {
                (true, true) => return Err(Error::usage("--all and --add do not go together")),
                (true, false) => Others::Replace,
                (false, true) => Others::Keep,
                (false, false) => Others::Refuse,
            };
            Config::set(&path, name, value, others)
        }
        ["unset", name] => Config::unset(&path, name, options.all),
        [] => Err(Error::usage("one of get, set, unset and list is wanted")),
        ["get" | "set" | "unset" | "list", ..] => Err(Error::usage("these are not the operands that are wanted")),
        [word, ..] => Err(Error::usage(format!("'{word}' is none of get, set, unset and list"))),
    }
}

fn get(config: &Config, name: &str, options: &Options) -> Result<()> {
    let mut output = Output::new(options.z);
    let value: Option<Box<dyn Display>> = match options.kind.as_deref() {
        _ if options.all => {
            let values = config.get_all(name)?;
            values.iter().try_for_each(|value| output.record(&[value]))?;
            return if values.is_empty() { Err(not_set(name)?) } else { output.finish() };
        }
        None => config.get(name)?.map(|value| Box::new(value.to_owned()) as _),
        Some("bool") => config.boolean(name)?.map(|value| Box::new(value) as _),
        Some("int") => config.integer(name)?.map(|value| Box::new(value) as _),
        Some("path") => config.path(name)?.map(|value| Box::new(value) as _),
        Some(kind) => return Err(Error::usage(format!("'{kind}' is none of the types bool, int and path"))),
    };
    match (&value, &options.default) {
        (Some(value), _) => output.record(&[value])?,
        (None, Some(default)) => output.record(&[default])?,
        (None, None) => return Err(not_set(name)?),
    }
    output.finish()
}

/// As Git's: a setting that is not there is told by the exit status alone.
fn not_set(name: &str) -> Result<Error> {
    name.parse::<Name>().map(|_| Error::new(Kind::No, ""))
}

fn list(config: &Config, z: bool) -> Result<()> {
    let mut output = Output::new(z);
    for entry in config.entries() {
        match &entry.value {
            Some(value) => output.record(&[&entry.name, value])?,
            None => output.record(&[&entry.name])?,
        }
    }
    output.finish()
}
