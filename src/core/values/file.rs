//! Tables as files.
//!
//! All numbers are little-endian.
//!
//! ```text
//! magic      8 bytes, "TTRNVAL1"
//! size       u8 columns, u8 rows
//! number     u32 afterstates, n
//! cells      n x u32, ascending: the cells of an afterstate, column by column from the left, each from the floor
//! lines      n x f64: its value, 0 or more
//! checksum   u64, XXH3 of everything before it
//! ```

use xxhash_rust::xxh3::xxh3_64;

use super::MAX_CELLS;
use super::table::Values;

const MAGIC: &[u8; 8] = b"TTRNVAL1";
/// Bytes before the afterstates.
const HEAD: usize = MAGIC.len() + 2 + 4;
/// Bytes per afterstate.
const ENTRY: usize = 4 + 8;

/// Largest file: a table of ten million afterstates, the most that can be solved.
pub const MAX_FILE_BYTES: u64 = (HEAD + 10_000_000 * ENTRY + 8) as u64;

/// The reason why a file is no table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file is no table of values, or is damaged: {0}")]
pub struct FileError(&'static str);

impl Values {
    /// The table as a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (cells, lines) = self.entries();
        let (width, height) = self.size();
        let mut out = Vec::with_capacity(HEAD + cells.len() * ENTRY + 8);
        out.extend(MAGIC);
        out.extend([width, height]);
        out.extend((cells.len() as u32).to_le_bytes());
        out.extend(cells.iter().flat_map(|cells| cells.to_le_bytes()));
        out.extend(lines.iter().flat_map(|lines| lines.to_le_bytes()));
        out.extend(xxh3_64(&out).to_le_bytes());
        out
    }

    /// Reads a file. Takes as much memory as the file, whatever it says.
    ///
    /// # Errors
    /// [`FileError`] if it is no table.
    pub fn from_bytes(bytes: &[u8]) -> Result<Values, FileError> {
        let Some((content, checksum)) = bytes.split_last_chunk() else {
            return Err(FileError("it is too short"));
        };
        let Some(rest) = content.strip_prefix(MAGIC) else {
            return Err(FileError("it begins with other bytes"));
        };
        if xxh3_64(content) != u64::from_le_bytes(*checksum) {
            return Err(FileError("its checksum is wrong"));
        }
        let Some((&[width, height, a, b, c, d], rest)) = rest.split_first_chunk() else {
            return Err(FileError("it is too short"));
        };
        let num_cells = u32::from(width) * u32::from(height);
        if width < 4 || height < 4 || num_cells > MAX_CELLS {
            return Err(FileError("no playfield of its size has a table"));
        }
        let number = u32::from_le_bytes([a, b, c, d]) as usize;
        if number.checked_mul(ENTRY) != Some(rest.len()) {
            return Err(FileError("its length does not fit the number of afterstates"));
        }
        let (cells, lines) = rest.split_at(number * 4);
        let cells: Vec<u32> = cells.as_chunks().0.iter().map(|cells| u32::from_le_bytes(*cells)).collect();
        let lines: Vec<f64> = lines.as_chunks().0.iter().map(|lines| f64::from_le_bytes(*lines)).collect();
        let is_ascending = cells.is_sorted_by(|one, other| one < other);
        if !is_ascending
            || cells.first() != Some(&0)
            || cells.last().is_some_and(|last| last >> num_cells > 0)
        {
            return Err(FileError("its afterstates do not ascend from the empty playfield"));
        }
        if !lines.iter().all(|lines| lines.is_finite() && *lines >= 0.0) {
            return Err(FileError("one of its values is no number of lines"));
        }
        Ok(Values::sorted(width, height, cells, lines))
    }
}
