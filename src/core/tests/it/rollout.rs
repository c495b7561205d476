//! Whole episodes: the literature's games to the last line, and results that depend on nothing but the seed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use tetrion_core::agents::{Agent, AgentRng, Controller, Kernel, LinearAgent, TerminalValue};
use tetrion_core::engine::{
    Column, Dealer, EpisodeEnd, Game, Playfield, Randomizer, Rules, Scoring, TopOut, episode_seed,
    is_blocked, parse_sequence,
};
use tetrion_core::features::FeatureSet;
use tetrion_core::pool::{Party, Pool};
use tetrion_core::rollout::{
    Bounds, Counters, Deal, Episode, Evaluation, NextGame, PlayedGame, SLICE, spawn,
};
use tetrion_testing::choose_plainly;

const BCTS: [f64; 8] =
    [-12.62900, 6.601974, -9.215815, -19.77356, -13.08335, -10.48747, -1.611863, -24.04087];

fn linear(set: &str, width: u8, weights: &[f64]) -> Agent {
    let set = FeatureSet::named(set, width).unwrap();
    Agent::Linear(LinearAgent::new(set, weights.into(), TerminalValue::Avoid).unwrap())
}

/// A few weak controllers, so that games are short.
fn evaluation(kernel: Kernel) -> Evaluation {
    let policies = (0..5)
        .map(|p| linear("height4", 8, &[-0.5 - 0.1 * f64::from(p), 0.8, -0.2 * f64::from(p), -0.2]))
        .collect();
    Evaluation {
        rules: Rules { randomizer: Randomizer::Bag7, ..Rules::simplified(8, 10) },
        policies,
        deal: Deal::Common((0..7).collect()),
        episodes_per_seed: 2,
        pairs: None,
        max_pieces: 500,
        max_steps: u64::MAX,
        loss_trials: 0,
        opponent: None,
        kernel,
    }
}

fn run(threads: usize, parallelism: usize, evaluation: Evaluation) -> Vec<PlayedGame> {
    let pool = Pool::new(threads).unwrap().lane(Party::Own);
    let (sender, receiver) = mpsc::channel();
    let sender = Mutex::new(sender);
    let progress = Arc::new(Counters::default());
    let sink = move |result, next: NextGame| {
        sender.lock().unwrap().send(result).unwrap();
        next();
    };
    spawn(&pool, Arc::new(evaluation), parallelism, Arc::default(), progress.clone(), sink);
    let mut results: Vec<PlayedGame> = receiver.iter().collect();
    results.sort_by_key(|result| result.game);
    assert_eq!(progress.pieces.load(Ordering::Relaxed), results.iter().map(|r| r.pieces).sum::<u64>());
    assert_eq!(progress.lines.load(Ordering::Relaxed), results.iter().map(|r| r.lines).sum::<u64>());
    results
}

#[test]
fn results_do_not_depend_on_threads_parallelism_or_kernel() {
    let alone = run(1, 1, evaluation(Kernel::Portable));
    assert_eq!(alone.len(), 70);
    assert!(alone.iter().any(|r| r.is_truncated()) && alone.iter().any(|r| !r.is_truncated()));
    for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
        for (threads, parallelism) in [(1, 0), (2, 0), (8, 0), (8, 3)] {
            assert_eq!(run(threads, parallelism, evaluation(kernel)), alone, "{kernel:?}, {threads} threads");
        }
    }
}

#[test]
fn a_game_is_the_same_alone_and_in_an_evaluation() {
    let evaluation = evaluation(Kernel::best());
    for result in run(2, 0, evaluation.clone()) {
        assert_eq!(evaluation.play(result.game, &AtomicBool::new(false)), Some(result));
        let seed = episode_seed(u64::from(result.seed_index), u64::from(result.episode));
        assert_eq!(result.seed, seed);
    }
}

