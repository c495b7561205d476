//! The movement of pieces as a value, and queries about it.
//!
//! A flood uses the shortest lanes that hold everything relevant, and each piece has separate code with constant moves
//! by its cells. That code is large, so one copy serves all column sizes and all queries: a playfield is passed as its
//! empty cells, and a query as an [`Ask`], which is answered after the flood.

use super::super::column::Column;
use super::super::lanes::{Kernel, LaneSize, LaneWork, Lanes, dispatch_to};
use super::super::playfield::PlayfieldOf;
use super::super::rotation::{HalfTurns, RotationSystem, Turns};
use super::super::rules::{Rules, TopOut};
use super::super::shape::Shape;
use super::super::spin::SpinRule;
use super::super::tetromino::{TRUE_POSES, Tetromino};
use super::cells::empty_cells;
use super::flood::{AppearingCells, FloodLimits, below, each_piece};
use super::labels::{Ask, PieceFlood};
use super::resting::Resting;

/// The movement of pieces and the labels of placements: everything that determines the reachable placements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Movement {
    /// The kicks of quarter turns.
    pub rotation_system: RotationSystem,
    pub half_turns: HalfTurns,
    /// The turns that count as spins.
    pub spin_rule: SpinRule,
    /// The row of the anchor where pieces appear, at most [`MAX_SPAWN_ROW`]. The column is `(width - 1) / 2`.
    pub spawn_row: u8,
    /// Number of higher rows, tried in turn, in which a piece may appear if it is blocked.
    pub spawn_lift: u8,
}

/// The highest row in which an anchor can appear, including any lift.
pub const MAX_SPAWN_ROW: u8 = 44;

impl Movement {
    /// The movement under these rules. Pieces spawn in `spawn_row` if the rules have one; otherwise in the highest
    /// visible row, or one row higher if that is blocked and does not end the game.
    #[inline]
    pub fn of(rules: &Rules) -> Movement {
        let spawn_row = rules.spawn_row.unwrap_or(rules.visible_rows() - 1);
        let has_one_row = rules.spawn_row.is_some() || rules.top_out == TopOut::SpawnBlocked;
        let spawn_lift = match rules.lifts {
            true => MAX_SPAWN_ROW - spawn_row,
            false => u8::from(!has_one_row),
        };
        let Rules { rotation_system, half_turns, spin_rule, .. } = *rules;
        Movement { rotation_system, half_turns, spin_rule, spawn_row, spawn_lift }
    }

    /// The column of a piece's anchor when the piece appears.
    pub(crate) fn spawn_column(width: u8) -> u8 {
        (width - 1) / 2
    }

    /// The column of a shape's leftmost cell when the piece appears. The shape's lowest cell is in the row of its
    /// anchor, because no piece appears with cells below its anchor.
    pub(crate) fn spawn_corner(width: u8, shape: &Shape) -> u8 {
        Self::spawn_column(width) - shape.anchor_column
    }

