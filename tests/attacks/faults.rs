//! Faults: a server that is drained, killed, or killed while it drains, and started again each time, on the same port and
//! with the same folder for its sessions.
//!
//! | fault | what becomes of its sessions |
//! | --- | --- |
//! | drained by SIGTERM | all of them go on with the next server |
//! | killed | none does: their callers learn that they do not exist |
//! | killed while it drains | all of them, or none |
//!
//! So here is also which errors a fault explains. A fault lasts from its signal until callers have had time to come back.

use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tonic::{Code, Status};
use tonic_types::StatusExt;

use crate::arena::Dice;
use crate::victim::{DESCRIPTORS, Victim};

/// How long callers may take to notice that the server is there again.
const GRACE: Duration = Duration::from_secs(2);
/// No fault begins so shortly before the end: callers shall end with a server that serves.
const QUIET: Duration = Duration::from_secs(5);
/// The longest time between SIGTERM and SIGKILL, in milliseconds: about as long as a drain takes.
const DRAIN_MS: usize = 200;

/// What happens to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    Drained,
    Killed,
    KilledInDrain,
}

impl Fault {
    /// In turn: half of them drains.
    const TURN: [Fault; 4] = [Fault::Drained, Fault::Killed, Fault::Drained, Fault::KilledInDrain];

    fn name(self) -> &'static str {
        match self {
            Fault::Drained => "drained",
            Fault::Killed => "killed",
            Fault::KilledInDrain => "killed while it drains",
        }
    }
}

/// The faults so far, as callers see them.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<Mutex<Vec<Inflicted>>>);

#[derive(Clone, Copy, Debug)]
struct Inflicted {
    fault: Fault,
    begun: Instant,
    /// When the process had ended, and when the next one listened; `None` before.
    ended: Option<Instant>,
    listens: Option<Instant>,
    /// The most memory that the process had, in MiB.
    mib: u64,
}

impl Inflicted {
    /// Whether something that began then, and is over now, fell into it.
    fn met(&self, since: Instant) -> bool {
        self.listens.is_none_or(|listens| since <= listens + GRACE)
    }
}

impl Faults {
    /// Whether a call that began then, and is over now, fell into a fault.
    pub fn fell_into(&self, since: Instant) -> bool {
        self.seen(since, |_| true)
    }

    /// Whether a fault explains that such a call ended with this error.
    pub fn explain(&self, since: Instant, status: &Status) -> bool {
        match status.get_details_error_info() {
            // Only a server that was killed has lost sessions.
            Some(info) if info.reason == "SESSION_NOT_FOUND" => {
                let met = |one: &Inflicted| one.ended.is_none_or(|ended| ended >= since);
                self.seen(since, |one| one.fault != Fault::Drained && met(one))
            }
            Some(info) => info.reason == "DRAINING" && self.fell_into(since),
            None => is_of_the_connection(status) && self.fell_into(since),
        }
    }

