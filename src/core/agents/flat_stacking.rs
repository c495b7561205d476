//! The Leiden report's smart agent: the flattest stack one piece ahead, by a formula found by trial and error.
//!
//! For every placement that does not end the game, the report's formula adds the cleared rows, and the playfield's
//! height minus the highest row that the piece reaches. It subtracts four times the closed cells, and adds the shafts
//! before minus the shafts after. The playfield's height and the shafts before are equal for all placements. A linear
//! controller without them, called `flat_stacking`, makes the same choices. Its numbers are small integers with exact
//! sums.
//!
//! The kernels do not measure its features in lanes, and need not: two of them are sums over columns, of which a
//! placement touches only a few. [`FlatScorer`] keeps the sums of the current playfield and looks only at the columns
//! under the piece and next to it. The few placements that clear lines, or reach above the playfield, are measured
//! completely. Scores have the same bits as with the features' own functions.

use crate::engine::{Column, Placement, Playfield, PlayfieldOf, Rules, Shape, Tetromino, TopOut};
use crate::features::FeatureSet;
use crate::features::kernel::{Kernel, LaneWork, Lanes, ScoredPlacement, TerminalValue, dispatch};

/// The features of the set `flatstack`, in order.
const FEATURES: [&str; 4] = ["lines_cleared", "landing_top", "holes", "open_shafts"];

/// Weights for the features of `flatstack`, prepared for games of straight drops.
#[derive(Clone, Debug)]
pub(super) struct FlatScorer {
    weights: [f64; 4],
    terminal_value: TerminalValue,
}

/// A playfield, and values that all placements on it share.
struct Stack<C, const N: usize> {
    tops: [u32; N],
    /// For each column, the rows that are full from the left wall up to that column (exclusive), and those that are
    /// full from that column to the right wall.
    full_before: [C; N],
    full_after: [C; N],
    /// Shaft of each column: the rows from its surface up to the highest row with full neighbours on both sides.
    shafts: [u32; N],
    num_holes: u32,
    num_shafts: u32,
    /// Lowest row at which a piece may end the game; 0 if the game is already over, as in a drawing.
    high: u32,
}

impl FlatScorer {
    /// Prepares a weight vector; `None` for other features.
    pub(super) fn new(
        set: &FeatureSet,
        weights: &[f64],
        terminal_value: TerminalValue,
    ) -> Option<FlatScorer> {
        let is_flat = set.columns().iter().map(|column| (column.feature.name, column.preclear));
        let is_flat = is_flat.eq(FEATURES.map(|name| (name, false)));
        Some(FlatScorer { weights: weights.try_into().ok().filter(|_| is_flat)?, terminal_value })
    }

