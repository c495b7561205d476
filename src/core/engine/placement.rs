//! A placement, by number and by shape, and sets of placements. [`reach`](super::reach) says which ones exist.
//!
//! For straight drops, an orientation and a column determine where a piece comes to rest. If pieces move on their way,
//! a placement also includes its [`Spot`]. If the rules have hold, every placement exists once for the current piece
//! and once for the other one.

use super::piece::Piece;
use super::rules::Rules;
use super::shape::Shape;
use super::spin::Spin;

/// One choice of a player: an orientation of a piece, the column of its leftmost cell, and what these two leave open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// Index into the distinct shapes of the piece under these rules.
    pub orientation: u8,
    /// Column of the leftmost cell.
    pub column: u8,
    /// The resting place under [`Reach::Moves`](super::Reach::Moves); `None` for a straight drop from above.
    pub spot: Option<Spot>,
    /// Whether the current piece is held and the other one placed: the piece that was held, or the next one.
    pub hold: bool,
}

/// The resting place of a placement among all places in its column, and its spin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spot {
    /// The row of the lowest cell.
    pub row: u8,
    /// The spin of the way there; always [`Spin::None`] if the rules do not distinguish spins.
    pub spin: Spin,
}

impl Placement {
    /// A placement by a straight drop of the current piece, without a spot.
    #[inline(always)]
    pub const fn straight(orientation: u8, column: u8) -> Placement {
        Placement { orientation, column, spot: None, hold: false }
    }

    /// This placement with or without hold.
    #[must_use]
    #[inline]
    pub const fn holding(self, hold: bool) -> Placement {
        Placement { hold, ..self }
    }

    /// The placement as an action: `orientation * width + column`. Under [`Reach::Moves`](super::Reach::Moves) it is
    /// `((orientation * width + column) * rows + row) * labels + spin`, with the rows in which spots can be and
    /// [`Rules::spin_labels`]. Hold adds [`Rules::num_placements`].
    ///
    /// ```
    /// use tetrion_core::engine::{Placement, Rules};
    ///
    /// let rules = Rules::simplified(10, 20);
    /// let placement = Placement::straight(1, 3);
    /// assert_eq!(placement.action(&rules), 13);
    /// assert_eq!(Placement::from_action(13, &rules), placement);
    /// ```
    #[inline]
    pub const fn action(self, rules: &Rules) -> u32 {
        let plain = self.orientation as u32 * rules.width as u32 + self.column as u32;
        let action = match self.spot {
            None => plain,
            Some(Spot { row, spin }) => {
                (plain * rules.spot_rows() as u32 + row as u32) * rules.spin_labels() as u32 + spin as u32
            }
        };
        if self.hold { action + rules.num_placements() } else { action }
    }

    /// The placement of an action below [`Rules::num_actions`].
    #[inline]
    pub const fn from_action(action: u32, rules: &Rules) -> Placement {
        let num_placements = rules.num_placements();
        let hold = action >= num_placements;
        let action = if hold { action - num_placements } else { action };
        let width = rules.width as u32;
        let (plain, spot) = if rules.names_spots() {
            let (rows, labels) = (rules.spot_rows() as u32, rules.spin_labels() as u32);
            let spin = Spin::ALL[(action % labels) as usize];
            (action / labels / rows, Some(Spot { row: (action / labels % rows) as u8, spin }))
        } else {
            (action, None)
        };
        Placement { orientation: (plain / width) as u8, column: (plain % width) as u8, spot, hold }
    }

    /// The spin of the placement.
    #[inline]
    pub fn spin(self) -> Spin {
        self.spot.map_or(Spin::None, |spot| spot.spin)
    }

    /// The shape of the placed piece; `None` if the piece has no such orientation or sticks out of the wall.
    ///
    /// [`placements`](super::placements) says whether the piece can get there on a playfield.
    #[inline]
    pub fn shape(self, rules: &Rules, piece: Piece) -> Option<&'static Shape> {
        let shape = rules.shapes(piece).get(usize::from(self.orientation))?;
        (self.column + shape.width <= rules.width).then_some(shape)
    }
}

/// The distinct placements of a piece that exist on a playfield, including placements that end the game.
///
/// Placements are in ascending order of their actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacementSet {
    Drops(Drops),
    Spots(Vec<Placement>),
}

