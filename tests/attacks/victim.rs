//! The server under attack: a process of its own under hard limits, which is watched from outside.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::cgroup::Cgroup;

/// Address space that the process gets: an allocation past it fails, and a Rust program whose allocation fails aborts.
/// Attacks may hold less, because an allocator keeps addresses whose memory it has returned.
const ADDRESS_SPACE_KIB: u64 = 8 << 20;
/// Files and sockets it may have open, unless an attack says otherwise.
pub const DESCRIPTORS: u32 = 20_000;
/// How long it may go on after SIGTERM, and how much later it may be gone on a machine that has other work to do.
const DRAIN: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(12));
/// Bytes that it may log while it is attacked: a caller that could fill a disk would be a danger too.
const MAX_LOG: u64 = 1 << 20;

/// A running `tetrion serve`, killed when it goes out of scope.
#[derive(Debug)]
pub struct Victim {
    child: Child,
    pub address: SocketAddr,
    log: Arc<Log>,
    reader: Option<JoinHandle<()>>,
}

/// The log of a server, of which only the amount and the first lines are kept.
#[derive(Debug, Default)]
struct Log {
    bytes: AtomicU64,
    /// The first panic, and the first lines.
    panic: Mutex<Option<String>>,
    lines: Mutex<Vec<String>>,
}

impl Victim {
    /// Starts a server on a free port, with these flags and maybe a certificate.
    pub fn start(flags: &[&str], encrypted: bool, descriptors: u32, stderr: bool) -> Result<Victim> {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Victim::start_at(any, flags, encrypted, descriptors, stderr)
    }

    /// Starts a server on a free port in a control group.
    pub fn start_in(cgroup: &Cgroup, flags: &[&str]) -> Result<Victim> {
        let enter = format!("echo $$ > '{}' && ", cgroup.entry().display());
        Victim::spawn(&enter, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), flags, false, DESCRIPTORS, true)
    }

    /// Starts a server at an address.
    pub fn start_at(
        address: SocketAddr,
        flags: &[&str],
        encrypted: bool,
        descriptors: u32,
        stderr: bool,
    ) -> Result<Victim> {
        Victim::spawn("", address, flags, encrypted, descriptors, stderr)
    }

    fn spawn(
        enter: &str,
        address: SocketAddr,
        flags: &[&str],
        encrypted: bool,
        descriptors: u32,
        stderr: bool,
    ) -> Result<Victim> {
        let limits =
            format!("{enter}ulimit -v {ADDRESS_SPACE_KIB} && ulimit -n {descriptors} && exec \"$0\" \"$@\"");
        let program = std::env::var("TETRION_BINARY").unwrap_or(env!("CARGO_BIN_EXE_tetrion").to_owned());
        let mut command = Command::new("sh");
        command.args(["-c", &limits, &program]);
        let drain = DRAIN.0.as_secs().to_string();
        let listen = address.to_string();
        command.args(["serve", "--listen", &listen, "--drain-timeout", &drain]).args(flags);
        if encrypted {
            let file = |name: &str| format!("{}/tests/data/tls/{name}", env!("CARGO_MANIFEST_DIR"));
            command.args(["--tls-cert", &file("cert.pem"), "--tls-key", &file("key.pem")]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot start the server")?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("its stdout")?).read_line(&mut line)?;
        let address = line.trim_end().strip_prefix("tetrion listening on ").map(str::parse);
        let Some(Ok(address)) = address else { bail!("the server says {line:?}, and not where it listens") };
        let log = Arc::new(Log::default());
        let reader = child.stderr.take().filter(|_| stderr).map(|stderr| {
            let log = log.clone();
            std::thread::spawn(move || log.read(stderr))
        });
        Ok(Victim { child, address, log, reader })
    }

    /// Memory that it has now, and the most that it has had, in bytes.
    pub fn memory(&self) -> (u64, u64) {
        (status(self.child.id(), "VmRSS:"), status(self.child.id(), "VmHWM:"))
    }

    /// Its memory in MiB at these intervals, until it has stopped.
    pub fn watch(&self, every: Duration) -> tokio::task::JoinHandle<Vec<u64>> {
        let process = self.child.id();
        tokio::spawn(async move {
            let mut seen = Vec::new();
            loop {
                match status(process, "VmRSS:") {
                    0 => return seen,
                    bytes => seen.push(bytes >> 20),
                }
                tokio::time::sleep(every).await;
            }
        })
    }

    /// Time of a core that it has used.
    pub fn cpu_time(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let ticks =
            after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok());
        Duration::from_millis(ticks.sum::<u64>() * 10)
    }

    /// Asks it to stop, and checks that it does so in time and that its log is in order.
    pub async fn stop(mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            bail!("the server has died: {}", self.describe(status));
        }
        let asked = Instant::now();
        self.terminate()?;
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            let since = asked.elapsed();
            ensure!(since < DRAIN.0 + DRAIN.1, "it goes on {since:?} after SIGTERM: {}", self.last_lines());
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        ensure!(status.success(), "it did not end well: {}", self.describe(status));
        self.check_log()
    }

    /// Sends SIGTERM, which lets open calls end.
    pub fn terminate(&self) -> Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), Signal::TERM)?)
    }

    /// Kills it, and checks that its log is in order.
    pub fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        self.check_log()
    }

    fn check_log(&self) -> Result<()> {
        let panic = self.log.panic.lock().expect("a lock that is not poisoned").take();
        ensure!(panic.is_none(), "it has panicked: {}", panic.unwrap_or_default());
        let bytes = self.log.bytes.load(Ordering::Relaxed);
        ensure!(bytes <= MAX_LOG, "it has logged {bytes} bytes");
        Ok(())
    }

    fn describe(&self, status: ExitStatus) -> String {
        format!("{status}: {}", self.last_lines())
    }

    /// What it has logged last.
    fn last_lines(&self) -> String {
        let lines = self.log.lines.lock().expect("a lock that is not poisoned");
        lines.iter().rev().take(3).rev().cloned().collect::<Vec<_>>().join(" / ")
    }
}

/// Bytes of memory as the system reports them for a process; a dead process has none.
fn status(process: u32, key: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Log {
    fn read(&self, stderr: ChildStderr) {
        for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
            self.bytes.fetch_add(line.len() as u64 + 1, Ordering::Relaxed);
            let line = String::from_utf8_lossy(&line).into_owned();
            if line.contains("panic") {
                self.panic.lock().expect("a lock that is not poisoned").get_or_insert(line.clone());
            }
            let mut lines = self.lines.lock().expect("a lock that is not poisoned");
            if lines.len() < 1000 {
                lines.push(line);
            }
        }
    }
}
