//! The shapes of pieces: one drawing, turned.
//!
//! A shape knows no piece and no rules; tables of shapes do.

use std::fmt;
use std::ops::Deref;

/// The largest number of rows, columns and cells of a shape.
pub(crate) const MAX_SIDE: usize = 5;

/// The cells of a piece in one orientation, as columns of their bounding box. Every column has a cell.
///
/// Every column of a tetromino is one unbroken run of cells, so two numbers describe a column; the kernels rely on
/// that. In other sets a column may have gaps. They do not matter to a piece that falls from above, because its lowest
/// cells go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Columns of the bounding box, 1..=5.
    pub width: u8,
    /// Rows of the bounding box, 1..=5.
    pub height: u8,
    /// By column, the row of its lowest cell above the bottom of the box; 0 beyond `width`.
    pub bottoms: [u8; MAX_SIDE],
    /// By column, the row just above its highest cell; 0 beyond `width`.
    pub tops: [u8; MAX_SIDE],
    /// By column, its cells as bits, bit 0 at the bottom of the box; 0 beyond `width`.
    bits: [u8; MAX_SIDE],
    /// By column, all bits set; 0 beyond `width`.
    masks: [i8; MAX_SIDE],
    /// Column of the anchor cell in the bounding box.
    pub anchor_column: u8,
    /// Row of the anchor cell above the bottom of the box.
    pub anchor_row: u8,
}

impl Shape {
    /// The shape without cells, for unused entries of tables.
    pub(super) const NONE: Shape = Shape {
        width: 0,
        height: 0,
        bottoms: [0; MAX_SIDE],
        tops: [0; MAX_SIDE],
        bits: [0; MAX_SIDE],
        masks: [0; MAX_SIDE],
        anchor_column: 0,
        anchor_row: 0,
    };

    /// The cells of one column as bits, bit 0 at the bottom of the box.
    #[inline(always)]
    pub const fn column_bits(&self, column: usize) -> u32 {
        self.bits[column] as u32
    }

    /// All ones for a column of the shape, 0 beyond its width: a mask for a playfield's column.
    #[inline(always)]
    pub(super) const fn column_mask(&self, column: usize) -> u64 {
        self.masks[column] as i64 as u64
    }

    /// A shape from its columns. Each of them must have a cell.
    const fn of_columns(width: u8, height: u8, bits: [u8; MAX_SIDE]) -> Shape {
        let mut shape = Shape { width, height, bits, ..Shape::NONE };
        let mut column = 0;
        while column < width as usize {
            shape.bottoms[column] = bits[column].trailing_zeros() as u8;
            shape.tops[column] = (u8::BITS - bits[column].leading_zeros()) as u8;
            shape.masks[column] = -1;
            column += 1;
        }
        shape
    }

    /// The cells of one row as bits, bit 0 at the left of the box. Row 0 is the lowest.
    pub(crate) const fn row_bits(&self, row: u8) -> u32 {
        let (mut bits, mut column) = (0, 0);
        while column < self.width {
            bits |= (self.column_bits(column as usize) >> row & 1) << column;
            column += 1;
        }
        bits
    }

    /// Number of full cells, four for a tetromino.
    pub const fn num_cells(&self) -> u8 {
        let (mut cells, mut column) = (0, 0);
        while column < MAX_SIDE {
            cells += self.bits[column].count_ones() as u8;
            column += 1;
        }
        cells
    }

    /// The row and column of each cell, sorted by row, then by column. The lower left corner of the bounding box is at
    /// `bottom` and `left`.
    pub fn cells_at(&self, bottom: u8, left: u8) -> PieceCells {
        let rows = (0..self.height).flat_map(|row| (0..self.width).map(move |column| (row, column)));
        let cells = rows.filter(|(row, column)| self.column_bits((*column).into()) >> row & 1 == 1);
        cells.map(|(row, column)| (bottom + row, left + column)).collect()
    }

