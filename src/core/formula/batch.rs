//! Numbers of many placements, column by column.

/// Placements per block: the doubles of the longest vectors.
pub(super) const BLOCK: usize = 8;

/// Bytes of a block. Blocks begin at multiples of it, so that no vector is in two lines of the cache.
const BLOCK_BYTES: usize = BLOCK * size_of::<f64>();

/// A table with columns for the values of a [`Program`](super::Program) and one row per placement. Its memory is
/// reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    cells: Vec<f64>,
    rows: usize,
    /// Blocks of [`BLOCK`] rows per column.
    blocks: usize,
}

impl Batch {
    /// Makes room for this many columns and rows. Cells keep stale numbers until they are written.
    #[inline]
    pub(crate) fn resize(&mut self, columns: usize, rows: usize) {
        self.rows = rows;
        self.blocks = rows.div_ceil(BLOCK);
        // One block more, because the first may begin later than the memory.
        self.cells.resize((columns * self.blocks + 1) * BLOCK, 0.0);
    }

    /// The rows of all columns, one column after the other, and the distance between two columns.
    #[inline(always)]
    pub(crate) fn cells_mut(&mut self) -> (&mut [f64], usize) {
        let stride = self.blocks * BLOCK;
        let start = self.start();
        (&mut self.cells[start..], stride)
    }

    /// The rows of all columns in blocks, one column after the other, and the number of blocks per column.
    #[inline(always)]
    pub(super) fn blocks_mut(&mut self) -> (&mut [[f64; BLOCK]], usize) {
        let (start, blocks) = (self.start(), self.blocks);
        (self.cells[start..].as_chunks_mut().0, blocks)
    }

    /// The rows of the column that begins with this block.
    #[inline(always)]
    pub(super) fn rows_from(&self, block: usize) -> &[f64] {
        &self.cells[self.start() + block * BLOCK..][..self.rows]
    }

    #[inline(always)]
    fn start(&self) -> usize {
        self.cells.as_ptr().align_offset(BLOCK_BYTES).min(BLOCK)
    }
}
