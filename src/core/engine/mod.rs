//! The rules of the game: pure, synchronous, exact.
//!
//! A piece appears, the player chooses a placement, and the piece falls straight down from above the wall until one of
//! its cells meets a full cell or the floor. By default pieces do not slide, do not turn on the way, and time does not
//! pass. Full rows vanish, and the rows above them move down. Under the default rule a game ends when a cell of the
//! landed piece lies at or above the height of the playfield; the engine tests that before clearing, and then clears
//! nothing.
//!
//! [`TopOut`] has the other rules that end games. [`Reach`] lets pieces walk to their column. A [`FallingPiece`] falls
//! while keys move it; a [`SteeredPiece`] has kicks and a clock as well. A game may use [other pieces](PieceSet) than
//! the seven tetrominoes; a [`Piece`] is a number in their set.
//!
//! This module knows nothing of features, rewards over time, agents, threads or the network. It reads no clock, and its
//! only global state is which vectors the machine has (`lanes`). Another program could use it as it is.
//!
//! The surprising decision: nothing random has a state. Piece n of an episode is a pure function of the episode's seed
//! and n ([`rng`], [`Dealer`]), so a seed is a promise that any other language can keep too.

mod piece;
mod pieces;
pub mod rng;
mod shape;
mod tetromino;

mod choice;
mod clears;
pub(crate) mod randomizer;
mod rules;

mod action_digits;
mod column;
mod distinct;
mod episode_end;
mod exchange;
mod falling_paths;
mod game;
mod garbage;
mod hand;
mod hand_paths;
mod incoming;
mod key;
mod keypress;
pub(crate) mod lanes;
mod live;
mod moving;
mod paths;
pub mod perft;
mod place;
mod placement;
mod playfield;
mod reach;
pub mod reachable;
mod rotation;
mod spin;
pub(crate) mod steered;
mod timing;
mod versus;
mod visible;

pub use action_digits::Digit;
pub(crate) use choice::choice;
pub use choice::{ChoiceValue, NamedChoice};
pub use clears::{Attack, AttackTable, Chain, Clear, ClearPoints, ClearWorth};
pub use column::Column;
pub use episode_end::EpisodeEnd;
pub(crate) use exchange::{exchange, exchange_points};
pub(crate) use game::{Counted, is_locked_out, land_at};
pub use game::{Game, comes_to_rest, land, lock, place, settle};
pub use garbage::{Garbage, Holes};
pub use hand::Hand;
pub use hand_paths::MAX_KEYS;
pub(crate) use hand_paths::keys_to_each;
pub use incoming::{Attacking, Exchanged, Incoming, WaitingLines};
pub use key::Key;
pub use keypress::{Fall, FallingPiece};
pub use lanes::Kernel;
pub use live::{ActionRefused, GameStatistics, Happened, LandedPiece, Live};
pub use moving::MovingPiece;
pub(crate) use moving::{KeyEffect, RestedPiece};
pub use paths::Paths;
pub use perft::{Perft, perft};
pub use piece::Piece;
pub use pieces::{
    MAX_PIECES, NamedPieceSet, PIECE_SETS, PieceSet, PieceSetError, UnknownLetter, parse_sequence,
};
pub(crate) use place::Arrival;
pub use placement::{Drops, Placement, PlacementSet, Spot};
pub use playfield::{CompactPlayfield, DrawingError, Landed, Landing, LowPlayfield, Playfield, PlayfieldOf};
pub use randomizer::{Dealer, Odds, PieceSequence, Randomizer, episode_seed};
pub(crate) use reach::every_placement_exists;
pub use reach::{
    appears, drops, every_choice_always_exists, every_placement_always_exists, is_blocked, placements,
};
pub use reachable::{Movement, Resting};
pub use rotation::{HalfTurns, RotationSystem};
pub use rules::{
    ActionModel, Changes, FieldKind, FieldValue, HEIGHTS, MAX_POINTS, MAX_PREVIEW, OrientationTable, PRESETS,
    Preset, RULES_FIELDS, RULES_VERSION, Reach, Rules, RulesError, RulesField, Scoring, TopOut, WIDTHS,
    check_points,
};
pub use shape::{PieceCells, Shape};
pub use spin::{Spin, SpinRule};
pub use steered::SteeredPiece;
pub use tetromino::Tetromino;
pub use timing::Timing;
pub use versus::{Match, MatchResult, MatchTurn, TurnRefused};
pub(crate) use visible::Visible;
