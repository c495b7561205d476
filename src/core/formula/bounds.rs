//! The bounds on formulas, with which every game stays fast.

/// Most bytes of a formula: a page of text.
pub const MAX_BYTES: usize = 4096;

/// Most levels of parentheses, calls, conditions and signs within each other.
pub const MAX_DEPTH: u32 = 64;

/// Most work for one placement. Numbers, features, facts and operations cost 1 each; a division costs 2; `exp` and `ln`
/// cost 32.
pub const MAX_COST: u32 = 256;

/// Largest exponent of `^`.
pub(super) const MAX_EXPONENT: u32 = 16;
