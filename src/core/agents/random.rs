//! The random agents, and one that always makes the same choice: baselines for other agents.
//!
//! Blocked placements are never drawn. In straight drops no placement is blocked, so the agents play as their sources
//! describe them.

use super::{AgentRng, Sight};
use crate::engine::{Key, Placement, placements};

/// Chooses every existing placement with equal probability: one word, in ascending action order. So an orientation is
/// more likely the more columns it fits (Leiden report). Includes placements that hold the current piece.
pub(super) fn placement(sight: &Sight<'_>, rng: &mut AgentRng) -> Placement {
    if sight.hand().other.is_some() {
        let all = sight.placements();
        return all[rng.below(all.len() as u32) as usize];
    }
    let all = placements(sight.rules, sight.playfield, sight.piece);
    all.nth(rng.below(all.len())).expect("a piece that can be played")
}

/// Chooses one of four quarter turns, then one of the columns where that shape can go: two words (survey notebook).
///
/// Turns are counted in the rules' orientations, starting again at 0 if there are fewer than four. If the orientation
/// has no placement, the agent chooses the first existing placement. If a column has several, each is equally likely.
/// The agent never holds a piece.
pub(super) fn survey(sight: &Sight<'_>, rng: &mut AgentRng) -> Placement {
    let all = placements(sight.rules, sight.playfield, sight.piece);
    let num_orientations = sight.rules.shapes(sight.piece).len() as u32;
    let orientation = (rng.below(4) % num_orientations) as u8;
    let of_it = all.of_orientation(orientation);
    let drawn = rng.below(of_it.len() as u32);
    let nth = if of_it.is_empty() { 0 } else { of_it.start + drawn };
    all.nth(nth).expect("a piece that can be played")
}

/// Chooses one of the keys: one word (course notebook, which has six keys).
pub(super) fn key(keys: &[Key], rng: &mut AgentRng) -> Key {
    keys[rng.below(keys.len() as u32) as usize]
}

/// Chooses the first orientation at the left wall, or the first placement if that does not exist (survey notebook).
pub(super) fn dummy(sight: &Sight<'_>) -> Placement {
    placements(sight.rules, sight.playfield, sight.piece).nth(0).expect("a piece that can be played")
}