    /// The row of a piece's anchor when the piece appears; `None` if the piece is blocked, which ends the game.
    #[inline]
    pub(crate) fn spawn<C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
    ) -> Option<u8> {
        let shape = &TRUE_POSES[tetromino.index()][0];
        let column = Self::spawn_corner(playfield.width(), shape);
        (self.spawn_row..=self.spawn_row + self.spawn_lift)
            .find(|row| *row >= playfield.height() || playfield.is_free(shape, *row, column))
    }

    /// The limits of a piece's flood, given the row just above the highest full cell.
    #[inline(always)]
    pub(super) fn limits(&self, tetromino: Tetromino, width: u8, stack: u32) -> FloodLimits {
        // With this much room between the stack and the spawn row, every orientation can reach every column and every
        // row that a kick from the stack can lead to.
        let is_low = stack + 4 <= u32::from(self.spawn_row);
        let appearing = AppearingCells {
            column: Self::spawn_column(width).into(),
            first_row: self.spawn_row.into(),
            last_row: (self.spawn_row + self.spawn_lift).into(),
        };
        let appearing = if is_low { None } else { Some(appearing) };
        let turns = Turns::of(self.rotation_system, self.half_turns, tetromino);
        let below = below(tetromino.index());
        FloodLimits { turns, spin_rule: self.spin_rule, width, below, stack, appearing }
    }

    /// Number of placements of a piece; 0 ends the game.
    pub fn count<C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
    ) -> u32 {
        self.ask(playfield, tetromino, Ask::Count)
    }

    /// Whether a piece has a placement.
    pub(crate) fn has<C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
        resting: Resting,
    ) -> bool {
        let Resting { orientation, column, .. } = resting;
        let shape = TRUE_POSES[tetromino.index()].get(usize::from(orientation));
        let is_between_walls = |shape: &Shape| shape.width <= playfield.width().saturating_sub(column);
        shape.is_some_and(is_between_walls) && self.ask(playfield, tetromino, Ask::Has(resting)) == 1
    }

    /// Appends all placements of a piece to a list, by orientation, column, row and spin. Appends none if the piece is
    /// blocked.
    pub fn append<C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
        list: &mut Vec<Resting>,
    ) {
        self.ask(playfield, tetromino, Ask::List(list));
    }

    /// All placements of a piece, by orientation, column, row and spin; empty if the piece is blocked.
    ///
    /// ```
    /// use tetrion_core::engine::reachable::Movement;
    /// use tetrion_core::engine::{Playfield, Tetromino};
    /// let roofed = Playfield::from_drawing(6, 20, ".####./....../#.####").unwrap();
    /// let all = Movement::default().list(&roofed, Tetromino::I);
    /// let flat = all.iter().filter(|resting| resting.orientation == 0);
    /// // From column 0, 1 and 2 on: on the floor below the roof, where it turns in from the side, and on the roof.
    /// assert_eq!(flat.map(|resting| resting.row).collect::<Vec<_>>(), [1, 3, 1, 3, 1, 3]);
    /// ```
    pub fn list<C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
    ) -> Vec<Resting> {
        // Most pieces have fewer placements than this.
        let mut list = Vec::with_capacity(64);
        self.append(playfield, tetromino, &mut list);
        list
    }

    /// Like [`Movement::list`], on a given kernel. All kernels give the same list.
    ///
    /// # Panics
    /// If this machine cannot run the kernel.
    pub fn list_with<C: Column, const N: usize>(
        &self,
        kernel: Kernel,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
    ) -> Vec<Resting> {
        let mut list = Vec::new();
        self.ask_with(kernel, playfield, tetromino, Ask::List(&mut list));
        list
    }

    /// Floods, and returns the number of matching placements.
    #[inline]
    fn ask<C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
        ask: Ask<'_>,
    ) -> u32 {
        self.ask_with(Kernel::best(), playfield, tetromino, ask)
    }

    #[inline]
    fn ask_with<C: Column, const N: usize>(
        &self,
        kernel: Kernel,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
        ask: Ask<'_>,
    ) -> u32 {
        let limits = &self.limits(tetromino, playfield.width(), playfield.occupied_rows().top());
        let size = LaneSize::of(playfield.width(), limits.rows());
        dispatch_to(kernel, size, AskPlayfield { tetromino, limits, playfield, ask })
    }
}

impl Default for Movement {
    /// SRS without half turns or spins on 20 visible rows. Pieces appear just below the upper edge, or one row higher
    /// if blocked.
    fn default() -> Movement {
        Movement {
            rotation_system: RotationSystem::Srs,
            half_turns: HalfTurns::None,
            spin_rule: SpinRule::None,
            spawn_row: 19,
            spawn_lift: 1,
        }
    }
}

/// Work that asks about a piece on a playfield.
struct AskPlayfield<'a, C: Column, const N: usize> {
    tetromino: Tetromino,
    limits: &'a FloodLimits,
    playfield: &'a PlayfieldOf<C, N>,
    ask: Ask<'a>,
}

impl<C: Column, const N: usize> LaneWork for AskPlayfield<'_, C, N> {
    type Output = u32;

    #[inline(always)]
    fn run<W: Column, const M: usize, L: Lanes<Word = W>>(self) -> u32 {
        let AskPlayfield { tetromino, limits, playfield, ask } = self;
        each_piece!(L, tetromino, piece => {
            L::apart(PieceFlood { piece, limits, empty: empty_cells::<_, _, L>(playfield), ask })
        })
    }
}
