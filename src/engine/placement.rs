//! A placement, by number and by shape, and sets of placements. [`reach`](super::reach) says which ones exist.

use super::rules::Rules;
use super::tetromino::{Shape, Tetromino};

/// One choice: an orientation of the current piece and the column of its leftmost cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// Index into the distinct shapes of the tetromino under the rules at hand.
    pub orientation: u8,
    /// Column of the leftmost cell.
    pub column: u8,
}

impl Placement {
    /// The placement as an action: `orientation * width + column`.
    #[inline]
    pub const fn action(self, width: u8) -> u32 {
        self.orientation as u32 * width as u32 + self.column as u32
    }

    /// The placement of an action below `4 * width`.
    #[inline]
    pub const fn from_action(action: u32, width: u8) -> Placement {
        let width = width as u32;
        Placement { orientation: (action / width) as u8, column: (action % width) as u8 }
    }

    /// The shape that goes down, or `None` when the tetromino has no such orientation or sticks out of the wall.
    ///
    /// [`placements`](super::placements) says whether it can get there on a playfield.
    #[inline]
    pub fn shape(self, rules: &Rules, tetromino: Tetromino) -> Option<&'static Shape> {
        let shape = rules.shapes(tetromino).get(usize::from(self.orientation))?;
        (self.column + shape.width <= rules.width).then_some(shape)
    }
}

/// The distinct placements of a tetromino that exist on a playfield, the ones that end the game included.
///
/// The columns of one orientation are neighbours: what is in the way on one side hides all that lies behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacementSet {
    /// By orientation, the leftmost column; 0 where there is none.
    pub(super) first: [u8; 4],
    /// By orientation, how many columns there are from that one on.
    pub(super) count: [u8; 4],
}

impl PlacementSet {
    /// The columns of an orientation below 4, bit c for column c.
    #[inline]
    pub fn columns(&self, orientation: u8) -> u32 {
        let orientation = usize::from(orientation);
        (((1u64 << self.count[orientation]) - 1) << self.first[orientation]) as u32
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> u32 {
        self.count.into_iter().map(u32::from).sum()
    }

    /// Whether there are none, which ends the game.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == [0; 4]
    }

    /// Whether a placement is one of them.
    #[inline]
    pub fn contains(&self, placement: Placement) -> bool {
        let orientation = usize::from(placement.orientation);
        orientation < 4 && placement.column.wrapping_sub(self.first[orientation]) < self.count[orientation]
    }

    /// The n-th of them, from 0, in ascending action order.
    #[inline]
    pub fn nth(&self, n: u32) -> Option<Placement> {
        // Counted, not searched: n is a random number more often than not, and no processor predicts where a search ends.
        let mut ends = [0; 5];
        for orientation in 0..4 {
            ends[orientation + 1] = ends[orientation] + u32::from(self.count[orientation]);
        }
        let orientation = ends[1..].iter().map(|&end| usize::from(end <= n)).sum::<usize>();
        let first = *self.first.get(orientation)?;
        Some(Placement { orientation: orientation as u8, column: first + (n - ends[orientation]) as u8 })
    }

    /// All of them, in ascending action order.
    pub fn iter(&self) -> impl Iterator<Item = Placement> + use<> {
        let PlacementSet { first, count } = *self;
        (0..4).flat_map(move |orientation| {
            let first = first[usize::from(orientation)];
            let columns = first..first + count[usize::from(orientation)];
            columns.map(move |column| Placement { orientation, column })
        })
    }
}
