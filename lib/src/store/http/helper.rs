//! Git's credential helpers: a program of the user's that knows logins, as gitcredentials(7) has it. It is the one program
//! that the library starts, and only when a host has asked who asks.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use super::netrc::Login;
use crate::{Error, Result, config::Config, store::wire::var};

/// The user's helpers, and the host that they are asked about.
pub(super) struct Helpers {
    /// `protocol=https\nhost=...\n`
    about: String,
}

impl Helpers {
    /// The helpers for a host: `https://host:8080`.
    pub fn new(server: &str) -> Helpers {
        let (protocol, host) = server.split_once("://").unwrap_or(("https", server));
        Helpers { about: format!("protocol={protocol}\nhost={host}\n") }
    }

    /// The login that a helper knows: the first that knows one.
    pub fn get(&self) -> Result<Option<Login>> {
        for command in commands()? {
            let answer = run(&command, "get", &self.about)?;
            let value = |name: &str| {
                let found = answer.lines().filter_map(|line| line.split_once('=')).rfind(|(n, _)| *n == name);
                found.map(|(_, value)| value.to_owned())
            };
            if let Some((user, password)) = value("username").zip(value("password")) {
                return Ok(Some(Login { user, password }));
            }
        }
        Ok(None)
    }

    /// Tells all of them that a login was right, so that they may `store` it, or that it was wrong, to `erase` it.
    pub fn tell(&self, action: &'static str, login: &Login) -> Result<()> {
        let about = format!("{}username={}\npassword={}\n", self.about, login.user, login.password);
        commands()?.iter().try_for_each(|command| run(command, action, &about).map(drop))
    }
}

/// The commands that `FDL_CREDENTIAL_HELPER` or the settings `credential.helper` name, as Git has it: a shell command after
/// `!`, a path, or the `NAME` of `git credential-NAME`. An empty one takes back those before it.
fn commands() -> Result<Vec<String>> {
    let settings;
    let named = match var("FDL_CREDENTIAL_HELPER")? {
        Some(named) => vec![named],
        None => {
            settings = Config::user()?;
            settings.get_all("credential.helper")?.into_iter().map(str::to_owned).collect()
        }
    };
    let last = named.iter().rposition(String::is_empty).map_or(0, |at| at + 1);
    Ok(named[last..].iter().map(|named| command(named)).collect())
}

fn command(named: &str) -> String {
    match named.strip_prefix('!') {
        Some(command) => command.to_owned(),
        None if named.starts_with('/') => named.to_owned(),
        None => format!("git credential-{named}"),
    }
}

/// Runs a helper; returns what it prints. What it says on standard error is for the user.
fn run(command: &str, action: &str, input: &str) -> Result<String> {
    let cannot = |why: String| Error::fatal(format!("the credential helper '{command}' {why}"));
    let mut child = Command::new("sh")
        .args(["-c", &format!("{command} {action}")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| cannot(format!("does not start: {e}")))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A helper need not read all; what counts is what it says.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(|e| cannot(format!("cannot be waited for: {e}")))?;
    if !output.status.success() && action == "get" {
        return Err(cannot(format!("failed: {}", output.status)));
    }
    String::from_utf8(output.stdout).map_err(|_| cannot("does not answer in UTF-8".into()))
}
