//! Games of any pieces, one cell at a time: pieces are lists of cells, and fall row by row.

use super::playfield::TwinPlayfield;

/// The cells of a drawing by row and column, the lowest row and the leftmost column being 0, sorted.
pub type TwinCells = Vec<(i32, i32)>;

/// Reads a drawing: rows from the top, `/` between them, `X` full.
pub fn cells_of(drawing: &str) -> TwinCells {
    let rows: Vec<&str> = drawing.split('/').rev().collect();
    let mut cells = Vec::new();
    for (row, letters) in rows.iter().enumerate() {
        for (column, letter) in letters.chars().enumerate() {
            if letter == 'X' {
                cells.push((row as i32, column as i32));
            }
        }
    }
    moved_to_the_corner(cells)
}

fn moved_to_the_corner(cells: TwinCells) -> TwinCells {
    let lowest = cells.iter().map(|cell| cell.0).min().unwrap();
    let leftmost = cells.iter().map(|cell| cell.1).min().unwrap();
    let mut cells: TwinCells = cells.into_iter().map(|(r, c)| (r - lowest, c - leftmost)).collect();
    cells.sort();
    cells
}

/// The different pictures that turning the paper counter-clockwise gives, the drawing first.
pub fn turned_pictures(drawing: &str) -> Vec<TwinCells> {
    let mut pictures = vec![cells_of(drawing)];
    for _ in 0..3 {
        // What lay to the right lies above, and what lay above lies to the left.
        let turned = pictures[pictures.len() - 1].iter().map(|&(r, c)| (c, -r)).collect();
        pictures.push(moved_to_the_corner(turned));
    }
    let mut different: Vec<TwinCells> = Vec::new();
    for picture in pictures {
        if !different.contains(&picture) {
            different.push(picture);
        }
    }
    different
}

pub fn width_of(cells: &TwinCells) -> i32 {
    cells.iter().map(|cell| cell.1).max().unwrap() + 1
}

/// What became of a landing.
#[derive(Debug)]
pub struct TwinLanded {
    pub lines: u32,
    pub sunk: u32,
    pub over: bool,
}

impl TwinPlayfield {
    fn height_and_width(&self) -> (i32, i32) {
        (self.rows.len() as i32, self.rows[0].len() as i32)
    }

    /// Whether no cell of a piece is full or outside; above the playfield all is empty.
    pub fn has_room(&self, cells: &TwinCells, row: i32, column: i32) -> bool {
        let (height, width) = self.height_and_width();
        cells.iter().all(|&(r, c)| {
            let (r, c) = (r + row, c + column);
            r >= 0 && (0..width).contains(&c) && (r >= height || !self.rows[r as usize][c as usize])
        })
    }

    /// The leftmost column of a piece where it appears, with its lowest cells in the top row.
    fn start_column(&self, cells: &TwinCells) -> i32 {
        let (_, width) = self.height_and_width();
        (width / 2 - width_of(cells) / 2).min(width - width_of(cells))
    }

    /// The columns that a piece reaches from where it appears, along the top row.
    pub fn walk(&self, cells: &TwinCells) -> Vec<i32> {
        let (height, width) = self.height_and_width();
        if width_of(cells) > width {
            return Vec::new();
        }
        let start = self.start_column(cells);
        let mut columns = Vec::new();
        for step in [-1, 1] {
            let mut column = start;
            while self.has_room(cells, height - 1, column) {
                columns.push(column);
                column += step;
            }
        }
        columns.sort();
        columns.dedup();
        columns
    }

    /// Whether a piece overlaps something where it appears, in its first picture that fits between the walls.
    pub fn blocks(&self, pictures: &[TwinCells]) -> bool {
        let (height, width) = self.height_and_width();
        let first = pictures.iter().find(|cells| width_of(cells) <= width).expect("one fits");
        !self.has_room(first, height - 1, self.start_column(first))
    }

    /// A piece falls from high above. `top_out` is overflow, top_row, above_field, spawn_blocked or sink.
    pub fn fall(&mut self, cells: &TwinCells, column: i32, top_out: &str) -> TwinLanded {
        let (height, width) = self.height_and_width();
        let mut row = height + 5;
        while self.has_room(cells, row - 1, column) {
            row -= 1;
        }
        let mut sticks_out = false;
        for &(r, c) in cells {
            if r + row >= height {
                sticks_out = true;
            } else {
                self.rows[(r + row) as usize][(c + column) as usize] = true;
            }
        }
        if sticks_out && top_out == "overflow" {
            return TwinLanded { lines: 0, sunk: 0, over: true };
        }
        self.rows.retain(|row| row.iter().any(|full| !full));
        let lines = height as usize - self.rows.len();
        self.rows.resize(height as usize, vec![false; width as usize]);
        let row_that_ends = match top_out {
            "top_row" => Some(height - 1),
            "above_field" => Some(height - 3),
            _ => None,
        };
        let mut sunk = 0;
        while top_out == "sink" && self.rows[height as usize - 5..].iter().flatten().any(|full| *full) {
            self.rows.remove(0);
            self.rows.push(vec![false; width as usize]);
            sunk += 1;
        }
        let over = row_that_ends.is_some_and(|row| self.rows[row as usize].contains(&true));
        TwinLanded { lines: lines as u32, sunk, over }
    }

    /// The drawing, top row first, `#` full.
    pub fn drawn_rows(&self) -> String {
        let row = |row: &Vec<bool>| row.iter().map(|full| if *full { '#' } else { '.' }).collect::<String>();
        self.rows.iter().rev().map(row).collect::<Vec<_>>().join("\n")
    }
}

/// The numbers of the first pieces of an episode with `n` pieces in the set.
pub fn piece_numbers(seed: u64, n: u64, bags: bool, count: u64) -> Vec<usize> {
    if !bags {
        return (0..count).map(|i| super::seeds::scaled_word(seed, 0, i, n)).collect();
    }
    let mut all = Vec::new();
    for bag in 0..count.div_ceil(n) {
        let mut pieces: Vec<usize> = (0..n as usize).collect();
        for j in (1..n).rev() {
            pieces.swap(j as usize, super::seeds::scaled_word(seed, 0, (n - 1) * bag + n - 1 - j, j + 1));
        }
        all.extend(pieces);
    }
    all.truncate(count as usize);
    all
}
