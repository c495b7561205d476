//! Where an attack takes place: one server, one bystander, the attackers, and the verdict.

use std::any::Any;
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tetrion::engine::rng::{Tag, below, word};
use tokio::task::JoinSet;

use crate::bystander::{self, Bystander, Seen};
use crate::cgroup::Cgroup;
use crate::corpus;
use crate::load::{self, Load};
use crate::table::ATTACKS;
use crate::victim::{DESCRIPTORS, Victim};
use crate::{mixes, survivors};

/// How often to try an attack that breaks something, and one that only the bystander notices.
const TRIES: usize = 2;
const TRIES_OF_WAITING: usize = 3;

/// An attack that is running against the server of an arena.
pub type Fight<'a> = Pin<Box<dyn Future<Output = Result<()>> + 'a>>;

/// What an attack is, and what it may cost.
pub struct Attack {
    pub name: &'static str,
    pub run: for<'a> fn(&'a Arena) -> Fight<'a>,
    /// The flags that the server starts with.
    pub flags: &'static [&'static str],
    /// Whether the server has a certificate.
    pub encrypted: bool,
    /// Memory of the process at its most.
    pub max_mib: u64,
    /// The same, enforced by a control group where one can be made; 0 for none.
    pub cgroup_mib: u64,
    /// The slowest answer that the bystander gets.
    pub slowest: Duration,
    /// Files and sockets that the server may have open.
    pub descriptors: u32,
    /// Whether a reader reads its stderr.
    pub stderr: bool,
    /// Whether the server serves a new caller while the attackers hold what they hold.
    pub newcomers: bool,
}

impl Attack {
    /// An attack with the bounds that most of them have.
    pub const ORDINARY: Attack = Attack {
        name: "",
        run: |_| Box::pin(async { Ok(()) }),
        flags: &[],
        encrypted: false,
        max_mib: 256,
        cgroup_mib: 0,
        slowest: Duration::from_secs(5),
        descriptors: DESCRIPTORS,
        stderr: true,
        newcomers: true,
    };
}

/// What an attack works with.
pub struct Arena {
    pub address: SocketAddr,
    pub victim: Victim,
    pub seed: u64,
    encrypted: bool,
    long: bool,
    /// What attackers hold on to until the server has stopped.
    held: Mutex<Vec<Box<dyn Any + Send>>>,
    tasks: Mutex<JoinSet<()>>,
}

impl Arena {
    /// The first number in the short form, the second one in the long form.
    pub fn times(&self, short: usize, long: usize) -> usize {
        if self.long { long } else { short }
    }

    /// Whether this is the long form.
    pub fn is_long(&self) -> bool {
        self.long
    }

    /// How long a flood goes on.
    pub fn while_flooding(&self) -> Duration {
        if self.long { Duration::from_secs(10) } else { Duration::from_millis(700) }
    }

    /// Keeps something, a connection above all, until the server has stopped.
    pub fn hold(&self, held: impl Any + Send) {
        self.held.lock().expect("a lock that is not poisoned").push(Box::new(held));
    }

    /// Lets go of everything held.
    pub fn release(&self) {
        self.held.lock().expect("a lock that is not poisoned").clear();
    }

    /// Does something in the background until the server has stopped.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.lock().expect("a lock that is not poisoned").spawn(task);
    }

    /// Checks that the server serves a new caller.
    pub async fn serves_newcomers(&self) -> Result<()> {
        bystander::serves_newcomers(self.address, self.encrypted).await
    }
}

/// Numbers that are the same on every run with a seed.
#[derive(Clone, Debug)]
pub struct Dice {
    seed: u64,
    thrown: u64,
}

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice { seed, thrown: 0 }
    }

    pub fn word(&mut self) -> u64 {
        self.thrown += 1;
        word(self.seed, Tag::Agent, self.thrown)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        below(self.word(), bound as u64) as usize
    }
}

/// What the command line asks for.
#[derive(Debug, Default)]
struct Options {
    long: bool,
    seed: u64,
    /// Load for this many minutes, instead of attacks; against this server if there is one.
    load: Option<f64>,
    /// And seconds between faults of the server; none if it is absent.
    faults: Option<f64>,
    /// How long a learner waits beside others, instead of attacks.
    mixes: bool,
    /// Where to write what fuzzing begins with, instead of attacks.
    corpus: Option<PathBuf>,
    server: Option<SocketAddr>,
    names: Vec<String>,
}

impl Options {
    /// Flags of the usual test programs mean nothing here and are skipped, so that `cargo test -- --nocapture` works.
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Options> {
        let mut options = Options { seed: 1, ..Options::default() };
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "--long" => options.long = true,
                "--seed" => options.seed = value()?.parse().context("--seed")?,
                "--mixes" => options.mixes = true,
                "--corpus" => options.corpus = Some(value()?.into()),
                "--load" => options.load = Some(value()?.parse().context("--load MINUTES")?),
                "--faults" => options.faults = Some(value()?.parse().context("--faults SECONDS")?),
                "--server" => options.server = Some(value()?.parse().context("--server ADDRESS")?),
                "--test-threads" | "--format" => drop(value()),
                name if name.starts_with('-') => {}
                name => options.names.push(name.to_owned()),
            }
        }
        Ok(options)
    }

    fn chooses(&self, attack: &Attack) -> bool {
        self.names.is_empty() || self.names.iter().any(|part| attack.name.contains(part))
    }
}

