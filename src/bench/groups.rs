//! The measurements of each group.

use std::time::Duration;

use super::error::BenchError;
use super::evaluations::Games;
use super::games::{AgentGames, CHUNK, guideline, kernels};
use super::group::FigureGroup;
use super::measure::{FigureUnit, Measurement, MedianGoal, RoundPause, RoundPlan, WorkTable};
use super::placements::Listing;
use super::process::ServerProcess;
use super::remote::Remote;
use super::stepping::{RandomPlacements, Stepper};
use crate::text::numbers;
use tetrion_core::agents::Kernel;
use tetrion_core::engine::{ActionModel, Rules, Timing};
use tetrion_core::pool::Pool;
use tetrion_protocol::limits::MAX_WATCHED_ENVS;

/// Environments in a large session.
const MANY: u32 = 4096;
/// Number of positions whose placements fill an answer of about two megabytes.
const NUM_POSITIONS: u32 = 2048;
/// Number of sessions with [`MANY`] environments whose memory is measured.
const WEIGHED: u32 = 16;

/// The rows of a group, or the error of a server.
type GroupRows = Result<Vec<Measurement>, BenchError>;

impl FigureGroup {
    /// Estimated time of the group, with which the progress bar starts.
    pub fn estimate(self, plan: RoundPlan) -> Duration {
        let works = match self {
            FigureGroup::Rollouts => AgentGames::all().len() * kernels().count(),
            FigureGroup::Threads => 3 * thread_counts(all_threads()).len(),
            FigureGroup::Stepping => 9,
            FigureGroup::Placements => kernels().count() + 4,
            FigureGroup::Calls => 16,
            FigureGroup::Latency => 20,
            FigureGroup::Evaluation => 8,
            FigureGroup::Memory => 2,
            FigureGroup::Startup => 1,
        };
        plan.slice * (works * plan.rounds) as u32
    }

    /// Measures the group. Calls `pause` with the time of each run.
    ///
    /// # Errors
    /// If a server cannot be started or does not answer; the first error of `pause`.
    pub fn measure(self, plan: RoundPlan, pause: RoundPause<'_>) -> GroupRows {
        match self {
            FigureGroup::Rollouts => rollouts(plan, pause),
            FigureGroup::Threads => threads(plan, pause),
            FigureGroup::Stepping => stepping(plan, pause),
            FigureGroup::Placements => placements(plan, pause),
            FigureGroup::Calls => calls(plan, pause),
            FigureGroup::Latency => latency(plan, pause),
            FigureGroup::Evaluation => evaluation(plan, pause),
            FigureGroup::Memory => memory(),
            FigureGroup::Startup => startup(plan, pause),
        }
    }
}

fn rollouts(plan: RoundPlan, pause: RoundPause<'_>) -> GroupRows {
    let all = AgentGames::all();
    let mut table = WorkTable::default();
    for games in &all {
        for kernel in kernels() {
            let name = format!("{}, {}", games.name, kernel.name());
            let goal = games.goal.filter(|_| kernel == Kernel::best());
            table.add(name, "pieces", move || Ok(games.play(kernel))).goal = goal.map(MedianGoal::AtLeast);
        }
    }
    table.measure(plan, pause)
}

fn threads(plan: RoundPlan, pause: RoundPause<'_>) -> GroupRows {
    let mut table = WorkTable::default();
    let counts = thread_counts(all_threads());
    for &count in &counts {
        let pool = Pool::new(count)?;
        // The games are short, so that all threads finish at nearly the same time.
        let games = Games::long(64 * count as u32, 2 * CHUNK);
        table.add(numbers::count(count as u64, "thread"), "pieces", move || Ok(games.play(&pool)));
    }
    let mut rows = table.measure(plan, pause)?;
    for (i, count) in counts.iter().enumerate().skip(1) {
        let goal = (*count == 2).then_some(MedianGoal::AtLeast(1.9));
        let ratio = Measurement::ratio(format!("{count} threads over 1"), &rows[i], &rows[0]);
        rows.push(Measurement { goal, ..ratio });
    }
    Ok(rows)
}

/// Hardware threads that this process may use.
pub fn all_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Powers of two below the number of threads, then this number.
pub fn thread_counts(all: usize) -> Vec<usize> {
    let mut counts: Vec<usize> =
        std::iter::successors(Some(1), |count| Some(2 * count)).take_while(|&n| n < all).collect();
    counts.push(all);
    counts
}

