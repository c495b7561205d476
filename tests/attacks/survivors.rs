//! Callers that go on over faults: load on a server that is drained, killed and started again under it.
//!
//! ```sh
//! cargo test --release --test attacks -- --load 60 --faults 30              # an hour, a fault every half a minute
//! ```
//!
//! Each caller numbers its calls, so that it can send one again whose answer it has not seen. After a drain its session
//! goes on exactly where it was: every answer is compared with that of a twin on a server that nothing happens to. After a
//! kill the session does not exist, and the caller makes it again. Errors that no fault explains are failures, and so is a
//! session that is lost in a drain, goes back, or goes ahead.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use prost::Message;
use tetrion::protocol::pb;
use tetrion::protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion::protocol::pb::step_stream_request::Request as InStream;
use tetrion::protocol::pb::step_stream_response::Response as OfStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::arena::Arena;
use crate::bystander::{connect, step};
use crate::faults::{Faults, Restarting};
use crate::load::{
    AHEAD, CONNECTIONS, ENVS, Load, channels, keep_coming_and_going, keep_evaluating, keep_vanishing,
    placements,
};
use crate::records::Records;
use crate::twins::{CLASSES, Twins, creation, evaluate};

/// How long a caller tries again, and how long it waits in between.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);
/// How long a stream waits before the next step: see `load`.
const THINKING: Duration = Duration::from_millis(20);
/// The most memory that any of the servers may have had, in MiB.
const MAX_MIB: u64 = 512;

const STEP: &str = "Step of 16, open loop";
const PLACEMENTS: &str = "EnumeratePlacements of 16, open loop";
const STREAM: &str = "StepStream of 16, 4 ahead";
const EVALUATION: &str = "EvaluatePolicies, to its end";

const SHORT: Load = Load {
    duration: Duration::from_secs(12),
    sessions: 40,
    rate: 100,
    streams: 5,
    evaluations: 1,
    vanishing: 10,
};

/// The state that all callers share.
struct World {
    twins: Twins,
    faults: Faults,
    records: Records,
    until: Instant,
    counts: Counts,
}

/// Counts of sessions that went on, and of answers that were compared.
#[derive(Debug, Default)]
struct Counts {
    /// Sessions that have gone on after a drain, once for each drain.
    continued: AtomicU64,
    /// Sessions that were made again after a kill.
    remade: AtomicU64,
    /// Steps whose answers were lost with a connection, and which had been made.
    unseen: AtomicU64,
    /// Answers that were compared with those of a twin.
    compared: AtomicU64,
}

impl Counts {
    fn add(count: &AtomicU64, number: u64) {
        count.fetch_add(number, Ordering::Relaxed);
    }
}

/// The short form, one attack among the others; its server is not the one of the arena.
pub async fn short(arena: &Arena) -> Result<()> {
    let duration = if arena.is_long() { 5 * SHORT.duration } else { SHORT.duration };
    let report = run(Load { duration, ..SHORT }, Duration::from_secs(2), arena.seed).await?;
    ensure!(report.failures() == 0, "{}", report.text());
    ensure!(report.counts.continued.load(Ordering::Relaxed) > 0, "no session has gone on");
    ensure!(report.counts.remade.load(Ordering::Relaxed) > 0, "no session was made again");
    Ok(())
}

/// The program: prints the tables, and what became of sessions and memory.
pub async fn program(load: Load, every: Duration, seed: u64) -> Result<()> {
    println!("{load:?}, a fault every {every:?}, seed {seed}\n");
    let report = run(load, every, seed).await?;
    println!("{}", report.text());
    ensure!(report.failures() == 0, "{} failures", report.failures());
    Ok(())
}

/// The outcome of a load on servers with faults.
struct Report {
    records: Records,
    faults: Faults,
    counts: Counts,
    duration: Duration,
    /// The most memory of each server, in their order.
    mib: Vec<u64>,
}

impl Report {
    fn failures(&self) -> u64 {
        self.records.num_errors()
    }