/// Compares an episode on every kernel with one whose course is spelled out here, played by the features' own functions, a
/// few pieces at a time.
/// Returns the highest stack.
#[track_caller]
fn check_episode(rules: &Rules, agent: &LinearAgent, seed: u64, max_pieces: u64) -> u32 {
    let start = || Episode::new(rules, Dealer::seeded(rules.randomizer, seed), AgentRng::new(seed));
    let kernels = Kernel::ALL.into_iter().filter(|kernel| kernel.is_available());
    let mut episodes: Vec<(Kernel, Episode)> = kernels.map(|kernel| (kernel, start())).collect();
    let mut dealer = Dealer::seeded(rules.randomizer, seed);
    let mut playfield = Playfield::empty(rules.width, rules.height);
    let (mut pieces, mut lines, mut score, mut highest) = (0, 0, 0.0, 0);
    let mut end = None;
    let wrapped = Agent::Linear(agent.clone());
    while pieces < max_pieces && end.is_none() {
        let slice = 1 + pieces % 7;
        for _ in 0..slice {
            let piece = dealer.deal().unwrap();
            if is_blocked(rules, &playfield, piece) {
                (end, score) = (Some(EpisodeEnd::ToppedOut), score + rules.scoring.game_end);
                break;
            }
            let placement = choose_plainly(agent, rules, &playfield, piece).placement;
            let shape = placement.shape(rules, piece).unwrap();
            let landed = playfield.drop(shape, placement.column, rules.top_out);
            highest = highest.max(playfield.occupied_rows().top());
            (pieces, lines) = (pieces + 1, lines + u64::from(landed.lines));
            score += rules.reward(landed.lines, landed.losses());
            if landed.terminal {
                end = Some(EpisodeEnd::ToppedOut);
                break;
            }
        }
        for (kernel, episode) in &mut episodes {
            episode.advance(rules, &wrapped, *kernel, Bounds::of_game(u64::MAX, u64::MAX), slice);
            assert_eq!(
                (episode.game, episode.steps),
                (Game { playfield, lines, pieces, score, chain: Default::default(), end }, pieces,),
                "{kernel:?}, seed {seed}, {} x {}, {:?}",
                rules.width,
                rules.height,
                rules.top_out,
            );
        }
    }
    highest
}

#[test]
fn rows_that_are_left_out_change_nothing() {
    // Good weights, bad ones, and some that score many placements alike but for the last bits.
    let good = ("bcts8", BCTS.to_vec());
    let bad = ("bcts8", vec![0.5, 0.1, -0.2, -0.3, -0.1, 0.2, -0.01, -0.5]);
    let even = ("height4", vec![-1.0, 1.0, -1.0 - 1e-12, -1.0 + 1e-11]);
    let top_outs = [TopOut::Overflow, TopOut::SpawnBlocked, TopOut::TopRow, TopOut::AboveField];
    let scoring = Scoring { piece: 0.1, lines: [1.0, 3.0, 5.5, 8.0], game_end: -2.5 };
    let mut highest = 0;
    for width in [4, 9, 10, 16, 17] {
        for height in [8, 12, 13, 16, 17, 20, 28, 29, 32, 33, 40] {
            for (top_out, seed) in top_outs.into_iter().zip(u64::from(height)..) {
                let rules = Rules { top_out, scoring, ..Rules::simplified(width, height) };
                for (set, weights) in [&good, &bad, &even] {
                    let terminal = if seed % 3 == 0 { TerminalValue::Score } else { TerminalValue::Avoid };
                    let set = FeatureSet::named(set, width).unwrap();
                    let agent = LinearAgent::new(set, weights.clone(), terminal).unwrap();
                    let stack = check_episode(&rules, &agent, seed, 5 * u64::from(height));
                    highest = highest.max(stack);
                }
            }
        }
    }
    assert_eq!(highest, 40);
}

#[test]
fn pairs_ask_for_just_those_games() {
    let all = run(1, 0, evaluation(Kernel::best()));
    let some = run(1, 0, Evaluation { pairs: Some(vec![(4, 6), (0, 3)]), ..evaluation(Kernel::best()) });
    let ids: Vec<_> = some.iter().map(|r| (r.game, r.policy, r.seed_index, r.episode)).collect();
    assert_eq!(ids, [(0, 4, 6, 0), (1, 4, 6, 1), (2, 0, 3, 0), (3, 0, 3, 1)]);
    for result in some {
        let same = |r: &&PlayedGame| {
            (r.policy, r.seed_index, r.episode) == (result.policy, result.seed_index, result.episode)
        };
        let whole = all.iter().find(same).unwrap();
        assert_eq!(PlayedGame { game: whole.game, ..result }, *whole);
    }
}

#[test]
fn per_slot_seeds_are_rows_of_a_matrix() {
    let common = evaluation(Kernel::best());
    let per_slot = Evaluation {
        deal: Deal::PerSlot { seeds: (0..5).flat_map(|p| [p, 100 + p]).collect(), columns: 2 },
        ..common
    };
    for result in run(2, 0, per_slot) {
        let seed = u64::from(100 * result.seed_index + result.policy);
        assert_eq!(result.seed, episode_seed(seed, u64::from(result.episode)));
    }
}

