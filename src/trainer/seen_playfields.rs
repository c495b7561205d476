//! Playfields that a run has seen, from which its games can restart. This file only stores them.

use serde::{Deserialize, Serialize};

use tetrion_core::engine::rng::below;

/// Most playfields per height that a run keeps.
const KEPT: usize = 512;

/// Playfields that a run has seen, by the height of their stack. Games restart from them: a good player is seldom in
/// danger otherwise, and has most to learn there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeenPlayfields {
    of_height: Vec<Vec<Vec<u32>>>,
}

impl SeenPlayfields {
    /// Adds a playfield. Replaces another one if enough of its height are stored.
    pub fn keep(&mut self, rows: &[u32], draw: u64) {
        let height = rows.iter().rposition(|row| *row != 0).map_or(0, |row| row + 1);
        if self.of_height.len() <= height {
            self.of_height.resize(height + 1, Vec::new());
        }
        let kept = &mut self.of_height[height];
        if kept.len() < KEPT {
            kept.push(rows.to_vec());
        } else {
            kept[below(draw, KEPT as u64) as usize].copy_from_slice(rows);
        }
    }

    /// A playfield of a random height up to `height`; `None` if none of the drawn height has been seen.
    pub fn any(&self, height: usize, draw: u64) -> Option<&[u32]> {
        let kept = self.of_height.get(below(draw, height as u64 + 1) as usize)?;
        // The height used the upper bits of the draw.
        kept.get(below(draw << 16, kept.len() as u64) as usize).map(Vec::as_slice)
    }

    /// Whether all playfields have `height` rows.
    pub fn are_of(&self, height: usize) -> bool {
        self.of_height.iter().flatten().all(|rows| rows.len() == height)
    }
}
