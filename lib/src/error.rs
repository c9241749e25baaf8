//! The one error type. An error says what was wrong, with which key or name, and what to do next; its kind
//! decides the exit code. The table of exit codes stands here and nowhere else.

use std::fmt;

/// The result of everything that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What sort of failure it was: all that a caller, or a script, decides by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The answer is no: it differs, or there is nothing to do.
    No,
    /// Another writer won.
    Conflict,
    /// No such ref, version or object.
    NotFound,
    /// The version was expired or withdrawn.
    Expired,
    /// A digest, a size or a signature does not hold.
    Mismatch,
    /// The store or the host refuses, or cannot.
    Store,
    /// There is no signature.
    Unsigned,
    /// The signature is good, but nobody said that its key may sign.
    UnknownKey,
    /// The signature is good, but its key was not valid then.
    ExpiredKey,
    /// The signature is good, but its key was revoked.
    RevokedKey,
    /// Busy, or the outcome is unknown: nothing was cleaned up, try again later (`EX_TEMPFAIL` of sysexits.h).
    Busy,
    /// Bad input.
    Fatal,
    /// The command line is wrong.
    Usage,
    /// The reader of our output has gone; nothing is said (128 + SIGPIPE, as a shell reports it).
    Pipe,
}

impl Kind {
    /// The exit status of a command that fails so; see "EXIT STATUS" in `Documentation/fdl.md`.
    pub const fn exit_code(self) -> u8 {
        match self {
            Kind::No => 1,
            Kind::Conflict => 2,
            Kind::NotFound => 3,
            Kind::Expired => 4,
            Kind::Mismatch => 5,
            Kind::Store => 6,
            Kind::Unsigned => 7,
            Kind::UnknownKey => 8,
            Kind::ExpiredKey => 9,
            Kind::RevokedKey => 10,
            Kind::Busy => 75,
            Kind::Fatal => 128,
            Kind::Usage => 129,
            Kind::Pipe => 141,
        }
    }
}

/// A failure: one line for the user, and at most one hint.
#[derive(Clone, Debug)]
pub struct Error {
    kind: Kind,
    message: String,
    hint: Option<String>,
}

impl Error {
    /// An error of this kind; `message` is lower case and names the key, ref or file it is about.
    pub fn new(kind: Kind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), hint: None }
    }

    /// Bad input.
    pub fn fatal(message: impl Into<String>) -> Error {
        Error::new(Kind::Fatal, message)
    }

    /// A wrong command line.
    pub fn usage(message: impl Into<String>) -> Error {
        Error::new(Kind::Usage, message)
    }

    /// A missing ref, version or object.
    pub fn not_found(message: impl Into<String>) -> Error {
        Error::new(Kind::NotFound, message)
    }

    /// A store that refuses or cannot.
    pub fn store(message: impl Into<String>) -> Error {
        Error::new(Kind::Store, message)
    }

    /// A digest, size or id that is not what it should be.
    pub fn mismatch(message: impl Into<String>) -> Error {
        Error::new(Kind::Mismatch, message)
    }

    /// A write that lost to another writer's.
    pub fn conflict(message: impl Into<String>) -> Error {
        Error::new(Kind::Conflict, message)
    }

    /// The same error with the next step to take.
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    /// The same error with what it is about put before it: `context: message`.
    pub fn context(mut self, context: impl fmt::Display) -> Error {
        self.message = format!("{context}: {}", self.message);
        self
    }

    /// What sort of failure it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The next step to take, if one is known.
    pub fn next_step(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
