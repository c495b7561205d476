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

use std::io::{self, ErrorKind, Read, Write};

use xxhash_rust::xxh3::Xxh3;

use super::MAX_CELLS;
use super::table::Values;

const MAGIC: &[u8; 8] = b"TTRNVAL1";
/// Numbers that are read or written at once.
const CHUNK: usize = 1 << 12;

/// The reason why a file is no table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file is no table of values, or is damaged: {0}")]
pub struct FileError(&'static str);

impl Values {
    /// Writes the table as a file.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let (cells, lines) = self.entries();
        let (width, height) = self.size();
        let mut out = Hashed { stream: out, hash: Xxh3::new() };
        out.write_all(MAGIC)?;
        out.write_all(&[width, height])?;
        out.write_all(&(cells.len() as u32).to_le_bytes())?;
        for chunk in cells.chunks(CHUNK) {
            out.write_all(&chunk.iter().flat_map(|cells| cells.to_le_bytes()).collect::<Vec<_>>())?;
        }
        for chunk in lines.chunks(CHUNK) {
            out.write_all(&chunk.iter().flat_map(|lines| lines.to_le_bytes()).collect::<Vec<_>>())?;
        }
        let checksum = out.hash.digest();
        out.stream.write_all(&checksum.to_le_bytes())?;
        out.stream.flush()
    }

    /// Reads a file. Takes as much memory as the file, whatever the file says.
    ///
    /// # Errors
    /// [`FileError`] if it is no table, and errors of `input`.
    pub fn read(input: impl Read) -> io::Result<Values> {
        let mut input = Hashed { stream: input, hash: Xxh3::new() };
        if &input.read_array()? != MAGIC {
            return Err(problem("it begins with other bytes"));
        }
        let [width, height] = input.read_array()?;
        let num_cells = u32::from(width) * u32::from(height);
        if width < 4 || height < 4 || num_cells > MAX_CELLS {
            return Err(problem("no playfield of its size has a table"));
        }
        let number = u32::from_le_bytes(input.read_array()?) as usize;
        let cells = input.read_numbers(number, u32::from_le_bytes)?;
        let lines = input.read_numbers(number, f64::from_le_bytes)?;
        let checksum = input.hash.digest();
        if u64::from_le_bytes(input.read_array()?) != checksum {
            return Err(problem("its checksum is wrong"));
        }
        if input.stream.read(&mut [0])? > 0 {
            return Err(problem("it goes on after its checksum"));
        }
        let is_ascending = cells.is_sorted_by(|one, other| one < other);
        if !is_ascending
            || cells.first() != Some(&0)
            || cells.last().is_some_and(|last| u64::from(*last) >> num_cells > 0)
        {
            return Err(problem("its afterstates do not ascend from the empty playfield"));
        }
        if !lines.iter().all(|lines| lines.is_finite() && *lines >= 0.0) {
            return Err(problem("one of its values is no number of lines"));
        }
        Ok(Values::new(width, height, cells, lines))
    }
}

/// A stream, and the hash of everything that went through it.
struct Hashed<S> {
    stream: S,
    hash: Xxh3,
}

impl<W: Write> Hashed<W> {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.stream.write_all(bytes)
    }
}

impl<R: Read> Hashed<R> {
    fn read_exact(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.stream.read_exact(bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => problem("it is too short"),
            _ => error,
        })?;
        self.hash.update(bytes);
        Ok(())
    }

    fn read_array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Takes no memory for numbers that are not there.
    fn read_numbers<T, const N: usize>(
        &mut self,
        number: usize,
        from_bytes: impl Fn([u8; N]) -> T,
    ) -> io::Result<Vec<T>> {
        let (mut numbers, mut bytes) = (Vec::new(), vec![0; CHUNK * N]);
        while numbers.len() < number {
            let chunk = &mut bytes[..(number - numbers.len()).min(CHUNK) * N];
            self.read_exact(chunk)?;
            numbers.extend(chunk.as_chunks().0.iter().map(|number| from_bytes(*number)));
        }
        Ok(numbers)
    }
}

fn problem(problem: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, FileError(problem))
}
