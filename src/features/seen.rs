//! What the functions of features are given of a landing.

use crate::engine::{Landing, Shape};

/// A landing, as the features see it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The shape that came to rest.
    pub shape: &'a Shape,
    /// What its placement did.
    pub landing: &'a Landing<u64, 32>,
}
