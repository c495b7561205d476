//! The playfield: one integer per column, bit r for row r, row 0 lowest.
//!
//! The words are columns, not rows, because a piece falls along columns: a drop is a few leading-zero counts and
//! shifts, and a feature handles a whole column as one machine word. The type has three sizes. [`Playfield`] holds
//! every playfield the rules allow. The two small sizes are the fast ones: [`CompactPlayfield`] (64 bytes of cells)
//! holds up to 16 columns and 28 rows, and [`LowPlayfield`] takes half the memory. Each word has four spare bits above
//! the height, so that a piece may stick out; cells of a five-row piece that do not fit even there are cut off.
//!
//! A playfield never holds cells at or above its height: a landing cuts them off.
//!
//! The landing functions are inlined into their callers, so they are compiled for the processor of the calling loop.

use super::column::Column;
use super::rules::TopOut;
use super::shape::Shape;

mod drawing;

pub use drawing::DrawingError;

/// The cells of a game, one word per column.
///
/// ```
/// use tetrion_core::engine::Playfield;
/// let playfield = Playfield::from_drawing(5, 4, "#...#\n##.##").unwrap();
/// assert_eq!(playfield.to_string(), ".....\n.....\n#...#\n##.##");
/// assert_eq!(playfield.heights().collect::<Vec<_>>(), [2, 1, 0, 1, 2]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PlayfieldOf<C: Column, const N: usize> {
    width: u8,
    height: u8,
    /// Words at `width` and beyond stay empty.
    columns: [C; N],
}

/// The type for every playfield that the rules allow.
pub type Playfield = PlayfieldOf<u64, 32>;

/// The type for playfields of up to 16 columns and 28 rows.
pub type CompactPlayfield = PlayfieldOf<u32, 16>;

/// The type for playfields of up to 16 columns and 12 rows: small ones, and higher ones while their stack is low.
pub type LowPlayfield = PlayfieldOf<u16, 16>;

/// The effects of a landing on a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Landed {
    pub lines: u8,
    /// Rows that sank into the ground, under [`TopOut::Sink`].
    pub sunk: u8,
    /// Whether the game is over.
    pub terminal: bool,
}

/// A landing in full: the playfields before and after clearing, with counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Landing<C: Column, const N: usize> {
    /// The row of the piece's lowest cell, before clearing.
    pub row: u8,
    /// The playfield with the piece in it, before full rows are cleared. Cells above the top are cut off.
    pub locked: PlayfieldOf<C, N>,
    /// The playfield after clearing and sinking, before the next piece.
    pub afterstate: PlayfieldOf<C, N>,
    pub lines: u8,
    /// Rows that sank into the ground, under [`TopOut::Sink`].
    pub sunk: u8,
    /// Cells of this piece in the cleared lines.
    pub vanished_cells: u8,
    /// Whether the game is over.
    pub terminal: bool,
}

impl Landed {
    /// Number of times the landing loses the game: once if the game ends, and once per row that sinks.
    #[inline(always)]
    pub fn losses(&self) -> u8 {
        u8::from(self.terminal) + self.sunk
    }
}

impl<C: Column, const N: usize> Landing<C, N> {
    /// The effects of the landing on the game.
    pub fn landed(&self) -> Landed {
        Landed { lines: self.lines, sunk: self.sunk, terminal: self.terminal }
    }

    /// The rows that vanished: full rows and sunk rows, as bits of [`Landing::locked`].
    pub fn vanished_rows(&self) -> C {
        let mut vanished = if self.lines > 0 { self.locked.full_rows() } else { C::EMPTY };
        // The sunk rows are the lowest rows that were not full.
        let (mut row, mut left) = (0, self.sunk);
        while left > 0 {
            let bit = C::from_u64(1 << row);
            left -= u8::from(vanished & bit == C::EMPTY);
            vanished |= bit;
            row += 1;
        }
        vanished
    }
}

impl<C: Column, const N: usize> PlayfieldOf<C, N> {
    /// The height of the highest playfields that fit into this type: four bits of each word stay free.
    pub(crate) const MAX_HEIGHT: u8 = C::BITS as u8 - 4;

