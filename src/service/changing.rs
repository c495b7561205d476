//! The memory and the request of a call that changes environments, between its slices. This file does not know the
//! session.

use std::ops::Range;

use tetrion_core::env::{Restored, Seeding};
use tetrion_protocol::positions::Positions;
use tetrion_toolkit::recording::Cells;

use super::answers::AnswerRoom;
use super::budget::Share;
use super::reserved::{List, Reserved};

/// Memory of a call that changes environments.
#[derive(Debug)]
pub(super) struct Rooms {
    pub answer: AnswerRoom,
    /// Memory for actions and outcomes, held until the call ends.
    pub _work: AnswerRoom,
    /// The answer that the session keeps.
    pub kept: Option<Share>,
    /// The environment of each row.
    pub env_ids: List<u32>,
    /// Whether these are all environments in order, which steps faster if nothing is listed.
    pub all: bool,
}

impl Rooms {
    /// The environments of these rows; `None` means all.
    pub fn named(&self, rows: &Range<usize>) -> Option<&[u32]> {
        (!self.all || rows.len() < self.env_ids.len()).then(|| &self.env_ids[rows.clone()])
    }
}

/// The start of further episodes: from seeds, or from given states.
#[derive(Debug)]
pub(super) enum Beginning {
    /// With episodes of these seeds, or with their next ones; if true, as mirrored matches.
    Episodes(Option<Reserved<Seeding>>, bool),
    /// From given states; with a seed, their later pieces come from it.
    States(Reserved<States>, Option<u64>),
}

/// Given positions, and the origins of the cells of each if they are known.
#[derive(Debug)]
pub(super) struct States {
    pub positions: Positions,
    pub colors: Vec<Option<Cells>>,
}

impl States {
    /// The positions as the environments take them.
    pub fn restored(&self) -> Restored<'_> {
        match &self.positions {
            Positions::States(states) => Restored::States(states),
            Positions::Drawn(drawn) => Restored::Positions(drawn),
        }
    }
}
