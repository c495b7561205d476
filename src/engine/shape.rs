//! The shapes of pieces: one drawing, turned.
//!
//! A shape knows no piece and no rules; tables of them do.

/// The cells of a tetromino in one orientation, as columns in their bounding box.
///
/// Every column of a tetromino is one unbroken run of cells, so two numbers describe a column; the fast code relies on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Columns of the bounding box, 1..=4.
    pub width: u8,
    /// Rows of the bounding box, 1..=4.
    pub height: u8,
    /// Per column, the row of its lowest cell above the bottom of the box; 0 beyond `width`.
    pub bottoms: [u8; 4],
    /// Per column, the row just above its highest cell; 0 beyond `width`.
    pub tops: [u8; 4],
    /// Per column, its cells as bits, bit 0 at the bottom of the box; 0 beyond `width`.
    bits: [u8; 4],
    /// Per column, all bits; 0 beyond `width`.
    masks: [i8; 4],
    /// Column of the anchor cell in the bounding box.
    pub anchor_column: u8,
    /// Row of the anchor cell above the bottom of the box.
    pub anchor_row: u8,
}

impl Shape {
    /// The shape with no cells, which fills unused places of tables.
    pub(super) const NONE: Shape = Shape {
        width: 0,
        height: 0,
        bottoms: [0; 4],
        tops: [0; 4],
        bits: [0; 4],
        masks: [0; 4],
        anchor_column: 0,
        anchor_row: 0,
    };

    /// The cells of one column as bits, bit 0 at the bottom of the box.
    #[inline(always)]
    pub const fn column_bits(&self, column: usize) -> u32 {
        self.bits[column] as u32
    }

    /// All ones for a column of the shape, 0 beyond its width: to be `and`ed with a column of a playfield.
    #[inline(always)]
    pub(super) const fn column_mask(&self, column: usize) -> u64 {
        self.masks[column] as i64 as u64
    }

    /// The shape with its columns as bits, once the runs of cells are known.
    const fn with_bits(mut self) -> Shape {
        let mut column = 0;
        while column < 4 {
            self.bits[column] = (1 << self.tops[column]) - (1 << self.bottoms[column]);
            self.masks[column] = if self.bits[column] == 0 { 0 } else { -1 };
            column += 1;
        }
        self
    }

    /// The cells of one row as bits, bit 0 at the left of the box; row 0 is its lowest.
    pub const fn row_bits(&self, row: u8) -> u32 {
        let (mut bits, mut column) = (0, 0);
        while column < self.width {
            let (bottom, top) = (self.bottoms[column as usize], self.tops[column as usize]);
            if bottom <= row && row < top {
                bits |= 1 << column;
            }
            column += 1;
        }
        bits
    }

    /// The row and the column of its four cells, by row, then by column, with the lower left corner of its bounding box at
    /// this row and column.
    pub fn cells_at(&self, bottom: u8, left: u8) -> [(u8, u8); 4] {
        let mut cells = [(0, 0); 4];
        let mut n = 0;
        for row in 0..self.height {
            for column in 0..self.width {
                if self.column_bits(column.into()) >> row & 1 == 1 {
                    cells[n] = (bottom + row, left + column);
                    n += 1;
                }
            }
        }
        cells
    }

    /// The lower left corner of the bounding box, as column and row, where the shape appears in a playfield of this size:
    /// the anchor in the top row and in the column floor(width / 2), or as near to it as the walls allow.
    ///
    /// Cells above the anchor are above the playfield then.
    pub const fn spawn(&self, width: u8, height: u8) -> (u8, u8) {
        let column = width / 2 - self.anchor_column;
        let rightmost = width - self.width;
        (if column < rightmost { column } else { rightmost }, height - 1 - self.anchor_row)
    }

    /// Reads a drawing: rows from the top, separated by `/`, `X` full, `@` full and the anchor, `.` empty.
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
        let mut shape = Shape { width, height, ..Shape::NONE };
        let mut column = 0;
        while column < width as usize {
            let mut row = 0; // from the bottom
            let mut seen = false;
            while row < height {
                let from_top = (height - 1 - row) as usize;
                let cell = text[from_top * (width as usize + 1) + column];
                if cell == b'@' {
                    shape.anchor_column = column as u8;
                    shape.anchor_row = row;
                }
                if cell != b'.' {
                    if !seen {
                        shape.bottoms[column] = row;
                        seen = true;
                    }
                    shape.tops[column] = row + 1;
                }
                row += 1;
            }
            column += 1;
        }
        shape.with_bits()
    }

    /// This shape turned a quarter counter-clockwise.
    pub(super) const fn turned(&self) -> Shape {
        // Column c of the turned shape holds the old row (height - 1 - c), read from the left as the new bottom-up.
        let mut turned = Shape {
            width: self.height,
            height: self.width,
            anchor_column: self.height - 1 - self.anchor_row,
            anchor_row: self.anchor_column,
            ..Shape::NONE
        };
        let mut column = 0;
        while column < turned.width as usize {
            let old_row = self.height - 1 - column as u8;
            let mut row = 0;
            let mut seen = false;
            while row < turned.height {
                if self.bottoms[row as usize] <= old_row && old_row < self.tops[row as usize] {
                    if !seen {
                        turned.bottoms[column] = row;
                        seen = true;
                    }
                    turned.tops[column] = row + 1;
                }
                row += 1;
            }
            column += 1;
        }
        turned.with_bits()
    }

    /// Whether the cells are the same, wherever the anchor is.
    const fn same(&self, other: &Shape) -> bool {
        let mut same = self.width == other.width && self.height == other.height;
        let mut i = 0;
        while i < 4 {
            same &= self.bottoms[i] == other.bottoms[i] && self.tops[i] == other.tops[i];
            i += 1;
        }
        same
    }
}

/// The distinct shapes of one tetromino, in the order of a rule set's orientations.
#[derive(Clone, Copy, Debug)]
pub struct Shapes {
    shapes: [Shape; 4],
    len: usize,
    /// Of each shape; where there is no shape, a width that fits nowhere.
    widths: [u8; 4],
}

impl Shapes {
    /// The shapes as a slice; the index is the orientation.
    pub const fn as_slice(&self) -> &[Shape] {
        self.shapes.split_at(self.len).0
    }

    /// By orientation the columns of the shape; where the orientation does not exist, more than any playfield has.
    #[inline]
    pub const fn widths(&self) -> [u8; 4] {
        self.widths
    }

    /// The first `len` of these.
    pub(super) const fn first(shapes: [Shape; 4], len: usize) -> Shapes {
        let mut widths = [u8::MAX; 4];
        let mut i = 0;
        while i < len {
            widths[i] = shapes[i].width;
            i += 1;
        }
        Shapes { shapes, len, widths }
    }

    /// The distinct ones among the poses of a tetromino, by quarter turns to the right.
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

    /// The distinct ones in the lab's order: as created, turned right, turned left, half a turn.
    pub(super) const fn of_lab(poses: [Shape; 4]) -> Shapes {
        let [created, right, half, left] = poses;
        Shapes::first([created, right, left, half], Shapes::distinct(poses).len)
    }

    /// The same shapes with the anchors of another list of them.
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
        let mut shapes = [Shape::from_drawing(drawing); 4];
        let mut len = 1;
        while len < 4 {
            let next = shapes[len - 1].turned();
            if next.same(&shapes[0]) {
                break;
            }
            // A shape that comes back after two turns has come back to the first: I, S and Z have two, O has one.
            shapes[len] = next;
            len += 1;
        }
        Shapes::first(shapes, len)
    }
}
