//! Oracles: placements that reach a goal.

use std::collections::HashSet;

use super::course::{TaskCourse, TaskPosition};
use super::play::{Goal, PlayTask};
use tetrion_core::engine::{Placement, placements};
use tetrion_core::values::Values;

/// Most positions per piece that a search keeps: those with the fewest cells and holes.
const BEAM: usize = 4_000;

/// A position that a search has found, and the way there.
struct SearchNode {
    position: TaskPosition,
    /// Index of the previous position in the layer of the previous piece.
    from: usize,
    placement: Placement,
}

/// Placements that reach the goal with as few pieces as this search finds; `None` if it finds none.
pub(super) fn search(task: &PlayTask) -> Option<Vec<Placement>> {
    let PlayTask { rules, start, goal, .. } = task;
    let mut layers: Vec<Vec<SearchNode>> = Vec::new();
    for (number, &piece) in start.pieces.iter().enumerate() {
        let before: Vec<TaskPosition> = match layers.last() {
            Some(layer) => layer.iter().map(|node| node.position).collect(),
            None => vec![TaskPosition::of_start(task)],
        };
        let (mut layer, mut seen) = (Vec::new(), HashSet::new());
        for (from, position) in before.iter().enumerate() {
            for placement in placements(rules, &position.playfield, piece).iter() {
                let after = position.after(rules, piece, placement);
                if after.is_lost || !seen.insert(key(&after)) {
                    continue;
                }
                if layer.len() == 2 * BEAM {
                    keep_best(&mut layer);
                }
                layer.push(SearchNode { position: after, from, placement });
                if after.reaches(*goal, start.pieces.len() - number - 1) {
                    layers.push(layer);
                    return Some(way(&layers));
                }
            }
        }
        keep_best(&mut layer);
        layers.push(layer);
    }
    None
}

/// Keeps the best positions of a layer, the first of equals.
fn keep_best(layer: &mut Vec<SearchNode>) {
    layer.sort_by_key(|node| roughness(&node.position));
    layer.truncate(BEAM);
}

/// Everything in which positions of a search differ, in little memory. The playfields of tasks have at most 64 cells.
fn key(position: &TaskPosition) -> (u64, u32, u32) {
    let playfield = &position.playfield;
    debug_assert!(playfield.width() * playfield.height() <= 64);
    let cells = playfield
        .columns()
        .iter()
        .fold(0_u64, |cells, column| cells << playfield.height() | u64::from(*column));
    (cells, position.lines, position.garbage)
}

/// The placements to the last node of the last layer.
fn way(layers: &[Vec<SearchNode>]) -> Vec<Placement> {
    let mut placements = Vec::new();
    let mut at = layers.last().map_or(0, |layer| layer.len() - 1);
    for layer in layers.iter().rev() {
        placements.push(layer[at].placement);
        at = layer[at].from;
    }
    placements.reverse();
    placements
}

/// How far a position is from an empty playfield, roughly.
fn roughness(position: &TaskPosition) -> u32 {
    let playfield = &position.playfield;
    let cells: u32 = playfield.columns().iter().map(|column| column.count_ones()).sum();
    let holes: u32 = (0..playfield.width()).map(|column| playfield.holes(column).count_ones()).sum();
    cells + 3 * holes
}

/// The best placements by exact values; `None` if they lose the game.
pub(super) fn by_values(task: &PlayTask, values: &Values) -> Option<Vec<Placement>> {
    debug_assert_eq!(task.goal, Goal::Value);
    let mut course = TaskCourse::new(task);
    let mut all = Vec::new();
    while let Some(piece) = course.piece() {
        let best = values.best(&task.rules, course.playfield(), piece);
        course.place(best).expect("a legal placement");
        all.push(best);
    }
    (!course.is_lost()).then_some(all)
}
