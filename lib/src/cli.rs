//! What every `main` shares: usage, options, records in and out, and the way from an error to an exit status.

use std::{
    env,
    fmt::Display,
    io::{self, BufRead, BufReader, BufWriter, Read, Stdout, Write},
    process::ExitCode,
};

use camino::{Utf8Path, Utf8PathBuf};
pub use lexopt::Arg;

use crate::{
    Error, Kind, Result,
    key::Key,
    repository::Repository,
    text::{Escaped, system_text},
};

/// The longest record read from standard input, in bytes.
const MAX_RECORD: u64 = 1 << 20;

/// Runs a command: parses with `run`, reports its failure and turns it into the exit status.
///
/// `usage` is what `-h` prints; its first line is `usage: <name of the command> ...`.
pub fn main(usage: &'static str, run: impl FnOnce(&mut Args) -> Result<()>) -> ExitCode {
    match run(&mut Args { parser: lexopt::Parser::from_env(), usage }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error, usage);
            ExitCode::from(error.kind().exit_code())
        }
    }
}

fn report(error: &Error, usage: &str) {
    let message = error.to_string();
    if error.kind() == Kind::Pipe || message.is_empty() {
        return;
    }
    let label = if matches!(error.kind(), Kind::Fatal | Kind::Usage) { "fatal" } else { "error" };
    say(label, &message);
    if let Some(hint) = error.next_step() {
        say("hint", hint);
    }
    if error.kind() == Kind::Usage {
        // A standard error that is closed is no reason to fail in another way.
        let _ = writeln!(io::stderr(), "{usage}");
    }
}

fn say(label: &str, message: &str) {
    let _ = writeln!(io::stderr(), "{label}: {}", Escaped(message));
}

/// Tells the user of something that is not as it should be but stops nothing.
pub fn warning(message: &str) {
    say("warning", message);
}

/// Tells the user how it went. A standard error that is closed or full is no reason to fail.
pub fn note(text: &str) {
    let _ = write!(io::stderr(), "{text}");
}

/// Tells the user the next step.
pub fn hint(message: &str) {
    say("hint", message);
}

/// The command line.
pub struct Args {
    parser: lexopt::Parser,
    usage: &'static str,
}

impl Args {
    /// The next option or operand. Answers `-h`, `--help` and `--version` itself, and ends the process then.
    #[expect(clippy::should_implement_trait, reason = "an item borrows the parser, as lexopt's own `next` has it")]
    pub fn next(&mut self) -> Result<Option<Arg<'_>>> {
        match self.parser.next().map_err(|e| Error::usage(e.to_string()))? {
            Some(Arg::Short('h') | Arg::Long("help")) => answer(self.usage),
            Some(Arg::Long("version")) => answer(concat!("fdl version ", env!("CARGO_PKG_VERSION"))),
            other => Ok(other),
        }
    }

    /// The value of the option that `next` returned last.
    pub fn value(&mut self) -> Result<String> {
        let value = self.parser.value().map_err(|e| Error::usage(e.to_string()))?;
        utf8(value)
    }

    /// The value of the option that `next` returned last, as a path.
    pub fn path(&mut self) -> Result<Utf8PathBuf> {
        self.value().map(Utf8PathBuf::from)
    }

    /// The value of the option that `next` returned last, as a number.
    pub fn number<T: std::str::FromStr>(&mut self) -> Result<T> {
        let value = self.value()?;
        value.parse().map_err(|_| Error::usage(format!("'{value}' is not a number that can be used here")))
    }
}

fn answer(text: &str) -> ! {
    let done = writeln!(io::stdout(), "{text}");
    std::process::exit(if done.is_ok() { 0 } else { Kind::Pipe.exit_code().into() })
}

/// The error for an option or operand that the command does not know.
pub fn unexpected(arg: Arg<'_>) -> Error {
    Error::usage(arg.unexpected().to_string())
}

/// An operand as text.
pub fn utf8(value: std::ffi::OsString) -> Result<String> {
    value.into_string().map_err(|value| Error::usage(format!("'{}' is not valid UTF-8", value.display())))
}

/// An operand as a path.
pub fn path(value: std::ffi::OsString) -> Result<Utf8PathBuf> {
    utf8(value).map(Utf8PathBuf::from)
}

