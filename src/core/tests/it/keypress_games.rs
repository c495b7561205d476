//! Whole games of key presses: agents against the course notebook's own moves, on its own board.

use std::sync::atomic::AtomicBool;

use tetrion_core::agents::{Agent, AgentRng, Controller, Kernel, KeyAgent};
use tetrion_core::engine::rng::{Tag, word};
use tetrion_core::engine::{ActionModel, Dealer, EpisodeEnd, Rules, Timing, TopOut};
use tetrion_core::rollout::{Bounds, Deal, Episode, Evaluation};

use tetrion_twins::{NotebookBoard, NotebookPiece, TwinPlayfield};

fn lab(width: u8, height: u8) -> Rules {
    Rules { width, height, ..Rules::preset("lab").unwrap() }
}

/// The counts of a game: lines, pieces, keys, and whether it was lost.
type Counts = (u64, u64, u64, bool);

/// A game on the notebook's board: a key for each step, from a function that learns when a new piece appears.
fn plain_game(
    rules: &Rules,
    seed: u64,
    max_steps: u64,
    mut press: impl FnMut(&NotebookBoard, char, &NotebookPiece, bool) -> usize,
) -> Counts {
    let empty = TwinPlayfield::empty(rules.width.into(), rules.height.into());
    let mut board = NotebookBoard::of(&empty);
    let mut dealer = Dealer::seeded(rules.randomizer, seed);
    let (mut lines, mut pieces, mut steps) = (0, 0, 0);
    loop {
        let tetromino = dealer.deal().unwrap().letter();
        let mut piece = board.spawn(tetromino);
        let (mut is_new, mut rests) = (true, false);
        while !rests {
            if steps == max_steps {
                return (lines, pieces, steps, false);
            }
            let key = press(&board, tetromino, &piece, is_new);
            is_new = false;
            steps += 1;
            (piece, rests) = board.press(key, piece);
        }
        board.add(&piece);
        pieces += 1;
        lines += board.clear() as u64;
        if board.rows[0].contains(&true) {
            return (lines, pieces, steps, true);
        }
    }
}

fn game(rules: &Rules, agent: &Agent, seed: u64, max_steps: u64) -> Counts {
    let mut episode = Episode::new(rules, Dealer::seeded(rules.randomizer, seed), AgentRng::new(seed));
    let bounds = Bounds::of_game(u64::MAX, max_steps);
    episode.play(rules, agent, Kernel::best(), bounds);
    let Episode { game, steps, .. } = episode;
    (game.lines, game.pieces, steps, game.end == Some(EpisodeEnd::ToppedOut))
}

#[test]
fn random_keys_are_words_of_the_agents_rng() {
    let mut lost = 0;
    for (width, height) in [(10, 20), (4, 6), (7, 9), (18, 12)] {
        let rules = lab(width, height);
        for seed in 0..25 {
            let mut n = 0;
            let expected = plain_game(&rules, seed, 400, |_, _, _, _| {
                n += 1;
                ((u128::from(word(seed, Tag::Agent, n - 1)) * 6) >> 64) as usize
            });
            assert_eq!(
                game(&rules, &Agent::Keys(KeyAgent::Random), seed, 400),
                expected,
                "{width} x {height}, seed {seed}"
            );
            lost += u64::from(expected.3);
        }
    }
    assert!(lost > 40, "{lost} games are lost: the others say nothing of the end");
}

/// The notebook's score of a board with the piece in it: its four weights are positive, its formula has the signs.
fn notebook_score(board: &NotebookBoard, weights: [f64; 4]) -> f64 {
    let rows = &board.rows;
    let heights: Vec<i64> = (0..rows[0].len())
        .map(|x| rows.iter().position(|row| row[x]).map_or(0, |top| (rows.len() - top) as i64))
        .collect();
    let full = rows.iter().filter(|row| row.iter().all(|full| *full)).count();
    let holes: i64 =
        (0..rows[0].len()).map(|x| heights[x] - rows.iter().filter(|row| row[x]).count() as i64).sum();
    let bumpiness: i64 = heights.windows(2).map(|two| (two[0] - two[1]).abs()).sum();
    let [total, lines, of_holes, bumps] = weights;
    let sum = heights.iter().sum::<i64>() as f64;
    // In the order of the library's sum, so that rounding is the same.
    0.0 + -total * sum + lines * full as f64 + -of_holes * holes as f64 + -bumps * bumpiness as f64
}

#[test]
fn the_notebooks_agent_plays_the_notebooks_games() {
    let mut lost = 0;
    for (name, weights) in
        [("lab-uniform", [1.0, 1.0, 1.0, 1.0]), ("lab-optimised", [0.434, 0.238, 0.247, 0.081])]
    {
        for (width, height, max_steps, games) in [(10, 20, 1000, 3), (10, 8, 400, 20), (7, 7, 300, 20)] {
            let rules = lab(width, height);
            let agent = Agent::Linear(Controller::named(name).unwrap().agent(width).unwrap());
            for seed in 0..games {
                let mut target = None;
                let expected = plain_game(&rules, seed, max_steps, |board, tetromino, piece, is_new| {
                    if is_new {
                        target = None;
                        let mut most = f64::NEG_INFINITY;
                        for landed in board.next_moves(tetromino) {
                            let mut with = board.clone();
                            with.add(&landed);
                            let score = notebook_score(&with, weights);
                            if score > most {
                                (most, target) = (score, Some(landed));
                            }
                        }
                    }
                    target.as_ref().map_or(5, |target| piece.key_towards(target))
                });
                let played = game(&rules, &agent, seed, max_steps);
                assert_eq!(played, expected, "{name} on {width} x {height}, seed {seed}");
                lost += u64::from(expected.3);
            }
        }
    }
    assert!(lost > 50, "{lost} games are lost: the others say nothing of the end");
}

