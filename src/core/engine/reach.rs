//! The placements that exist. Only this file asks the rules how far pieces reach.
//!
//! The kernels look at every column in which a shape fits, and masks in tables hold for every playfield. So other code
//! asks here whether [every placement exists](every_placement_exists), and need not know why.

use super::column::Column;
use super::piece::Piece;
use super::placement::{Drops, Placement, PlacementSet, Spot};
use super::playfield::PlayfieldOf;
use super::reachable::{Movement, Resting};
use super::rules::{ActionModel, Reach, Rules, TopOut};
use super::shape::Shape;

/// The distinct placements that exist. Enumerations, masks and agents all use this function.
///
/// Under [`Reach::StraightDrop`] the cells of the playfield do not matter. Under [`Reach::SidewaysWalk`] a placement
/// exists if its shape is free where it [appears](Shape::spawn) and in every column on its way along the top. Under
/// [`Reach::Moves`] all [reachable places](super::reachable) are found at once and listed.
///
/// ```
/// use tetrion_core::engine::{Playfield, Rules, Tetromino, placements};
/// let rules = Rules { width: 7, height: 4, ..Rules::preset("genetic").unwrap() };
/// let playfield = Playfield::from_drawing(7, 4, ".....#./.....#./.....#./.....#.").unwrap();
/// let upright = placements(&rules, &playfield, Tetromino::I).columns(0);
/// assert_eq!(upright, 0b001_1111); // bit c for column c: there is no way past the tower
/// ```
#[inline]
pub fn placements<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
    piece: Piece,
) -> PlacementSet {
    if rules.names_spots() {
        PlacementSet::Spots(spots(rules, playfield, piece).collect())
    } else {
        PlacementSet::Drops(drops(rules, playfield, piece))
    }
}

/// The placements of a piece if [no placement names a spot](Rules::names_spots). Does not allocate a list.
#[inline]
pub fn drops<C: Column, const N: usize>(rules: &Rules, playfield: &PlayfieldOf<C, N>, piece: Piece) -> Drops {
    let fitting = |width| (rules.width + 1).saturating_sub(width);
    let mut all = Drops { first: [0; 4], count: rules.shape_widths(piece).map(fitting) };
    if !every_placement_exists(rules, playfield) {
        for (orientation, shape) in rules.shapes(piece).iter().enumerate() {
            (all.first[orientation], all.count[orientation]) = walk(playfield, shape);
        }
    }
    all
}

/// Number of distinct placements of a piece on this playfield. Counts them without making a list.
#[inline]
pub(crate) fn num_placements<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
    piece: Piece,
) -> u32 {
    // Only stacks that were drawn higher than any game's have places without a number.
    if rules.names_spots() && playfield.occupied_rows().top() < u32::from(rules.spot_rows()) {
        Movement::of(rules).count(playfield, piece)
    } else {
        placements(rules, playfield, piece).len()
    }
}

/// Whether a piece has a placement, ignoring hold. Faster than listing all placements.
#[inline]
pub(crate) fn has_placement<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
    piece: Piece,
    placement: Placement,
) -> bool {
    if !rules.names_spots() {
        return placement.spot.is_none() && drops(rules, playfield, piece).contains(placement);
    }
    let Some(Spot { row, spin }) = placement.spot else { return false };
    let resting = Resting { orientation: placement.orientation, column: placement.column, row, spin };
    row < rules.spot_rows() && Movement::of(rules).has(playfield, piece, resting)
}

/// Appends the placements of a piece to a list, in ascending order of actions, with or without hold.
pub(crate) fn append_placements<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
    piece: Piece,
    hold: bool,
    list: &mut Vec<(Piece, Placement)>,
) {
    if rules.names_spots() {
        let all = spots(rules, playfield, piece);
        list.extend(all.map(|placement| (piece, placement.holding(hold))));
    } else {
        let all = drops(rules, playfield, piece).iter();
        list.extend(all.map(|placement| (piece, placement.holding(hold))));
    }
}

