//! How pieces move, as a value; and what is asked of it.
//!
//! A flood goes over the smallest planes that hold all that matters, and each piece has code of its own in which the shifts
//! by its cells are known. What is made of a flood is a [`Collect`].

use super::super::column::Column;
use super::super::playfield::PlayfieldOf;
use super::super::rotation::{HalfTurns, RotationSystem, Turns};
use super::super::rules::Rules;
use super::super::shape::Shape;
use super::super::spin::SpinRule;
use super::super::tetromino::{TRUE_POSES, Tetromino};
use super::flood::{Flood, Start, below};
use super::labels::Labelled;
use super::resting::Resting;

/// How pieces move, and what is told apart: all that decides which placements can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Movement {
    /// The kicks of quarter turns.
    pub rotation: RotationSystem,
    /// Turns by 180 degrees.
    pub half_turns: HalfTurns,
    /// Which turns into place are told apart.
    pub spins: SpinRule,
    /// The row of the anchor where pieces appear, at most [`MAX_SPAWN_ROW`]. Its column is `(width - 1) / 2`.
    pub spawn_row: u8,
    /// How many rows further up a piece may appear where its cells are taken; each is tried in turn.
    pub spawn_lift: u8,
}

/// The highest row in which an anchor can appear, any lift included.
pub const MAX_SPAWN_ROW: u8 = 44;

impl Movement {
    /// That of rules under which pieces move on their way down: they appear in the row that the rules name; else in the highest
    /// visible one, a row higher if they must.
    #[inline]
    pub fn of(rules: &Rules) -> Movement {
        Movement {
            rotation: rules.rotation,
            half_turns: rules.half_turns,
            spins: rules.spins,
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
        struct Count;
        impl Collect for Count {
            type Output = u32;
            #[inline(always)]
            fn collect<const PIECE: usize, const W: usize, const S: u32>(
                self,
                labelled: Labelled<W, S>,
            ) -> u32 {
                labelled.count()
            }
        }
        self.collect(playfield, tetromino, Count).unwrap_or(0)
    }

    /// Whether a piece has a placement.
    pub fn has<C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
        resting: Resting,
    ) -> bool {
        struct Has(Resting);
        impl Collect for Has {
            type Output = bool;
            #[inline(always)]
            fn collect<const PIECE: usize, const W: usize, const S: u32>(
                self,
                labelled: Labelled<W, S>,
            ) -> bool {
                labelled.has::<PIECE>(self.0)
            }
        }
        let Resting { orientation, column, .. } = resting;
        let shape = TRUE_POSES[tetromino.index()].get(usize::from(orientation));
        let is_between_walls = |shape: &Shape| shape.width <= playfield.width().saturating_sub(column);
        shape.is_some_and(is_between_walls)
            && self.collect(playfield, tetromino, Has(resting)).unwrap_or(false)
    }

    /// Writes all placements of a piece to the end of a list, by orientation, column, row and spin; none if it is blocked.
    pub fn append<C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
        list: &mut Vec<Resting>,
    ) {
        struct Append<'a>(&'a mut Vec<Resting>, u8);
        impl Collect for Append<'_> {
            type Output = ();
            #[inline(always)]
            fn collect<const PIECE: usize, const W: usize, const S: u32>(self, labelled: Labelled<W, S>) {
                labelled.append::<PIECE>(self.1, self.0);
            }
        }
        self.collect(playfield, tetromino, Append(list, playfield.width()));
    }

    /// All placements of a piece, by orientation, column, row and spin; none if it is blocked.
    ///
    /// ```
    /// use tetrion::engine::reachable::Movement;
    /// use tetrion::engine::{Playfield, Tetromino};
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

    /// Collects from the smallest planes that hold all that matters.
    #[inline]
    fn collect<T: Collect, C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        tetromino: Tetromino,
        collect: T,
    ) -> Option<T::Output> {
        match tetromino.number() {
            0 => self.collect_piece::<0, T, C, N>(playfield, collect),
            1 => self.collect_piece::<1, T, C, N>(playfield, collect),
            2 => self.collect_piece::<2, T, C, N>(playfield, collect),
            3 => self.collect_piece::<3, T, C, N>(playfield, collect),
            4 => self.collect_piece::<4, T, C, N>(playfield, collect),
            5 => self.collect_piece::<5, T, C, N>(playfield, collect),
            6 => self.collect_piece::<6, T, C, N>(playfield, collect),
            _ => unreachable!("rules of these moves have the seven tetrominoes"),
        }
    }

    fn collect_piece<const PIECE: usize, T: Collect, C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        collect: T,
    ) -> Option<T::Output> {
        let tetromino = Tetromino::ALL[PIECE];
        let turns = Turns::of(self.rotation, self.half_turns, tetromino);
        let start = self.start(playfield, tetromino, turns)?;
        let width = u32::from(playfield.width());
        Some(match (start.stride(turns), width) {
            (..=12, ..=10) => self.flood::<PIECE, T, C, N, 2, 12>(playfield, turns, start, collect),
            (..=16, ..=12) => self.flood::<PIECE, T, C, N, 3, 16>(playfield, turns, start, collect),
            (..=32, ..=10) => self.flood::<PIECE, T, C, N, 5, 32>(playfield, turns, start, collect),
            (..=32, _) => self.flood::<PIECE, T, C, N, 16, 32>(playfield, turns, start, collect),
            _ => self.flood::<PIECE, T, C, N, 32, 64>(playfield, turns, start, collect),
        })
    }

    #[inline(always)]
    fn flood<const PIECE: usize, T: Collect, C: Column, const N: usize, const W: usize, const S: u32>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        turns: &Turns,
        start: Start,
        collect: T,
    ) -> T::Output {
        let mut flood = Flood::<W, S>::new::<PIECE, C, N>(playfield, start);
        collect.collect::<PIECE, W, S>(Labelled::new::<PIECE>(&mut flood, turns, self.spins, start))
    }
}

impl Default for Movement {
    /// SRS without half turns or spins on 20 visible rows: pieces appear just below their upper edge, a row higher if they
    /// must.
    fn default() -> Movement {
        Movement {
            rotation: RotationSystem::Srs,
            half_turns: HalfTurns::Off,
            spins: SpinRule::Off,
            spawn_row: 19,
            spawn_lift: 1,
        }
    }
}

/// What is made of the placements of a piece.
trait Collect {
    type Output;
    fn collect<const PIECE: usize, const W: usize, const S: u32>(
        self,
        labelled: Labelled<W, S>,
    ) -> Self::Output;
}
