//! Agents in whole evaluations: on one thread and on more, on sequences, and stopped in the middle of a choice.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use tetrion_core::agents::{
    Agent, AgentRng, Controller, Decision, Kernel, LookaheadAgent, MonteCarlo, Sight, TerminalValue, Thought,
};
use tetrion_core::engine::rng::{Tag, word as engine_word};
use tetrion_core::engine::{
    Dealer, EpisodeEnd, GameStatistics, Live, Match, MatchResult, Piece, Placement, Randomizer, Rules,
    Tetromino, episode_seed,
};
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
            opponent: None,
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
        opponent: None,
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
        opponent: None,
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

/// A placement of an agent in a game outside of an evaluation.
fn decided(agent: &Agent, game: &Live, rng: &mut AgentRng) -> Placement {
    let rules = game.player_rules();
    let next: Vec<Piece> = game.preview().collect();
    let statistics = game.statistics();
    let sight = Sight {
        next: &next,
        held: game.held(),
        odds: game.odds(),
        lines: statistics.lines,
        pieces: statistics.pieces,
        ..Sight::of(&rules, game.playfield(), game.piece().unwrap())
    };
    let mut thought = Thought::default();
    loop {
        match agent.think(Kernel::best(), &sight, &mut thought, rng) {
            Some(Decision::Place(placement)) => return placement,
            Some(other) => panic!("{other:?} places no piece"),
            None => {}
        }
    }
}

/// Games against an opponent are the matches of their seeds, sides exchanged; and the same on every number of threads.
#[test]
fn games_against_an_opponent_are_matches_of_both() {
    let agent = |name| Agent::Linear(Controller::named(name).unwrap().agent(10).unwrap());
    for (name, opponent) in [("tetrio", agent("dt-10")), ("versus_simple", Agent::Random)] {
        let rules = Rules { players: 2, ..Rules::preset(name).unwrap() };
        let evaluation = Evaluation {
            rules,
            policies: vec![agent("tetrion-guideline"), Agent::Random],
            deal: Deal::Common(vec![3, 4]),
            episodes_per_seed: 4,
            pairs: None,
            max_pieces: 120,
            max_steps: u64::MAX,
            loss_trials: 0,
            opponent: Some(opponent.clone()),
            kernel: Kernel::best(),
        };
        let games = run(1, &evaluation);
        assert_eq!(games.len(), 2 * 2 * 4);
        assert_eq!(run(2, &evaluation), games);
        assert_eq!(run(2, &Evaluation { kernel: Kernel::Portable, ..evaluation.clone() }), games);
        for game in games {
            let said = format!("{name}: {game:?}");
            let side = game.episode as usize % 2;
            let seed = episode_seed([3, 4][game.seed_index as usize], u64::from(game.episode) / 2);
            assert_eq!(game.seed, seed, "{said}");
            let mut agents = [&evaluation.policies[game.policy as usize], &opponent];
            agents.rotate_right(side);
            let mut rngs = [0, 1].map(|side| AgentRng::new(engine_word(seed, Tag::Side, side)));
            let mut versus = Match::new(&rules, seed).unwrap();
            while versus.result().is_none() && versus.turns() < 120 {
                let chosen = [0, 1].map(|side| decided(agents[side], &versus.sides()[side], &mut rngs[side]));
                versus.place(chosen).unwrap();
            }
            let GameStatistics { pieces, lines, score, .. } = versus.sides()[side].statistics();
            assert_eq!((game.pieces, game.lines, game.score), (pieces, lines, score), "{said}");
            let won = match versus.result() {
                Some(MatchResult::Won(winner)) if winner == side => 1,
                Some(MatchResult::Won(_)) => -1,
                Some(MatchResult::Draw) | None => 0,
            };
            assert_eq!(EpisodeEnd::won(game.end), won, "{said}");
        }
    }
}
