//! The measurements of each group.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use super::group::FigureGroup;
use super::measure::{RoundPlan, Samples, Workload, rates};
use super::process::ServerProcess;
use super::progress::BenchProgress;
use super::report::{FigureUnit, Measurement, MedianGoal};
use crate::bench::{
    CASES, EXPECTATIONS, Games, Listing, ModernListing, RandomPlacements, Reaching, Remote, Stepper, Viewer,
    games,
};
use crate::text::numbers;
use tetrion_core::agents::Kernel;
use tetrion_core::engine::{ActionModel, Rules, Timing};
use tetrion_core::pool::Pool;
use tetrion_protocol::limits::{MAX_FRAMES_PER_SECOND, MAX_WATCHED_ENVS};

/// Pieces, placements or environment steps between two looks at the clock; mostly a millisecond or less.
const CHUNK: u64 = 4096;
/// Environments in a large session, and positions in a list.
const MANY: u32 = 4096;
/// Number of positions whose placements fill an answer of about two megabytes.
const NUM_POSITIONS: u32 = 2048;
/// Steps per second during measurements of latency.
const STEP_RATE: u32 = 200;
/// Number of sessions with [`MANY`] environments whose memory is measured.
const WEIGHED: u32 = 16;

impl FigureGroup {
    /// Estimated time of the group, with which the progress bar starts.
    pub fn estimate(self, plan: RoundPlan) -> Duration {
        let works = match self {
            FigureGroup::Rollouts => {
                let cases = CASES.len() + 1 + EXPECTATIONS.len() + 1 + games::GUIDELINE.len();
                cases * games::kernels().count()
            }
            FigureGroup::Threads => 3 * thread_counts(all_threads()).len(),
            FigureGroup::Stepping => 9,
            FigureGroup::Placements => games::kernels().count() + 4,
            FigureGroup::Calls => 16,
            FigureGroup::Latency => return 4 * latency_time(plan),
            FigureGroup::Evaluation => 8,
            FigureGroup::Memory => 2,
            FigureGroup::Startup => 1,
        };
        plan.slice * (works * plan.rounds) as u32
    }

    /// Measures the group.
    ///
    /// # Errors
    /// If a server cannot be started or does not answer.
    pub fn measure(self, plan: RoundPlan, progress: &mut BenchProgress) -> anyhow::Result<Vec<Measurement>> {
        match self {
            FigureGroup::Rollouts => rollouts(plan, progress),
            FigureGroup::Threads => threads(plan, progress),
            FigureGroup::Stepping => stepping(plan, progress),
            FigureGroup::Placements => placements(plan, progress),
            FigureGroup::Calls => calls(plan, progress),
            FigureGroup::Latency => latency(plan, progress),
            FigureGroup::Evaluation => evaluation(plan, progress),
            FigureGroup::Memory => memory(),
            FigureGroup::Startup => startup(plan, progress),
        }
    }
}

/// Named workloads, measured in turns. Each gives a row.
struct GroupWorkloads<'a> {
    group: FigureGroup,
    names: Vec<(String, &'static str, Option<MedianGoal>)>,
    works: Vec<Workload<'a>>,
}

impl<'a> GroupWorkloads<'a> {
    fn new(group: FigureGroup) -> GroupWorkloads<'a> {
        GroupWorkloads { group, names: Vec::new(), works: Vec::new() }
    }

    fn add(
        &mut self,
        name: impl Into<String>,
        unit: &'static str,
        work: impl FnMut() -> anyhow::Result<u64> + 'a,
    ) {
        self.add_with(name, unit, None, work);
    }

    fn add_with(
        &mut self,
        name: impl Into<String>,
        unit: &'static str,
        goal: Option<MedianGoal>,
        work: impl FnMut() -> anyhow::Result<u64> + 'a,
    ) {
        self.names.push((name.into(), unit, goal));
        self.works.push(Box::new(work));
    }

    fn measure(mut self, plan: RoundPlan, progress: &mut BenchProgress) -> anyhow::Result<Vec<Measurement>> {
        let samples = rates(&mut self.works, plan, |took| progress.advance(took).map_err(Into::into))?;
        let row = |((name, unit, goal), samples)| Measurement {
            group: self.group,
            name,
            unit: FigureUnit::PerSecond(unit),
            samples,
            goal,
        };
        Ok(self.names.into_iter().zip(samples).map(row).collect())
    }
}

