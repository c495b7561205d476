//! Playing: the greedy linear controller, and a random one that wanders.

use super::features::feature;
use super::playfield::{TwinLanding, TwinPlacement, TwinPlayfield, land, placements};
use super::seeds::draw;

/// What a game-ending placement is worth to the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Losing {
    /// Minus infinity: never chosen while another placement exists.
    Avoid,
    /// The placement is scored by its features.
    Score,
}

/// One piece of an episode.
#[derive(Clone, Debug)]
pub struct TwinStep {
    /// The playfield the tetromino fell into.
    pub before: TwinPlayfield,
    pub placement: TwinPlacement,
    /// The landing that it led to.
    pub landing: TwinLanding,
}

/// The sum of weight times feature, in the order of the lists, starting from 0.0.
pub fn score(features: &[&str], weights: &[f64], before: &TwinPlayfield, landing: &TwinLanding) -> f64 {
    assert_eq!(features.len(), weights.len(), "a weight for each feature");
    let mut sum = 0.0;
    for (name, weight) in features.iter().zip(weights) {
        sum += weight * feature(name, before, landing);
    }
    sum
}

/// The first of the placements with the greatest score, in ascending action order.
pub fn greedy(
    playfield: &TwinPlayfield,
    tetromino: char,
    features: &[&str],
    weights: &[f64],
    losing: Losing,
) -> TwinPlacement {
    let worth = |placement: &TwinPlacement| {
        let landing = land(playfield, placement);
        if landing.terminal && losing == Losing::Avoid {
            f64::NEG_INFINITY
        } else {
            score(features, weights, playfield, &landing)
        }
    };
    let candidates = placements(playfield, tetromino);
    let mut best = candidates[0];
    let mut best_worth = worth(&best);
    for candidate in &candidates[1..] {
        let candidate_worth = worth(candidate);
        if candidate_worth > best_worth {
            best = *candidate;
            best_worth = candidate_worth;
        }
    }
    best
}

/// Plays the tetrominoes greedily from an empty playfield until the game ends or they are used up.
pub fn greedy_episode(
    (width, height): (usize, usize),
    tetrominoes: impl IntoIterator<Item = char>,
    features: &[&str],
    weights: &[f64],
    losing: Losing,
) -> Vec<TwinStep> {
    play(TwinPlayfield::empty(width, height), tetrominoes, |playfield, tetromino, _| {
        greedy(playfield, tetromino, features, weights, losing)
    })
}

/// Plays the tetrominoes at random, the seed choosing among all placements, until the game ends or
/// they are used up.
pub fn random_episode(
    start: TwinPlayfield,
    tetrominoes: impl IntoIterator<Item = char>,
    seed: u64,
) -> Vec<TwinStep> {
    play(start, tetrominoes, |playfield, tetromino, step| {
        let candidates = placements(playfield, tetromino);
        candidates[draw(seed, step, candidates.len() as u64)]
    })
}

fn play(
    mut playfield: TwinPlayfield,
    tetrominoes: impl IntoIterator<Item = char>,
    choose: impl Fn(&TwinPlayfield, char, u64) -> TwinPlacement,
) -> Vec<TwinStep> {
    let mut steps = Vec::new();
    for (step, tetromino) in tetrominoes.into_iter().enumerate() {
        let placement = choose(&playfield, tetromino, step as u64);
        let landing = land(&playfield, &placement);
        let (afterstate, terminal) = (landing.afterstate.clone(), landing.terminal);
        steps.push(TwinStep { before: playfield, placement, landing });
        playfield = afterstate;
        if terminal {
            break;
        }
    }
    steps
}