    fn text(&self) -> String {
        let Report { records, faults, counts, .. } = self;
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (continued, remade) = (count(&counts.continued), count(&counts.remade));
        let (compared, unseen) = (count(&counts.compared), count(&counts.unseen));
        format!(
            "{}\n{}\n{continued} times a session went on after a drain; {remade} were made again after a kill\n\
             {compared} answers were compared with those of twins; {unseen} were lost with a connection\n\
             the most memory of each server in MiB: {:?}",
            records.table(self.duration),
            faults.table(),
            self.mib
        )
    }
}

async fn run(load: Load, every: Duration, seed: u64) -> Result<Report> {
    let sessions = (load.sessions + load.streams + 500).to_string();
    // The name of the folder is that of the process: the short form may run beside the long one.
    let name = format!("{}-{seed}", std::process::id());
    let server = Restarting::start(&["--max-sessions", &sessions], &name).await?;
    let (address, faults) = (server.address(), Faults::default());
    let begun = Instant::now();
    let world = Arc::new(World {
        twins: Twins::start().await?,
        records: Records::over(faults.clone()),
        faults: faults.clone(),
        until: begun + load.duration,
        counts: Counts::default(),
    });
    let (steps, streams) = (channels(address).await?, channels(address).await?);
    let mut callers = JoinSet::new();
    for number in 0..load.sessions {
        let caller = Caller::new(&steps[number % CONNECTIONS], number, &world);
        callers.spawn(caller.keep_stepping(begun, load.rate, load.sessions));
    }
    for number in 0..load.streams {
        let caller = Caller::new(&streams[number % CONNECTIONS], load.sessions + number, &world);
        callers.spawn(caller.keep_streaming());
    }
    for _ in 0..load.evaluations.div_ceil(2) {
        callers.spawn(keep_evaluating_to_the_end(connect(address).await?, world.clone()));
    }
    let others = keep_the_rest_busy(address, load, &world.records).await?;
    let inflicting = server.inflict(every, seed, world.until, &faults);
    let calling = async {
        while let Some(ended) = callers.join_next().await {
            ended.context("a caller")?;
        }
        anyhow::Ok(())
    };
    let (server, ()) = tokio::try_join!(inflicting, calling)?;
    drop(others);
    let mut mib = faults.memory();
    mib.push(server.stop().await?);
    let World { twins, records, counts, .. } =
        Arc::into_inner(world).context("callers that have not ended")?;
    twins.stop().await.context("the twins")?;
    let most = mib.iter().copied().max().unwrap_or_default();
    ensure!(most <= MAX_MIB, "a server took {most} MiB, the bound is {MAX_MIB}");
    Ok(Report { records, faults, counts, duration: load.duration, mib })
}

/// Callers that hold nothing over a fault: evaluations that are left, connections that vanish, sessions of one step.
async fn keep_the_rest_busy(address: SocketAddr, load: Load, records: &Records) -> Result<JoinSet<()>> {
    let mut others = JoinSet::new();
    for number in 0..load.evaluations / 2 {
        others.spawn(keep_evaluating(connect(address).await?, number as u64, records.clone()));
    }
    others.spawn(keep_vanishing(address, load.vanishing, records.clone()));
    others.spawn(keep_coming_and_going(connect(address).await?, records.clone()));
    Ok(others)
}

