//! Agents in whole evaluations: on one thread and on more, on sequences, and stopped in the middle of a choice.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use tetrion_core::agents::{Agent, AgentRng, Kernel, LookaheadAgent, MonteCarlo, TerminalValue};
use tetrion_core::engine::rng::{Tag, word as engine_word};
use tetrion_core::engine::{Dealer, Randomizer, Rules, Tetromino};
use tetrion_core::pool::{Party, Pool};
use tetrion_core::rollout::{Counters, Deal, Episode, Evaluation, NextGame, PlayedGame, spawn};

use super::{ENDLESS, flat_stacking, linear};

/// Plays an agent's games on this many threads.
fn run(threads: usize, evaluation: &Evaluation) -> Vec<PlayedGame> {
    let pool = Pool::new(threads).unwrap().lane(Party::Own);
    let (sender, receiver) = mpsc::channel();
    let sender = Mutex::new(sender);
    let sink = move |result, next: NextGame| {
        sender.lock().unwrap().send(result).unwrap();
        next();
    };
    let progress = Arc::new(Counters::default());
    spawn(&pool, Arc::new(evaluation.clone()), 0, Arc::default(), progress, sink);
    let mut results: Vec<PlayedGame> = receiver.iter().collect();
    results.sort_by_key(|result| result.game);
    results
}

fn everybody(width: u8) -> Vec<Agent> {
    let lee = linear("height4", width, &[-0.51, 0.76, -0.36, -0.18], TerminalValue::Avoid);
    vec![
        Agent::Dummy,
        Agent::Random,
        Agent::RandomSurvey,
        Agent::MonteCarlo(MonteCarlo::new(10)),
        Agent::Lookahead(LookaheadAgent::new(lee.clone(), 1)),
        Agent::Linear(lee),
        Agent::Linear(flat_stacking(width)),
    ]
}

#[test]
fn everybodys_games_are_the_same_on_one_thread_and_on_two_and_alone() {
    for rules in [
        Rules { width: 8, height: 9, preview: 2, ..Rules::preset("leiden").unwrap() },
        Rules { width: 8, height: 9, randomizer: Randomizer::Balanced, preview: 1, ..Rules::default() },
        Rules { width: 8, height: 9, preview: 1, ..Rules::preset("lab").unwrap() },
    ] {
        let evaluation = Evaluation {
            rules,
            policies: everybody(8),
            deal: Deal::Common((0..6).collect()),
            episodes_per_seed: 2,
            pairs: None,
            max_pieces: 60,
            max_steps: 200,
            loss_trials: 0,
            kernel: Kernel::best(),
        };
        let one = run(1, &evaluation);
        assert_eq!(one.len(), 7 * 6 * 2);
        assert_eq!(run(2, &evaluation), one);
        let stop = AtomicBool::new(false);
        for result in &one {
            assert_eq!(evaluation.play(result.game, &stop).as_ref(), Some(result));
        }
        let portable = Evaluation { kernel: Kernel::Portable, ..evaluation };
        assert_eq!(run(2, &portable), one);
    }
}

#[test]
fn random_numbers_of_a_written_sequence_are_those_of_its_place_in_the_list() {
    let sequence: Arc<[Tetromino]> = vec![Tetromino::T; 30].into();
    let evaluation = Evaluation {
        rules: Rules::simplified(10, 20),
        policies: vec![Agent::Random],
        deal: Deal::Sequences(vec![sequence.clone(), sequence.clone()]),
        episodes_per_seed: 1,
        pairs: None,
        max_pieces: u64::MAX,
        max_steps: u64::MAX,
        loss_trials: 0,
        kernel: Kernel::best(),
    };
    let results = run(1, &evaluation);
    for (j, result) in results.iter().enumerate() {
        let rng = AgentRng::new(engine_word(0, Tag::Game, j as u64));
        let mut episode = Episode::new(&evaluation.rules, Dealer::sequence(sequence.clone()), rng);
        episode.play(&evaluation.rules, &Agent::Random, Kernel::best(), ENDLESS);
        assert_eq!((result.lines, result.pieces, result.seed), (episode.game.lines, episode.game.pieces, 0));
    }
    assert_ne!(results[0].pieces, results[1].pieces, "they draw different rng");
}

#[test]
fn a_choice_that_takes_seconds_is_stopped_in_its_middle() {
    let rules = Rules::simplified(32, 40);
    let evaluation = Evaluation {
        rules,
        policies: vec![Agent::MonteCarlo(MonteCarlo::new(1000))],
        deal: Deal::Common(vec![1, 2]),
        episodes_per_seed: 1,
        pairs: None,
        max_pieces: u64::MAX,
        max_steps: u64::MAX,
        loss_trials: 0,
        kernel: Kernel::best(),
    };
    let pool = Pool::new(1).unwrap().lane(Party::Own);
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel::<()>();
    let sender = Mutex::new(sender);
    let sink = move |_, _: NextGame| sender.lock().unwrap().send(()).unwrap();
    spawn(&pool, Arc::new(evaluation), 0, stop.clone(), Arc::default(), sink);
    // The thread takes other jobs while the games are at their first piece.
    let (other, done) = mpsc::channel();
    pool.spawn(move || other.send(()).unwrap());
    done.recv_timeout(Duration::from_secs(20)).expect("a job between two placements");
    let begin = Instant::now();
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(receiver.recv_timeout(Duration::from_secs(20)), Err(mpsc::RecvTimeoutError::Disconnected));
    println!("stopped within {:?}", begin.elapsed());
}
