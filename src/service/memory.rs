//! A session's part of the memory for all sessions: environments, explicit sequences, and the kept answer.
//!
//! A session reserves memory before it uses it, so a refused call changes nothing. Environments with equal sequences
//! share one copy, whether the letters came in a request or inside snapshots.

use std::collections::HashMap;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use tetrion_core::engine::PieceSequence;
use tetrion_core::env::{EnvBatch, Seeding};
use tetrion_protocol::session::SessionConfig;

use super::budget::{Budget, Share};
use super::history::History;
use super::refusal::Refusal;
use super::watched::Watched;

/// Bytes of a session in addition to the counted parts: its names, its layout, its place in the table.
const SESSION_BYTES: u64 = 8 << 10;

/// Bytes of a feature in a session's selection: its name, and its place in specs.
const FEATURE_BYTES: u64 = 64;

/// Bytes of a sequence in addition to its pieces and holes.
const SEQUENCE_BYTES: u64 = 128;

/// The memory of one session.
#[derive(Debug)]
pub(super) struct Memory {
    budget: Arc<Budget>,
    /// Memory of environments and sequences.
    share: Share,
    /// Memory of the environments alone.
    envs: u64,
    /// The only copy of each sequence, by a digest of its pieces and holes. Different sequences have equal digests only if
    /// a hostile caller constructs them.
    sequences: HashMap<u128, Vec<Arc<PieceSequence>>>,
    /// Memory of the kept answer.
    kept: Option<Share>,
}

impl Memory {
    /// Reserves the memory for the environments of a new session.
    pub fn new(budget: &Arc<Budget>, config: &SessionConfig) -> Result<Memory, Refusal> {
        let num_features: usize = config.env.features.iter().map(|set| set.len()).sum();
        let rules = &config.env.rules;
        let envs = SESSION_BYTES
            + History::MAX_BYTES
            + num_features as u64 * FEATURE_BYTES
            + EnvBatch::table_bytes(rules) as u64
            + u64::from(config.env.num_envs) * EnvBatch::env_bytes(rules) as u64
            + if config.keep_colors { Watched::memory_bytes(config.env.num_envs, rules) } else { 0 };
        let share = budget.take(envs).map_err(|spent| Refusal::spent(spent, no_room("config", envs)))?;
        Ok(Memory { budget: budget.clone(), share, envs, sequences: HashMap::new(), kept: None })
    }

    /// The session's copy of a sequence from this field. A new sequence takes memory. [`Memory::settle`] releases
    /// sequences that no environment uses in the end.
    pub fn share(
        &mut self,
        field: &'static str,
        sequence: &Arc<PieceSequence>,
    ) -> Result<Arc<PieceSequence>, Refusal> {
        let pieces = sequence.pieces.iter().map(|piece| piece.number());
        // No piece has the number between them.
        let bytes: Vec<u8> = pieces.chain([u8::MAX]).chain(sequence.holes.iter().copied()).collect();
        let alike = self.sequences.entry(xxh3_128(&bytes)).or_default();
        if let Some(known) = alike.iter().find(|known| *known == sequence) {
            return Ok(known.clone());
        }
        let bytes = bytes_of(sequence);
        self.share
            .grow_to(self.share.amount() + bytes)
            .map_err(|spent| Refusal::spent(spent, no_room(field, bytes)))?;
        alike.push(sequence.clone());
        Ok(sequence.clone())
    }

    /// Replaces the sequences of a seeding from this field by the session's copies; see [`Memory::share`].
    pub fn share_all(&mut self, field: &'static str, seeding: &mut Seeding) -> Result<(), Refusal> {
        if let Seeding::PieceSequences(sequences) = seeding {
            for sequence in sequences {
                *sequence = self.share(field, sequence)?;
            }
        }
        Ok(())
    }

    /// Releases the sequences that nothing else uses.
    pub fn settle(&mut self) {
        if self.sequences.is_empty() {
            return;
        }
        self.sequences.retain(|_, alike| {
            alike.retain(|sequence| Arc::strong_count(sequence) > 1);
            !alike.is_empty()
        });
        self.share.set(self.envs + self.sequences.values().flatten().map(bytes_of).sum::<u64>());
    }

    /// Reserves memory for a kept answer of at most `bytes`.
    pub fn room_to_keep(&self, bytes: u64) -> Result<Share, Refusal> {
        self.budget.take(bytes).map_err(|spent| Refusal::spent(spent, no_room("sequence", bytes)))
    }

    /// Reserves `bytes` for watched environments.
    pub fn room_to_watch(&self, bytes: u64) -> Result<Share, Refusal> {
        self.budget.take(bytes).map_err(|spent| Refusal::spent(spent, no_room("envs.ids", bytes)))
    }

    /// Replaces the kept answer by one of this size in its reserved memory, or removes it.
    pub fn keep(&mut self, kept: Option<(Share, u64)>) {
        self.kept = kept.map(|(mut room, bytes)| {
            room.set(bytes);
            room
        });
    }
}

fn bytes_of(sequence: &Arc<PieceSequence>) -> u64 {
    SEQUENCE_BYTES + (sequence.pieces.len() + sequence.holes.len()) as u64
}

fn no_room(field: &'static str, bytes: u64) -> impl FnOnce(u64, u64) -> Refusal {
    move |limit, taken| Refusal::MemoryLimit { field, bytes, limit, taken }
}
