//! The source of pieces when a batch is created, and when a reset starts episodes.

use std::sync::Arc;

use super::config::EnvConfig;
use super::refusals::{SeedingError, one_each, one_each_or_one};
use super::rows::{MatchRows, one_for};
use crate::engine::rng::{Tag, word};
use crate::engine::{Dealer, Piece, PieceSequence, Rules};

/// The source of pieces for the environments of a call. Creating a batch is a call with all environments.
#[derive(Clone, Debug)]
pub enum Seeding {
    /// A session seed: environment i of the batch has the seed `word(session seed, Environment, i)`.
    Seed(u64),
    /// One seed per environment of the call.
    Seeds(Vec<u64>),
    /// Explicit pieces, dealt from the start in every episode: one sequence per environment of the call, or one for
    /// all.
    PieceSequences(Vec<Arc<PieceSequence>>),
}

impl Seeding {
    /// Explicit pieces without columns of holes.
    pub fn from_pieces(sequences: impl IntoIterator<Item = Arc<[Piece]>>) -> Seeding {
        Seeding::PieceSequences(sequences.into_iter().map(|pieces| Arc::new(pieces.into())).collect())
    }

    /// Refuses a wrong number of seeds or sequences for this many environments, and sequences that these rules cannot
    /// deal.
    pub(super) fn check(&self, rows: usize, rules: &Rules) -> Result<(), SeedingError> {
        match self {
            Seeding::Seed(_) => {}
            Seeding::Seeds(seeds) => one_each("seeds", seeds.len(), rows)?,
            Seeding::PieceSequences(sequences) => {
                one_each_or_one("piece sequences", sequences.len(), rows)?;
                if let Some(empty) = sequences.iter().position(|sequence| sequence.pieces.is_empty()) {
                    return Err(SeedingError::EmptySequence(empty));
                }
                for (i, sequence) in sequences.iter().enumerate() {
                    let is_wrong = |column: &&u8| **column >= rules.width || rules.garbage.is_none();
                    if let Some(&column) = sequence.holes.iter().find(is_wrong) {
                        return Err(SeedingError::Hole { sequence: i, column });
                    }
                }
            }
        }
        Ok(())
    }

    /// Refuses different seeds for the two sides of a match.
    pub(super) fn check_matches(&self, matches: &MatchRows) -> Result<(), SeedingError> {
        let Seeding::Seeds(seeds) = self else { return Ok(()) };
        match matches.iter().find(|[first, second]| seeds[*first] != seeds[*second]) {
            Some([first, row]) => {
                Err(SeedingError::MatchSeeds { row, got: seeds[row], expected: seeds[first] })
            }
            None => Ok(()),
        }
    }

    /// The dealer of environment `env` in row `row` of a call, and its seed; 0 for explicit pieces.
    pub(super) fn dealer(&self, config: &EnvConfig, row: usize, env: usize) -> (Dealer, u64) {
        let seed = match self {
            // Both sides of a match have the seed of the first one.
            Seeding::Seed(seed) if config.rules.is_match() => word(*seed, Tag::Environment, env as u64 & !1),
            Seeding::Seed(seed) => word(*seed, Tag::Environment, env as u64),
            Seeding::Seeds(seeds) => seeds[row],
            Seeding::PieceSequences(sequences) => {
                return (Dealer::sequence_with_holes(one_for(sequences, row).clone()), 0);
            }
        };
        (config.rules.dealer(seed), seed)
    }
}
