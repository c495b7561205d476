//! The input of feature functions for a landing.

use crate::engine::{Landing, Shape, Spin, Tetromino};

/// A landing, as feature functions see it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    pub piece: Tetromino,
    /// Spin label of the placement.
    pub spin: Spin,
    /// The shape of the piece at rest.
    pub shape: &'a Shape,
    pub landing: &'a Landing<u64, 32>,
}