/// The batch of the notebook: environment i has the seed 42 + i, and its games follow each other.
#[test]
fn the_notebooks_means_come_out() {
    let agent = |name: &str| Agent::Linear(Controller::named(name).unwrap().agent(10).unwrap());
    for (name, known, known_std) in [("lab-uniform", 39.0, 20.0), ("lab-optimised", 71.0, 27.0)] {
        let evaluation = Evaluation {
            rules: lab(10, 20),
            policies: vec![agent(name); 8],
            deal: Deal::PerSlot { seeds: (42..50).collect(), columns: 1 },
            episodes_per_seed: 25,
            pairs: None,
            max_pieces: u64::MAX,
            max_steps: 1000,
            loss_trials: 0,
            opponent: None,
            kernel: Kernel::best(),
        };
        let stop = AtomicBool::new(false);
        let games: Vec<_> = (0..200).map(|game| evaluation.play(game, &stop).unwrap()).collect();
        assert_eq!((games[25].seed, games[25].policy, games[25].episode), (43, 1, 0));
        let n = games.len() as f64;
        let lines = games.iter().map(|game| game.lines as f64);
        let mean = lines.clone().sum::<f64>() / n;
        let std = (lines.map(|lines| (lines - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        let error = (std * std / n + known_std * known_std / 200.0).sqrt();
        assert!((mean - known).abs() <= 3.0 * error, "{name}: {mean} +- {}", std / n.sqrt());
        for game in &games {
            assert!(
                game.steps <= 1000 && (game.is_truncated() || game.steps < 1000 || game.lines < 99),
                "{game:?}"
            );
            assert!(!game.is_truncated() || game.steps == 1000, "{game:?}");
        }
        // A key at least, and seldom more than a few, for each piece.
        let (steps, pieces) = games.iter().fold((0, 0), |(s, p), game| (s + game.steps, p + game.pieces));
        let keys = steps as f64 / pieces as f64;
        assert!((3.5..4.7).contains(&keys), "{keys} keys a piece");
    }
}

/// The game people play, key by key.
fn guideline_by_keys(fall_delay: u8, lock_delay: u8) -> Rules {
    Rules {
        action_model: ActionModel::Keypress,
        timing: Some(Timing { fall_delay, lock_delay, lock_resets: 15 }),
        height: 24,
        rows_above: 4,
        ..Rules::preset("guideline").unwrap()
    }
}

/// Who thinks in placements, and has the time to press the keys, plays the same games as by placements.
#[test]
fn a_player_with_time_plays_the_games_of_placements() {
    for name in ["dellacherie", "lab-uniform"] {
        let agent = Agent::Linear(Controller::named(name).unwrap().agent(10).unwrap());
        for seed in 0..4 {
            let by_keys = guideline_by_keys(60, 30);
            let by_placements = Rules { action_model: ActionModel::Placement, timing: None, ..by_keys };
            let played = |rules: &Rules| {
                let mut episode =
                    Episode::new(rules, Dealer::seeded(rules.randomizer, seed), AgentRng::new(seed))
                        .recorded(rules);
                episode.play(rules, &agent, Kernel::best(), Bounds::of_game(60, u64::MAX));
                let actions = episode.take_record(rules).unwrap().actions;
                (episode.game, actions.iter().collect::<Vec<u16>>())
            };
            let ((keys, pressed), (placements, placed)) = (played(&by_keys), played(&by_placements));
            assert_eq!(keys, placements, "{name}, seed {seed}");
            assert!(pressed.len() > 2 * placed.len() && pressed.iter().all(|key| *key < 10));
            assert_eq!(placed.len(), 60);
            // Hold, hard drops and others.
            assert!(pressed.contains(&9) && pressed.iter().filter(|key| **key == 5).count() == 60);
        }
    }
}

/// Whatever agents do, every piece lands: there is gravity.
#[test]
fn games_end_when_there_is_no_time() {
    let rules = Rules { top_out: TopOut::LockOut, ..guideline_by_keys(1, 1) };
    let agents = [
        Agent::Keys(KeyAgent::Random),
        Agent::Random,
        Agent::Linear(Controller::named("dellacherie").unwrap().agent(10).unwrap()),
    ];
    for agent in agents {
        for seed in 0..4 {
            let (_, pieces, steps, _) = game(&rules, &agent, seed, 3_000);
            assert!(pieces >= steps / 23, "{agent:?}: {pieces} pieces in {steps} steps");
        }
    }
    let (.., is_lost) = game(&rules, &Agent::Keys(KeyAgent::Random), 1, 1_000_000);
    assert!(is_lost);
}
