//! Playfields as text, for reading and writing: rows from the top, `#` for a full cell and `.` for an empty one.

use std::fmt;

use super::PlayfieldOf;
use crate::engine::column::Column;

/// The reason why a drawing is not a playfield of the given size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DrawingError {
    /// The drawing has more rows than the playfield.
    #[error("the drawing has {rows} rows, expected at most {height}")]
    TooManyRows { rows: usize, height: u8 },
    /// A row is longer or shorter than the playfield's width.
    #[error("row {row} from the top of the drawing is {length} cells wide, expected {width}")]
    WrongWidth {
        /// The row, counted from 0 at the top.
        row: usize,
        length: usize,
        width: u8,
    },
}

impl<C: Column, const N: usize> PlayfieldOf<C, N> {
    /// Reads a drawing: rows from the top, one per line (or separated by `/`), with `.` or a blank for empty and any
    /// other character for full.
    ///
    /// A drawing with fewer rows than `height` stands on the floor.
    ///
    /// # Errors
    /// [`DrawingError`] for too many rows or a row of the wrong length.
    pub fn from_drawing(width: u8, height: u8, drawing: &str) -> Result<Self, DrawingError> {
        let rows: Vec<&str> = match drawing {
            "" => Vec::new(),
            drawing => drawing.split(['\n', '/']).collect(),
        };
        Self::from_drawn_rows(width, height, &rows)
    }

    /// Reads the rows of a drawing, the top row first, like [`PlayfieldOf::from_drawing`].
    ///
    /// # Errors
    /// [`DrawingError`] for too many rows or a row of the wrong length.
    pub fn from_drawn_rows<S: AsRef<str>>(width: u8, height: u8, rows: &[S]) -> Result<Self, DrawingError> {
        if rows.len() > usize::from(height) {
            return Err(DrawingError::TooManyRows { rows: rows.len(), height });
        }
        let mut playfield = Self::empty(width, height);
        for (from_top, row) in rows.iter().enumerate() {
            let row = row.as_ref();
            let length = row.chars().count();
            if length != usize::from(width) {
                return Err(DrawingError::WrongWidth { row: from_top, length, width });
            }
            let bit = C::from_u64(1 << (rows.len() - 1 - from_top));
            for (column, cell) in row.chars().enumerate() {
                if cell != '.' && cell != ' ' {
                    playfield.columns[column] |= bit;
                }
            }
        }
        Ok(playfield)
    }
}

/// Writes the drawing, the top row first, with `#` for full and `.` for empty.
impl<C: Column, const N: usize> fmt::Display for PlayfieldOf<C, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in (0..self.height).rev() {
            for column in 0..self.width {
                f.write_str(if self.is_full(row, column) { "#" } else { "." })?;
            }
            if row > 0 {
                f.write_str("\n")?;
            }
        }
        Ok(())
    }
}

impl<C: Column, const N: usize> fmt::Debug for PlayfieldOf<C, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Playfield {} x {}\n{self}", self.width, self.height)
    }
}
