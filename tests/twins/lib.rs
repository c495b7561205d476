//! The twin: Tetris written a second time, for the tests alone.
//!
//! The library packs playfields into integers, looks at many placements at once and keeps parts of
//! its features between placements. The twin does none of that. Cells are `bool`s, a tetromino falls
//! one row at a time, a feature is a loop over cells that reads like its definition. Nothing here
//! comes from the library, so where both agree, either both are right or two readings of one
//! sentence went wrong in the same way; `twin_facts` guards against that with numbers from outside.
//!
//! Everything but the notebook's game follows the `simplified` rules: straight drops, a placement is an orientation and the
//! column of the leftmost cell, a cell at row >= height ends the game before anything is cleared.
//! Row 0 is the lowest row, column 0 the leftmost; drawings have the top row first.

mod controller;
mod features;
mod garbage;
mod models;
mod modern;
mod modern_features;
mod notebook;
mod perft;
mod pieces;
mod playfield;
mod seeds;
mod surface;
mod tetromino;

pub use controller::{Losing, TwinStep, greedy, greedy_episode, random_episode, score};
pub use features::{
    LANDING_FEATURES, PLAYFIELD_FEATURES, SEVENS, feature, feature_names, plain_name, playfield_feature,
    playfield_feature_names, preclear_name,
};
pub use garbage::TwinGarbage;
pub use models::{TwinModel, TwinTuple};
pub use modern::{TwinGround, TwinMovement, TwinPiece, TwinResting};
pub use notebook::{NotebookBoard, NotebookPiece};
pub use perft::{Perft, perft};
pub use pieces::{TwinCells, cells_of, piece_numbers, turned_pictures, width_of};
pub use playfield::{TwinLanding, TwinPlacement, TwinPlayfield, land, placements};
pub use seeds::{
    bag7_sequence, environment_seed, episode_seed, random_playfield, uniform_sequence, uniform_tetromino,
    word,
};
pub use tetromino::{TETROMINOES, orientations};