fn stepping(plan: RoundPlan, pause: RoundPause<'_>) -> GroupRows {
    let mut table = WorkTable::default();
    let mut engine = RandomPlacements::default();
    table.add("placements in a game of the bare engine", "placements", move || Ok(engine.place(CHUNK)));
    let timing = Some(Timing::LEVEL_1);
    let steered = Rules { action_model: ActionModel::Keypress, timing, ..guideline() };
    let tetrio = Rules { players: 2, ..Rules::preset("tetrio").expect("a preset") };
    let (garbage, attack_table) = (tetrio.garbage, tetrio.attack_table);
    let rows = [
        ("placements", Rules::default(), Some(25e6)),
        ("key presses", Rules::preset("lab").expect("a preset"), Some(15e6)),
        ("guideline: listed and placed", guideline(), None),
        ("guideline: key presses", steered, None),
        (
            "matches of straight drops: placements",
            Rules { players: 2, garbage, attack_table, ..Rules::default() },
            Some(10e6),
        ),
        ("matches by tetrio: listed and placed", tetrio, Some(0.5e6)),
    ];
    for (actions, rules, goal) in rows {
        for num_envs in [rules.players.into(), MANY] {
            let mut stepper = Stepper::new(rules, num_envs);
            let name = format!("{actions} in {}", numbers::count(num_envs.into(), "environment"));
            let steps = CHUNK / u64::from(num_envs);
            let work = move || {
                for _ in 0..steps {
                    stepper.step();
                }
                Ok(steps * u64::from(num_envs))
            };
            table.add(name, "steps", work).goal = goal.filter(|_| num_envs == MANY).map(MedianGoal::AtLeast);
        }
    }
    table.measure(plan, pause)
}

fn placements(plan: RoundPlan, pause: RoundPause<'_>) -> GroupRows {
    let plain = Listing::new(Rules::default(), "bcts", 256);
    let modern = Listing::new(guideline(), "tetrion-guideline", 256);
    let mut table = WorkTable::default();
    for kernel in kernels() {
        let plain = &plain;
        table.add(kernel.name(), "placements", move || Ok(plain.list(kernel)));
    }
    let (mut listed, counted, mut keyed) = (plain.reaching(), plain.reaching(), plain.reaching());
    table.add("reachable under SRS, listed", "placements", move || Ok(listed.list(false))).goal =
        Some(MedianGoal::AtLeast(10e6));
    table.add("reachable under SRS, counted", "placements", move || Ok(counted.count()));
    table.add("reachable under SRS, with the keys to each", "placements", move || Ok(keyed.list(true)));
    let name = "guideline: of both pieces, with the 30 features of `modern30`";
    table.add(name, "placements", || Ok(modern.list(Kernel::best())));
    table.measure(plan, pause)
}

fn calls(plan: RoundPlan, pause: RoundPause<'_>) -> GroupRows {
    let remote = Remote::start()?;
    let mut table = WorkTable::default();
    for num_envs in [1, 256, MANY] {
        let mut session = remote.session(num_envs, false)?;
        table.add(format!("Step of {num_envs}"), "steps", move || session.step());
    }
    for (ahead, end) in [(1, ""), (16, ", 16 requests ahead")] {
        for num_envs in [1, 256, MANY] {
            let mut stream = remote.session(num_envs, false)?.stream(ahead)?;
            table.add(format!("StepStream of {num_envs}{end}"), "steps", move || stream.step());
        }
    }
    let mut session = remote.session(MANY, true)?;
    table.add(format!("Step of {MANY} with board and mask"), "steps", move || session.step());
    let mut session = remote.session(NUM_POSITIONS, false)?;
    for _ in 0..8 {
        session.step()?; // positions that are not all alike
    }
    let name = format!("EnumeratePlacements of {NUM_POSITIONS}, 8 features");
    table.add(name, "placements", move || session.enumerate_placements("bcts8"));
    for num_envs in [1, 256] {
        let mut session = remote.masked_session(num_envs)?;
        table.add(format!("guideline: Step of {num_envs} with mask"), "steps", move || session.step());
    }
    let mut session = remote.masked_session(256)?;
    for _ in 0..8 {
        session.step()?;
    }
    let name = "guideline: EnumeratePlacements of 256, 30 features";
    table.add(name, "placements", move || session.enumerate_placements("modern30"));
    // Few environments, and the most.
    let mut viewers = Vec::new();
    for watched in [4, MAX_WATCHED_ENVS] {
        let mut session = remote.session(256, false)?;
        viewers.push(session.watch(watched)?);
        table.add(format!("Step of 256, {watched} of them watched"), "steps", move || session.step());
    }
    let mut rows = table.measure(plan, pause)?;
    let plain = rows.iter().find(|row| row.name == "Step of 256").expect("a row");
    let watched = &rows[rows.len() - viewers.len()..];
    let over_none = |row: &Measurement| Measurement::ratio(format!("{}, over none", row.name), row, plain);
    let ratios: Vec<Measurement> = watched.iter().map(over_none).collect();
    rows.extend(ratios);
    Ok(rows)
}

