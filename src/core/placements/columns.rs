//! The columns of a list of placements, and how to write them. This file does not find placements.

use crate::engine::{ActionModel, Key, MovingPiece, Piece, Placement, Playfield, Rules, Shape};
use crate::values::Values;

/// Optional columns, in addition to actions, rewards, lines and ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The playfield after each placement.
    pub afterstates: bool,
    /// Position of the piece's anchor at rest.
    pub anchors: bool,
    /// Positions of the piece's cells at rest.
    pub cells: bool,
    /// The playfield with the locked piece, before full rows are cleared.
    pub preclear_boards: bool,
    /// Whether to measure the features of the positions themselves.
    pub position_features: bool,
    /// The keys to each placement, in games of keys and under [`Reach::Moves`](crate::engine::Reach::Moves).
    pub keys: bool,
    /// The exact values of the placements, from a table of the size of the rules.
    pub optimal_values: Option<&'static Values>,
}

/// Every placement of some positions: R rows for B positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placements {
    /// B + 1 indices of rows, from 0 to R.
    pub row_offsets: Vec<u32>,
    /// The action to step with: the placement in the placement model, the next key towards it in the keypress model.
    pub actions: Vec<i32>,
    /// The number of the placement ([`Placement::action`]), also in the keypress model.
    pub placements: Vec<i32>,
    /// R feature vectors of F numbers; empty without a feature set.
    pub features: Vec<f32>,
    pub rewards: Vec<f32>,
    /// Lines that the placement clears.
    pub lines: Vec<u8>,
    /// Whether the placement ends the game.
    pub terminated: Vec<bool>,
    /// R playfields. Each row of cells is a little-endian integer of [`bytes_per_cell_row`] bytes, from the lowest row
    /// up. Empty unless wanted.
    pub afterstates: Vec<u8>,
    /// R pairs: row and column of each piece's anchor at rest. Empty unless wanted.
    pub anchors: Vec<i8>,
    /// Pairs of row and column of each piece's cells at rest, ordered by row, then by column. Each row has as many
    /// pairs as the largest piece of the set has cells, four for tetrominoes; pairs for missing cells are -1. Rows may
    /// be above the playfield. Empty unless wanted.
    pub cells: Vec<i8>,
    /// R playfields with the locked piece and full rows, like [`Placements::afterstates`]. Empty unless wanted.
    pub preclear_boards: Vec<u8>,
    /// B feature vectors of F numbers. Empty unless wanted.
    pub position_features: Vec<f32>,
    /// Label of the placement, the number of a [`Spin`](crate::engine::Spin); empty if the rules do not distinguish
    /// spins.
    pub spins: Vec<u8>,
    /// Whether the placement holds the current piece; empty if the rules have no hold.
    pub holds: Vec<bool>,
    /// Lines that the placement sends; empty if the rules count neither these nor other points for clears.
    pub attacks: Vec<u8>,
    /// R + 1 indices of keys, from 0: the keys of row j are `key_offsets[j]..key_offsets[j + 1]`. Empty unless wanted.
    pub key_offsets: Vec<u32>,
    /// Numbers of the fewest [keys](crate::engine::Key) to each placement; none if that takes more than
    /// [`MAX_KEYS`](crate::engine::MAX_KEYS), or if the piece falls with every key and rests before it is there.
    pub keys: Vec<u8>,
    /// Lines to be expected from each placement on, its own included; NaN if the table lacks its afterstate. Empty unless
    /// wanted.
    pub optimal_values: Vec<f64>,
    /// Value that a policy gives each placement. Empty until the caller writes it.
    pub policy_values: Vec<f64>,
    /// The row that a policy plays in each position; -1 without rows. Empty until the caller writes it.
    pub policy_choices: Vec<i32>,
}

/// Bytes of a row of cells in [`Placements::afterstates`]. A row is an integer with one bit per column: two bytes up to
/// width 16, four above.
pub const fn bytes_per_cell_row(width: u8) -> usize {
    if width > 16 { 4 } else { 2 }
}

impl Options {
    /// Whether any wanted column is written landing by landing.
    pub(super) fn look_at_landings(self) -> bool {
        self.afterstates || self.anchors || self.cells || self.preclear_boards
    }
}

