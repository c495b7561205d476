//! Writes all fields of environments as bytes, in one function.
//!
//! Fields are written in the form of the wire, little-endian and row-major, so they are never copied again.

use crate::engine::{Chain, Column, EpisodeEnd, Piece, PieceCells, Spin, land_at};
use crate::features::{FeatureSet, Seen};

use super::EnvConfig;
use super::action_table::ActionTable;
use super::columns::{Envs, EpisodePhase, LastLanding};
use super::fields::Field;
use super::rows::EnvRows;

impl<C: Column, const N: usize> Envs<C, N> {
    /// Appends a field of some environments.
    pub(super) fn observe(
        &self,
        config: &EnvConfig,
        table: &ActionTable,
        field: Field,
        rows: EnvRows<'_>,
        out: &mut Vec<u8>,
    ) {
        let preview = config.rules.preview;
        match field {
            Field::Board => self.write_boards(config, rows, out),
            Field::BoardBits if config.rules.width > 16 => {
                out.extend(rows.envs().flat_map(|i| self.playfields[i].rows().flat_map(u32::to_le_bytes)));
            }
            Field::BoardBits => self.write_row_bits(config, rows, out),
            Field::Current => out.extend(rows.envs().map(|i| number(self.visible[i].current()))),
            Field::Queue => {
                out.extend(
                    rows.envs().flat_map(|i| self.visible[i].preview(preview).iter().copied().map(number)),
                );
            }
            Field::Held => out.extend(rows.envs().map(|i| number(self.held(i)))),
            Field::Heights => {
                out.extend(rows.envs().flat_map(|i| self.playfields[i].heights().map(|height| height as u8)));
            }
            Field::Features => {
                if let Some(set) = &config.features {
                    self.write_features(config, set, rows, out);
                }
            }
            Field::Falling => self.write_falling(config, rows, out),
            Field::FallingCells => {
                let cells =
                    |i| self.moving_cells(i).map_or([(-1i8 as u8, -1i8 as u8); 4], |cells| cells.four());
                out.extend(rows.envs().flat_map(|i| cells(i).map(|(row, column)| [row, column])).flatten());
            }
            Field::PieceState => out.extend(rows.envs().flat_map(|i| self.piece_state(config, i))),
            Field::Garbage => {
                rows.envs().for_each(|i| out.extend(self.incoming(i).seen(&config.rules)));
            }
            Field::ActionMask => {
                out.reserve(rows.len() * table.num_actions());
                rows.envs().for_each(|i| self.append_mask(config, table, i, out));
            }
            Field::Lines => self.write_u64(rows, out, |i| self.statistics[i].lines),
            Field::Pieces => self.write_u64(rows, out, |i| self.statistics[i].pieces),
            Field::Steps => self.write_u64(rows, out, |i| self.statistics[i].steps),
            Field::EpisodeReturn => {
                self.write_u64(rows, out, |i| self.statistics[i].episode_return.to_bits());
            }
            Field::Seed => self.write_u64(rows, out, |i| self.episode_seed(i)),
            Field::InvalidAction => out.extend(rows.envs().map(|i| u8::from(self.was_invalid(i)))),
            Field::InvalidActions => self.write_u64(rows, out, |i| self.invalid_actions[i].count),
            Field::Spin => {
                let spin = |last: &Option<LastLanding<C, N>>| {
                    last.as_ref().map_or(Spin::None, |last| last.spin(&config.rules)) as u8
                };
                out.extend(rows.envs().map(|i| spin(&self.last_landings[i])));
            }
            Field::End => out.extend(rows.envs().map(|i| EpisodeEnd::number(self.phases[i].end()))),
            Field::Attack => self.write_u64(rows, out, |i| self.chain(i).1),
            Field::GarbageRows => self.write_u64(rows, out, |i| self.incoming(i).risen),
            Field::Combo => {
                out.extend(rows.envs().flat_map(|i| i32::from(self.chain(i).0.clears).to_le_bytes()))
            }
            Field::BackToBack => out.extend(rows.envs().map(|i| u8::from(self.chain(i).0.back_to_back > 0))),
            Field::Counts => out.extend(
                rows.envs()
                    .flat_map(|i| {
                        let Chain { clears, back_to_back } = self.chain(i).0;
                        let pieces = i32::try_from(self.statistics[i].pieces).unwrap_or(i32::MAX);
                        [clears.into(), back_to_back.into(), pieces].map(i32::to_le_bytes)
                    })
                    .flatten(),
            ),
            Field::BackToBackCount => {
                let count = |i| i32::from(self.chain(i).0.back_to_back).to_le_bytes();
                out.extend(rows.envs().flat_map(count));
            }
            Field::Sent => self.write_u64(rows, out, |i| self.incoming(i).exchanged.sent),
            Field::Received => self.write_u64(rows, out, |i| self.incoming(i).exchanged.received),
            Field::Cancelled => self.write_u64(rows, out, |i| self.incoming(i).exchanged.cancelled),
            Field::Surge => self.write_u64(rows, out, |i| self.incoming(i).exchanged.surged),
            Field::Won => out.extend(rows.envs().map(|i| EpisodeEnd::won(self.phases[i].end()) as u8)),
            Field::Regret => self.write_u64(rows, out, |i| self.regret(config, i).to_bits()),
            Field::LandingRow => {
                let row = |last: &LastLanding<C, N>| last.came_to_rest(&config.rules).1 as i8;
                out.extend(rows.envs().map(|i| self.last_landings[i].as_ref().map_or(-1, row) as u8));
            }
        }
    }