pub fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            println!("error: {error:#}");
            return ExitCode::from(2);
        }
    };
    if let Some(folder) = options.corpus {
        return finish(corpus::write(&folder));
    }
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    if options.mixes {
        return finish(mixes::program());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    if let Some(minutes) = options.load {
        let load = Load { duration: Duration::from_secs_f64(60.0 * minutes), ..Load::FULL };
        return finish(runtime.block_on(async {
            match options.faults {
                Some(every) => survivors::program(load, Duration::from_secs_f64(every), options.seed).await,
                None => load::program(load, options.server).await,
            }
        }));
    }
    println!("seed {}; times of the bystander's steps in milliseconds", options.seed);
    println!("{:24} {:>8} {:>8} {:>8} {:>9} {:>8}", "attack", "p50", "worst", "MiB", "seconds", "verdict");
    let mut broken = Vec::new();
    // What broke at first, and then held.
    let mut stumbled = Vec::new();
    for attack in ATTACKS.iter().filter(|attack| options.chooses(attack)) {
        let mut tries = 0;
        let (report, seen, mib, took) = loop {
            let start = Instant::now();
            let (report, seen, mib) = runtime.block_on(stage(attack, &options));
            tries += 1;
            match &report {
                // On a machine that was busy with something else for a moment, the bystander waits for that too.
                Err(error) if tries < if error.is::<KeptWaiting>() { TRIES_OF_WAITING } else { TRIES } => {
                    println!("    {}, once more: {error:#}", attack.name);
                    stumbled.push(format!("{}: {error:#}", attack.name));
                }
                _ => break (report, seen, mib, start.elapsed()),
            }
        };
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        println!(
            "{:24} {:8.1} {:8.1} {:8} {:9.1} {:>8}",
            attack.name,
            ms(seen.quantile(0.5)),
            ms(seen.quantile(1.0)),
            mib,
            took.as_secs_f64(),
            if report.is_ok() { "holds" } else { "BROKEN" },
        );
        if let Err(error) = report {
            println!("    {error:#}");
            broken.push(format!("{}: {error:#}", attack.name));
        }
    }
    if !stumbled.is_empty() {
        println!("\nnot at the first try\n    {}", stumbled.join("\n    "));
    }
    runtime.shutdown_background();
    if broken.is_empty() {
        return ExitCode::SUCCESS;
    }
    // Once more at the end, where a long log is read first.
    println!("\nbroken, with --seed {}, by\n    {}", options.seed, broken.join("\n    "));
    ExitCode::FAILURE
}

fn finish(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one attack; returns the verdict, what the bystander saw, and the most memory in MiB.
async fn stage(attack: &Attack, options: &Options) -> (Result<()>, Seen, u64) {
    let cgroup = (attack.cgroup_mib > 0).then(|| Cgroup::new(attack.cgroup_mib << 20));
    if let Some(cgroup) = &cgroup {
        let made =
            if cgroup.is_some() { "runs in" } else { "no control group can be made here: runs without" };
        println!("{:24} {made} one of {} MiB", attack.name, attack.cgroup_mib);
    }
    let cgroup = cgroup.flatten();
    let started = match &cgroup {
        Some(cgroup) => Victim::start_in(cgroup, attack.flags),
        None => Victim::start(attack.flags, attack.encrypted, attack.descriptors, attack.stderr),
    };
    let victim = match started {
        Ok(victim) => victim,
        Err(error) => return (Err(error), Seen::default(), 0),
    };
    let arena = Arena {
        address: victim.address,
        victim,
        seed: options.seed,
        encrypted: attack.encrypted,
        long: options.long,
        held: Mutex::default(),
        tasks: Mutex::default(),
    };
    let bystander = match Bystander::start(arena.address, attack.encrypted).await {
        Ok(bystander) => bystander,
        Err(error) => return (Err(error.context("before the attack")), Seen::default(), 0),
    };
    let mut report = (attack.run)(&arena).await;
    if attack.newcomers && report.is_ok() {
        report = arena.serves_newcomers().await;
    }
    let seen = bystander.finish().await;
    let mib = arena.victim.memory().1 >> 20;
    let Arena { victim, held, tasks, .. } = arena;
    // The server stops while the attackers hold what they hold.
    let stopped = victim.stop().await;
    drop((held, tasks));
    (stopped.and(report).and_then(|()| judge(attack, &seen, mib)), seen, mib)
}

fn judge(attack: &Attack, seen: &Seen, mib: u64) -> Result<()> {
    ensure!(mib <= attack.max_mib, "{mib} MiB of memory, the bound is {}", attack.max_mib);
    if let Some(error) = &seen.error {
        bail!(KeptWaiting(format!("was refused: {error}")));
    }
    ensure!(!seen.times.is_empty(), KeptWaiting("got no answer".to_owned()));
    let (slowest, bound) = (seen.quantile(1.0), attack.slowest);
    ensure!(slowest <= bound, KeptWaiting(format!("waited {slowest:?}, the bound is {bound:?}")));
    Ok(())
}

/// An attack that only the bystander noticed.
#[derive(Debug, thiserror::Error)]
#[error("the bystander {0}")]
struct KeptWaiting(String);
