//! A bot as a process: lines to it, lines from it, and a bounded end.
//!
//! This file knows nothing of games. Three threads per bot keep it from blocking a game: one writes lines that the bot
//! may never read, one reads lines that may never end, and one reads stderr and keeps its last part. Queues of bounded
//! length connect them to the game. The threads end when the pipes close. Nothing waits for them, because a process
//! that a bot started may hold the pipes open.
//!
//! A bot has its own process group where the system supports it, and the whole group ends with the game. On Linux
//! this includes processes that have left the group, as with `setsid`: they have the bot's environment, which
//! contains a mark.

use std::ffi::OsString;
use std::io::{self, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::faults::BotFault;
use super::lines::{InputLine, MAX_LINE_BYTES, read_line, shown};
use super::messages::{FrontEndMessage, write};

/// Most lines that wait for a bot to read. A piece makes three or four, so such a bot has left many moves unread.
const OUTBOX: usize = 256;
/// Most lines of a bot that wait to be read; beyond that, the bot waits.
const INBOX: usize = 16;
/// Bytes of the bot's stderr that are kept: the last lines of a panic.
const LAST_WORDS: usize = 400;
/// How long a bot may take to end by itself.
const GRACE: Duration = Duration::from_millis(500);
/// How long to wait for the exit code of a bot that has closed its output.
const LINGER: Duration = Duration::from_millis(250);
/// How often to search for the processes of a bot.
#[cfg(target_os = "linux")]
const ROUNDS: usize = 10;
/// How often a wait checks whether all games must stop.
const LOOK: Duration = Duration::from_millis(50);

/// The environment variable that distinguishes a bot's processes from all others.
const MARK: &str = "TETRION_TBP_BOT";

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotCommand {
    /// Path of the program, or its name if it is to be searched for as a shell would.
    pub path: OsString,
    pub args: Vec<OsString>,
}

/// A running bot, which is killed when this value is dropped.
#[derive(Debug)]
pub(super) struct BotProcess {
    child: Child,
    /// The value of [`MARK`] in the bot's environment.
    #[cfg(target_os = "linux")]
    mark: String,
    inbox: Receiver<InputLine>,
    /// Lines to the bot; `None` once it has been told to quit.
    outbox: Option<SyncSender<String>>,
    last_words: Arc<Mutex<Vec<u8>>>,
    has_ended: bool,
}

/// Why a game cannot continue.
#[derive(Debug)]
pub enum Broken {
    /// The bot made a fault.
    By(BotFault),
    Stopped,
}

impl From<BotFault> for Broken {
    fn from(fault: BotFault) -> Broken {
        Broken::By(fault)
    }
}

impl BotProcess {
    /// Starts a program in a separate process group, and the three threads that talk to it.
    pub fn start(program: &BotCommand) -> io::Result<BotProcess> {
        let mut command = Command::new(&program.path);
        command.args(&program.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mark = new_mark();
        command.env(MARK, &mark);
        let mut child = command.spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (to_bot, outbox) = sync_channel(OUTBOX);
        let (from_bot, inbox) = sync_channel(INBOX);
        let last_words = Arc::default();
        // Killed when dropped from here on, should there be no threads.
        let bot = BotProcess {
            child,
            #[cfg(target_os = "linux")]
            mark,
            inbox,
            outbox: Some(to_bot),
            last_words: Arc::clone(&last_words),
            has_ended: false,
        };
        let spawn = |work: Box<dyn FnOnce() + Send>| {
            thread::Builder::new().name("bot".to_owned()).stack_size(256 << 10).spawn(work)
        };
        if let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) {
            spawn(Box::new(move || tell(stdin, &outbox)))?;
            spawn(Box::new(move || listen(stdout, &from_bot)))?;
            spawn(Box::new(move || drain(stderr, &last_words)))?;
        }
        Ok(bot)
    }

    /// Sends a line to the bot, without waiting until it reads. A bot that has exited shows that by its silence.
    pub fn tell(&self, line: String) -> Result<(), BotFault> {
        match self.outbox.as_ref().map(|outbox| outbox.try_send(line)) {
            Some(Err(TrySendError::Full(_))) => Err(BotFault::Deaf),
            _ => Ok(()),
        }
    }

    /// The bot's next line, which must come before the deadline; `waited` is the time it had.
    pub fn hear(
        &mut self,
        expected: &'static str,
        deadline: Instant,
        waited: Duration,
        is_stopped: &AtomicBool,
    ) -> Result<String, Broken> {
        let line = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.inbox.recv_timeout(left.min(LOOK)) {
                Ok(line) => break line,
                Err(RecvTimeoutError::Disconnected) => return Err(self.left(expected).into()),
                Err(RecvTimeoutError::Timeout) if is_stopped.load(Ordering::Relaxed) => {
                    return Err(Broken::Stopped);
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    return Err(BotFault::Silent { expected, waited }.into());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        let (line, why) = match line {
            InputLine::Text(line) => return Ok(line),
            InputLine::NotText => ("...", "it is no UTF-8".to_owned()),
            InputLine::TooLong => ("...", format!("it has more than {MAX_LINE_BYTES} bytes")),
        };
        Err(BotFault::NotAMessage { line: line.to_owned(), why }.into())
    }

    /// The fault of a bot that has closed its output.
    fn left(&mut self, expected: &'static str) -> BotFault {
        thread::sleep(LINGER);
        let how = match self.kill() {
            Ok(status) if status.success() => "without an error".to_owned(),
            // It may be alive, and have closed its output only.
            Ok(status) if status.code().is_none() => format!("or its output did ({status})"),
            Ok(status) => format!("with {status}"),
            Err(error) => error.to_string(),
        };
        let words = self.last_words.lock().expect("a lock that is not poisoned");
        let words = String::from_utf8_lossy(&words);
        let last: Vec<&str> = words.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = last[last.len().saturating_sub(3)..].join(" / ");
        BotFault::Left { expected, how, last_words: shown(&last, LAST_WORDS) }
    }

    /// Tells the bot to quit, and kills it if it does not.
    pub fn quit(mut self) {
        let _ = self.tell(write(&FrontEndMessage::Quit));
        drop(self.outbox.take());
        let deadline = Instant::now() + GRACE;
        loop {
            // What it still says is of no interest, but that it closes its output: it has ended then.
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || self.inbox.recv_timeout(left).is_err() {
                return;
            }
        }
    }

    /// Kills the bot and everything that it started, and waits until it is gone.
    fn kill(&mut self) -> io::Result<std::process::ExitStatus> {
        // Before it is waited for: until then its number is its own.
        #[cfg(unix)]
        if !self.has_ended
            && let Some(group) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.kill();
        #[cfg(target_os = "linux")]
        if !self.has_ended {
            kill_marked(&self.mark);
        }
        self.has_ended = true;
        self.child.wait()
    }
}

impl Drop for BotProcess {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

/// A unique mark, for bots of this process and of others at the same time.
fn new_mark() -> String {
    static STARTED: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed))
}

/// Kills all processes with this mark in their environment, and those that they start meanwhile.
///
/// A process that was given another environment is not found.
#[cfg(target_os = "linux")]
fn kill_marked(mark: &str) {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    let wanted = format!("{MARK}={mark}");
    let is_marked = |id: i32| {
        let variables = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        variables.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    // What it starts while the list is read is in the next one. A program that starts others faster than that goes on.
    for _ in 0..ROUNDS {
        let Ok(processes) = std::fs::read_dir("/proc") else { return };
        let ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let killed = ids.filter(|id| {
            // The descriptor stays that of this process, even if its number is given to another one.
            let process = Pid::from_raw(*id).and_then(|id| pidfd_open(id, PidfdFlags::empty()).ok());
            let process = process.filter(|_| is_marked(*id));
            process.is_some_and(|process| pidfd_send_signal(process, Signal::KILL).is_ok())
        });
        if killed.count() == 0 {
            return;
        }
    }
}

/// Writes to a bot until it exits, or there is nothing more to send.
fn tell(mut stdin: ChildStdin, lines: &Receiver<String>) {
    while let Ok(line) = lines.recv() {
        if stdin.write_all(line.as_bytes()).is_err() {
            return;
        }
    }
}

/// Reads the lines of a bot until it exits, or one is unusable.
fn listen(stdout: ChildStdout, lines: &SyncSender<InputLine>) {
    let mut stdout = BufReader::with_capacity(16 << 10, stdout);
    while let Ok(Some(line)) = read_line(&mut stdout) {
        let is_last = line == InputLine::TooLong;
        if lines.send(line).is_err() || is_last {
            return;
        }
    }
}

/// Reads a bot's stderr, and keeps the end of it.
fn drain(mut stderr: ChildStderr, last_words: &Mutex<Vec<u8>>) {
    let mut some = [0; 4096];
    while let Ok(len @ 1..) = stderr.read(&mut some) {
        let mut words = last_words.lock().expect("a lock that is not poisoned");
        words.extend_from_slice(&some[..len]);
        let too_many = words.len().saturating_sub(2 * LAST_WORDS);
        words.drain(..too_many);
    }
}