    /// Appends the masks of some environments as bits: bit a % 8 of byte a / 8 is action a.
    pub(super) fn observe_mask_bits(
        &self,
        config: &EnvConfig,
        table: &ActionTable,
        rows: EnvRows<'_>,
        out: &mut Vec<u8>,
    ) {
        let mut mask = Vec::with_capacity(table.num_actions());
        out.reserve(rows.len() * table.num_actions().div_ceil(8));
        for i in rows.envs() {
            mask.clear();
            self.append_mask(config, table, i, &mut mask);
            append_bits(&mask, out);
        }
    }

    fn append_mask(&self, config: &EnvConfig, table: &ActionTable, i: usize, out: &mut Vec<u8>) {
        match (self.phases[i], self.hand(&config.rules, i)) {
            (EpisodePhase::Running, Some(_)) if config.rules.steers() => self.append_keys(config, i, out),
            (EpisodePhase::Running, Some(hand)) => {
                table.append_mask(&self.rules_now(config, i), &self.playfields[i], hand, out);
            }
            (EpisodePhase::NotStarted, _) => out.extend_from_slice(table.not_started_mask()),
            (EpisodePhase::Ended(_), _) | (EpisodePhase::Running, None) => {
                out.extend_from_slice(table.waiting_mask());
            }
        }
    }

    fn write_u64(&self, rows: EnvRows<'_>, out: &mut Vec<u8>, value: impl Fn(usize) -> u64) {
        let start = out.len();
        out.resize(start + rows.len() * 8, 0);
        // An array at a time; a single iterator over all bytes would take them one by one.
        for (i, place) in rows.envs().zip(out[start..].as_chunks_mut().0) {
            *place = value(i).to_le_bytes();
        }
    }

    /// Seed of an environment's episode; 0 for an explicit sequence, and before the first episode.
    pub(super) fn episode_seed(&self, i: usize) -> u64 {
        match self.phases[i] {
            EpisodePhase::NotStarted => 0,
            EpisodePhase::Running | EpisodePhase::Ended(_) => self.dealers[i].seed().unwrap_or(0),
        }
    }

    /// Regret of an environment's last placement.
    fn regret(&self, config: &EnvConfig, i: usize) -> f64 {
        let rules = &config.rules;
        let Some(last) = &self.last_landings[i] else { return 0.0 };
        let stakes = || {
            let placement = last.placement(rules)?;
            config.values?.stakes(rules, &last.before, last.piece(), placement)
        };
        stakes().map_or(f64::NAN, |stakes| stakes.regret())
    }

    /// Writes features, each of which is exact in an f32.
    fn write_features(&self, config: &EnvConfig, set: &FeatureSet, rows: EnvRows<'_>, out: &mut Vec<u8>) {
        let mut values = vec![0.0; set.len()];
        for i in rows.envs() {
            match &self.last_landings[i] {
                Some(last) => {
                    let (shape, row, column) = last.came_to_rest(&config.rules);
                    let before = last.before.resized::<u64, 32>();
                    let landing = land_at(&config.rules, &before, shape, row, column);
                    let (piece, spin) = (last.piece(), last.spin(&config.rules));
                    set.evaluate(&Seen { piece, spin, shape, landing: &landing }, &mut values);
                }
                None => set.of_playfield(&self.playfields[i].resized(), &mut values),
            }
            out.extend(values.iter().flat_map(|&value| (value as f32).to_le_bytes()));
        }
    }