impl PlacementSet {
    /// Number of placements; counting takes constant time.
    #[inline]
    pub fn len(&self) -> u32 {
        match self {
            PlacementSet::Drops(drops) => drops.len(),
            PlacementSet::Spots(list) => list.len() as u32,
        }
    }

    /// Whether the piece has no placement, which ends the game.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the set contains a placement.
    #[inline]
    pub fn contains(&self, placement: Placement) -> bool {
        match self {
            PlacementSet::Drops(drops) => drops.contains(placement),
            PlacementSet::Spots(list) => list.contains(&placement),
        }
    }

    /// The n-th placement, from 0, in ascending order of actions.
    #[inline]
    pub fn nth(&self, n: u32) -> Option<Placement> {
        match self {
            PlacementSet::Drops(drops) => drops.nth(n),
            PlacementSet::Spots(list) => list.get(n as usize).copied(),
        }
    }

    /// The indices of one orientation's placements, for [`PlacementSet::nth`].
    pub(crate) fn of_orientation(&self, orientation: u8) -> std::ops::Range<u32> {
        match self {
            PlacementSet::Drops(drops) => {
                let before = drops.count[..usize::from(orientation)].iter().copied().map(u32::from).sum();
                before..before + u32::from(drops.count[usize::from(orientation)])
            }
            PlacementSet::Spots(list) => {
                let before = list.partition_point(|placement| placement.orientation < orientation);
                let end = list.partition_point(|placement| placement.orientation <= orientation);
                before as u32..end as u32
            }
        }
    }

    /// The columns of an orientation below 4, bit c for column c.
    pub fn columns(&self, orientation: u8) -> u32 {
        match self {
            PlacementSet::Drops(drops) => drops.columns(orientation),
            PlacementSet::Spots(list) => {
                let of_it = list.iter().filter(|placement| placement.orientation == orientation);
                of_it.fold(0, |columns, placement| columns | 1 << placement.column)
            }
        }
    }

    /// All placements, in ascending order of actions.
    pub fn iter(&self) -> impl Iterator<Item = Placement> + '_ {
        (0..self.len()).map(|n| self.nth(n).expect("below their number"))
    }
}

/// The straight drops of a piece.
///
/// The columns of one orientation are contiguous: an obstacle on one side hides everything beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drops {
    /// The leftmost column, by orientation; 0 for an orientation without placements.
    pub(super) first: [u8; 4],
    /// Number of columns from the leftmost one, by orientation.
    pub(super) count: [u8; 4],
}

impl Drops {
    /// The columns of an orientation below 4, bit c for column c.
    #[inline]
    pub(crate) fn columns(&self, orientation: u8) -> u32 {
        let orientation = usize::from(orientation);
        (((1u64 << self.count[orientation]) - 1) << self.first[orientation]) as u32
    }

    /// Number of placements of all orientations.
    #[inline]
    pub fn len(&self) -> u32 {
        self.count.into_iter().map(u32::from).sum()
    }

    /// Whether the piece has no placement, which ends the game.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == [0; 4]
    }

    /// Whether the set contains a placement.
    #[inline]
    pub(crate) fn contains(&self, placement: Placement) -> bool {
        let orientation = usize::from(placement.orientation);
        orientation < 4 && placement.column.wrapping_sub(self.first[orientation]) < self.count[orientation]
    }

    /// The n-th placement, from 0, in ascending order of actions.
    #[inline]
    pub fn nth(&self, n: u32) -> Option<Placement> {
        // Counts instead of searching: n is usually a random number, so the end of a search would be unpredictable.
        let mut ends = [0; 5];
        for orientation in 0..4 {
            ends[orientation + 1] = ends[orientation] + u32::from(self.count[orientation]);
        }
        let orientation = ends[1..].iter().map(|&end| usize::from(end <= n)).sum::<usize>();
        let first = *self.first.get(orientation)?;
        Some(Placement::straight(orientation as u8, first + (n - ends[orientation]) as u8))
    }

    /// All placements, in ascending order of actions.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Placement> + use<> {
        let Drops { first, count } = *self;
        (0..4).flat_map(move |orientation| {
            let first = first[usize::from(orientation)];
            let columns = first..first + count[usize::from(orientation)];
            columns.map(move |column| Placement::straight(orientation, column))
        })
    }
}
