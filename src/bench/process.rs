//! `tetrion serve` in a separate process, to measure its start, memory and calls.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::error::BenchError;

/// Command that starts this program if it is a library of another one: its file and its first arguments.
pub static COMMAND: OnceLock<Vec<OsString>> = OnceLock::new();

/// A server process, killed when this value is dropped.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    /// Address on which the server listens.
    pub address: String,
    /// Time from the start of the process to its line on stdout.
    pub start_time: Duration,
}

impl ServerProcess {
    /// Starts this program as a server on a free port of this machine.
    ///
    /// # Errors
    /// If the process cannot be started, or ends without printing its address.
    pub fn start() -> Result<ServerProcess, BenchError> {
        let program = match COMMAND.get() {
            Some(command) => command.clone(),
            None => {
                let program = std::env::current_exe().map_err(BenchError::system("find this program"))?;
                vec![program.into_os_string()]
            }
        };
        let mut command = Command::new(&program[0]);
        command.args(&program[1..]);
        // The user's settings for other servers, such as tokens, must not apply here.
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("TETRION_")) {
                command.env_remove(name);
            }
        }
        // Keeps Ctrl-C away from the server, because this process ends it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let start = Instant::now();
        let mut child = command
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "error", "--exit-on-stdin-eof"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(BenchError::system(format!("start {}", program[0].display())))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            let read = BufReader::new(stdout).read_line(&mut line);
            read.map_err(BenchError::system("read the server's stdout"))?;
        }
        let start_time = start.elapsed();
        let Some(address) = line.trim_end().strip_prefix("tetrion listening on ").map(str::to_owned) else {
            let _ = child.kill();
            let status = child.wait().map_err(BenchError::system("wait for the server"))?;
            return Err(BenchError::Server(format!("{status} {line:?}")));
        };
        Ok(ServerProcess { child, address, start_time })
    }

    /// Resident memory of the process, if the system reports it (Linux).
    pub fn resident_bytes(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kibibytes * 1024)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
