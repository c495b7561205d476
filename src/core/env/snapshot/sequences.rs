//! Explicit sequences kept beside the snapshots that deal them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::engine::Piece;

/// Explicit sequences that many snapshots have in common, each of them kept once.
///
/// A snapshot by itself holds its sequence. A batch of 65,536 environments that share one of 100,000 pieces would become 6.5
/// GB that way.
#[derive(Debug, Default)]
pub struct SharedSequences {
    sequences: Vec<Arc<[Piece]>>,
    /// By address, the same for environments that share a sequence. It is looked up and never followed.
    numbers: HashMap<usize, u32>,
}

impl SharedSequences {
    /// Sequences that were kept.
    pub fn new(sequences: Vec<Arc<[Piece]>>) -> SharedSequences {
        let numbers = sequences.iter().zip(0..).map(|(sequence, number)| (address(sequence), number));
        SharedSequences { numbers: numbers.collect(), sequences }
    }

    /// The number of a sequence, which it keeps from now on.
    pub fn number(&mut self, sequence: &Arc<[Piece]>) -> u32 {
        *self.numbers.entry(address(sequence)).or_insert_with(|| {
            self.sequences.push(sequence.clone());
            self.sequences.len() as u32 - 1
        })
    }

    /// The sequence with this number.
    pub fn get(&self, number: u32) -> Option<&Arc<[Piece]>> {
        self.sequences.get(number as usize)
    }

    /// All of them, by their numbers.
    pub fn as_slice(&self) -> &[Arc<[Piece]>] {
        &self.sequences
    }
}

fn address(sequence: &Arc<[Piece]>) -> usize {
    sequence.as_ptr().addr()
}
