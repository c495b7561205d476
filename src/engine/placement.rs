//! PlacementSet: where a piece may go, and what happens when it does.

use super::playfield::{Column, PlayfieldOf};
use super::rules::{ActionModel, Reach, Rules, TopOut};
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
    /// [`placements`] says whether it can get there on a playfield.
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
    first: [u8; 4],
    /// By orientation, how many columns there are from that one on.
    count: [u8; 4],
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

/// The distinct placements that exist: the one source for enumerations, masks and agents alike.
///
/// In [`Reach::StraightDrop`] the cells of the playfield do not matter. In [`Reach::SidewaysWalk`] a placement exists when
/// its shape is free where it [appears](Shape::spawn) and in every column on its way along the top.
///
/// ```
/// use tetrion::engine::{Playfield, Rules, Tetromino, placements};
/// let rules = Rules { width: 7, height: 4, ..Rules::preset("genetic").unwrap() };
/// let playfield = Playfield::from_drawing(7, 4, ".....#./.....#./.....#./.....#.").unwrap();
/// let upright = placements(&rules, &playfield, Tetromino::I).columns(0);
/// assert_eq!(upright, 0b001_1111); // bit c for column c: there is no way past the tower
/// ```
#[inline]
pub fn placements<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
    tetromino: Tetromino,
) -> PlacementSet {
    let fitting = |width| (rules.width + 1).saturating_sub(width);
    let mut all = PlacementSet { first: [0; 4], count: rules.shape_widths(tetromino).map(fitting) };
    if !every_placement_exists(rules, playfield) {
        for (orientation, shape) in rules.shapes(tetromino).iter().enumerate() {
            (all.first[orientation], all.count[orientation]) = walk(playfield, shape);
        }
    }
    all
}

/// Whether every shape of every tetromino can come down in every column where it fits: always in straight drops, and where
/// shapes walk along the top as long as nothing stands in their way there.
#[inline]
pub fn every_placement_exists<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
) -> bool {
    rules.reach == Reach::StraightDrop || is_clear_at_the_top(playfield)
}

/// Whether nothing is in the way of any shape that walks along the top: none has cells below the third row from there.
fn is_clear_at_the_top<C: Column, const N: usize>(playfield: &PlayfieldOf<C, N>) -> bool {
    let height = u32::from(playfield.height());
    playfield.occupied_rows().top() <= height - 3
}

/// The columns that a shape reaches from where it appears, along the top: the leftmost one, and how many.
fn walk<C: Column, const N: usize>(playfield: &PlayfieldOf<C, N>, shape: &Shape) -> (u8, u8) {
    let (start, row) = shape.spawn(playfield.width(), playfield.height());
    let is_free = |column: &u8| playfield.is_free(shape, row, *column);
    if !is_free(&start) {
        return (0, 0);
    }
    let to_the_left = (0..start).rev().take_while(is_free).count() as u8;
    let to_the_right = (start + 1..=playfield.width() - shape.width).take_while(is_free).count() as u8;
    (start - to_the_left, to_the_left + 1 + to_the_right)
}

/// Whether a tetromino cannot come into play, so that the game is over when it appears: where it must have room to appear,
/// because it overlaps the playfield in its first orientation; elsewhere because it has no placement.
#[inline(always)]
pub fn is_blocked<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
    tetromino: Tetromino,
) -> bool {
    if rules.top_out == TopOut::SpawnBlocked || rules.action_model == ActionModel::Keypress {
        let shape = &rules.shapes(tetromino)[0];
        let (column, row) = shape.spawn(rules.width, rules.height);
        // Where it appears it can at least be dropped.
        !playfield.is_free(shape, row, column)
    } else {
        !every_placement_exists(rules, playfield) && placements(rules, playfield, tetromino).is_empty()
    }
}