    /// Writes playfields with one byte per cell.
    fn write_boards(&self, config: &EnvConfig, rows: EnvRows<'_>, out: &mut Vec<u8>) {
        let (width, height) = (usize::from(config.rules.width), usize::from(config.rules.height));
        let start = out.len();
        let len = rows.len() * width * height;
        // A row is written as N bytes at once. The excess at its end lies in the place of the next row, which
        // overwrites it. Only the excess of the very last row remains, and is cut off.
        out.resize(start + len + N, 0);
        let mut at = start;
        for i in rows.envs() {
            let columns = self.playfields[i].words();
            for first_row in (0..height).step_by(8) {
                let eight_rows: [u8; N] =
                    std::array::from_fn(|c| (columns[c] >> first_row as u32).to_u64() as u8);
                for row in 0..(height - first_row).min(8) {
                    let cells: [u8; N] = std::array::from_fn(|c| eight_rows[c] >> row & 1);
                    out[at..at + N].copy_from_slice(&cells);
                    at += width;
                }
            }
        }
        out.truncate(start + len);
    }

    /// Row and column of the cells of a piece that keys move.
    fn moving_cells(&self, i: usize) -> Option<PieceCells> {
        self.falling(i).map(|piece| piece.cells()).or(self.steered(i).map(|piece| piece.cells()))
    }

    /// Writes falling pieces with one byte per cell.
    fn write_falling(&self, config: &EnvConfig, rows: EnvRows<'_>, out: &mut Vec<u8>) {
        let (width, height) = (usize::from(config.rules.width), usize::from(config.rules.height));
        let start = out.len();
        out.resize(start + rows.len() * width * height, 0);
        let planes = out[start..].chunks_exact_mut(width * height);
        for (i, plane) in rows.envs().zip(planes) {
            for (row, column) in self.moving_cells(i).iter().flat_map(|cells| cells.iter().copied()) {
                if usize::from(row) < height {
                    plane[usize::from(row) * width + usize::from(column)] = 1;
                }
            }
        }
    }

    /// Writes rows of up to 16 columns with two bytes each, eight rows at once.
    fn write_row_bits(&self, config: &EnvConfig, rows: EnvRows<'_>, out: &mut Vec<u8>) {
        let height = usize::from(config.rules.height);
        let start = out.len();
        let len = rows.len() * height * 2;
        // As for playfields, the following bytes overwrite the excess.
        out.resize(start + len + 16, 0);
        for (row, i) in rows.envs().enumerate() {
            let columns = self.playfields[i].words();
            let at = start + row * height * 2;
            for first_row in (0..height).step_by(8) {
                let eight_rows: [u8; N] =
                    std::array::from_fn(|c| (columns[c] >> first_row as u32).to_u64() as u8);
                let [left, right] = [0, 8].map(|c| transposed(eight_rows[c..c + 8].try_into().unwrap()));
                let bits: [u8; 16] =
                    std::array::from_fn(|i| if i % 2 == 0 { left[i / 2] } else { right[i / 2] });
                out[at + first_row * 2..][..16].copy_from_slice(&bits);
            }
        }
        out.truncate(start + len);
    }
}

/// Packs bytes of 0 and 1 into bits, eight per byte, the first in the lowest bit.
fn append_bits(flags: &[u8], out: &mut Vec<u8>) {
    // The product moves bit 0 of byte n to bit n of the highest byte; no two of its terms overlap.
    let packed = |eight: [u8; 8]| (u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
    let (eights, rest) = flags.as_chunks::<8>();
    out.extend(eights.iter().map(|eight| packed(*eight)));
    if !rest.is_empty() {
        let mut eight = [0; 8];
        eight[..rest.len()].copy_from_slice(rest);
        out.push(packed(eight));
    }
}

/// Number of a piece; -1 for none.
fn number(piece: Option<Piece>) -> u8 {
    piece.map_or(-1i8, |piece| piece.number() as i8) as u8
}

/// Transposes eight bytes of eight bits: bit i of byte j becomes bit j of byte i.
///
/// Swaps ever larger blocks across the diagonal (Warren, *Hacker's Delight*, section 7-3).
fn transposed(bytes: [u8; 8]) -> [u8; 8] {
    let mut x = u64::from_le_bytes(bytes);
    for (shift, upper) in
        [(7, 0x00AA_00AA_00AA_00AA), (14, 0x0000_CCCC_0000_CCCC), (28, 0x0000_0000_F0F0_F0F0)]
    {
        let swapped = (x ^ x >> shift) & upper;
        x ^= swapped ^ swapped << shift;
    }
    x.to_le_bytes()
}