    /// Whether a playfield of this size fits into this type.
    pub(crate) const fn fits(width: u8, height: u8) -> bool {
        width as usize <= N && height <= Self::MAX_HEIGHT
    }

    /// An empty playfield.
    ///
    /// # Panics
    /// When the size does not fit into this type, of whose words four bits stay free.
    #[inline]
    pub fn empty(width: u8, height: u8) -> Self {
        assert!(Self::fits(width, height), "{width} x {height} does not fit into this playfield");
        PlayfieldOf { width, height, columns: [C::EMPTY; N] }
    }

    /// A playfield with these columns. Cells outside the size are cut off.
    #[inline]
    pub fn from_columns(width: u8, height: u8, columns: &[C]) -> Self {
        let mut playfield = Self::empty(width, height);
        for (to, from) in playfield.columns.iter_mut().zip(columns).take(width.into()) {
            *to = *from & C::below(height.into());
        }
        playfield
    }

    /// Number of columns, the same for the whole game.
    #[inline]
    pub fn width(&self) -> u8 {
        self.width
    }

    /// Number of rows, including rows above the visible field.
    #[inline]
    pub fn height(&self) -> u8 {
        self.height
    }

    /// The columns from the left: exactly `width` words.
    #[inline]
    pub fn columns(&self) -> &[C] {
        &self.columns[..usize::from(self.width)]
    }

    /// All words, including the empty ones after `width`.
    #[inline]
    pub(crate) fn words(&self) -> &[C; N] {
        &self.columns
    }

    /// Whether a cell is full. Cells outside the playfield are not.
    ///
    /// ```
    /// use tetrion_core::engine::Playfield;
    ///
    /// let playfield = Playfield::from_drawing(4, 4, "#...\n.#..")?;
    /// assert!(playfield.is_full(0, 1) && playfield.is_full(1, 0) && !playfield.is_full(0, 0));
    /// # Ok::<(), tetrion_core::engine::DrawingError>(())
    /// ```
    pub fn is_full(&self, row: u8, column: u8) -> bool {
        row < self.height
            && column < self.width
            && self.columns[usize::from(column)] & C::from_u64(1 << row) != C::EMPTY
    }