/// The repository that `--repo` or, without it, `FDL_REPO` names.
pub fn repository(option: Option<String>) -> Result<Repository> {
    Repository::open(&repository_url(option)?)
}

/// The URL of the repository that `--repo` or, without it, `FDL_REPO` names.
pub fn repository_url(option: Option<String>) -> Result<String> {
    match option {
        Some(url) => Ok(url),
        None => match env::var("FDL_REPO") {
            Ok(url) if !url.is_empty() => Ok(url),
            Err(env::VarError::NotUnicode(_)) => Err(Error::usage("FDL_REPO is not valid UTF-8")),
            _ => Err(Error::usage("no repository: give --repo URL or set FDL_REPO")),
        },
    }
}

/// The operand that the command cannot do without.
pub fn required<T>(value: Option<T>, what: &str) -> Result<T> {
    value.ok_or_else(|| Error::usage(format!("{what} is missing")))
}

/// Standard output as records: fields separated by TAB, ended by a newline with unsafe characters escaped, or with
/// `-z` ended by NUL and raw.
pub struct Output {
    to: BufWriter<Stdout>,
    z: bool,
}

impl Output {
    /// The standard output of this process.
    pub fn new(z: bool) -> Output {
        Output { to: BufWriter::new(io::stdout()), z }
    }

    /// Writes one record.
    pub fn record(&mut self, fields: &[&dyn Display]) -> Result<()> {
        for (i, field) in fields.iter().enumerate() {
            let tab = if i == 0 { "" } else { "\t" };
            if self.z {
                write!(self.to, "{tab}{field}")
            } else {
                write!(self.to, "{tab}{}", Escaped(&field.to_string()))
            }
            .map_err(output_error)?;
        }
        self.to.write_all(if self.z { b"\0" } else { b"\n" }).map_err(output_error)
    }

    /// Writes bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.to.write_all(bytes).map_err(output_error)
    }

    /// Copies an object to its end; `key` names it in the error.
    pub fn copy(&mut self, key: &Key, from: &mut dyn Read) -> Result<()> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => self.bytes(&buffer[..n])?,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Error::store(format!("cannot read '{key}': {e}"))),
            }
        }
    }

    /// Hands on all that was written. Without this call the end of the output may be lost unnoticed.
    pub fn finish(mut self) -> Result<()> {
        self.to.flush().map_err(output_error)
    }
}

fn output_error(e: io::Error) -> Error {
    match e.kind() {
        io::ErrorKind::BrokenPipe => Error::new(Kind::Pipe, ""),
        _ => Error::store(format!("cannot write to standard output: {}", system_text(&e))),
    }
}

/// The records of standard input, each split at TABs: lines, or with `z` records ended by NUL. They end with the first
/// error, so that nobody takes the rest of a record for the next one. A record without its end is an error: cut off, it
/// may name another object, or say that any version will do.
pub fn records(z: bool) -> impl Iterator<Item = Result<Vec<String>>> {
    let mut from = BufReader::new(io::stdin());
    let end = if z { 0 } else { b'\n' };
    let (mut number, mut failed) = (0u64, false);
    let mut next = move || {
        number += 1;
        let mut record = Vec::new();
        match from.by_ref().take(MAX_RECORD).read_until(end, &mut record) {
            Ok(0) => return None,
            Ok(_) => {}
            Err(e) => return Some(Err(Error::fatal(format!("cannot read standard input: {}", system_text(&e))))),
        }
        if record.pop() != Some(end) {
            let what = if record.len() as u64 + 1 == MAX_RECORD { "is too long" } else { "was cut off" };
            return Some(Err(Error::fatal(format!("record {number} of standard input {what}"))));
        }
        let text = String::from_utf8(record)
            .map_err(|_| Error::fatal(format!("record {number} of standard input is not valid UTF-8")));
        Some(text.map(|text| text.split('\t').map(str::to_owned).collect()))
    };
    std::iter::from_fn(move || {
        let record = if failed { None } else { next() };
        failed |= matches!(record, Some(Err(_)));
        record
    })
}

/// The file at `path` from the command line, in the words of an error.
pub fn cannot_open(path: &Utf8Path, e: &io::Error) -> Error {
    match e.kind() {
        io::ErrorKind::NotFound => Error::not_found(format!("'{path}' does not exist")),
        _ => Error::fatal(format!("cannot open '{path}': {e}")),
    }
}