fn ratio(
    name: impl Into<String>,
    over: &Measurement,
    under: &Measurement,
    goal: Option<MedianGoal>,
) -> Measurement {
    let samples = over.samples.over(&under.samples);
    Measurement { group: over.group, name: name.into(), unit: FigureUnit::Ratio, samples, goal }
}

fn rollouts(plan: RoundPlan, progress: &mut BenchProgress) -> anyhow::Result<Vec<Measurement>> {
    let mut table = GroupWorkloads::new(FigureGroup::Rollouts);
    for case in &CASES {
        for kernel in games::kernels() {
            let play = case.on(kernel);
            let name =
                format!("`{}` {} x {}, {}", case.feature_set(), case.width, case.height, kernel.name());
            table.add(name, "pieces", move || Ok(play.pieces(CHUNK)));
        }
    }
    for kernel in games::kernels() {
        let play = games::formula(kernel);
        let name = format!("formula of 8 features and 2 conditions 10 x 20, {}", kernel.name());
        table.add(name, "pieces", move || Ok(play.pieces(CHUNK)));
    }
    for (case, wanted) in &EXPECTATIONS {
        for kernel in games::kernels() {
            let play = case.on(kernel);
            let (set, name) = (case.feature_set(), kernel.name());
            let name =
                format!("`{set}` {} x {}, mean over {}, {name}", case.width, case.height, case.looked_at);
            let goal = wanted.filter(|_| kernel == Kernel::best()).map(MedianGoal::AtLeast);
            table.add_with(name, "pieces", goal, move || Ok(play.pieces(CHUNK / 64)));
        }
    }
    for kernel in games::kernels() {
        let play = games::network(kernel);
        let name = format!("`thiery9` 10 x 10, network of {}, {}", games::NETWORK_UNITS, kernel.name());
        table.add(name, "pieces", move || Ok(play.pieces(CHUNK / 16)));
    }
    for controller in games::GUIDELINE {
        for kernel in games::kernels() {
            let play = games::under_guideline(controller, kernel);
            let name = format!("guideline: `{controller}`, {}", kernel.name());
            table.add(name, "pieces", move || Ok(play.pieces(CHUNK / 16)));
        }
    }
    table.measure(plan, progress)
}

fn threads(plan: RoundPlan, progress: &mut BenchProgress) -> anyhow::Result<Vec<Measurement>> {
    let mut table = GroupWorkloads::new(FigureGroup::Threads);
    let counts = thread_counts(all_threads());
    for &count in &counts {
        let pool = Pool::new(count)?;
        // The games are short, so that all threads finish at nearly the same time.
        let games = Games::long(64 * count as u32, 2 * CHUNK);
        table.add(numbers::count(count as u64, "thread"), "pieces", move || Ok(games.play(&pool)));
    }
    let mut rows = table.measure(plan, progress)?;
    for (i, count) in counts.iter().enumerate().skip(1) {
        let goal = (*count == 2).then_some(MedianGoal::AtLeast(1.9));
        rows.push(ratio(format!("{count} threads over 1"), &rows[i], &rows[0], goal));
    }
    Ok(rows)
}

fn all_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Powers of two below the number of threads, then this number.
pub fn thread_counts(all: usize) -> Vec<usize> {
    let mut counts: Vec<usize> =
        std::iter::successors(Some(1), |count| Some(2 * count)).take_while(|&n| n < all).collect();
    counts.push(all);
    counts
}

fn stepping(plan: RoundPlan, progress: &mut BenchProgress) -> anyhow::Result<Vec<Measurement>> {
    let mut table = GroupWorkloads::new(FigureGroup::Stepping);
    let mut engine = RandomPlacements::default();
    table.add("placements in a game of the bare engine", "placements", move || Ok(engine.place(CHUNK)));
    let lab = Rules::preset("lab").context("there are no rules named lab")?;
    let guideline = games::guideline();
    let timing = Some(Timing::LEVEL_1);
    let steered = Rules { action_model: ActionModel::Keypress, timing, ..guideline };
    let rows = [
        ("placements", Rules::default(), Some(25e6)),
        ("key presses", lab, Some(15e6)),
        ("guideline: listed and placed", guideline, None),
        ("guideline: key presses", steered, None),
    ];
    for (actions, rules, goal) in rows {
        for num_envs in [1, MANY] {
            let mut stepper = Stepper::new(rules, num_envs)?;
            let name = format!("{actions} in {}", numbers::count(num_envs.into(), "environment"));
            let goal = goal.filter(|_| num_envs == MANY).map(MedianGoal::AtLeast);
            let steps = CHUNK / u64::from(num_envs);
            table.add_with(name, "steps", goal, move || {
                for _ in 0..steps {
                    stepper.step();
                }
                Ok(steps * u64::from(num_envs))
            });
        }
    }
    table.measure(plan, progress)
}

