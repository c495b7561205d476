//! Recordings of games: writing them down, replaying and viewing them.
//!
//! A [`Recording`] holds rules, the source of the pieces, and actions. From these the engine makes the same game on
//! every machine. A recording also has the lines of every landing and the end of the game, so that a replay can be
//! checked. A [`Recorder`] makes a recording action by action and can undo actions. A [`Replay`] steps through a
//! recording, forward and back.
//!
//! The engine's playfield knows only full and empty cells. Here each cell knows the piece that it came from: a
//! [`Course`] is a game with its colours, and a [`Scene`] is everything that a viewer draws of it.
//!
//! This module knows nothing of files, messages and screen colours, and does not know who played.
//!
//! The surprising decision: a replay plays the whole game once before it shows anything. So it knows its number of
//! valid steps, and stepping never fails.

mod cells;
mod course;
mod record;
mod recorder;
mod replay;
mod scene;
mod timeline;

pub use cells::{Cell, Cells, SceneCells, remaining, risen};
pub use course::Course;
pub use record::{Outcome, Pieces, RecordedOpponent, Recording, RecordingError, Setup};
pub use recorder::Recorder;
pub use replay::{Difference, Replay};
pub use scene::{CurrentPiece, Scene};
