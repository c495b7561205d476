//! From a seed to tetrominoes, written from the promise's text with 128-bit whole numbers, where
//! "modulo 2^64" is a division that leaves a remainder.

use super::playfield::TwinPlayfield;
use super::tetromino::TETROMINOES;

const TWO_TO_THE_64: u128 = 1 << 64;
const GOLDEN: u128 = 0x9E37_79B9_7F4A_7C15;

/// Tags keep the streams that grow from one seed apart.
const TAG_PIECES: u64 = 0;
const TAG_ENVIRONMENT: u64 = 1;
const TAG_EPISODE: u64 = 2;
/// Not one of the promise's tags: what the tests themselves draw.
const TAG_TESTS: u64 = 1000;

/// The finaliser of SplitMix64, modulo 2^64 after every step.
fn mix(value: u128) -> u128 {
    let mut z = value % TWO_TO_THE_64;
    z = ((z ^ (z >> 30)) * 0xBF58_476D_1CE4_E5B9) % TWO_TO_THE_64;
    z = ((z ^ (z >> 27)) * 0x94D0_49BB_1331_11EB) % TWO_TO_THE_64;
    z ^ (z >> 31)
}

/// Word n of the stream `tag` of a seed: mix(mix(seed + (tag + 1) G) + (n + 1) G) modulo 2^64.
pub fn word(seed: u64, tag: u64, n: u64) -> u64 {
    let stream = mix(u128::from(seed) + (u128::from(tag) + 1) * GOLDEN);
    mix(stream + (u128::from(n) + 1) * GOLDEN) as u64
}

/// A whole number in 0..bound: word n stretched over the bound, the part after the point dropped.
pub(super) fn scaled_word(seed: u64, tag: u64, n: u64, bound: u64) -> usize {
    (u128::from(word(seed, tag, n)) * u128::from(bound) / TWO_TO_THE_64) as usize
}

/// The seed of environment i of a session.
pub fn environment_seed(session_seed: u64, environment_index: u64) -> u64 {
    word(session_seed, TAG_ENVIRONMENT, environment_index)
}

/// The seed of the k-th episode of an environment; the first episode has the environment's own.
pub fn episode_seed(environment_seed: u64, episode_index: u64) -> u64 {
    if episode_index == 0 { environment_seed } else { word(environment_seed, TAG_EPISODE, episode_index) }
}

/// Tetromino n of an episode under the `uniform` randomizer.
pub fn uniform_tetromino(episode_seed: u64, n: u64) -> char {
    letter(scaled_word(episode_seed, TAG_PIECES, n, 7))
}

/// The first tetrominoes of an episode under the `uniform` randomizer.
pub fn uniform_sequence(episode_seed: u64, num_pieces: u64) -> String {
    (0..num_pieces).map(|n| uniform_tetromino(episode_seed, n)).collect()
}

/// The first bags of an episode under the `bag7` randomizer: each starts as IOTZSJL and is shuffled
/// from its end, for j = 6, 5, ... 1 entry j is swapped with one of the entries 0..=j.
pub fn bag7_sequence(episode_seed: u64, num_bags: u64) -> String {
    let mut sequence = String::new();
    for bag_index in 0..num_bags {
        let mut bag: Vec<char> = TETROMINOES.chars().collect();
        for j in (1..=6).rev() {
            let k = scaled_word(episode_seed, TAG_PIECES, 6 * bag_index + 6 - j, j + 1);
            bag.swap(j as usize, k);
        }
        sequence.extend(bag);
    }
    sequence
}

/// A whole number in 0..bound for a test, the same on every run.
pub(super) fn draw(seed: u64, n: u64, bound: u64) -> usize {
    scaled_word(seed, TAG_TESTS, n, bound)
}

/// A playfield that no game may ever have reached: a stack of any height, its rows thin, half full,
/// dense or full. Holes, covered wells, overhangs and full rows all occur.
pub fn random_playfield(width: usize, height: usize, seed: u64) -> TwinPlayfield {
    let mut playfield = TwinPlayfield::empty(width, height);
    let mut n = 0;
    let mut next = |bound: u64| {
        n += 1;
        draw(seed, n, bound)
    };
    let stack_height = next(height as u64 + 1);
    for row in 0..stack_height {
        let full_cells_in_eight = [1, 4, 6, 7, 7, 8][next(6)];
        for column in 0..width {
            playfield.rows[row][column] = next(8) < full_cells_in_eight;
        }
    }
    playfield
}

fn letter(index: usize) -> char {
    TETROMINOES.chars().nth(index).expect("seven letters")
}
