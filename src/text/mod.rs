//! Texts that people read: numbers, and characters that would not be shown.

pub mod escapes;
pub mod numbers;