impl Placements {
    /// Writes the next action towards each placement.
    pub(super) fn push_actions(
        &mut self,
        rules: &Rules,
        (playfield, falling): (&Playfield, Option<MovingPiece>),
        current: Piece,
        all: &[(Piece, Placement)],
    ) {
        let placements = all.iter().map(|(_, placement)| *placement);
        match rules.action_model {
            ActionModel::Placement => {
                self.actions.extend(placements.map(|placement| placement.action(rules) as i32));
            }
            ActionModel::Keypress => {
                let spawn = || MovingPiece::spawn(rules, playfield, current);
                let targets: Vec<Placement> = placements.collect();
                let keys = falling.unwrap_or_else(spawn).keys_towards(rules, playfield, &targets);
                self.actions.extend(keys.into_iter().map(|key| key as i32));
            }
        }
    }

    /// An empty list to append to.
    pub fn empty() -> Placements {
        Placements::with_capacity(0, 0)
    }

    /// Appends the placements of further positions under the same rules and options. The first call allocates the
    /// memory of all `num_rows` rows of all `num_positions` positions, and no more; the keys, whose number is not known
    /// in advance, grow.
    pub fn append(&mut self, more: &Placements, num_positions: usize, num_rows: usize) {
        let rows = self.actions.len() as u32;
        self.row_offsets.reserve_exact(num_positions + 1 - self.row_offsets.len());
        self.row_offsets.extend(more.row_offsets[1..].iter().map(|offset| rows + offset));
        let (positions, all) = ((more.row_offsets.len() - 1, num_positions), (more.actions.len(), num_rows));
        extend(&mut self.actions, &more.actions, all);
        extend(&mut self.placements, &more.placements, all);
        extend(&mut self.features, &more.features, all);
        extend(&mut self.rewards, &more.rewards, all);
        extend(&mut self.lines, &more.lines, all);
        extend(&mut self.terminated, &more.terminated, all);
        extend(&mut self.afterstates, &more.afterstates, all);
        extend(&mut self.anchors, &more.anchors, all);
        extend(&mut self.cells, &more.cells, all);
        extend(&mut self.preclear_boards, &more.preclear_boards, all);
        extend(&mut self.position_features, &more.position_features, positions);
        extend(&mut self.spins, &more.spins, all);
        extend(&mut self.holds, &more.holds, all);
        extend(&mut self.attacks, &more.attacks, all);
        extend(&mut self.optimal_values, &more.optimal_values, all);
        let keys = self.keys.len() as u32;
        let first = usize::from(!self.key_offsets.is_empty());
        self.key_offsets.extend(more.key_offsets.iter().skip(first).map(|offset| keys + offset));
        self.keys.extend_from_slice(&more.keys);
    }

    pub(super) fn push_keys(&mut self, lists: &[Vec<Key>]) {
        for keys in lists {
            self.keys.extend(keys.iter().map(|key| *key as u8));
            self.key_offsets.push(self.keys.len() as u32);
        }
    }

    /// Writes the wanted columns about where a piece comes to rest.
    pub(super) fn push_rest(&mut self, options: Options, max_cells: u8, shape: &Shape, row: u8, column: u8) {
        if options.anchors {
            self.anchors.extend([row + shape.anchor_row, column + shape.anchor_column].map(|at| at as i8));
        }
        if options.cells {
            let cells = shape.cells_at(row, column);
            let no_more = usize::from(max_cells).saturating_sub(cells.len());
            self.cells.extend(cells.iter().flat_map(|&(row, column)| [row as i8, column as i8]));
            self.cells.extend(std::iter::repeat_n(-1, 2 * no_more));
        }
    }

    /// An empty list with reserved memory. It contains the first offset.
    pub(super) fn with_capacity(num_positions: usize, num_rows: usize) -> Placements {
        let mut row_offsets = Vec::with_capacity(num_positions + 1);
        row_offsets.push(0);
        Placements {
            row_offsets,
            actions: Vec::with_capacity(num_rows),
            placements: Vec::with_capacity(num_rows),
            ..Placements::default()
        }
    }
}

/// Appends the numbers of `rows` rows to a column of `all` rows, in memory for all of them.
fn extend<T: Copy>(column: &mut Vec<T>, more: &[T], (rows, all): (usize, usize)) {
    if column.is_empty() && rows > 0 {
        column.reserve_exact(more.len() / rows * all);
    }
    column.extend_from_slice(more);
}

/// Appends the rows of a playfield, [`bytes_per_cell_row`] bytes each.
pub(super) fn write_rows(playfield: &Playfield, out: &mut Vec<u8>) {
    let bytes = bytes_per_cell_row(playfield.width());
    for row in playfield.rows() {
        out.extend_from_slice(&row.to_le_bytes()[..bytes]);
    }
}