    /// How many drains have ended.
    pub fn num_drains(&self) -> usize {
        let inflicted = self.lock();
        let drained = |one: &&Inflicted| one.fault == Fault::Drained && one.listens.is_some();
        inflicted.iter().filter(drained).count()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Inflicted>> {
        self.0.lock().expect("a lock that is not poisoned")
    }

    fn seen(&self, since: Instant, is_meant: impl Fn(&Inflicted) -> bool) -> bool {
        let inflicted = self.lock();
        inflicted.iter().rev().take_while(|one| one.met(since)).any(is_meant)
    }

    fn update(&self, change: impl FnOnce(&mut Inflicted)) {
        let mut inflicted = self.lock();
        change(inflicted.last_mut().expect("a fault that has begun"));
    }

    /// A table: how many of each, and how long they took.
    pub fn table(&self) -> String {
        let inflicted = self.lock();
        let mut table =
            "| fault | times | until it has ended | worst | until the next one listens | worst |\n"
                .to_owned();
        table += "| --- | ---: | ---: | ---: | ---: | ---: |\n";
        for fault in [Fault::Drained, Fault::Killed, Fault::KilledInDrain] {
            let of: Vec<_> = inflicted.iter().filter(|one| one.fault == fault).collect();
            let median_and_worst = |time: fn(&Inflicted) -> Option<Duration>| {
                let mut times: Vec<Duration> = of.iter().filter_map(|one| time(one)).collect();
                times.sort_unstable();
                let ms = |time: Option<&Duration>| {
                    time.map_or("-".to_owned(), |time| format!("{:.0} ms", time.as_secs_f64() * 1000.0))
                };
                format!("{} | {}", ms(times.get(times.len() / 2)), ms(times.last()))
            };
            let ended = median_and_worst(|one| Some(one.ended? - one.begun));
            let listens = median_and_worst(|one| Some(one.listens? - one.ended?));
            let _ = writeln!(table, "| {} | {} | {ended} | {listens} |", fault.name(), of.len());
        }
        table
    }

    /// The most memory of each server, in MiB, in their order.
    pub fn memory(&self) -> Vec<u64> {
        self.lock().iter().map(|one| one.mib).collect()
    }
}

/// Whether this is what a caller's own library says of a connection that broke, was refused, or was told to go away.
fn is_of_the_connection(status: &Status) -> bool {
    match status.code() {
        Code::Unavailable | Code::Unknown | Code::Cancelled => true,
        Code::Internal => status.message().starts_with("h2 protocol error"),
        _ => false,
    }
}

/// A server that starts again where it was.
#[derive(Debug)]
pub struct Restarting {
    victim: Victim,
    flags: Vec<String>,
    state: PathBuf,
}

impl Restarting {
    /// Starts it with an empty folder for its sessions, whose name has this in it.
    pub async fn start(flags: &[&str], name: &str) -> Result<Restarting> {
        let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("faults").join(name);
        let _ = std::fs::remove_dir_all(&state);
        let mut flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
        flags.extend(["--state".to_owned(), state.to_string_lossy().into_owned()]);
        let victim = start(free_port()?, &flags).await?;
        Ok(Restarting { victim, flags, state })
    }

    pub fn address(&self) -> SocketAddr {
        self.victim.address
    }

    /// Inflicts faults until then: one after every so long, half more or less.
    ///
    /// # Errors
    /// If a server does not drain in time, says that it has panicked, or does not start again.
    pub async fn inflict(
        mut self,
        every: Duration,
        seed: u64,
        until: Instant,
        faults: &Faults,
    ) -> Result<Restarting> {
        let mut dice = Dice::new(seed);
        for number in 0.. {
            let pause = every.mul_f64(0.5 + dice.below(1000) as f64 / 1000.0);
            let next = Instant::now() + pause;
            if next + QUIET > until {
                break;
            }
            tokio::time::sleep_until(next.into()).await;
            let fault = Fault::TURN[number % Fault::TURN.len()];
            let (address, mib) = (self.address(), self.victim.memory().1 >> 20);
            let begun = Inflicted { fault, begun: Instant::now(), ended: None, listens: None, mib };
            faults.lock().push(begun);
            let said = || format!("server {} of {}, {}", number + 1, self.state.display(), fault.name());
            match fault {
                Fault::Drained => self.victim.stop().await.with_context(said)?,
                Fault::Killed => self.victim.kill().with_context(said)?,
                Fault::KilledInDrain => {
                    self.victim.terminate().with_context(said)?;
                    tokio::time::sleep(Duration::from_millis(dice.below(DRAIN_MS) as u64)).await;
                    self.victim.kill().with_context(said)?;
                }
            }
            faults.update(|inflicted| inflicted.ended = Some(Instant::now()));
            self.victim = start(address, &self.flags).await.context("it does not start again")?;
            faults.update(|inflicted| inflicted.listens = Some(Instant::now()));
        }
        Ok(self)
    }

    /// The most memory of the last one, in MiB; it drains, and its folder is removed.
    pub async fn stop(self) -> Result<u64> {
        let mib = self.victim.memory().1 >> 20;
        self.victim.stop().await?;
        std::fs::remove_dir_all(&self.state).context("its folder")?;
        Ok(mib)
    }
}

async fn start(address: SocketAddr, flags: &[String]) -> Result<Victim> {
    let flags = flags.to_owned();
    let starting = tokio::task::spawn_blocking(move || {
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        Victim::start_at(address, &flags, false, DESCRIPTORS, true)
    });
    starting.await?
}

/// A port below those that the system gives to callers: one that calls while no server listens could get the server's own.
fn free_port() -> Result<SocketAddr> {
    let ports = (20_000..30_000).map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    ports.into_iter().find(|&address| TcpListener::bind(address).is_ok()).context("a free port")
}