/// Evaluates, and begins again where the server went away.
async fn keep_evaluating_to_the_end(channel: Channel, world: Arc<World>) {
    while Instant::now() < world.until {
        let begun = Instant::now();
        let answer = match evaluate(&channel).await {
            Ok(digest) => world.twins.check_evaluation(digest),
            Err(status) => Err(status),
        };
        let failed = answer.is_err();
        world.records.note(EVALUATION, begun, answer);
        if failed {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// What a caller does until it succeeds.
#[derive(Clone, Copy, Debug)]
enum Act {
    Step,
    Look,
    FindPlace,
}

/// The owner of one session.
struct Caller {
    world: Arc<World>,
    channel: Channel,
    number: usize,
    /// How many sessions it has had.
    lives: u64,
    life: Option<Life>,
}

/// A session, from its making until its server is killed.
struct Life {
    session: String,
    /// When the call began that made it.
    made: Instant,
    is_reset: bool,
    /// Steps that have been made, and whose answers were seen.
    steps: u64,
    /// Drains before its last answer.
    drains: usize,
}

impl Life {
    /// The number of its next step: the reset has number 1.
    fn sequence_number(&self) -> u64 {
        self.steps + 2
    }

    fn request(&self, sequence_number: u64) -> pb::StepRequest {
        pb::StepRequest { sequence_number, ..step(&self.session, ENVS) }
    }
}

impl Caller {
    fn new(channel: &Channel, number: usize, world: &Arc<World>) -> Caller {
        Caller { world: world.clone(), channel: channel.clone(), number, lives: 0, life: None }
    }

    fn client(&self) -> EnvironmentServiceClient<Channel> {
        EnvironmentServiceClient::new(self.channel.clone())
    }

    /// Steps when it is due, whether or not the server is there.
    async fn keep_stepping(mut self, begun: Instant, rate: u32, sessions: usize) {
        for turn in 0.. {
            let call = turn * sessions + self.number;
            let due = begun + Duration::from_secs(1) * call as u32 / rate;
            // On a machine that has no time for it, some of the steps are never made.
            if due.max(Instant::now()) > self.world.until {
                return;
            }
            tokio::time::sleep_until(due.into()).await;
            if call % 100 == 99 && self.life.as_ref().is_some_and(|life| life.steps > 0) {
                self.until_it_succeeds(Act::Look, due).await;
            } else {
                self.until_it_succeeds(Act::Step, due).await;
            }
        }
    }

    /// Does something again and again; the time is that until it succeeds.
    async fn until_it_succeeds(&mut self, act: Act, due: Instant) {
        loop {
            let begun = Instant::now();
            let (kind, answer) = match act {
                Act::Step => (STEP, self.step().await),
                Act::Look => (PLACEMENTS, self.look().await),
                Act::FindPlace => ("GetSession, before a stream", self.find_its_place().await),
            };
            match answer {
                Ok(()) => return self.world.records.note(kind, due, Ok(())),
                Err(status) => {
                    let is_lost = status.code() == Code::NotFound;
                    // What explains that a session is lost may lie back as far as its making.
                    let since = self.life.as_ref().filter(|_| is_lost).map_or(begun, |life| life.made);
                    let is_wrong = status.code() == Code::DataLoss;
                    self.world.records.note(kind, since, Err(status));
                    if is_lost {
                        self.life = None;
                        Counts::add(&self.world.counts.remade, 1);
                    }
                    if is_wrong || due.elapsed() > PATIENCE {
                        return;
                    }
                    tokio::time::sleep(PAUSE + Duration::from_millis(self.number as u64 % 50)).await;
                }
            }
        }
    }

    /// Its session, which is made if there is none, with its episodes begun.
    async fn life(&mut self) -> Result<&mut Life, Status> {
        let (mut client, world) = (self.client(), self.world.clone());
        if self.life.is_none() {
            let made = Instant::now();
            // The same name of the request until there is an answer: one session and not two.
            let request_id = format!("caller {} life {}", self.number, self.lives);
            let answer =
                client.create_session(creation(self.number % CLASSES, request_id)).await?.into_inner();
            let session = answer.session.ok_or_else(|| Status::data_loss("no session"))?.name;
            self.lives += 1;
            let drains = world.faults.num_drains();
            self.life = Some(Life { session, made, is_reset: false, steps: 0, drains });
        }
        let life = self.life.as_mut().expect("made above");
        if !life.is_reset {
            let request =
                pb::ResetRequest { session: life.session.clone(), sequence_number: 1, ..Default::default() };
            client.reset(request).await?;
            life.is_reset = true;
        }
        Ok(life)
    }

    async fn step(&mut self) -> Result<(), Status> {
        let mut client = self.client();
        let life = self.life().await?;
        let answer = client.step(life.request(life.sequence_number())).await?.into_inner();
        self.made_a_step(&answer).await
    }

    async fn look(&mut self) -> Result<(), Status> {
        let mut client = self.client();
        let life = self.life().await?;
        client.enumerate_placements(placements(&life.session)).await?;
        Ok(())
    }

    /// Compares the answer to its next step with that of its twin.
    async fn made_a_step(&mut self, answer: &pb::StepResponse) -> Result<(), Status> {
        let world = self.world.clone();
        let life = self.life.as_mut().expect("a session that has stepped");
        world.twins.check(self.number % CLASSES, life.steps, answer).await?;
        life.steps += 1;
        let drains = world.faults.num_drains();
        Counts::add(&world.counts.continued, (drains - life.drains) as u64);
        life.drains = drains;
        Counts::add(&world.counts.compared, 1);
        Ok(())
    }

    /// Steps on a stream; where it ends, over a new one.
    async fn keep_streaming(mut self) {
        while Instant::now() < self.world.until {
            let now = Instant::now();
            self.until_it_succeeds(Act::FindPlace, now).await;
            if let Err((since, status)) = self.stream().await {
                let is_lost = status.code() == Code::NotFound;
                let since = self.life.as_ref().filter(|_| is_lost).map_or(since, |life| life.made);
                self.world.records.note(STREAM, since, Err(status));
                if is_lost {
                    self.life = None;
                    Counts::add(&self.world.counts.remade, 1);
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Finds out which of the steps that it sent ahead were made: none that it has seen may be missing.
    async fn find_its_place(&mut self) -> Result<(), Status> {
        let mut client = self.client();
        let life = self.life().await?;
        let request = pb::GetSessionRequest { name: life.session.clone() };
        let session = client.get_session(request).await?.into_inner().session;
        let made = session.map_or(0, |session| session.sequence_number);
        let seen = life.sequence_number() - 1;
        if made < seen || made > seen + AHEAD as u64 {
            return Err(Status::data_loss(format!(
                "the session is at {made}; answers were seen up to {seen}"
            )));
        }
        if made > seen {
            // The last one is kept; those before it are not seen by any caller.
            let answer = client.step(life.request(made)).await?.into_inner();
            life.steps = made - 2;
            Counts::add(&self.world.counts.unseen, made - seen);
            self.made_a_step(&answer).await?;
        }
        Ok(())
    }

    async fn stream(&mut self) -> Result<(), (Instant, Status)> {
        let begun = Instant::now();
        let (sender, receiver) = mpsc::channel(AHEAD);
        let opened = self.client().step_stream(ReceiverStream::new(receiver)).await;
        let mut answers = opened.map_err(|status| (begun, status))?.into_inner();
        let mut sent = VecDeque::new();
        while Instant::now() < self.world.until {
            while sent.len() < AHEAD {
                let life = self.life.as_ref().expect("a session that streams");
                let request = life.request(life.sequence_number() + sent.len() as u64);
                let request = pb::StepStreamRequest { request: Some(InStream::Step(request)) };
                if sender.try_send(request).is_err() {
                    break;
                }
                sent.push_back(Instant::now());
            }
            let since = sent.pop_front().unwrap_or(begun);
            let answer = match answers.next().await {
                Some(Ok(answer)) => answer.response,
                Some(Err(status)) => return Err((since, status)),
                None => return Ok(()),
            };
            let noted = match answer {
                Some(OfStream::Step(answer)) => self.made_a_step(&answer).await,
                Some(OfStream::Error(error)) => {
                    let details = error.encode_to_vec().into();
                    Err(Status::with_details(Code::from(error.code), error.message, details))
                }
                _ => Err(Status::data_loss("an answer of another kind")),
            };
            noted.map_err(|status| (since, status))?;
            self.world.records.note(STREAM, since, Ok(()));
            tokio::time::sleep(THINKING).await;
        }
        Ok(())
    }
}
