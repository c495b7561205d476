//! Programs that tests start: each of them ends in time, and reacts to signals as on a terminal.
//!
//! [`Command`] is the standard library's, with two differences. It kills a program that runs longer than [`LIMIT`], so
//! that a test that waits for the program, or for its output, fails and does not hang. And the program does not inherit
//! ignored signals: under `nohup` every program ignores SIGHUP, and in the background of a script also SIGINT and
//! SIGQUIT, so tests that send these signals would wait for nothing.

use std::ffi::OsStr;
use std::io;
use std::process::{Child, ExitStatus, Output, Stdio};
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

/// Time of a program: several times what the slowest takes on a busy machine.
#[cfg(target_os = "linux")]
const LIMIT: Duration = Duration::from_secs(300);

/// A program to start, like [`std::process::Command`].
#[derive(Debug)]
pub struct Command {
    command: std::process::Command,
    /// Whether stdin, stdout and stderr are given.
    given: [bool; 3],
}

impl Command {
    /// A program by its path or name.
    pub fn new(program: impl AsRef<OsStr>) -> Command {
        Command { command: std::process::Command::new(program), given: [false; 3] }
    }

    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Command {
        self.command.arg(arg);
        self
    }

    pub fn args(&mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Command {
        self.command.args(args);
        self
    }

    /// Sets a variable of the environment.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Command {
        self.command.env(name, value);
        self
    }

    /// Sets variables of the environment.
    pub fn envs(
        &mut self,
        variables: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    ) -> &mut Command {
        self.command.envs(variables);
        self
    }

    /// Removes a variable from the environment.
    pub fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut Command {
        self.command.env_remove(name);
        self
    }

    /// Sets the folder in which the program starts.
    pub fn current_dir(&mut self, folder: impl AsRef<std::path::Path>) -> &mut Command {
        self.command.current_dir(folder);
        self
    }

    pub fn stdin(&mut self, stdin: impl Into<Stdio>) -> &mut Command {
        self.given[0] = true;
        self.command.stdin(stdin);
        self
    }

    pub fn stdout(&mut self, stdout: impl Into<Stdio>) -> &mut Command {
        self.given[1] = true;
        self.command.stdout(stdout);
        self
    }

    pub fn stderr(&mut self, stderr: impl Into<Stdio>) -> &mut Command {
        self.given[2] = true;
        self.command.stderr(stderr);
        self
    }

    /// Starts the program, and kills it when its time is over.
    pub fn spawn(&mut self) -> io::Result<Child> {
        #[cfg(unix)]
        stop_ignoring();
        let child = self.command.spawn()?;
        #[cfg(target_os = "linux")]
        kill_after(LIMIT, &child, format!("{:?}", self.command));
        Ok(child)
    }

    /// Runs the program and collects its output. Without another stdin it has none.
    pub fn output(&mut self) -> io::Result<Output> {
        if !self.given[0] {
            self.stdin(Stdio::null());
        }
        if !self.given[1] {
            self.stdout(Stdio::piped());
        }
        if !self.given[2] {
            self.stderr(Stdio::piped());
        }
        self.spawn()?.wait_with_output()
    }

    /// Runs the program to its end, with the stdin and stdout of the tests unless others are set.
    pub fn status(&mut self) -> io::Result<ExitStatus> {
        self.spawn()?.wait()
    }
}

/// Kills a program that has not ended after this time.
#[cfg(target_os = "linux")]
fn kill_after(limit: Duration, child: &Child, command: String) {
    use rustix::process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid,
    };
    // Not the number of the process, which another one may get.
    let process =
        pidfd_open(Pid::from_child(child), PidfdFlags::empty()).expect("a child that is not waited for");
    let begun = Instant::now();
    std::thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        // An error if the test has waited for the program.
        while let Ok(None) = waitid(WaitId::PidFd(std::os::fd::AsFd::as_fd(&process)), options) {
            if begun.elapsed() > limit {
                eprintln!("killed after {limit:?}: {command}");
                let _ = pidfd_send_signal(&process, Signal::KILL);
                return;
            }
            std::thread::sleep(Duration::from_secs(1));
        }
    });
}

/// Makes the test program handle the signals that it ignores. A program that it starts then has their default actions:
/// only the ignoring of a signal is inherited.
#[cfg(unix)]
fn stop_ignoring() {
    use tokio::signal::unix::{SignalKind, signal};
    static DONE: std::sync::Once = std::sync::Once::new();
    let stop = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().expect("a runtime");
        let _inside = runtime.enter();
        for kind in
            [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::quit(), SignalKind::terminate()]
        {
            if ignored >> (kind.as_raw_value() - 1) & 1 == 1 {
                // The handler stays when this value is dropped.
                drop(signal(kind).expect("a signal that can be handled"));
            }
        }
    };
    // On a thread without a runtime: within an asynchronous test, another one cannot be dropped.
    DONE.call_once(|| std::thread::spawn(stop).join().expect("signals that can be handled"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_that_does_not_end_is_killed() {
    use std::os::unix::process::ExitStatusExt;
    let mut program = std::process::Command::new("sleep").arg("600").stdout(Stdio::piped()).spawn().unwrap();
    kill_after(Duration::ZERO, &program, "sleep".to_owned());
    let mut output = String::new();
    io::Read::read_to_string(&mut program.stdout.take().unwrap(), &mut output).unwrap();
    assert_eq!(program.wait().unwrap().signal(), Some(9));
}
