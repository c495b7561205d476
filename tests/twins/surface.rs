//! How the tetrominoes fit on a playfield, and what lies under its surface, cell by cell.

use super::playfield::TwinPlayfield;
use super::tetromino::{Shape, TETROMINOES, orientations};

/// In how many ways each of the seven tetrominoes comes to rest without a new hole.
fn ways_of_all(playfield: &TwinPlayfield) -> impl Iterator<Item = usize> {
    TETROMINOES.chars().map(|tetromino| ways(playfield, tetromino))
}

pub fn accommodated(playfield: &TwinPlayfield) -> usize {
    ways_of_all(playfield).filter(|&ways| ways > 0).count()
}

pub fn readiness(playfield: &TwinPlayfield, index: usize) -> usize {
    usize::from(fits_of(playfield, index) > 0)
}

pub fn fits(playfield: &TwinPlayfield) -> usize {
    ways_of_all(playfield).sum()
}

pub fn fits_of(playfield: &TwinPlayfield, index: usize) -> usize {
    ways(playfield, TETROMINOES.chars().nth(index).expect("one of seven"))
}

fn ways(playfield: &TwinPlayfield, tetromino: char) -> usize {
    let columns = |shape: &Shape| 0..=playfield.width() - shape.width;
    orientations(tetromino)
        .iter()
        .map(|shape| columns(shape).filter(|&column| makes_no_hole(playfield, shape, column)).count())
        .sum()
}

/// Lets a shape fall with no ceiling above it, and looks straight under each of its cells: for a cell of its own, a full one or
/// the floor.
fn makes_no_hole(playfield: &TwinPlayfield, shape: &Shape, left: usize) -> bool {
    let is_free = |bottom: usize| {
        shape.cells.iter().all(|&(row, column)| !playfield.is_full(bottom + row, left + column))
    };
    let mut bottom = playfield.height();
    while bottom > 0 && is_free(bottom - 1) {
        bottom -= 1;
    }
    shape.cells.iter().all(|&(row, column)| {
        let is_own = row > 0 && shape.cells.contains(&(row - 1, column));
        is_own || bottom + row == 0 || playfield.is_full(bottom + row - 1, left + column)
    })
}

/// Whether a cell is full or has a full one above it in its column.
fn is_under_the_surface(playfield: &TwinPlayfield, row: usize, column: usize) -> bool {
    (row..playfield.height()).any(|row| playfield.is_full(row, column))
}

/// The cells of a column under its surface, from the floor up.
fn height(playfield: &TwinPlayfield, column: usize) -> usize {
    (0..playfield.height()).take_while(|&row| is_under_the_surface(playfield, row, column)).count()
}

/// The pairs of neighbouring columns that go down by three or more, down by two, by one, are level, go up by one, by two, by
/// three or more.
pub fn steps(playfield: &TwinPlayfield, index: usize) -> usize {
    let heights: Vec<usize> = (0..playfield.width()).map(|column| height(playfield, column)).collect();
    let is_counted = |left: usize, right: usize| match index {
        0 => right + 3 <= left,
        1 => right + 2 == left,
        2 => right + 1 == left,
        3 => right == left,
        4 => right == left + 1,
        5 => right == left + 2,
        6 => right >= left + 3,
        _ => panic!("no kind of step has the number {index}"),
    };
    heights.windows(2).filter(|pair| is_counted(pair[0], pair[1])).count()
}

/// For every hole, the cells from it up to the highest full one of its column.
pub fn weighted_holes(playfield: &TwinPlayfield) -> usize {
    let mut sum = 0;
    for column in 0..playfield.width() {
        let height = height(playfield, column);
        sum += (0..height)
            .filter(|&row| !playfield.is_full(row, column))
            .map(|hole| (hole..height).count())
            .sum::<usize>();
    }
    sum
}

/// The cells that lie two rows or more above the surface of their column, and under that of the columns to the left and to
/// the right of it; walls have no surface.
pub fn deep_wells(playfield: &TwinPlayfield) -> usize {
    let mut sum = 0;
    for column in 0..playfield.width() {
        let bottom = height(playfield, column) + 2;
        sum += (bottom..playfield.height())
            .filter(|&row| column == 0 || is_under_the_surface(playfield, row, column - 1))
            .filter(|&row| {
                column + 1 == playfield.width() || is_under_the_surface(playfield, row, column + 1)
            })
            .count();
    }
    sum
}

/// Black cells of a chessboard under the surface less white ones, or the other way round.
pub fn surface_parity(playfield: &TwinPlayfield) -> usize {
    let (mut black, mut white) = (0usize, 0);
    for column in 0..playfield.width() {
        for row in 0..height(playfield, column) {
            if (row + column).is_multiple_of(2) {
                black += 1;
            } else {
                white += 1;
            }
        }
    }
    black.abs_diff(white)
}