    /// The lower left corner of the bounding box, as column and row, where the shape appears on a playfield of this
    /// size. The anchor is in the top row and in column floor(width / 2), or as near to it as the walls allow.
    ///
    /// Cells above the anchor are above the playfield. The shape must be no wider than the playfield.
    pub const fn spawn(&self, width: u8, height: u8) -> (u8, u8) {
        let column = width / 2 - self.anchor_column;
        let rightmost = width - self.width;
        (if column < rightmost { column } else { rightmost }, height - 1 - self.anchor_row)
    }

    /// Reads a drawing: rows from the top, separated by `/`, with `X` full, `@` full and the anchor, `.` empty.
    pub(super) const fn from_drawing(drawing: &str) -> Shape {
        let text = drawing.as_bytes();
        let (mut width, mut height, mut i) = (0, 1, 0);
        while i < text.len() {
            if text[i] == b'/' {
                height += 1;
            } else if height == 1 {
                width += 1;
            }
            i += 1;
        }
        let (mut bits, mut anchor) = ([0; MAX_SIDE], (0, 0));
        let mut column = 0;
        while column < width as usize {
            let mut row = 0; // from the bottom
            while row < height {
                let from_top = (height - 1 - row) as usize;
                let cell = text[from_top * (width as usize + 1) + column];
                if cell == b'@' {
                    anchor = (column as u8, row);
                }
                if cell != b'.' {
                    bits[column] |= 1 << row;
                }
                row += 1;
            }
            column += 1;
        }
        let (anchor_column, anchor_row) = anchor;
        Shape { anchor_column, anchor_row, ..Shape::of_columns(width, height, bits) }
    }

    /// The shape of these cells, by row and column from the lower left corner. No row or column before the last may be
    /// empty.
    pub(super) fn from_cells(cells: &[(u8, u8)]) -> Shape {
        let (mut width, mut height, mut bits) = (0, 0, [0; MAX_SIDE]);
        for &(row, column) in cells {
            bits[usize::from(column)] |= 1 << row;
            (width, height) = (width.max(column + 1), height.max(row + 1));
        }
        Shape::of_columns(width, height, bits)
    }

    /// This shape turned a quarter counter-clockwise.
    pub(super) const fn turned(&self) -> Shape {
        // Column c of the turned shape holds the old row (height - 1 - c), read from the left as the new bottom-up.
        let mut bits = [0; MAX_SIDE];
        let mut column = 0;
        while column < self.height as usize {
            bits[column] = self.row_bits(self.height - 1 - column as u8) as u8;
            column += 1;
        }
        Shape {
            anchor_column: self.height - 1 - self.anchor_row,
            anchor_row: self.anchor_column,
            ..Shape::of_columns(self.height, self.width, bits)
        }
    }

    /// This shape with the middle of its lowest row as its anchor.
    const fn anchored_below(self) -> Shape {
        Shape { anchor_column: self.width / 2, anchor_row: 0, ..self }
    }

    /// Whether both shapes have the same cells, ignoring anchors.
    pub(super) const fn same(&self, other: &Shape) -> bool {
        let mut same = self.width == other.width && self.height == other.height;
        let mut i = 0;
        while i < MAX_SIDE {
            same &= self.bits[i] == other.bits[i];
            i += 1;
        }
        same
    }
}

/// Writes the drawing: rows from the top, separated by `/`, with `X` full and `.` empty.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in (0..self.height).rev() {
            for column in 0..self.width {
                f.write_str(if self.row_bits(row) >> column & 1 == 1 { "X" } else { "." })?;
            }
            f.write_str(if row > 0 { "/" } else { "" })?;
        }
        Ok(())
    }
}

/// The row and column of each cell of a piece at some place: one to five cells.
#[derive(Clone, Copy, Default)]
pub struct PieceCells {
    cells: [(u8, u8); MAX_SIDE],
    len: u8,
}

impl PieceCells {
    /// The cells of a tetromino.
    ///
    /// # Panics
    /// If the piece does not have four cells.
    pub fn four(&self) -> [(u8, u8); 4] {
        <[(u8, u8); 4]>::try_from(&**self).expect("the cells of a tetromino")
    }
}

impl Deref for PieceCells {
    type Target = [(u8, u8)];

    fn deref(&self) -> &[(u8, u8)] {
        &self.cells[..self.len.into()]
    }
}

