//! Explicit sequences that are stored separately from the snapshots that deal them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::engine::PieceSequence;

/// Explicit sequences that many snapshots share, each stored once.
///
/// A snapshot alone contains its sequence. Without sharing, a batch of 65,536 environments with a common sequence of
/// 100,000 pieces would take 6.5 GB.
#[derive(Debug, Default)]
pub struct SharedSequences {
    sequences: Vec<Arc<PieceSequence>>,
    /// Numbers by address, which environments with a shared sequence have in common. Addresses are looked up, never
    /// dereferenced.
    numbers: HashMap<usize, u32>,
}

impl SharedSequences {
    /// Restores sequences in the order of their numbers, as [`SharedSequences::as_slice`] returns them.
    pub fn new(sequences: Vec<Arc<PieceSequence>>) -> SharedSequences {
        let numbers = sequences.iter().zip(0..).map(|(sequence, number)| (address(sequence), number));
        SharedSequences { numbers: numbers.collect(), sequences }
    }

    /// The number of a sequence. Stores the sequence if it is new.
    pub fn number(&mut self, sequence: &Arc<PieceSequence>) -> u32 {
        *self.numbers.entry(address(sequence)).or_insert_with(|| {
            self.sequences.push(sequence.clone());
            self.sequences.len() as u32 - 1
        })
    }

    /// The sequence with this number.
    pub fn get(&self, number: u32) -> Option<&Arc<PieceSequence>> {
        self.sequences.get(number as usize)
    }

    /// All sequences, in the order of their numbers.
    pub fn as_slice(&self) -> &[Arc<PieceSequence>] {
        &self.sequences
    }
}

fn address(sequence: &Arc<PieceSequence>) -> usize {
    Arc::as_ptr(sequence).addr()
}
