//! Converts states to bytes. The head of [`super`] describes the layout.

use xxhash_rust::xxh3::xxh3_64;

use crate::engine::randomizer::{DealerSource, DealerState};
use crate::engine::{
    Chain, Exchanged, FallingPiece, Incoming, PieceSequence, Playfield, RULES_VERSION, Resting, SteeredPiece,
    WaitingLines,
};
use crate::env::columns::{EpisodeStatistics, InvalidActions, Rest};
use crate::env::state::EnvState;

use super::sequences::SharedSequences;
use super::{FORMAT, MAGIC, NO_HOLE, NO_PIECE, rules};

impl EnvState {
    /// Writes this state as a snapshot.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.encode(None)
    }

    /// Writes this state as a snapshot, with its explicit sequence stored in `shared`.
    pub fn to_bytes_sharing(&self, shared: &mut SharedSequences) -> Vec<u8> {
        self.encode(Some(shared))
    }

    fn encode(&self, shared: Option<&mut SharedSequences>) -> Vec<u8> {
        let mut out = Vec::with_capacity(400);
        out.extend(MAGIC);
        out.extend(FORMAT.to_le_bytes());
        out.push(RULES_VERSION.len() as u8);
        out.extend(RULES_VERSION.as_bytes());
        rules::write(&self.rules, &mut out);
        out.push(self.end.map_or(0, |end| end as u8));
        out.push(self.last_landing.is_some().into());
        match &self.last_landing {
            None => write_playfield(&self.playfield, &mut out),
            Some(last) => {
                write_playfield(&last.before, &mut out);
                match last.rest {
                    Rest::Placed { piece, action } => {
                        out.push(piece.number());
                        out.extend(action.to_le_bytes());
                    }
                    Rest::Fallen(piece) => {
                        out.push(piece.tetromino.number());
                        write_pose(&piece, &mut out);
                    }
                    Rest::Steered { piece, resting } => {
                        let Resting { orientation, column, row, spin } = resting;
                        out.extend([piece.number(), orientation, column, row, spin as u8]);
                    }
                }
                if self.rules.garbage.is_some() {
                    out.push(self.incoming.just_risen);
                    out.extend(self.risen_holes());
                }
            }
        }
        let visible = &self.visible.0[..=usize::from(self.rules.preview)];
        out.extend(visible.iter().map(|piece| piece.map_or(NO_PIECE, |piece| piece.number())));
        if self.rules.hold {
            out.push(self.held.map_or(NO_PIECE, |piece| piece.number()));
        }
        if self.rules.keeps_chain() {
            let (Chain { clears, back_to_back }, attack) = self.chain;
            out.extend(clears.to_le_bytes());
            out.extend(back_to_back.to_le_bytes());
            out.extend(attack.to_le_bytes());
        }
        if let Some(falling) = &self.falling {
            write_pose(falling, &mut out);
        }
        if let Some(steered) = &self.steered {
            write_steered(steered, &mut out);
        }
        if self.rules.garbage.is_some() {
            write_incoming(&self.incoming, &mut out);
        }
        let EpisodeStatistics { lines, pieces, steps, episode_return } = self.statistics;
        let numbers =
            [self.episode.env_seed, self.episode.index, lines, pieces, steps, episode_return.to_bits()];
        out.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
        let InvalidActions { count, last_step } = self.invalid_actions;
        out.extend([count, last_step].into_iter().flat_map(u64::to_le_bytes));
        write_dealer(&self.dealer.state(&self.rules.pieces), shared, &mut out);
        out.extend(xxh3_64(&out).to_le_bytes());
        out
    }
}

impl EnvState {
    /// Columns of the holes in the rows that rose after the last landing, highest row first. These rows are the lowest
    /// of the playfield.
    fn risen_holes(&self) -> Vec<u8> {
        let columns = self.playfield.width();
        let hole = |row| (0..columns).find(|&column| !self.playfield.is_full(row, column));
        let rows = (0..self.incoming.just_risen).rev();
        rows.map(|row| hole(row).expect("a row of garbage has a hole")).collect()
    }
}

fn write_incoming(incoming: &Incoming, out: &mut Vec<u8>) {
    out.push(incoming.groups().count() as u8);
    out.extend(incoming.groups().flat_map(|WaitingLines { lines, delay, hole }| [lines, delay, hole]));
    out.extend(incoming.risen.to_le_bytes());
    let side = incoming.side.map_or(0, |side| side + 1);
    out.extend([incoming.hole.unwrap_or(NO_HOLE), incoming.is_hole_new.into(), side]);
    let Exchanged { sent, received, cancelled, surged } = incoming.exchanged;
    let multiplier = incoming.multiplier.to_bits();
    let Incoming { used_up, garbage_rows, passed, .. } = *incoming;
    let numbers = [used_up, garbage_rows, passed, multiplier, sent, received, cancelled, surged];
    out.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
}

fn write_playfield(playfield: &Playfield, out: &mut Vec<u8>) {
    out.extend(playfield.columns().iter().flat_map(|column| column.to_le_bytes()));
}

fn write_pose(&FallingPiece { turns, column, row, .. }: &FallingPiece, out: &mut Vec<u8>) {
    out.extend([turns, column, row]);
}

fn write_steered(piece: &SteeredPiece, out: &mut Vec<u8>) {
    let SteeredPiece {
        tetromino: _,
        turns,
        column,
        row,
        arrival,
        is_swapped,
        steps_in_air,
        steps_on_ground,
        lock_resets,
        lifts,
        lowest_row,
    } = *piece;
    out.extend([turns, column, row, arrival as u8, is_swapped.into()]);
    out.extend([steps_in_air, steps_on_ground, lock_resets, lifts, lowest_row]);
}

fn write_dealer(dealer: &DealerState, shared: Option<&mut SharedSequences>, out: &mut Vec<u8>) {
    out.extend(dealer.dealt.to_le_bytes());
    match (&dealer.source, shared) {
        (DealerSource::Seed { seed, bag, behind }, _) => {
            out.push(0);
            out.extend(seed.to_le_bytes());
            out.extend(bag.map(|piece| piece.number()));
            out.extend(behind.iter().flat_map(|behind| behind.to_le_bytes()));
        }
        (DealerSource::OtherSeed { seed, bag }, _) => {
            out.push(0);
            out.extend(seed.to_le_bytes());
            out.extend(bag.iter().map(|piece| piece.number()));
        }
        (DealerSource::Sequence(sequence), Some(shared)) => {
            out.push(2);
            out.extend(shared.number(sequence).to_le_bytes());
        }
        (DealerSource::Sequence(sequence), None) => {
            let PieceSequence { pieces, holes } = &**sequence;
            out.push(1);
            out.extend((pieces.len() as u32).to_le_bytes());
            out.extend(pieces.iter().map(|&piece| piece.number()));
            out.extend((holes.len() as u32).to_le_bytes());
            out.extend(holes);
        }
    }
}
