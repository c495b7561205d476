//! The one random function, specified here exactly.
//!
//! Everything random in a game is `word(seed, tag, n)`: the n-th 64-bit word of the stream `tag` of `seed`. The
//! function is pure, so any piece of any episode can be computed without the pieces before it, in any language, from
//! this page. There is no generator state, and the order of calls does not matter.
//!
//! ```text
//! mix(z)              SplitMix64's finaliser (Steele, Lea, Flood 2014; constants of Stafford's variant 13)
//! G                   0x9E3779B97F4A7C15
//! word(seed, tag, n)  mix(mix(seed + (tag + 1) * G) + (n + 1) * G)      all modulo 2^64
//! below(word, m)      (word * m) >> 64                                  with a 128-bit product
//! ```
//!
//! `word(42, 0, 0)` is 6332618229526065668. Games must not use random-number crates, because none of them promises
//! equal values across releases.

/// The odd constant that separates neighbouring seeds: 2^64 divided by the golden ratio.
const G: u64 = 0x9E37_79B9_7F4A_7C15;

/// The purpose of a stream of words. Streams with different tags are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Tag {
    /// The pieces of an episode, from the episode's seed.
    Pieces = 0,
    /// The seeds of a session's environments, from the session's seed.
    Environment = 1,
    /// The seeds of an environment's later episodes, from the environment's seed.
    Episode = 2,
    /// The games of an evaluation, from the evaluation's seed.
    Game = 3,
    /// An agent's own randomness, from the episode's seed.
    Agent = 4,
    /// New futures for a restored state, from the seed given with it.
    Reseed = 5,
    /// The amounts of garbage of an episode, from the episode's seed.
    Garbage = 6,
    /// The hole columns of garbage rows, from the episode's seed.
    Hole = 7,
    /// The trials of an estimate of episode length, from the first episode's seed.
    Trial = 8,
    /// The garbage of the two sides of a match, from the episode's seed.
    Side = 9,
}

/// SplitMix64's finaliser: a bijection on 64-bit words that spreads every input bit over the output.
pub const fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The n-th word of stream `tag` of `seed`.
///
/// ```
/// use tetrion_core::engine::rng::{Tag, word};
/// assert_eq!(word(42, Tag::Pieces, 0), 6332618229526065668);
/// ```
pub const fn word(seed: u64, tag: Tag, n: u64) -> u64 {
    stream_word(stream(seed, tag), n)
}

/// The part of [`word`] that does not depend on n, for callers that draw many words from one stream.
pub const fn stream(seed: u64, tag: Tag) -> u64 {
    mix(seed.wrapping_add((tag as u64 + 1).wrapping_mul(G)))
}

/// The n-th word of a stream from [`stream`].
pub const fn stream_word(stream: u64, n: u64) -> u64 {
    mix(stream.wrapping_add(n.wrapping_add(1).wrapping_mul(G)))
}

/// Maps a word to `0..bound`, by the high half of their product.
///
/// For the small bounds of this game the bias is below `bound / 2^64`.
pub const fn below(word: u64, bound: u64) -> u64 {
    ((word as u128 * bound as u128) >> 64) as u64
}