    /// The rows from the lowest, one integer per row, bit c for column c.
    ///
    /// ```
    /// use tetrion_core::engine::Playfield;
    /// let playfield = Playfield::from_drawing(5, 4, "#...#\n##.##").unwrap();
    /// assert_eq!(playfield.rows().collect::<Vec<_>>(), [0b11011, 0b10001, 0, 0]);
    /// ```
    pub fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        (0..u32::from(self.height)).map(|row| {
            let cell = |column: &C| (column.to_u64() >> row & 1) as u32;
            self.columns().iter().rev().fold(0, |bits, column| bits << 1 | cell(column))
        })
    }

    /// A playfield with the given rows, in the format of [`PlayfieldOf::rows`]. Bits beyond the width are cut off.
    ///
    /// ```
    /// use tetrion_core::engine::Playfield;
    ///
    /// // Bit c of a row is column c.
    /// let playfield = Playfield::from_rows(4, 4, [0b0011, 0b0001]);
    /// assert_eq!(playfield.to_string(), "....\n....\n#...\n##..");
    /// assert_eq!(playfield.rows().take(2).collect::<Vec<_>>(), [0b0011, 0b0001]);
    /// ```
    pub fn from_rows(width: u8, height: u8, rows: impl IntoIterator<Item = u32>) -> Self {
        let mut playfield = Self::empty(width, height);
        for (row, bits) in rows.into_iter().take(height.into()).enumerate() {
            for column in 0..usize::from(width) {
                playfield.columns[column] |= C::from_u64(u64::from(bits >> column & 1) << row);
            }
        }
        playfield
    }

    /// The height of each column: the row just above its highest full cell, or 0 if the column is empty.
    ///
    /// ```
    /// use tetrion_core::engine::Playfield;
    ///
    /// let playfield = Playfield::from_drawing(4, 4, "#...\n#.#.")?;
    /// assert_eq!(playfield.heights().collect::<Vec<_>>(), [2, 0, 1, 0]);
    /// # Ok::<(), tetrion_core::engine::DrawingError>(())
    /// ```
    pub fn heights(&self) -> impl Iterator<Item = u32> + '_ {
        self.columns().iter().map(|column| column.top())
    }

    /// The holes of one column: its empty cells with a full cell above them.
    ///
    /// ```
    /// use tetrion_core::engine::Playfield;
    ///
    /// let playfield = Playfield::from_drawing(4, 4, "#...\n.#..")?;
    /// assert_eq!((playfield.holes(0), playfield.holes(1)), (0b1, 0));
    /// # Ok::<(), tetrion_core::engine::DrawingError>(())
    /// ```
    pub fn holes(&self, column: u8) -> C {
        let cells = self.columns[usize::from(column)];
        !cells & C::below(cells.top())
    }

    /// The full rows, as bits.
    ///
    /// ```
    /// use tetrion_core::engine::Playfield;
    ///
    /// let playfield = Playfield::from_drawing(4, 4, "####\n#...")?;
    /// assert_eq!((playfield.full_rows(), playfield.occupied_rows()), (0b10, 0b11));
    /// # Ok::<(), tetrion_core::engine::DrawingError>(())
    /// ```
    #[inline(always)]
    pub fn full_rows(&self) -> C {
        // The loop covers all words, so that the compiler knows their number.
        let mut full = C::below(self.height.into());
        for (index, column) in self.columns.iter().enumerate() {
            full &= if index < usize::from(self.width) { *column } else { !C::EMPTY };
        }
        full
    }

    /// The rows with at least one full cell, as bits.
    #[inline(always)]
    pub fn occupied_rows(&self) -> C {
        self.columns.iter().fold(C::EMPTY, |rows, column| rows | *column)
    }

    /// The four columns that a tetromino may cover. After the last word the array wraps around to the first ones, where
    /// a shape within the walls has no cells. Shapes of other sets may have a [fifth](Self::fifth) column.
    #[inline(always)]
    fn under(&self, shape: &Shape, column: u8) -> [C; 4] {
        assert!(
            usize::from(column) + usize::from(shape.width) <= usize::from(self.width),
            "outside of the wall"
        );
        let first = usize::from(column);
        let columns = &self.columns;
        [columns[first % N], columns[(first + 1) % N], columns[(first + 2) % N], columns[(first + 3) % N]]
    }

    /// The index of the column under a shape's fifth column; `None` for narrower shapes. No tetromino is that wide, so
    /// the branch is easy to predict.
    #[inline(always)]
    fn fifth(shape: &Shape, column: u8) -> Option<usize> {
        (shape.width > 4).then(|| (usize::from(column) + 4) % N)
    }

    /// The row of the shape's lowest cells after it falls straight down from above the wall, with its leftmost column
    /// at `column`.
    ///
    /// ```
    /// use tetrion_core::engine::{Playfield, Rules, Tetromino};
    ///
    /// let square = &Rules::simplified(4, 4).shapes(Tetromino::O)[0];
    /// let playfield = Playfield::from_drawing(4, 4, "#...")?;
    /// assert_eq!((playfield.landing_row(square, 0), playfield.landing_row(square, 2)), (1, 0));
    /// # Ok::<(), tetrion_core::engine::DrawingError>(())
    /// ```
    ///
    /// # Panics
    /// When the shape sticks out of the right wall.
    #[inline(always)]
    pub fn landing_row(&self, shape: &Shape, column: u8) -> u8 {
        self.surface(shape, column).top() as u8
    }

    /// The rows that the shape's lowest cells cannot pass, as bits: the full cells under each column of the shape,
    /// shifted down by the distance from the shape's lowest cell to the column's lowest cell. One word covers all
    /// columns, so no comparison is needed.
    #[inline(always)]
    fn surface(&self, shape: &Shape, column: u8) -> C {
        let mut surface = C::EMPTY;
        for (j, cells) in self.under(shape, column).iter().enumerate() {
            // A mask instead of a condition, because no processor can predict the width of the next shape.
            surface |= (*cells & C::from_u64(shape.column_mask(j))) >> shape.bottoms[j].into();
        }
        if let Some(fifth) = Self::fifth(shape, column) {
            surface |= self.columns[fifth] >> shape.bottoms[4].into();
        }
        surface
    }

    /// The resting row of a shape with unbroken columns that falls from `row`, where it must be free. Cells above that
    /// row are ignored.
    ///
    /// # Panics
    /// When the shape sticks out of the right wall.
    #[inline]
    pub(crate) fn resting_row(&self, shape: &Shape, row: u8, column: u8) -> u8 {
        (self.surface(shape, column) & C::below(row.into())).top() as u8
    }

    /// Whether all cells of a shape are empty, with its lower left corner at this row and column. Cells above the
    /// height are empty.
    ///
    /// ```
    /// use tetrion_core::engine::{Playfield, Rules, Tetromino};
    ///
    /// let square = &Rules::simplified(4, 4).shapes(Tetromino::O)[0];
    /// let playfield = Playfield::from_drawing(4, 4, "#...")?;
    /// assert!(!playfield.is_free(square, 0, 0) && playfield.is_free(square, 0, 1));
    /// # Ok::<(), tetrion_core::engine::DrawingError>(())
    /// ```
    ///
    /// # Panics
    /// When the shape sticks out of the right wall. The row must be below the height.
    #[inline]
    pub fn is_free(&self, shape: &Shape, row: u8, column: u8) -> bool {
        let in_fifth =
            |fifth: usize| self.columns[fifth] & C::from_u64(shape.column_bits(4).into()) << row.into();
        self.is_free_in_four(shape, row, column)
            && Self::fifth(shape, column).is_none_or(|fifth| in_fifth(fifth) == C::EMPTY)
    }

    /// Like [`PlayfieldOf::is_free`], for shapes of at most four columns. Hot path.
    #[inline]
    pub(super) fn is_free_in_four(&self, shape: &Shape, row: u8, column: u8) -> bool {
        let mut overlap = C::EMPTY;
        for (j, cells) in self.under(shape, column).into_iter().enumerate() {
            overlap |= cells & C::from_u64(shape.column_bits(j).into()) << row.into();
        }
        overlap == C::EMPTY
    }

    /// Fills the cells of a shape at a row and a column. Cells at or above the height are cut off.
    ///
    /// Returns whether any cell was cut off.
    #[inline(always)]
    fn fill(&mut self, shape: &Shape, row: u8, column: u8) -> bool {
        let inside = C::below(self.height.into());
        // Always four columns, as many as a tetromino may have, so that the work does not depend on the shape's width.
        for (j, under) in self.under(shape, column).iter().enumerate() {
            let cells = C::from_u64(shape.column_bits(j).into()) << row.into();
            self.columns[(usize::from(column) + j) % N] = *under | cells & inside;
        }
        if let Some(fifth) = Self::fifth(shape, column) {
            let cells = C::from_u64(shape.column_bits(4).into()) << row.into();
            self.columns[fifth] |= cells & inside;
        }
        row + shape.height > self.height
    }

    /// Removes rows. The rows above each of them move down by one.
    #[inline(always)]
    fn remove_rows(&mut self, mut rows: C) {
        // From the highest down, so that the remaining rows to remove do not move.
        while rows != C::EMPTY {
            let row = rows.top() - 1;
            let under = C::below(row);
            for column in &mut self.columns {
                *column = *column & under | *column >> 1 & !under;
            }
            rows &= under;
        }
    }

    /// Raises the stack by one row and adds a bottom row that is full except for one cell. Cells at or above the height
    /// are cut off.
    ///
    /// Returns whether any cell was cut off.
    ///
    /// ```
    /// use tetrion_core::engine::Playfield;
    /// let mut playfield = Playfield::from_drawing(5, 4, ".#...\n##.##").unwrap();
    /// assert!(!playfield.raise(3));
    /// assert_eq!(playfield.to_string(), ".....\n.#...\n##.##\n###.#");
    /// ```
    ///
    /// ```
    /// use tetrion_core::engine::Playfield;
    ///
    /// let mut playfield = Playfield::from_drawing(4, 4, "#...")?;
    /// playfield.raise(1);
    /// assert_eq!(playfield.to_string(), "....\n....\n#...\n#.##");
    /// # Ok::<(), tetrion_core::engine::DrawingError>(())
    /// ```
    pub fn raise(&mut self, hole: u8) -> bool {
        let inside = C::below(self.height.into());
        let is_cut_off = self.occupied_rows().top() == u32::from(self.height);
        for (index, column) in self.columns[..usize::from(self.width)].iter_mut().enumerate() {
            let cell = if index == usize::from(hole) { C::EMPTY } else { C::from_u64(1) };
            *column = (*column << 1 | cell) & inside;
        }
        is_cut_off
    }

    /// Lets a shape fall straight down and applies the rules of landing, in place.
    ///
    /// [`PlayfieldOf::land`] returns more about the same landing.
    ///
    /// ```
    /// use tetrion_core::engine::{Playfield, Rules, Tetromino, TopOut};
    ///
    /// let square = &Rules::simplified(4, 4).shapes(Tetromino::O)[0];
    /// let mut playfield = Playfield::from_drawing(4, 4, "##..")?;
    /// assert_eq!(playfield.drop(square, 2, TopOut::Overflow).lines, 1);
    /// assert_eq!(playfield.to_string(), "....\n....\n....\n..##");
    /// # Ok::<(), tetrion_core::engine::DrawingError>(())
    /// ```
    ///
    /// # Panics
    /// When the shape sticks out of the right wall.
    #[inline(always)]
    pub fn drop(&mut self, shape: &Shape, column: u8, top_out: TopOut) -> Landed {
        let row = self.landing_row(shape, column);
        self.lock(shape, row, column, top_out)
    }

    /// Applies the rules of landing to a shape that has come to rest, in place.
    ///
    /// [`PlayfieldOf::land_at`] returns more about the same landing.
    ///
    /// # Panics
    /// When the shape sticks out of the right wall.
    #[inline(always)]
    pub fn lock(&mut self, shape: &Shape, row: u8, column: u8, top_out: TopOut) -> Landed {
        let overflows = self.fill(shape, row, column);
        self.clear(overflows, top_out)
    }

    /// Clears the full rows after a shape has been filled in. All rules of clearing, and of landings that end a game,
    /// are here.
    #[inline(always)]
    fn clear(&mut self, overflows: bool, top_out: TopOut) -> Landed {
        if overflows && top_out == TopOut::Overflow {
            return Landed { lines: 0, sunk: 0, terminal: true };
        }
        let full = self.full_rows();
        let mut lines = 0;
        if full != C::EMPTY {
            self.remove_rows(full);
            lines = full.count() as u8;
        }
        let sunk = if top_out == TopOut::Sink { self.sink() } else { 0 };
        Landed { lines, sunk, terminal: self.topped_out(overflows, top_out) }
    }

    /// Lets the stack sink into the ground until the rows above the field are empty. Returns how many rows of the stack
    /// sink.
    #[cold] // keep out of the hot loops of the literature's game
    fn sink(&mut self) -> u8 {
        let rows =
            self.occupied_rows().top().saturating_sub((self.height - TopOut::ROWS_ABOVE_SINKING).into());
        self.remove_rows(C::below(rows));
        rows as u8
    }

    /// Everything about the landing of a shape that falls straight down.
    ///
    /// ```
    /// use tetrion_core::engine::{Playfield, Rules, Tetromino, TopOut};
    ///
    /// let square = &Rules::simplified(4, 4).shapes(Tetromino::O)[0];
    /// let playfield = Playfield::from_drawing(4, 4, "##..")?;
    /// let landing = playfield.land(square, 2, TopOut::Overflow);
    /// assert_eq!(landing.locked.to_string(), "....\n....\n..##\n####");
    /// assert_eq!(landing.afterstate.to_string(), "....\n....\n....\n..##");
    /// # Ok::<(), tetrion_core::engine::DrawingError>(())
    /// ```
    ///
    /// # Panics
    /// When the shape sticks out of the right wall.
    #[inline(always)]
    pub fn land(&self, shape: &Shape, column: u8, top_out: TopOut) -> Landing<C, N> {
        self.land_at(shape, self.landing_row(shape, column), column, top_out)
    }

    /// Everything about the landing of a shape that comes to rest at this row.
    ///
    /// # Panics
    /// When the shape sticks out of the right wall.
    pub fn land_at(&self, shape: &Shape, row: u8, column: u8, top_out: TopOut) -> Landing<C, N> {
        self.land_at_here(shape, row, column, top_out)
    }

    /// Like [`PlayfieldOf::land`], but inlined into the caller and compiled with the caller's target features.
    ///
    /// # Panics
    /// When the shape sticks out of the right wall.
    #[inline(always)]
    pub(crate) fn land_here(&self, shape: &Shape, column: u8, top_out: TopOut) -> Landing<C, N> {
        self.land_at_here(shape, self.landing_row(shape, column), column, top_out)
    }

    #[inline(always)]
    fn land_at_here(&self, shape: &Shape, row: u8, column: u8, top_out: TopOut) -> Landing<C, N> {
        let mut locked = *self;
        let overflows = locked.fill(shape, row, column);
        let mut afterstate = locked;
        let Landed { lines, sunk, terminal } = afterstate.clear(overflows, top_out);
        let full = if lines > 0 { locked.full_rows() } else { C::EMPTY };
        let mut vanished = 0;
        let columns = if shape.width > 4 { 5 } else { 4 };
        for j in 0..columns {
            vanished += (C::from_u64(shape.column_bits(j).into()) << row.into() & full).count();
        }
        Landing { row, locked, afterstate, lines, sunk, vanished_cells: vanished as u8, terminal }
    }

    /// Whether cells lie where the rules end the game. Use it for playfields that did not result from a landing.
    ///
    /// Rules that depend on how a piece lands ([`TopOut::Overflow`]) or appears ([`TopOut::SpawnBlocked`]) do not apply
    /// to a playfield alone; for these the answer is no.
    pub(crate) fn is_topped_out(&self, top_out: TopOut) -> bool {
        self.topped_out(false, top_out)
    }

    #[inline(always)]
    fn topped_out(&self, overflows: bool, top_out: TopOut) -> bool {
        let row = match top_out {
            TopOut::Overflow => return overflows,
            TopOut::SpawnBlocked => return false, // `is_blocked` tests the next piece
            TopOut::LockOut => return false,      // `game::lock` knows the visible rows
            TopOut::TopRow => self.height - 1,
            TopOut::AboveField => self.height - 3,
            TopOut::Sink => {
                return self.occupied_rows().top() > (self.height - TopOut::ROWS_ABOVE_SINKING).into();
            }
        };
        self.occupied_rows() & C::from_u64(1 << row) != C::EMPTY
    }

    /// Copies the cells to a playfield of another type.
    ///
    /// # Panics
    /// When the size does not fit into that type.
    pub fn resized<D: Column, const M: usize>(&self) -> PlayfieldOf<D, M> {
        self.with_height(self.height)
    }

    /// Copies the cells, all of which must fit, to a playfield of another type and height.
    ///
    /// # Panics
    /// When the size does not fit into that type.
    pub(crate) fn with_height<D: Column, const M: usize>(&self, height: u8) -> PlayfieldOf<D, M> {
        let mut playfield = PlayfieldOf::empty(self.width, height);
        for (to, from) in playfield.columns.iter_mut().zip(self.columns()) {
            *to = D::from_u64(from.to_u64());
        }
        playfield
    }
}
