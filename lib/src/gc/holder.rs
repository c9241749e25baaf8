//! Which process does a thing, told so that another on the same machine can find out whether it still runs.

use std::fs;

use rustix::{
    io::Errno,
    process::{Pid, test_kill_process},
};
use serde::{Deserialize, Serialize};

/// A process of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// This start of the machine, which no other machine has.
    boot: String,
    /// The namespace in which the process id counts: containers of one machine have their own.
    pid_namespace: String,
    /// The process id.
    pid: u32,
    /// When it began, in clock ticks since the boot: process ids are used again.
    started: u64,
}

impl Holder {
    /// This process; `None` where the system does not tell.
    pub fn this() -> Option<Holder> {
        let pid = std::process::id();
        let Found::Running(started) = find(pid) else { return None };
        Some(Holder { boot: boot()?, pid_namespace: pid_namespace()?, pid, started })
    }

    /// Whether it is certain that the process has ended.
    pub fn is_dead(&self) -> bool {
        let is_here = boot().as_ref() == Some(&self.boot) && pid_namespace().as_ref() == Some(&self.pid_namespace);
        is_here
            && match find(self.pid) {
                Found::Running(started) => started != self.started,
                Found::Nothing => true,
                Found::Hidden => false,
            }
    }
}

/// What stands behind a process id.
enum Found {
    /// A process that began then, in clock ticks since the boot.
    Running(u64),
    /// None, or one that has ended and was not waited for.
    Nothing,
    /// One that `/proc` keeps from us, as it may keep those of other users.
    Hidden,
}

fn boot() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

fn pid_namespace() -> Option<String> {
    fs::read_link("/proc/self/ns/pid").ok()?.into_os_string().into_string().ok()
}

/// When a process began: field 22 of `/proc/PID/stat`, see proc(5). The second field is a name in parentheses and may hold
/// anything; the third is `Z` or `X` where it has ended.
fn find(pid: u32) -> Found {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let is_gone = pid.is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH));
        return if is_gone { Found::Nothing } else { Found::Hidden };
    };
    let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    match fields.next() {
        Some("Z" | "X") => Found::Nothing,
        Some(_) => fields.nth(18).and_then(|ticks| ticks.parse().ok()).map_or(Found::Hidden, Found::Running),
        None => Found::Hidden,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_another_of_its_id_is_not() {
        let this = Holder::this().unwrap();
        assert!(!this.is_dead());
        assert!(Holder { started: this.started + 1, ..this.clone() }.is_dead());
        assert!(!Holder { boot: "another".into(), started: 0, ..this }.is_dead());
    }

    #[test]
    fn a_process_that_ended_is_dead() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let Found::Running(started) = find(child.id()) else { panic!("it does not run") };
        let holder = Holder { pid: child.id(), started, ..Holder::this().unwrap() };
        assert!(!holder.is_dead());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(holder.is_dead());
    }
}
