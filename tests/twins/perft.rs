//! Perft: play a sequence in every possible way and count.

use std::collections::HashSet;

use super::features::playfield_feature;
use super::playfield::{TwinPlayfield, land, placements};

/// What came out of playing a sequence in every possible way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Perft {
    /// Paths of full length; a path that ends the game is no leaf.
    pub leaves: u64,
    /// Different playfields among the leaves.
    pub distinct: u64,
    /// Lines cleared along the path, summed over the leaves.
    pub lines: u64,
    /// Holes, summed over the leaves.
    pub holes: u64,
}

/// Plays every placement of every tetromino of the sequence from that playfield.
pub fn perft(start: &TwinPlayfield, sequence: &str) -> Perft {
    let mut count = Perft { leaves: 0, distinct: 0, lines: 0, holes: 0 };
    let mut seen = HashSet::new();
    let tetrominoes: Vec<char> = sequence.chars().collect();
    descend(start, &tetrominoes, 0, &mut count, &mut seen);
    count.distinct = seen.len() as u64;
    count
}

fn descend(
    playfield: &TwinPlayfield,
    tetrominoes: &[char],
    lines: u64,
    count: &mut Perft,
    seen: &mut HashSet<String>,
) {
    let Some((&tetromino, rest)) = tetrominoes.split_first() else {
        count.leaves += 1;
        count.lines += lines;
        count.holes += playfield_feature("holes", playfield) as u64;
        seen.insert(playfield.to_string());
        return;
    };
    for placement in placements(playfield, tetromino) {
        let landing = land(playfield, &placement);
        if !landing.terminal {
            descend(&landing.afterstate, rest, lines + landing.lines as u64, count, seen);
        }
    }
}
