//! Git's credential helpers: a program of the user's that knows logins, as gitcredentials(7) has it. It is the one program
//! that the library starts, and only when a host has asked who asks.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use super::netrc::Login;
use crate::{Error, Result, store::wire::var};

/// A helper, and the host that it is asked about.
pub(super) struct Helper {
    command: String,
    /// `protocol=https\nhost=...\n`
    about: String,
}

impl Helper {
    /// The helper that `FDL_CREDENTIAL_HELPER` names, in the way of Git's `credential.helper`: a shell command after `!`, a
    /// path, or the `NAME` of `git credential-NAME`.
    pub fn new(server: &str) -> Result<Option<Helper>> {
        let Some(named) = var("FDL_CREDENTIAL_HELPER")? else { return Ok(None) };
        let (protocol, host) = server.split_once("://").unwrap_or(("https", server));
        let command = match named.strip_prefix('!') {
            Some(command) => command.to_owned(),
            None if named.starts_with('/') => named,
            None => format!("git credential-{named}"),
        };
        Ok(Some(Helper { command, about: format!("protocol={protocol}\nhost={host}\n") }))
    }

    /// The login that the helper knows, if it knows one.
    pub fn get(&self) -> Result<Option<Login>> {
        let answer = self.run("get", &self.about)?;
        let value = |name: &str| {
            let found = answer.lines().filter_map(|line| line.split_once('=')).rfind(|(n, _)| *n == name);
            found.map(|(_, value)| value.to_owned())
        };
        Ok(value("username").zip(value("password")).map(|(user, password)| Login { user, password }))
    }

    /// Tells the helper that a login was right, so that it may `store` it, or that it was wrong, to `erase` it.
    pub fn tell(&self, action: &'static str, login: &Login) -> Result<()> {
        let about = format!("{}username={}\npassword={}\n", self.about, login.user, login.password);
        self.run(action, &about).map(drop)
    }

    /// Runs the helper; returns what it prints. What it says on standard error is for the user.
    fn run(&self, action: &str, input: &str) -> Result<String> {
        let cannot = |why: String| Error::fatal(format!("the credential helper '{}' {why}", self.command));
        let mut child = Command::new("sh")
            .args(["-c", &format!("{} {action}", self.command)])
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
}
