//! The placement at which a player aims if a step is a placement: the piece moves and turns freely, then drops.
//!
//! `clients/typescript/page/aim.ts` does the same for the page at `/`.

use tetrion_core::engine::{OrientationTable, Piece, Placement, PlacementSet, Rules, Spin, Spot, placements};
use tetrion_toolkit::recording::{Course, SceneCells};

/// A piece that the player is aiming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aim {
    piece: Piece,
    /// Whether the placement holds the current piece.
    hold: bool,
    orientation: u8,
    /// Twice the column of the piece's middle; turning keeps it.
    middle: i16,
    /// Index among the placements in this column, from the highest down. Of equal cells, the most valuable placement
    /// comes first.
    depth: usize,
}

impl Aim {
    /// The current piece where it appears, turned if necessary to an orientation with a placement. `None` if the game
    /// is over.
    pub fn new(course: &Course) -> Option<Aim> {
        Aim::of(course, course.piece()?, false)
    }

    fn of(course: &Course, piece: Piece, hold: bool) -> Option<Aim> {
        let rules = course.rules();
        let orientation = placements(rules, course.playfield(), piece).nth(0)?.orientation;
        let shape = &rules.shapes(piece)[usize::from(orientation)];
        let (column, _) = shape.spawn(rules.width, rules.height);
        Some(Aim { piece, hold, orientation, middle: middle(column, shape.width), depth: 0 })
    }

    /// The piece that the player aims: the current one, or after [`Aim::swap`] the other one.
    pub fn piece(&self) -> Piece {
        self.piece
    }

    /// Holds the current piece and takes the other one, or reverses that. Returns whether this is possible.
    pub fn swap(&mut self, course: &Course) -> bool {
        let Some(hand) = course.hand() else { return false };
        let other = hand.other_on(course.rules(), course.playfield());
        let taken = if self.hold { Some(hand.current) } else { other };
        let swapped = taken.and_then(|piece| Aim::of(course, piece, !self.hold));
        *self = swapped.unwrap_or(*self);
        swapped.is_some()
    }

    /// The placement that is aimed at, or the nearest existing one.
    pub fn placement(&self, course: &Course) -> Placement {
        let of_column = self.of_column(course);
        of_column[self.depth.min(of_column.len() - 1)].holding(self.hold)
    }

    /// The placements in the piece's column, or in the nearest column that has some.
    fn of_column(&self, course: &Course) -> Vec<Placement> {
        let rules = course.rules();
        let all = placements(rules, course.playfield(), self.piece);
        let width = rules.shapes(self.piece)[usize::from(self.orientation)].width;
        let wanted = (self.middle - i16::from(width)).div_euclid(2);
        let of_it: Vec<Placement> =
            all.iter().filter(|placement| placement.orientation == self.orientation).collect();
        let nearest = of_it
            .iter()
            .map(|placement| i16::from(placement.column))
            .min_by_key(|column| (column - wanted).abs());
        let mut of_column: Vec<Placement> =
            of_it.into_iter().filter(|placement| Some(i16::from(placement.column)) == nearest).collect();
        of_column.sort_by_key(|placement| {
            std::cmp::Reverse(placement.spot.map_or((0, Spin::None), |Spot { row, spin }| (row, spin)))
        });
        of_column
    }

    /// Cells of the aimed piece at the top of the playfield.
    pub fn cells(&self, course: &Course) -> SceneCells {
        let rules = course.rules();
        let placement = self.placement(course);
        let shape = &rules.shapes(self.piece)[usize::from(self.orientation)];
        shape.cells_at(rules.visible_rows().saturating_sub(shape.height), placement.column)
    }

    /// Moves the piece sideways to the next column with a placement, if any.
    pub fn shift(&mut self, course: &Course, to_the_right: bool) {
        let Placement { orientation, column, .. } = self.placement(course);
        let rules = course.rules();
        let shape = &rules.shapes(self.piece)[usize::from(orientation)];
        let columns = placements(rules, course.playfield(), self.piece).columns(orientation);
        let has_placement = |column: &u8| columns >> column & 1 == 1;
        let next = if to_the_right {
            (column + 1..rules.width).find(has_placement)
        } else {
            (0..column).rev().find(has_placement)
        };
        self.depth = 0;
        self.middle = middle(next.unwrap_or(column), shape.width);
    }

    /// Turns the piece by a quarter, or further, to an orientation with a placement.
    pub fn turn(&mut self, course: &Course, clockwise: bool) {
        let all = placements(course.rules(), course.playfield(), self.piece);
        self.depth = 0;
        loop {
            self.orientation = turned(course.rules(), self.piece, self.orientation, clockwise);
            if exists(&all, self.orientation) {
                return;
            }
        }
    }

    /// Selects the next placement down in the column, below obstacles. After the last comes the first.
    pub fn deepen(&mut self, course: &Course) {
        self.depth = (self.depth + 1) % self.of_column(course).len();
    }
}

fn middle(column: u8, width: u8) -> i16 {
    2 * i16::from(column) + i16::from(width)
}

fn exists(all: &PlacementSet, orientation: u8) -> bool {
    all.columns(orientation) != 0
}

/// The orientation after a quarter turn; symmetric shapes share orientations.
fn turned(rules: &Rules, piece: Piece, orientation: u8, clockwise: bool) -> u8 {
    let num_orientations = rules.shapes(piece).len() as u8;
    if num_orientations < 4 {
        return (orientation + 1) % num_orientations;
    }
    // The orientations in the order of clockwise quarter turns.
    let order: [u8; 4] = match rules.orientations {
        OrientationTable::Guideline => [0, 1, 2, 3],
        OrientationTable::Lab => [0, 1, 3, 2],
        OrientationTable::Literature | OrientationTable::Survey | OrientationTable::Leiden => [0, 3, 2, 1],
    };
    let at = order.iter().position(|other| *other == orientation).unwrap_or(0);
    order[(at + if clockwise { 1 } else { 3 }) % 4]
}
