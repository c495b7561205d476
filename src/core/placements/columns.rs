//! The columns of a list of placements, and what is written into them. It does not find placements.

use crate::engine::{
    ActionModel, FallingPiece, HandPaths, MovingPiece, Piece, Placement, Playfield, Rules, Shape,
    SteeredPiece,
};

/// What to return besides actions, rewards, lines and ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The playfields after each placement.
    pub afterstates: bool,
    /// Where the pieces' anchors come to rest.
    pub anchors: bool,
    /// Where the pieces' cells come to rest.
    pub cells: bool,
    /// The playfields with the pieces locked, before full rows are cleared.
    pub preclear_boards: bool,
    /// The features of the positions themselves.
    pub position_features: bool,
    /// The keys to each placement, under [`Reach::Moves`](crate::engine::Reach::Moves).
    pub keys: bool,
}

/// Every placement of some positions: R rows for B positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placements {
    /// B + 1 numbers, from 0 to R.
    pub row_offsets: Vec<u32>,
    /// The action to step with: in the placement model the placement itself, in the keypress model the next key towards it.
    pub actions: Vec<i32>,
    /// The numbers of the placements ([`Placement::action`]), in the keypress model too.
    pub placements: Vec<i32>,
    /// R feature vectors of F numbers; empty without a feature set.
    pub features: Vec<f32>,
    /// The points for the placement.
    pub rewards: Vec<f32>,
    /// The lines that it clears.
    pub lines: Vec<u8>,
    /// Whether it ends the game.
    pub terminated: Vec<bool>,
    /// R playfields, each row of cells as one little-endian integer from the lowest, of [`bytes_per_cell_row`] bytes; empty
    /// unless wanted.
    pub afterstates: Vec<u8>,
    /// Row and column of each piece's anchor where it comes to rest: R pairs; empty unless wanted.
    pub anchors: Vec<i8>,
    /// Row and column of each piece's cells where they come to rest, by row, then by column: R times as many pairs as a piece of
    /// the set has at most, four for tetrominoes, -1 for those that it lacks; empty
    /// unless wanted. Rows may be above the playfield.
    pub cells: Vec<i8>,
    /// R playfields with the piece locked and full rows still there, as [`Placements::afterstates`]; empty unless wanted.
    pub preclear_boards: Vec<u8>,
    /// B feature vectors of F numbers; empty unless wanted.
    pub position_features: Vec<f32>,
    /// What each counts as, the number of a [`Spin`](crate::engine::Spin); empty where the rules tell no spins apart.
    pub spins: Vec<u8>,
    /// Whether the current piece is held for it; empty where the rules have no hold.
    pub holds: Vec<bool>,
    /// The lines that it sends; empty where the rules count neither these nor other points for clears.
    pub attacks: Vec<u8>,
    /// R + 1 numbers, from 0: the keys of row j are `key_offsets[j]..key_offsets[j + 1]`. Empty unless wanted.
    pub key_offsets: Vec<u32>,
    /// The numbers of the fewest [keys](crate::engine::Key) to each placement; none where they are more than
    /// [`MAX_KEYS`](crate::engine::MAX_KEYS).
    pub keys: Vec<u8>,
}

/// Bytes of a row of cells in [`Placements::afterstates`]: a bit a column, as an integer of two bytes up to width 16 and of
/// four above.
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
        match (rules.action_model, falling) {
            (ActionModel::Placement, _) => {
                self.actions.extend(placements.map(|placement| placement.action(rules) as i32));
            }
            (ActionModel::Keypress, falling) if rules.steers() => {
                let piece = match falling {
                    Some(MovingPiece::Steered(piece)) => piece,
                    _ => SteeredPiece::spawn(rules, playfield, current),
                };
                let targets: Vec<Placement> = placements.collect();
                let keys = piece.keys_towards(rules, playfield, &targets);
                self.actions.extend(keys.into_iter().map(|key| key as i32));
            }
            (ActionModel::Keypress, falling) => {
                let piece = match falling {
                    Some(MovingPiece::Falling(piece)) => piece,
                    _ => FallingPiece::spawn(current, rules.width, rules.height),
                };
                let key = |placement| piece.key_towards(placement, rules.width) as i32;
                self.actions.extend(placements.map(key));
            }
        }
    }

    /// No placements of no positions, with room for `num_rows`.
    pub fn empty(num_rows: usize, num_features: usize) -> Placements {
        let features = Vec::with_capacity(num_rows * num_features);
        Placements { features, ..Placements::with_capacity(0, num_rows) }
    }

    /// Adds the placements of further positions, made with the same rules and options.
    pub fn append(&mut self, more: &Placements) {
        let rows = self.actions.len() as u32;
        self.row_offsets.extend(more.row_offsets[1..].iter().map(|offset| rows + offset));
        self.actions.extend_from_slice(&more.actions);
        self.placements.extend_from_slice(&more.placements);
        self.features.extend_from_slice(&more.features);
        self.rewards.extend_from_slice(&more.rewards);
        self.lines.extend_from_slice(&more.lines);
        self.terminated.extend_from_slice(&more.terminated);
        self.afterstates.extend_from_slice(&more.afterstates);
        self.anchors.extend_from_slice(&more.anchors);
        self.cells.extend_from_slice(&more.cells);
        self.preclear_boards.extend_from_slice(&more.preclear_boards);
        self.position_features.extend_from_slice(&more.position_features);
        self.spins.extend_from_slice(&more.spins);
        self.holds.extend_from_slice(&more.holds);
        self.attacks.extend_from_slice(&more.attacks);
        let keys = self.keys.len() as u32;
        let first = usize::from(!self.key_offsets.is_empty());
        self.key_offsets.extend(more.key_offsets.iter().skip(first).map(|offset| keys + offset));
        self.keys.extend_from_slice(&more.keys);
    }

    pub(super) fn push_keys(&mut self, paths: &HandPaths, placements: &[(Piece, Placement)]) {
        for (_, placement) in placements {
            self.keys.extend(paths.to(*placement).into_iter().map(|key| key as u8));
            self.key_offsets.push(self.keys.len() as u32);
        }
    }

    /// Writes the wanted columns of where a piece comes to rest.
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

    /// No rows yet, but room for them; the first offset is there.
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

/// Appends the rows of a playfield, [`bytes_per_cell_row`] bytes each.
pub(super) fn write_rows(playfield: &Playfield, out: &mut Vec<u8>) {
    let bytes = bytes_per_cell_row(playfield.width());
    for row in playfield.rows() {
        out.extend_from_slice(&row.to_le_bytes()[..bytes]);
    }
}
