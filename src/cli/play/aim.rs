//! The placement that a person points at, where a step is a placement: moved and turned at leisure, then dropped.

use crate::engine::{OrientationTable, Placement, PlacementSet, Rules, Tetromino, placements};
use crate::recording::{Course, SceneCells};

/// A piece in a person's hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aim {
    tetromino: Tetromino,
    orientation: u8,
    /// Twice the column of its middle: what stays when it is turned.
    middle: i16,
}

impl Aim {
    /// The piece in play as it appears, turned if need be to where it has a placement; none if the game is over.
    pub fn new(course: &Course) -> Option<Aim> {
        let (rules, tetromino) = (course.rules(), course.piece()?);
        let all = placements(rules, course.playfield(), tetromino);
        let orientation = all.nth(0)?.orientation;
        let shape = &rules.shapes(tetromino)[usize::from(orientation)];
        let (column, _) = shape.spawn(rules.width, rules.height);
        Some(Aim { tetromino, orientation, middle: middle(column, shape.width) })
    }

    /// The placement; the nearest one that there is.
    pub fn placement(&self, course: &Course) -> Placement {
        let rules = course.rules();
        let all = placements(rules, course.playfield(), self.tetromino);
        let columns = all.columns(self.orientation);
        let width = rules.shapes(self.tetromino)[usize::from(self.orientation)].width;
        let wanted = (self.middle - i16::from(width)).div_euclid(2);
        let (first, last) = (columns.trailing_zeros() as i16, 31 - columns.leading_zeros() as i16);
        Placement { orientation: self.orientation, column: wanted.clamp(first, last) as u8 }
    }

    /// The cells of the piece where it is held: as high as the playfield is.
    pub fn cells(&self, course: &Course) -> SceneCells {
        let rules = course.rules();
        let placement = self.placement(course);
        let shape = &rules.shapes(self.tetromino)[usize::from(self.orientation)];
        shape.cells_at(rules.height - shape.height, placement.column)
    }

    /// Moves it sideways, if there is a placement there.
    pub fn shift(&mut self, course: &Course, columns: i16) {
        let Placement { orientation, column } = self.placement(course);
        let shape = &course.rules().shapes(self.tetromino)[usize::from(orientation)];
        self.middle = middle(column, shape.width) + 2 * columns;
        // So that it does not have to come back from beyond the wall.
        self.middle = middle(self.placement(course).column, shape.width);
    }

    /// Turns it by a quarter, or further to where it has a placement.
    pub fn turn(&mut self, course: &Course, clockwise: bool) {
        let all = placements(course.rules(), course.playfield(), self.tetromino);
        loop {
            self.orientation = turned(course.rules(), self.tetromino, self.orientation, clockwise);
            if exists(&all, self.orientation) {
                return;
            }
        }
    }
}

fn middle(column: u8, width: u8) -> i16 {
    2 * i16::from(column) + i16::from(width)
}

fn exists(all: &PlacementSet, orientation: u8) -> bool {
    all.columns(orientation) != 0
}

/// The orientation after a quarter turn; shapes that look the same have one.
fn turned(rules: &Rules, tetromino: Tetromino, orientation: u8, clockwise: bool) -> u8 {
    let num_orientations = rules.shapes(tetromino).len() as u8;
    if num_orientations < 4 {
        return (orientation + 1) % num_orientations;
    }
    // By quarter turns to the right.
    let order: [u8; 4] = match rules.orientations {
        OrientationTable::Lab => [0, 1, 3, 2],
        OrientationTable::Literature | OrientationTable::Survey | OrientationTable::Leiden => [0, 3, 2, 1],
    };
    let at = order.iter().position(|other| *other == orientation).unwrap_or(0);
    order[(at + if clockwise { 1 } else { 3 }) % 4]
}