fn placements(plan: RoundPlan, progress: &mut BenchProgress) -> anyhow::Result<Vec<Measurement>> {
    let listing = Listing::new(256);
    let listing = &listing;
    let mut table = GroupWorkloads::new(FigureGroup::Placements);
    for kernel in games::kernels() {
        table.add(kernel.name(), "placements", move || Ok(listing.list(kernel).actions.len() as u64));
    }
    let (mut listed, counted, mut keyed) = (Reaching::new(256), Reaching::new(256), Reaching::new(256));
    let goal = Some(MedianGoal::AtLeast(10e6));
    table.add_with("reachable under SRS, listed", "placements", goal, move || Ok(listed.list()));
    table.add("reachable under SRS, counted", "placements", move || Ok(counted.count()));
    table.add("reachable under SRS, with the keys to each", "placements", move || Ok(keyed.find_keys()));
    let modern = ModernListing::new(256);
    let list = move || Ok(modern.list().actions.len() as u64);
    table.add("guideline: of both pieces, with the 30 features of `modern30`", "placements", list);
    table.measure(plan, progress)
}

fn calls(plan: RoundPlan, progress: &mut BenchProgress) -> anyhow::Result<Vec<Measurement>> {
    let server = ServerProcess::start()?;
    let remote = Remote::connect(&server.address)?;
    let mut table = GroupWorkloads::new(FigureGroup::Calls);
    for num_envs in [1, 256, MANY] {
        let mut session = remote.session(num_envs, false)?;
        table.add(format!("Step of {num_envs}"), "steps", move || Ok(session.step()?));
    }
    for num_envs in [1, 256, MANY] {
        let mut stream = remote.session(num_envs, false)?.stream(1)?;
        table.add(format!("StepStream of {num_envs}"), "steps", move || Ok(stream.step()?));
    }
    for num_envs in [1, 256, MANY] {
        let mut stream = remote.session(num_envs, false)?.stream(16)?;
        let name = format!("StepStream of {num_envs}, 16 requests ahead");
        table.add(name, "steps", move || Ok(stream.step()?));
    }
    let mut session = remote.session(MANY, true)?;
    table.add(format!("Step of {MANY} with board and mask"), "steps", move || Ok(session.step()?));
    let mut session = remote.session(NUM_POSITIONS, false)?;
    for _ in 0..8 {
        session.step()?; // positions that are not all alike
    }
    let name = format!("EnumeratePlacements of {NUM_POSITIONS}, 8 features");
    table.add(name, "placements", move || Ok(session.enumerate_placements()?));
    for num_envs in [1, 256] {
        let mut session = remote.masked_session(num_envs)?;
        let name = format!("guideline: Step of {num_envs} with mask");
        table.add(name, "steps", move || Ok(session.step()?));
    }
    let mut session = remote.masked_session(256)?;
    for _ in 0..8 {
        session.step()?;
    }
    let name = "guideline: EnumeratePlacements of 256, 30 features";
    table.add(name, "placements", move || Ok(session.enumerate_placements()?));
    // Watch at the highest frame rate, with few environments and with the most.
    let mut viewers = Vec::new();
    for watched in [4, MAX_WATCHED_ENVS] {
        let mut session = remote.session(256, false)?;
        viewers.push(Viewer::begin(&server.address, session.name(), watched, MAX_FRAMES_PER_SECOND)?);
        let name = format!("Step of 256, {watched} of them watched");
        table.add(name, "steps", move || Ok(session.step()?));
    }
    let mut rows = table.measure(plan, progress)?;
    drop(viewers);
    let plain = rows.iter().find(|row| row.name == "Step of 256").expect("a row").clone();
    for watched in [4, MAX_WATCHED_ENVS] {
        let name = format!("Step of 256, {watched} of them watched");
        let row = rows.iter().find(|row| row.name == name).expect("a row");
        rows.push(ratio(format!("{name}, over none"), row, &plain, None));
    }
    Ok(rows)
}

fn latency_time(plan: RoundPlan) -> Duration {
    plan.slice * 5 * plan.rounds as u32
}

