//! What the pieces of many positions can do: every placement, and what each leads to.
//!
//! The answer is in columns, in compressed rows: those of position i are `row_offsets[i]..row_offsets[i + 1]`, in ascending
//! order of the action. How many there will be is known before the work is done ([`num_rows`]), so whoever has little room
//! asks first.

use crate::engine::{Playfield, Rules, Tetromino, num_placements, placements};
use crate::features::{FeatureSet, Seen};

/// A playfield and the piece that is to be placed on it.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The cells.
    pub playfield: Playfield,
    /// The piece; `None` where the episode has ended, and there is nothing to place.
    pub piece: Option<Tetromino>,
}

/// What is wanted besides actions, rewards, lines and ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The playfields afterwards.
    pub afterstates: bool,
    /// The features of the positions themselves.
    pub position_features: bool,
}

/// Every placement of some positions: R rows for B positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placements {
    /// B + 1 numbers, from 0 to R.
    pub row_offsets: Vec<u32>,
    /// What a step takes. For the placement model it is the placement itself.
    pub actions: Vec<i32>,
    /// `orientation * width + column` of the leftmost cell.
    pub placements: Vec<i32>,
    /// R feature vectors of F numbers; empty without a feature set.
    pub features: Vec<f32>,
    /// The points that playing it brings.
    pub rewards: Vec<f32>,
    /// The lines that it clears.
    pub lines: Vec<u8>,
    /// Whether it ends the game.
    pub terminal: Vec<bool>,
    /// R playfields, each row of cells as one little-endian integer from the lowest, of [`bytes_per_cell_row`] bytes; empty
    /// unless wanted.
    pub afterstates: Vec<u8>,
    /// B feature vectors of F numbers; empty unless wanted.
    pub position_features: Vec<f32>,
}

/// How many placements a position has under these rules.
pub fn num_rows(rules: &Rules, position: &Position) -> u32 {
    position.piece.map_or(0, |piece| num_placements(rules, piece))
}

/// Bytes of a row of cells in [`Placements::afterstates`]: a bit a column, as an integer of two bytes up to width 16 and of
/// four above.
pub const fn bytes_per_cell_row(width: u8) -> usize {
    if width > 16 { 4 } else { 2 }
}

/// Lists every placement of every position.
///
/// # Panics
/// When a playfield or the feature set is not of the size of the rules.
pub fn enumerate(
    rules: &Rules,
    positions: &[Position],
    set: Option<&FeatureSet>,
    options: Options,
) -> Placements {
    let num_rows: usize = positions.iter().map(|position| num_rows(rules, position) as usize).sum();
    let num_features = set.map_or(0, FeatureSet::len);
    let mut vector = vec![0.0; num_features];
    let mut columns = Placements {
        row_offsets: Vec::with_capacity(positions.len() + 1),
        actions: Vec::with_capacity(num_rows),
        placements: Vec::with_capacity(num_rows),
        features: Vec::with_capacity(num_rows * num_features),
        rewards: Vec::with_capacity(num_rows),
        lines: Vec::with_capacity(num_rows),
        terminal: Vec::with_capacity(num_rows),
        ..Placements::default()
    };
    columns.row_offsets.push(0);
    for position in positions {
        if let Some(piece) = position.piece {
            for placement in placements(rules, piece) {
                let shape = &rules.shapes(piece)[usize::from(placement.orientation)];
                let landing = position.playfield.land(shape, placement.column, rules.top_out);
                let action = placement.action(rules.width) as i32;
                columns.actions.push(action);
                columns.placements.push(action);
                columns.rewards.push(rules.scoring.reward(landing.lines, landing.terminal) as f32);
                columns.lines.push(landing.lines);
                columns.terminal.push(landing.terminal);
                if let Some(set) = set {
                    set.evaluate(&Seen { shape, landing: &landing }, &mut vector);
                    columns.features.extend(vector.iter().map(|&value| value as f32));
                }
                if options.afterstates {
                    write_rows(&landing.afterstate, &mut columns.afterstates);
                }
            }
        }
        if let Some(set) = set.filter(|_| options.position_features) {
            set.of_playfield(&position.playfield, &mut vector);
            columns.position_features.extend(vector.iter().map(|&value| value as f32));
        }
        columns.row_offsets.push(columns.actions.len() as u32);
    }
    columns
}

fn write_rows(playfield: &Playfield, out: &mut Vec<u8>) {
    let bytes = bytes_per_cell_row(playfield.width());
    for row in playfield.rows() {
        out.extend_from_slice(&row.to_le_bytes()[..bytes]);
    }
}