#[test]
fn a_written_sequence_ends_the_game_as_truncated() {
    let sequence: Arc<[_]> = parse_sequence("OOOO").unwrap().into();
    let results = run(
        1,
        0,
        Evaluation {
            deal: Deal::Sequences(vec![sequence]),
            episodes_per_seed: 1,
            ..evaluation(Kernel::best())
        },
    );
    for result in results {
        assert_eq!((result.pieces, result.lines, result.is_truncated(), result.seed), (4, 2, true, 0));
    }
}

/// A good controller on 10 x 20 plays for minutes.
fn endless() -> Evaluation {
    Evaluation {
        rules: Rules::default(),
        policies: vec![linear("bcts8", 10, &BCTS)],
        deal: Deal::Common(vec![1, 2, 3, 4]),
        episodes_per_seed: 1,
        pairs: None,
        max_pieces: u64::MAX,
        max_steps: u64::MAX,
        loss_trials: 0,
        opponent: None,
        kernel: Kernel::best(),
    }
}

#[test]
fn a_stop_is_noticed_in_the_middle_of_an_endless_game() {
    let pool = Pool::new(2).unwrap().lane(Party::Own);
    let stop = Arc::new(AtomicBool::new(false));
    let progress = Arc::new(Counters::default());
    let (sender, receiver) = mpsc::channel::<()>();
    let sender = Mutex::new(sender);
    let sink = move |_, _: NextGame| sender.lock().unwrap().send(()).unwrap();
    spawn(&pool, Arc::new(endless()), 0, stop.clone(), progress.clone(), sink);
    while progress.pieces.load(Ordering::Relaxed) == 0 {
        std::thread::yield_now();
    }
    let begin = Instant::now();
    stop.store(true, Ordering::Relaxed);
    // The sink is dropped when the last slice has noticed.
    assert_eq!(receiver.recv_timeout(Duration::from_secs(20)), Err(mpsc::RecvTimeoutError::Disconnected));
    println!("stopped within {:?}", begin.elapsed());
}

#[test]
fn a_short_evaluation_does_not_wait_for_a_long_one() {
    let pool = Pool::new(1).unwrap().lane(Party::Own);
    let stop = Arc::new(AtomicBool::new(false));
    let progress = Arc::new(Counters::default());
    let long = Evaluation { deal: Deal::Common((0..100).collect()), ..endless() };
    spawn(&pool, Arc::new(long), 0, stop.clone(), progress.clone(), |_, next: NextGame| next());
    while progress.pieces.load(Ordering::Relaxed) == 0 {
        std::thread::yield_now();
    }
    let (sender, receiver) = mpsc::channel();
    let sender = Mutex::new(sender);
    let sink = move |result, next: NextGame| {
        sender.lock().unwrap().send(result).unwrap();
        next();
    };
    spawn(&pool, Arc::new(evaluation(Kernel::best())), 0, Arc::default(), Arc::default(), sink);
    let first = receiver.recv_timeout(Duration::from_secs(20));
    assert!(first.is_ok(), "the other evaluation had the thread for itself");
    assert_eq!(receiver.iter().count(), 69);
    stop.store(true, Ordering::Relaxed);
}

#[test]
fn the_last_games_share_the_threads() {
    const SLICES: u64 = 5;
    let pool = Pool::new(1).unwrap().lane(Party::Own);
    // The thread is busy until all jobs have been handed in.
    let (begin, busy) = mpsc::channel::<()>();
    pool.spawn(move || busy.recv().unwrap());
    let progress = Arc::new(Counters::default());
    let (sender, receiver) = mpsc::channel();
    let sender = Mutex::new(sender);
    let seen = progress.clone();
    let sink = move |result: PlayedGame, next: NextGame| {
        let pieces = seen.pieces.load(Ordering::Relaxed);
        sender.lock().unwrap().send((result.game, pieces)).unwrap();
        next();
    };
    let three = Evaluation { deal: Deal::Common(vec![1, 2, 3]), max_pieces: SLICES * SLICE, ..endless() };
    spawn(&pool, Arc::new(three), 0, Arc::default(), progress, sink);
    begin.send(()).unwrap();
    let finished: Vec<(u64, u64)> = receiver.iter().collect();
    // The first game is alone while there are two to come; the last two take turns.
    let pieces = |slices: u64| slices * SLICE;
    let expected = [(0, pieces(SLICES)), (1, pieces(3 * SLICES - 1)), (2, pieces(3 * SLICES))];
    assert_eq!(finished, expected);
}