fn latency(plan: RoundPlan, pause: RoundPause<'_>) -> GroupRows {
    let mut rows = Vec::new();
    let time = plan.slice * 5 * plan.rounds as u32;
    for num_envs in [1, 256] {
        for (busy, meanwhile) in [(false, "nothing else"), (true, "an evaluation on every core")] {
            // Each case needs a fresh server, because an evaluation may outlive its caller's connection for a moment.
            let times = Remote::start_with_threads()?.step_latencies(num_envs, busy, time)?;
            for (name, part) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("longest", 1.0)] {
                let name = format!("{name} of {num_envs}, {meanwhile}");
                let microseconds = times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e6;
                rows.push(Measurement::new(name, FigureUnit::Microseconds, vec![microseconds]));
            }
            pause(time)?;
        }
    }
    Ok(rows)
}

fn evaluation(plan: RoundPlan, pause: RoundPause<'_>) -> GroupRows {
    let remote = &Remote::start()?;
    let pool = &Pool::new(0)?;
    let threads = pool.num_threads() as u32;
    // About the duration of two slices on AVX-512.
    let size = (plan.slice.as_secs_f64() * 2.0).max(0.01);
    let long = Games::long(4 * threads, (size * 1e6) as u64);
    let short = Games::short((size * 60e3) as u32 * threads);
    let mut table = WorkTable::default();
    for (name, games) in [("a few long games", &long), ("many short games", &short)] {
        table.add(format!("{name}, in process"), "pieces", || Ok(games.play(pool)));
        table.add(format!("{name}, gRPC"), "pieces", || remote.evaluate(games));
    }
    let mut rows = table.measure(plan, pause)?;
    let goal = MedianGoal::AtMost(1.03);
    for (i, name) in ["a few long games", "many short games"].into_iter().enumerate() {
        let name = format!("time of {name}, gRPC over in process");
        rows.push(Measurement::ratio(name, &rows[2 * i], &rows[2 * i + 1]).with_goal(goal));
    }
    Ok(rows)
}

fn memory() -> GroupRows {
    let remote = Remote::start()?;
    remote.session(1, false)?.delete()?; // memory of the first call does not belong to a session
    let Some(before) = remote.server.resident_bytes() else { return Ok(Vec::new()) };
    for _ in 0..WEIGHED {
        remote.session(MANY, false)?;
    }
    let after = remote.server.resident_bytes().unwrap_or(before);
    let bytes = after.saturating_sub(before) as f64 / f64::from(WEIGHED * MANY);
    let name = "an environment, in sessions of 4,096 after Reset";
    let row = |name, bytes| Measurement::new(name, FigureUnit::Bytes, vec![bytes]);
    let goal = MedianGoal::AtMost(1024.0);
    Ok(vec![row(name, bytes).with_goal(goal), row("a server without sessions", before as f64)])
}

fn startup(plan: RoundPlan, pause: RoundPause<'_>) -> GroupRows {
    let mut times = Vec::new();
    for _ in 0..=plan.rounds {
        let server = ServerProcess::start()?;
        times.push(server.start_time.as_secs_f64() * 1e3);
        pause(server.start_time)?;
    }
    times.remove(0); // the first one reads the program from the disk
    let name = "from the start of the process to its first line";
    let row = Measurement::new(name, FigureUnit::Milliseconds, times);
    Ok(vec![row.with_goal(MedianGoal::AtMost(50.0))])
}
