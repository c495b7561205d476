//! Placements: where a piece may go, and what happens when it does.

use std::collections::HashSet;

use super::playfield::{Column, Playfield, PlayfieldOf};
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
    #[inline]
    pub fn shape(self, rules: &Rules, tetromino: Tetromino) -> Option<&'static Shape> {
        let shape = rules.shapes(tetromino).get(usize::from(self.orientation))?;
        (self.column + shape.width <= rules.width).then_some(shape)
    }
}

/// Every distinct placement of a tetromino, in ascending action order.
pub fn placements(rules: &Rules, tetromino: Tetromino) -> impl Iterator<Item = Placement> + use<> {
    let width = rules.width;
    rules.shapes(tetromino).iter().zip(0..).flat_map(move |(shape, orientation)| {
        (0..=width - shape.width).map(move |column| Placement { orientation, column })
    })
}

/// How many placements a tetromino has.
pub fn num_placements(rules: &Rules, tetromino: Tetromino) -> u32 {
    rules.shapes(tetromino).iter().map(|shape| u32::from(rules.width - shape.width) + 1).sum()
}

/// What a placement did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Landing<C: Column, const N: usize> {
    /// The row of the piece's lowest cell, before clearing.
    pub row: u8,
    /// The playfield with the piece in it and full rows still there; what sticks out of the top is cut off.
    pub locked: PlayfieldOf<C, N>,
    /// The playfield after clearing, before the next piece.
    pub afterstate: PlayfieldOf<C, N>,
    /// Lines cleared.
    pub lines: u8,
    /// Cells of this piece that went with them.
    pub vanished_cells: u8,
    /// Whether the game is over.
    pub terminal: bool,
}

/// What [`perft`] counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Perft {
    /// Paths of full length; a path that tops out on the way is no leaf.
    pub leaves: u64,
    /// Different playfields among the leaves.
    pub distinct: u64,
    /// Lines cleared, summed along the paths to the leaves.
    pub lines: u64,
    /// Holes, summed over the leaves.
    pub holes: u64,
    /// Placements made on the way, the ones that topped out included.
    pub placements: u64,
}

/// Plays every sequence of placements of the given pieces from the empty playfield: the engine's checksum.
///
/// The work grows by a factor of up to `4 * width - 6` a piece.
pub fn perft(rules: &Rules, pieces: &[Tetromino]) -> Perft {
    fn walk(
        rules: &Rules,
        playfield: &Playfield,
        pieces: &[Tetromino],
        lines: u64,
        leaves: &mut HashSet<Playfield>,
        count: &mut Perft,
    ) {
        let Some((&piece, rest)) = pieces.split_first() else {
            count.leaves += 1;
            count.lines += lines;
            count.holes +=
                (0..playfield.width()).map(|column| u64::from(playfield.holes(column).count())).sum::<u64>();
            leaves.insert(*playfield);
            return;
        };
        for placement in placements(rules, piece) {
            let shape = &rules.shapes(piece)[usize::from(placement.orientation)];
            let mut after = *playfield;
            let (cleared, terminal) = after.drop(shape, placement.column, rules.top_out);
            count.placements += 1;
            if !terminal {
                walk(rules, &after, rest, lines + u64::from(cleared), leaves, count);
            }
        }
    }

    let mut count = Perft::default();
    let mut leaves = HashSet::new();
    walk(rules, &Playfield::empty(rules.width, rules.height), pieces, 0, &mut leaves, &mut count);
    count.distinct = leaves.len() as u64;
    count
}