#[test]
fn games_wait_for_a_sink_that_has_enough() {
    let pool = Pool::new(2).unwrap().lane(Party::Own);
    let (sender, receiver) = mpsc::channel();
    let sender = Mutex::new(sender);
    let sink = move |result: PlayedGame, next: NextGame| sender.lock().unwrap().send((result, next)).unwrap();
    spawn(&pool, Arc::new(evaluation(Kernel::best())), 1, Arc::default(), Arc::default(), sink);
    for game in 0..70 {
        let (result, next) = receiver.recv_timeout(Duration::from_secs(20)).unwrap();
        assert_eq!(result.game, game);
        assert!(receiver.try_recv().is_err(), "another game was played before it was asked for");
        next();
    }
    assert!(receiver.recv_timeout(Duration::from_secs(20)).is_err(), "there were 70");
}

#[test]
fn a_panic_stops_the_evaluation_and_not_the_program() {
    let pool = Pool::new(2).unwrap().lane(Party::Own);
    let (sender, receiver) = mpsc::channel::<()>();
    let sender = Mutex::new(Some(sender));
    let sink = move |_, next: NextGame| {
        next();
        let _held = &sender;
        panic!("on purpose");
    };
    let weak = evaluation(Kernel::best());
    let evaluation = Evaluation { policies: [weak.policies, endless().policies].concat(), ..endless() };
    let evaluation = Evaluation { rules: Rules::simplified(10, 20), ..evaluation };
    spawn(&pool, Arc::new(evaluation), 0, Arc::default(), Arc::default(), sink);
    let end = receiver.recv_timeout(Duration::from_secs(20));
    assert_eq!(end, Err(mpsc::RecvTimeoutError::Disconnected), "the sink is gone");
    let (sender, receiver) = mpsc::channel();
    pool.spawn(move || sender.send(5).unwrap());
    assert_eq!(receiver.recv_timeout(Duration::from_secs(20)), Ok(5), "the pool lives");
}

/// FNV-1a over the orientation and the column of each placement.
struct Checksum(u64);

impl Checksum {
    fn add(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
}

#[test]
fn games_played_by_mdptetris_are_replayed_to_the_last_line() {
    let text = include_str!("../data/reference_games.txt");
    let mut games = 0;
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [name, width, height, seed, pieces, lines, checksum, end] = words[..] else {
            panic!("eight words a row: {line}")
        };
        let rules = Rules::simplified(width.parse().unwrap(), height.parse().unwrap());
        let (pieces, lines): (u64, u64) = (pieces.parse().unwrap(), lines.parse().unwrap());
        let seed = seed.parse().unwrap();
        let agent = Controller::named(name).unwrap().agent(rules.width).unwrap();

        // Placement by placement for the short ones, and through a rollout for all.
        if pieces <= 3_000 {
            let mut sum = Checksum(0xcbf2_9ce4_8422_2325);
            let mut dealer = Dealer::seeded(rules.randomizer, seed);
            let mut playfield = Playfield::empty(rules.width, rules.height);
            for _ in 0..pieces {
                let piece = dealer.deal().unwrap();
                let placement = agent.choose(Kernel::best(), &rules, &playfield, piece).placement;
                sum.add(placement.orientation);
                sum.add(placement.column);
                playfield.drop(placement.shape(&rules, piece).unwrap(), placement.column, rules.top_out);
            }
            assert_eq!(format!("{:016x}", sum.0), checksum, "{line}");
        }
        let mut episode = Episode::new(&rules, Dealer::seeded(rules.randomizer, seed), AgentRng::new(seed));
        let bounds = Bounds::of_game(pieces, u64::MAX);
        episode.play(&rules, &Agent::Linear(agent), Kernel::best(), bounds);
        let over = match end {
            "over" => Some(EpisodeEnd::ToppedOut),
            _ => None,
        };
        assert_eq!(
            (episode.game.pieces, episode.game.lines, episode.game.end),
            (pieces, lines, over),
            "{line}"
        );
        games += 1;
    }
    assert!(games > 200, "only {games} games replayed");
}