impl PartialEq for PieceCells {
    fn eq(&self, other: &PieceCells) -> bool {
        **self == **other
    }
}

impl Eq for PieceCells {}

impl<const N: usize> PartialEq<[(u8, u8); N]> for PieceCells {
    fn eq(&self, other: &[(u8, u8); N]) -> bool {
        **self == other[..]
    }
}

impl fmt::Debug for PieceCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Collects the cells of a piece.
///
/// # Panics
/// With more cells than a piece can have.
impl FromIterator<(u8, u8)> for PieceCells {
    fn from_iter<I: IntoIterator<Item = (u8, u8)>>(cells: I) -> PieceCells {
        let mut all = PieceCells::default();
        for cell in cells {
            all.cells[usize::from(all.len)] = cell;
            all.len += 1;
        }
        all
    }
}

impl IntoIterator for PieceCells {
    type Item = (u8, u8);
    type IntoIter = std::iter::Take<std::array::IntoIter<(u8, u8), MAX_SIDE>>;

    fn into_iter(self) -> Self::IntoIter {
        self.cells.into_iter().take(self.len.into())
    }
}

/// The distinct shapes of one piece, in the order of a rule set's orientations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shapes {
    shapes: [Shape; 4],
    len: usize,
    /// The width of each shape. Missing shapes have a width that fits nowhere.
    widths: [u8; 4],
}

impl Shapes {
    /// The shapes as a slice. The index is the orientation.
    pub(crate) const fn as_slice(&self) -> &[Shape] {
        self.shapes.split_at(self.len).0
    }

    /// The width of each shape, by orientation. A missing orientation has a width that no playfield has.
    #[inline]
    pub(crate) const fn widths(&self) -> [u8; 4] {
        self.widths
    }

    /// The first `len` of these shapes.
    pub(super) const fn first(shapes: [Shape; 4], len: usize) -> Shapes {
        let mut widths = [u8::MAX; 4];
        let mut i = 0;
        while i < len {
            widths[i] = shapes[i].width;
            i += 1;
        }
        Shapes { shapes, len, widths }
    }

    /// The distinct shapes among the poses of a tetromino, by quarter turns to the right.
    pub(super) const fn distinct(poses: [Shape; 4]) -> Shapes {
        let len = if poses[1].same(&poses[0]) {
            1
        } else if poses[2].same(&poses[0]) {
            2
        } else {
            4
        };
        Shapes::first(poses, len)
    }

    /// The distinct shapes in the lab's order: as created, turned right, turned left, half a turn.
    pub(super) const fn of_lab(poses: [Shape; 4]) -> Shapes {
        let [created, right, half, left] = poses;
        Shapes::first([created, right, left, half], Shapes::distinct(poses).len)
    }

    /// These shapes with the anchors of another list.
    pub(super) const fn anchored_as(mut self, other: &Shapes) -> Shapes {
        let mut i = 0;
        while i < self.len {
            let mut k = 0;
            while !self.shapes[i].same(&other.shapes[k]) {
                k += 1;
            }
            self.shapes[i] = other.shapes[k];
            i += 1;
        }
        self
    }

    /// Turns a drawing counter-clockwise until a shape repeats.
    pub(super) const fn from_drawing(drawing: &str) -> Shapes {
        Shapes::turns_of(Shape::from_drawing(drawing))
    }

    /// The orientations of a drawing of another set. Such pieces appear with their lowest cells in the top row.
    pub(super) const fn of_piece(first: Shape) -> Shapes {
        let mut all = Shapes::turns_of(first);
        let mut i = 0;
        while i < all.len {
            all.shapes[i] = all.shapes[i].anchored_below();
            i += 1;
        }
        all
    }

    const fn turns_of(first: Shape) -> Shapes {
        let mut shapes = [first; 4];
        let mut len = 1;
        while len < 4 {
            let next = shapes[len - 1].turned();
            if next.same(&shapes[0]) {
                break;
            }
            // Shapes repeat after one, two or four turns, and the first to repeat is the first shape.
            shapes[len] = next;
            len += 1;
        }
        Shapes::first(shapes, len)
    }
}
