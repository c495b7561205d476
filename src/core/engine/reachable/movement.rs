//! How pieces move, as a value; and what is asked of it.
//!
//! A flood goes over the smallest planes that hold all that matters, and each piece has code of its own in which the shifts
//! by its cells are known. That code is large, so there is one copy of it for all sizes of columns and for all questions: a
//! playfield comes as its empty cells, and a question as an [`Ask`], which is looked at when the flood is over.

use super::super::column::Column;
use super::super::playfield::PlayfieldOf;
use super::super::rotation::{HalfTurns, RotationSystem, Turns};
use super::super::rules::Rules;
use super::super::shape::Shape;
use super::super::spin::SpinRule;
use super::super::tetromino::{TRUE_POSES, Tetromino};
use super::flood::{Any, Flood, Known, Start, Which, below};
use super::labels::Labelled;
use super::plane::Plane;
use super::resting::Resting;

/// How pieces move, and what is told apart: all that decides which placements can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Movement {
    /// The kicks of quarter turns.
    pub rotation_system: RotationSystem,
    /// Turns by 180 degrees.
    pub half_turns: HalfTurns,
    /// Which turns into place are told apart.
    pub spin_rule: SpinRule,
    /// The row of the anchor where pieces appear, at most [`MAX_SPAWN_ROW`]. Its column is `(width - 1) / 2`.
    pub spawn_row: u8,
    /// How many rows further up a piece may appear where its cells are taken; each is tried in turn.
    pub spawn_lift: u8,
}

/// The highest row in which an anchor can appear, any lift included.
pub const MAX_SPAWN_ROW: u8 = 44;

impl Movement {
    /// The movement under these rules. Pieces spawn in `spawn_row`, or else in the highest visible row, one row higher if that
    /// is blocked.
    #[inline]
    pub fn of(rules: &Rules) -> Movement {
        Movement {
            rotation_system: rules.rotation_system,
            half_turns: rules.half_turns,
            spin_rule: rules.spin_rule,
            spawn_row: rules.spawn_row.unwrap_or(rules.visible_rows() - 1),
            spawn_lift: if rules.spawn_row.is_some() { 0 } else { 1 },
        }
    }

    /// The column of the anchor of pieces that appear.
    pub fn spawn_column(width: u8) -> u8 {
        (width - 1) / 2
    }

    /// The column of the leftmost cell of a shape that appears. Its lowest cell is in the row of its anchor: as created, no
    /// piece has cells below that.
    pub fn spawn_corner(width: u8, shape: &Shape) -> u8 {
        Self::spawn_column(width) - shape.anchor_column
    }