    /// Chooses a placement of a tetromino, compiled for a kernel's machine.
    pub(crate) fn choose_on(
        &self,
        kernel: Kernel,
        rules: &Rules,
        playfield: &Playfield,
        piece: Tetromino,
    ) -> ScoredPlacement {
        struct Choose<'a>(&'a FlatScorer, &'a Rules, &'a Playfield, Tetromino);
        impl LaneWork for Choose<'_> {
            type Output = ScoredPlacement;
            #[inline(always)]
            fn run<C: Column, const N: usize, L: Lanes<Word = C>>(self) -> ScoredPlacement {
                let Choose(scorer, rules, playfield, piece) = self;
                scorer.choose::<C, N>(&playfield.resized(), rules.shapes(piece), rules.top_out)
            }
        }
        dispatch(kernel, rules.width, rules.height, Choose(self, rules, playfield, piece))
    }

    /// Chooses among all placements of a tetromino, whose shapes the caller passes.
    #[inline(always)]
    pub(super) fn choose<C: Column, const N: usize>(
        &self,
        playfield: &PlayfieldOf<C, N>,
        shapes: &[Shape],
        top_out: TopOut,
    ) -> ScoredPlacement {
        let stack = Stack::new(playfield, top_out);
        let first = Placement::straight(0, 0);
        let mut best = ScoredPlacement { placement: first, score: f64::NEG_INFINITY };
        for (shape, orientation) in shapes.iter().zip(0..) {
            for column in 0..=playfield.width() - shape.width {
                let score = self.score(&stack, playfield, shape, column, top_out);
                if score > best.score {
                    best = ScoredPlacement { placement: Placement::straight(orientation, column), score };
                }
            }
        }
        best
    }

    /// The score of a placement; minus infinity if it ends the game and the controller avoids that.
    #[inline(always)]
    fn score<C: Column, const N: usize>(
        &self,
        stack: &Stack<C, N>,
        playfield: &PlayfieldOf<C, N>,
        shape: &Shape,
        column: u8,
        top_out: TopOut,
    ) -> f64 {
        let words = playfield.words();
        let width = usize::from(playfield.width());
        let (left, right) = (usize::from(column), usize::from(column + shape.width));
        let mut row = 0;
        for (top, bottom) in stack.tops[left..right].iter().zip(shape.bottoms) {
            row = row.max(*top as i32 - i32::from(bottom));
        }
        let row = row as u32;
        let landing_top = row + u32::from(shape.height) - 1;
        // The columns under the piece, including the piece.
        let mut touched = [C::EMPTY; 4];
        let mut full = stack.full_before[left] & stack.full_after[right - 1];
        for (j, touched) in touched.iter_mut().enumerate().take(right - left) {
            *touched = words[left + j] | C::from_u64(shape.column_bits(j).into()) << row;
            full &= *touched;
        }
        if full != C::EMPTY || landing_top >= stack.high {
            let landing = playfield.land_at(shape, row as u8, column, top_out);
            if landing.terminal && self.terminal_value == TerminalValue::Avoid {
                return f64::NEG_INFINITY;
            }
            let after = Stack::new(&landing.afterstate, top_out);
            return self.sum(landing.lines.into(), landing_top, after.num_holes, after.num_shafts);
        }

        let wall = C::below(playfield.height().into());
        let with_piece = |column: usize| match column.checked_sub(left) {
            Some(j) if column < right => touched[j],
            _ => words[column],
        };
        let mut holes = stack.num_holes;
        for (j, cells) in touched.iter().enumerate().take(right - left) {
            let under = words[left + j];
            holes += (cells.top() - cells.count()) - (under.top() - under.count());
        }
        let mut shafts = stack.num_shafts;
        for column in left.saturating_sub(1)..(right + 1).min(width) {
            let beside = (if column == 0 { wall } else { with_piece(column - 1) })
                & (if column + 1 == width { wall } else { with_piece(column + 1) });
            shafts += beside.top().saturating_sub(with_piece(column).top());
            shafts -= stack.shafts[column];
        }
        self.sum(0, landing_top, holes, shafts)
    }

    #[inline(always)]
    fn sum(&self, lines: u32, landing_top: u32, holes: u32, shafts: u32) -> f64 {
        let values = [lines, landing_top, holes, shafts];
        self.weights.iter().zip(values).fold(0.0, |sum, (weight, value)| sum + weight * f64::from(value))
    }
}

impl<C: Column, const N: usize> Stack<C, N> {
    #[inline(always)]
    fn new(playfield: &PlayfieldOf<C, N>, top_out: TopOut) -> Stack<C, N> {
        let columns = playfield.columns();
        let wall = C::below(playfield.height().into());
        let mut stack = Stack {
            tops: [0; N],
            full_before: [wall; N],
            full_after: [wall; N],
            shafts: [0; N],
            num_holes: 0,
            num_shafts: 0,
            high: if playfield.is_topped_out(top_out) { 0 } else { u32::from(playfield.height()) - 3 },
        };
        let (mut before, mut after) = (wall, wall);
        let last = columns.len() - 1;
        for (n, column) in columns.iter().enumerate() {
            stack.tops[n] = column.top();
            stack.num_holes += column.top() - column.count();
            let beside = (if n == 0 { wall } else { columns[n - 1] })
                & (if n == last { wall } else { columns[n + 1] });
            stack.shafts[n] = beside.top().saturating_sub(column.top());
            stack.num_shafts += stack.shafts[n];
            stack.full_before[n] = before;
            before &= *column;
            stack.full_after[last - n] = after;
            after &= columns[last - n];
        }
        stack
    }
}
