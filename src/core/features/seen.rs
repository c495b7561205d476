//! What the functions of features are given of a landing.

use crate::engine::{Landing, Shape, Spin, Tetromino};

/// A landing, as the features see it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The piece.
    pub piece: Tetromino,
    /// The spin that its placement counts as.
    pub spin: Spin,
    /// The shape that came to rest.
    pub shape: &'a Shape,
    /// What its placement did.
    pub landing: &'a Landing<u64, 32>,
}