    /// The row in which the anchor of a piece appears, or `None` if it is blocked: the end of a game.
    #[inline]
    pub fn spawn<C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
    ) -> Option<u8> {
        let shape = &TRUE_POSES[tetromino.index()][0];
        let column = Self::spawn_corner(playfield.width(), shape);
        (self.spawn_row..=self.spawn_row + self.spawn_lift)
            .find(|row| *row >= playfield.height() || playfield.is_free(shape, *row, column))
    }

    fn start<C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
        turns: &Turns,
    ) -> Option<Start> {
        let stack = playfield.occupied_rows().top();
        let (below, spare) = (below(tetromino.index()), u32::from(turns.rows).max(2));
        // With this much room between the stack and the row of the spawn, every orientation comes to every column and to all
        // rows that a kick from the stack can lead to.
        if stack + 4 <= u32::from(self.spawn_row) {
            return Some(Start { below, stack, cell: None, spare });
        }
        let row = self.spawn(playfield, tetromino)?;
        let column = Self::spawn_column(playfield.width());
        Some(Start { below, stack, cell: Some((column.into(), row.into())), spare })
    }

    /// How many placements of a piece there are; 0 ends the game.
    pub fn count<C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
    ) -> u32 {
        self.ask(playfield, tetromino, Ask::Count)
    }

    /// Whether a piece has a placement.
    pub fn has<C: Column, const N: usize>(
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

    /// Writes all placements of a piece to the end of a list, by orientation, column, row and spin; none if it is blocked.
    pub fn append<C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
        list: &mut Vec<Resting>,
    ) {
        self.ask(playfield, tetromino, Ask::List(list));
    }

    /// All placements of a piece, by orientation, column, row and spin; none if it is blocked.
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
        // More than most pieces have.
        let mut list = Vec::with_capacity(64);
        self.append(playfield, tetromino, &mut list);
        list
    }

    /// Floods the smallest planes that hold all that matters, and returns how many placements that are asked for were found.
    #[inline]
    fn ask<C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
        ask: Ask<'_>,
    ) -> u32 {
        let turns = Turns::of(self.rotation_system, self.half_turns, tetromino);
        let Some(start) = self.start(playfield, tetromino, turns) else { return 0 };
        let piece = Flooded { tetromino, turns, spin_rule: self.spin_rule, start, width: playfield.width() };
        match (start.stride(turns), playfield.width()) {
            (..=12, ..=10) => piece.flood::<2, 12>(Plane::empty_cells(playfield), ask),
            (..=16, ..=12) => piece.flood::<3, 16>(Plane::empty_cells(playfield), ask),
            (..=32, ..=10) => piece.flood::<5, 32>(Plane::empty_cells(playfield), ask),
            (..=32, _) => piece.flood_any::<16, 32>(Plane::empty_cells(playfield), ask),
            _ => piece.flood_any::<32, 64>(Plane::empty_cells(playfield), ask),
        }
    }
}

impl Default for Movement {
    /// SRS without half turns or spins on 20 visible rows: pieces appear just below their upper edge, a row higher if they
    /// must.
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

/// What is asked about the placements of a piece.
enum Ask<'a> {
    /// How many there are.
    Count,
    /// Whether this is one of them; it lies between the walls.
    Has(Resting),
    /// All of them, to be written to the end of a list.
    List(&'a mut Vec<Resting>),
}

/// A piece on a playfield, apart from its empty cells.
struct Flooded<'a> {
    tetromino: Tetromino,
    turns: &'a Turns,
    spin_rule: SpinRule,
    start: Start,
    width: u8,
}

impl Flooded<'_> {
    /// On planes as most playfields need, with code for each piece.
    #[inline]
    fn flood<const W: usize, const S: u32>(&self, empty: Plane<W, S>, ask: Ask<'_>) -> u32 {
        match self.tetromino.number() {
            0 => self.flood_of(Known::<0>, empty, ask),
            1 => self.flood_of(Known::<1>, empty, ask),
            2 => self.flood_of(Known::<2>, empty, ask),
            3 => self.flood_of(Known::<3>, empty, ask),
            4 => self.flood_of(Known::<4>, empty, ask),
            5 => self.flood_of(Known::<5>, empty, ask),
            6 => self.flood_of(Known::<6>, empty, ask),
            _ => unreachable!("rules of these moves have the seven tetrominoes"),
        }
    }

    /// On the rare larger ones, with code for all of them.
    #[inline]
    fn flood_any<const W: usize, const S: u32>(&self, empty: Plane<W, S>, ask: Ask<'_>) -> u32 {
        self.flood_of(Any(self.tetromino.index()), empty, ask)
    }

    #[inline(never)]
    fn flood_of<const W: usize, const S: u32>(
        &self,
        piece: impl Which,
        empty: Plane<W, S>,
        ask: Ask<'_>,
    ) -> u32 {
        let mut flood = Flood::<W, S>::new(piece, empty, self.start);
        let mut labelled = Labelled::none();
        labelled.find(piece, &mut flood, self.turns, self.spin_rule, self.start);
        match ask {
            Ask::Count => labelled.count(),
            Ask::Has(resting) => labelled.has(piece, resting).into(),
            Ask::List(list) => {
                let before = list.len();
                labelled.append(piece, self.width, list);
                (list.len() - before) as u32
            }
        }
    }
}
