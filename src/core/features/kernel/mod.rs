//! The fast path: measures all placements of one orientation at once, with the vectors of the machine.
//!
//! The vectors and the choice between machines are the engine's `lanes`. This module uses the
//! engine, and knows no agents, games or requests.
//!
//! The lanes are as short as the playfield allows. Games seldom need the longer ones: good players keep their stack
//! low, and `rows_for` leaves out empty rows. With `bcts8`, 99 % of the pieces on 10 x 20 and 10 x 30 are played as on
//! 10 x 12.
//!
//! A sweep measures straight drops as changes to the playfield. Pieces that turn and slide into place, or that hold can
//! exchange, are measured together, with one afterstate per lane.

mod base;
mod bounds;
mod candidates;
mod clearing;
mod extractor;
pub(super) mod feature;
mod fits;
mod foresight;
mod modern;
mod placement_lanes;
mod playfield_lanes;
mod prospects;
mod scorer;
pub(super) mod set;
mod surface;
mod sweep;
mod together;

pub(crate) use bounds::LaneBounds;
pub use extractor::Extractor;
pub(crate) use extractor::{PlacementColumns, PlacementRows};
pub(crate) use foresight::{Ahead, Foresight};
pub use foresight::{Expectation, Terms};
pub(crate) use scorer::{Chooser, Scorer};
pub use scorer::{ScoredPlacement, TerminalValue};
pub(crate) use together::{Measurements, RestingPiece, Together};

pub use crate::engine::Kernel;
pub(crate) use crate::engine::lanes::{Apart, LaneWork, Lanes, dispatch};

use crate::engine::{CompactPlayfield, LowPlayfield};

/// The number of rows to look at, given the height of the stack: the most that fit into the shortest words with room
/// for the stack and a piece. If rows are left out, they are at least four; they stay empty, and the next piece cannot
/// end the game.
pub(crate) fn rows_for(width: u8, height: u8, stack: u32) -> u8 {
    for rows in [LowPlayfield::MAX_HEIGHT, CompactPlayfield::MAX_HEIGHT] {
        if height <= rows {
            break;
        }
        let lowered = rows.min(height - 4);
        if width <= 16 && stack + 4 <= lowered.into() {
            return lowered;
        }
    }
    height
}