fn latency(plan: RoundPlan, progress: &mut BenchProgress) -> anyhow::Result<Vec<Measurement>> {
    let mut rows = Vec::new();
    for num_envs in [1, 256] {
        for (evaluations, meanwhile) in [(0, "nothing else"), (1, "an evaluation on every core")] {
            let time = latency_time(plan);
            let calls = (time.as_secs_f64() * f64::from(STEP_RATE)) as u32;
            // Each case needs a fresh server, because an evaluation may outlive its caller's connection for a moment.
            let server = ServerProcess::start()?;
            let remote = Remote::connect_with_threads(&server.address)?;
            let times = remote.step_latencies(num_envs, evaluations, STEP_RATE, calls)?;
            for (name, part) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("longest", 1.0)] {
                let time = times[((times.len() - 1) as f64 * part) as usize];
                rows.push(Measurement {
                    group: FigureGroup::Latency,
                    name: format!("{name} of {num_envs}, {meanwhile}"),
                    unit: FigureUnit::Microseconds,
                    samples: Samples(vec![time.as_secs_f64() * 1e6]),
                    goal: None,
                });
            }
            progress.advance(time)?;
        }
    }
    Ok(rows)
}

fn evaluation(plan: RoundPlan, progress: &mut BenchProgress) -> anyhow::Result<Vec<Measurement>> {
    let server = ServerProcess::start()?;
    let remote = Remote::connect(&server.address)?;
    let pool = Pool::new(0)?;
    let threads = pool.num_threads() as u32;
    // About the duration of two slices on AVX-512.
    let size = (plan.slice.as_secs_f64() * 2.0).max(0.01);
    let long = Games::long(4 * threads, (size * 1e6) as u64);
    let short = Games::short((size * 60e3) as u32 * threads);
    let mut table = GroupWorkloads::new(FigureGroup::Evaluation);
    for (name, games) in [("a few long games", Arc::new(long)), ("many short games", Arc::new(short))] {
        let (pool, direct) = (pool.clone(), games.clone());
        table.add(format!("{name}, in process"), "pieces", move || Ok(direct.play(&pool)));
        let remote = remote.clone();
        table.add(format!("{name}, gRPC"), "pieces", move || Ok(remote.evaluate(&games)?));
    }
    let mut rows = table.measure(plan, progress)?;
    let goal = Some(MedianGoal::AtMost(1.03));
    rows.push(ratio("time of a few long games, gRPC over in process", &rows[0], &rows[1], goal));
    rows.push(ratio("time of many short games, gRPC over in process", &rows[2], &rows[3], goal));
    Ok(rows)
}

fn memory() -> anyhow::Result<Vec<Measurement>> {
    let server = ServerProcess::start()?;
    let remote = Remote::connect(&server.address)?;
    remote.session(1, false)?.delete()?; // memory of the first call does not belong to a session
    let Some(before) = server.resident_bytes() else { return Ok(Vec::new()) };
    let sessions = (0..WEIGHED).map(|_| remote.session(MANY, false)).collect::<Result<Vec<_>, _>>()?;
    let after = server.resident_bytes().unwrap_or(before);
    let bytes = after.saturating_sub(before) as f64 / f64::from(WEIGHED * MANY);
    drop(sessions);
    let row = |name: &str, bytes, goal| Measurement {
        group: FigureGroup::Memory,
        name: name.to_owned(),
        unit: FigureUnit::Bytes,
        samples: Samples(vec![bytes]),
        goal,
    };
    Ok(vec![
        row("an environment, in sessions of 4,096 after Reset", bytes, Some(MedianGoal::AtMost(1024.0))),
        row("a server without sessions", before as f64, None),
    ])
}

fn startup(plan: RoundPlan, progress: &mut BenchProgress) -> anyhow::Result<Vec<Measurement>> {
    let mut times = Vec::new();
    for _ in 0..=plan.rounds {
        let server = ServerProcess::start()?;
        times.push(server.start_time.as_secs_f64() * 1e3);
        progress.advance(server.start_time)?;
    }
    times.remove(0); // the first one reads the program from the disk
    Ok(vec![Measurement {
        group: FigureGroup::Startup,
        name: "from the start of the process to its first line".to_owned(),
        unit: FigureUnit::Milliseconds,
        samples: Samples(times),
        goal: Some(MedianGoal::AtMost(50.0)),
    }])
}

/// Names of this machine's kernels, and of the one in use.
pub fn kernel_names() -> (Vec<&'static str>, &'static str) {
    (games::kernels().map(Kernel::name).collect(), Kernel::best().name())
}
