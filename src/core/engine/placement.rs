//! A placement, by number and by shape, and sets of placements. [`reach`](super::reach) says which ones exist.
//!
//! Where pieces come straight down, an orientation and a column say where a piece comes to rest. Where they move on the way, a
//! placement names its [`Spot`] too; and under rules that let a player hold a piece, every placement exists once for the
//! current piece and once for the other one.

use super::piece::Piece;
use super::rules::Rules;
use super::shape::Shape;
use super::spin::Spin;

/// One choice: an orientation of a piece and the column of its leftmost cell, and what these two leave open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// Index into the distinct shapes of the piece under the rules at hand.
    pub orientation: u8,
    /// Column of the leftmost cell.
    pub column: u8,
    /// Where it comes to rest under [`Reach::Moves`](super::Reach::Moves); elsewhere none: straight down from above.
    pub spot: Option<Spot>,
    /// Whether the current piece is held, and the other one placed: the piece that was held, or the next one.
    pub hold: bool,
}

/// Where a placement comes to rest, of all places in its column, and what it counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spot {
    /// The row of the lowest cell.
    pub row: u8,
    /// What the way there makes of it; always [`Spin::None`] where the rules do not tell spins apart.
    pub spin: Spin,
}

impl Placement {
    /// The one that goes straight down.
    #[inline(always)]
    pub const fn straight(orientation: u8, column: u8) -> Placement {
        Placement { orientation, column, spot: None, hold: false }
    }

    /// This placement with the current piece held, or not.
    #[must_use]
    #[inline]
    pub const fn holding(self, hold: bool) -> Placement {
        Placement { hold, ..self }
    }

    /// The placement as an action: `orientation * width + column`; under [`Reach::Moves`](super::Reach::Moves)
    /// `((orientation * width + column) * rows + row) * labels + spin`, with [`Rules::spot_rows`] and [`Rules::spin_labels`].
    /// With the current piece held, [`Rules::num_placements`] is added.
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

    /// What it counts as.
    #[inline]
    pub fn spin(self) -> Spin {
        self.spot.map_or(Spin::None, |spot| spot.spin)
    }

    /// The shape that comes to rest, or `None` when the piece has no such orientation or sticks out of the wall.
    ///
    /// [`placements`](super::placements) says whether it can get there on a playfield.
    #[inline]
    pub fn shape(self, rules: &Rules, piece: Piece) -> Option<&'static Shape> {
        let shape = rules.shapes(piece).get(usize::from(self.orientation))?;
        (self.column + shape.width <= rules.width).then_some(shape)
    }
}

/// The distinct placements of a piece that exist on a playfield, the ones that end the game included.
///
/// In ascending action order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacementSet {
    /// Straight drops.
    Drops(Drops),
    /// Placements with a [`Spot`].
    Spots(Vec<Placement>),
}

impl PlacementSet {
    /// How many there are.
    #[inline]
    pub fn len(&self) -> u32 {
        match self {
            PlacementSet::Drops(drops) => drops.len(),
            PlacementSet::Spots(list) => list.len() as u32,
        }
    }

    /// Whether there are none, which ends the game.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a placement is one of them.
    #[inline]
    pub fn contains(&self, placement: Placement) -> bool {
        match self {
            PlacementSet::Drops(drops) => drops.contains(placement),
            PlacementSet::Spots(list) => list.contains(&placement),
        }
    }

    /// The n-th of them, from 0, in ascending action order.
    #[inline]
    pub fn nth(&self, n: u32) -> Option<Placement> {
        match self {
            PlacementSet::Drops(drops) => drops.nth(n),
            PlacementSet::Spots(list) => list.get(n as usize).copied(),
        }
    }

    /// Placements of one orientation, as numbers for [`PlacementSet::nth`].
    pub fn of_orientation(&self, orientation: u8) -> std::ops::Range<u32> {
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

    /// All of them, in ascending action order.
    pub fn iter(&self) -> impl Iterator<Item = Placement> + '_ {
        (0..self.len()).map(|n| self.nth(n).expect("below their number"))
    }
}

/// The placements that go straight down.
///
/// The columns of one orientation are neighbours: what is in the way on one side hides all that lies behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drops {
    /// By orientation, the leftmost column; 0 where there is none.
    pub(super) first: [u8; 4],
    /// By orientation, how many columns there are from that one on.
    pub(super) count: [u8; 4],
}

impl Drops {
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
        Some(Placement::straight(orientation as u8, first + (n - ends[orientation]) as u8))
    }

    /// All of them, in ascending action order.
    pub fn iter(&self) -> impl Iterator<Item = Placement> + use<> {
        let Drops { first, count } = *self;
        (0..4).flat_map(move |orientation| {
            let first = first[usize::from(orientation)];
            let columns = first..first + count[usize::from(orientation)];
            columns.map(move |column| Placement::straight(orientation, column))
        })
    }
}
