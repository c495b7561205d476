//! Tasks of groups whose starts are few: they show one piece on a small playfield, or few pieces that make it empty. Drawn
//! independently they would repeat each other. This file draws all tasks of a group, difficulty and split at once, and no two
//! of them look alike.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::play::PlayTask;
use super::suite::{Group, NUM_KINDS, NUM_TASKS, Split, kind_of};
use crate::optimum::OptimumError;
use tetrion_core::agents::AgentRng;
use tetrion_core::engine::rng::{Tag, word};

/// Tasks of a kind in a split.
const TASKS: usize = NUM_TASKS as usize / NUM_KINDS;

static DRAWN: [[OnceLock<Vec<PlayTask>>; NUM_KINDS]; Split::ALL.len()] =
    [const { [const { OnceLock::new() }; NUM_KINDS] }; Split::ALL.len()];

/// Whether the tasks of a group are drawn at once.
pub(super) fn is_distinct(group: Group) -> bool {
    matches!(group, Group::BestPlacement | Group::Play | Group::PerfectClear)
}

/// Whether the task with this index takes no time but its own: those that it is drawn with are known.
pub fn is_drawn(index: u32) -> bool {
    let kind = index as usize % NUM_KINDS;
    !is_distinct(kind_of(index).0) || DRAWN.iter().all(|kinds| kinds[kind].get().is_some())
}

/// The task with this index. The first call for a kind and split draws all tasks of it; `draw` returns one, or `None`.
pub(super) fn task(
    split: Split,
    index: u32,
    draw: impl FnMut(&mut AgentRng) -> Result<Option<PlayTask>, OptimumError>,
) -> Result<&'static PlayTask, OptimumError> {
    let (kind, number) = (index as usize % NUM_KINDS, index as usize / NUM_KINDS);
    let known = &DRAWN[split.bit() as usize][kind];
    let tasks = match known.get() {
        Some(tasks) => tasks,
        None => {
            let tasks = draw_all(split, index, draw)?;
            known.get_or_init(|| tasks)
        }
    };
    Ok(&tasks[number])
}

fn draw_all(
    split: Split,
    index: u32,
    mut draw: impl FnMut(&mut AgentRng) -> Result<Option<PlayTask>, OptimumError>,
) -> Result<Vec<PlayTask>, OptimumError> {
    let seed = 2 * u64::from(index % NUM_KINDS as u32) + split.bit();
    let mut rng = AgentRng::new(word(seed, Tag::Game, u64::MAX));
    let (mut tasks, mut seen) = (Vec::with_capacity(TASKS), HashSet::new());
    while tasks.len() < TASKS {
        if let Some(task) = draw(&mut rng)?
            && seen.insert((task.start.playfield, task.start.shown(&task.rules).to_vec()))
        {
            tasks.push(task);
        }
    }
    Ok(tasks)
}