fn spots<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
    piece: Piece,
) -> impl Iterator<Item = Placement> + use<C, N> {
    let rows = rules.spot_rows();
    let placement = |Resting { orientation, column, row, spin }| Placement {
        spot: Some(Spot { row, spin }),
        ..Placement::straight(orientation, column)
    };
    let mut all = Movement::of(rules).list(playfield, piece);
    // Only stacks that were drawn higher than any game's have places without a number.
    if playfield.occupied_rows().top() >= u32::from(rows) {
        all.retain(|resting| resting.row < rows);
    }
    all.into_iter().map(placement)
}

/// Whether every shape of every piece can come down in every column where it fits, on every playfield. Then all
/// playfields have the same placements, and the kernels see all of them.
#[inline(always)]
pub fn every_placement_always_exists(rules: &Rules) -> bool {
    rules.reach == Reach::StraightDrop
}

/// Whether every choice of a player always exists: every placement does, and the rules have no hold.
#[inline(always)]
pub fn every_choice_always_exists(rules: &Rules) -> bool {
    every_placement_always_exists(rules) && !rules.hold
}

/// Whether [every placement exists](every_placement_always_exists) on this playfield: always for straight drops, and
/// for walks along the top if nothing stands in the way there.
#[inline(always)]
pub(crate) fn every_placement_exists<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
) -> bool {
    every_placement_always_exists(rules) || !rules.names_spots() && is_clear_at_the_top(playfield)
}

/// Whether no shape that walks along the top can be blocked. No such shape has cells below the third row from the top.
fn is_clear_at_the_top<C: Column, const N: usize>(playfield: &PlayfieldOf<C, N>) -> bool {
    let height = u32::from(playfield.height());
    playfield.occupied_rows().top() <= height - 3
}

/// The columns that a shape reaches along the top from where it appears: the leftmost one, and their number.
fn walk<C: Column, const N: usize>(playfield: &PlayfieldOf<C, N>, shape: &Shape) -> (u8, u8) {
    if shape.width > playfield.width() {
        return (0, 0);
    }
    let (start, row) = shape.spawn(playfield.width(), playfield.height());
    let is_free = |column: &u8| playfield.is_free(shape, row, *column);
    if !is_free(&start) {
        return (0, 0);
    }
    let to_the_left = (0..start).rev().take_while(is_free).count() as u8;
    let to_the_right = (start + 1..=playfield.width() - shape.width).take_while(is_free).count() as u8;
    (start - to_the_left, to_the_left + 1 + to_the_right)
}

/// The shape of a piece as it appears, with the row and column of its lower left corner. Under [`Reach::Moves`] a piece
/// may appear a row higher if cells are in its way.
#[inline(always)]
pub fn appears(rules: &Rules, piece: Piece) -> (&'static Shape, u8, u8) {
    let shape = rules.first_shape(piece);
    if rules.names_spots() {
        let Movement { spawn_row, .. } = Movement::of(rules);
        return (shape, spawn_row, Movement::spawn_corner(rules.width, shape));
    }
    let (column, row) = shape.spawn(rules.width, rules.height);
    (shape, row, column)
}

/// Whether a piece cannot come into play, so that the game ends when it appears. Under [`TopOut::SpawnBlocked`], in
/// games with keys and under [`Reach::Moves`], a piece is blocked if its first orientation overlaps full cells; in all
/// other games, if it has no placement.
#[inline(always)]
pub fn is_blocked<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
    piece: Piece,
) -> bool {
    if rules.names_spots() {
        return Movement::of(rules).spawn(playfield, piece).is_none();
    }
    if rules.top_out == TopOut::SpawnBlocked || rules.action_model == ActionModel::Keypress {
        let (shape, row, column) = appears(rules, piece);
        // If the piece is free where it appears, it can at least be dropped.
        !playfield.is_free(shape, row, column)
    } else {
        !every_placement_exists(rules, playfield) && drops(rules, playfield, piece).is_empty()
    }
}
