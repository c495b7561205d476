//! Tasks that are played piece by piece: candidates are drawn until one has an oracle and is no gift.

use super::course::TaskCourse;
use super::distinct;
use super::oracle;
use super::play::{Goal, PlayTask};
use super::start::Start;
use super::suite::{Group, Split};
use crate::optimum::{self, OptimumError};
use tetrion_core::agents::AgentRng;
use tetrion_core::engine::rng::{Tag, word};
use tetrion_core::engine::{LowPlayfield, Piece, Placement, Rules, Tetromino, land, placements};

/// Columns and rows of the playfields with exact values, by difficulty.
const SOLVED: [(u8, u8); 3] = [(4, 4), (4, 5), (5, 4)];

/// Random games that measure a floor.
const FLOOR_GAMES: u32 = 100;
/// A task that random play reaches more often is a gift.
const MAX_RANDOM: f64 = 0.5;

/// The task with this number. Groups with few starts are [drawn at once](distinct). All other tasks come from the seeds
/// `word(2 * index + split, Game, n)`.
pub(super) fn generate(
    split: Split,
    index: u32,
    group: Group,
    difficulty: u8,
) -> Result<PlayTask, OptimumError> {
    if distinct::is_distinct(group) {
        let draw = |rng: &mut AgentRng| draw(split, group, difficulty, rng);
        return Ok(distinct::task(split, index, draw)?.clone());
    }
    let seed = 2 * u64::from(index) + split.bit();
    for attempt in 0.. {
        let mut rng = AgentRng::new(word(seed, Tag::Game, attempt));
        if let Some(task) = draw(split, group, difficulty, &mut rng)? {
            return Ok(task);
        }
    }
    unreachable!("there are more seeds than numbers")
}

/// Draws a task; `None` if the split may not have it, no placements reach its goal, or it is a gift.
fn draw(
    split: Split,
    group: Group,
    difficulty: u8,
    rng: &mut AgentRng,
) -> Result<Option<PlayTask>, OptimumError> {
    let candidate = candidate(group, difficulty, rng);
    let Some(mut task) = candidate.filter(|task| task.start.is_in(split, &task.rules)) else {
        return Ok(None);
    };
    let oracle = match task.goal {
        Goal::Value => oracle::by_values(&task, optimum::values(&task.rules)?),
        _ => oracle::search(&task),
    };
    let Some(oracle) = oracle else { return Ok(None) };
    task.oracle = oracle;
    task.floor_first = first(&task);
    if task.floor_first == 1.0 {
        return Ok(None);
    }
    task.floor_random = (0..FLOOR_GAMES).map(|_| random(&task, rng)).sum::<f64>() / f64::from(FLOOR_GAMES);
    Ok((task.goal == Goal::Value || task.floor_random <= MAX_RANDOM).then_some(task))
}

/// A task without an oracle and floors; `None` if the start did not come about.
fn candidate(group: Group, difficulty: u8, rng: &mut AgentRng) -> Option<PlayTask> {
    let level = usize::from(difficulty) - 1;
    let solved = SOLVED[level];
    // The size; the number of pieces before the start, at least and how many more; the number of pieces; the goal.
    let ((width, height), earlier, num_pieces, goal) = match group {
        Group::BestPlacement => (solved, (0, 8), 1, Goal::Value),
        Group::Play => {
            let (least, more) = [(2, 4), (6, 5), (11, 10)][level];
            (solved, (0, 4), least + rng.below(more) as usize, Goal::Value)
        }
        Group::ClearLines => ((6, 10), (4, 6), 2 + level, Goal::Lines(1 + u32::from(level == 2))),
        Group::Survive => ((5, 6), (4, 4), 5 + level, Goal::Survive),
        Group::Dig => ((6, 10), (0, 1), [4, 4, 5][level], Goal::Dig(1 + level as u32)),
        Group::PerfectClear => ((4, 6), (1, 6), 3 + level, Goal::PerfectClear),
        Group::Formula => unreachable!("a formula plays whole games"),
    };
    let mut rules = Rules::simplified(width, height);
    if goal != Goal::Value {
        rules.preview = num_pieces as u8 - 1;
    }
    let mut playfield = LowPlayfield::empty(width, height);
    if let Goal::Dig(rows) = goal {
        for _ in 0..rows {
            playfield.raise(rng.below(width.into()) as u8);
        }
    }
    for _ in 0..earlier.0 + rng.below(earlier.1) {
        playfield = after_random_placement(&rules, &playfield, rng)?;
    }
    let pieces = (0..num_pieces).map(|_| random_piece(rng)).collect();
    let start = Start { playfield, pieces };
    Some(PlayTask { rules, start, goal, oracle: Vec::new(), floor_first: 0.0, floor_random: 0.0 })
}

fn random_piece(rng: &mut AgentRng) -> Piece {
    Tetromino::ALL[rng.below(7) as usize]
}

/// The playfield after a random placement that does not end the game; `None` if every one does.
fn after_random_placement(
    rules: &Rules,
    playfield: &LowPlayfield,
    rng: &mut AgentRng,
) -> Option<LowPlayfield> {
    let piece = random_piece(rng);
    let all = placements(rules, playfield, piece);
    let landings = all.iter().map(|placement| land(rules, playfield, piece, placement).1);
    let safe: Vec<LowPlayfield> =
        landings.filter(|landing| !landing.terminal).map(|landing| landing.afterstate).collect();
    (!safe.is_empty()).then(|| safe[rng.below(safe.len() as u32) as usize])
}

/// The score of a player whose `choose` picks among the placements of each piece.
fn score(task: &PlayTask, mut choose: impl FnMut(&[Placement]) -> Placement) -> f64 {
    let mut course = TaskCourse::new(task);
    while !course.is_over() {
        let placement = choose(&course.placements());
        course.place(placement).expect("a legal placement");
    }
    course.score()
}

/// Score of the first legal placement of every piece.
fn first(task: &PlayTask) -> f64 {
    score(task, |all| all[0])
}

/// Score of a random game.
fn random(task: &PlayTask, rng: &mut AgentRng) -> f64 {
    score(task, |all| all[rng.below(all.len() as u32) as usize])
}
