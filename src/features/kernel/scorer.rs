//! A linear controller's choice: the score of every placement, and the first of the best.
//!
//! The score is 0, then plus weight times feature in the order of the set, each product and each sum rounded to a
//! double on its own (no fused multiply-add). A strictly larger score wins, so the first of equals in ascending action
//! order is chosen. A client that adds up features in the same way makes the same choices to the last one.

use super::lanes::{Doubles, Lanes};
use super::sweep::{Basis, Ground, Measure, Needs, Size, Sweep, sweep};
use super::{Job, Kernel, dispatch};
use crate::engine::{Column, Landing, Placement, Playfield, PlayfieldOf, Rules, Shape, Tetromino, TopOut};
use crate::features::{FeatureColumn, FeatureSet};

/// What a placement that ends the game is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TerminalPolicy {
    /// Minus infinity; if every placement ends the game, the first one is chosen.
    #[default]
    Avoid,
    /// What its afterstate scores, like any other.
    Score,
}

/// A feature the kernel can compute, as a column of a feature set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    kind: Kind,
    preclear: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Basis(Basis),
    Height(u8),
    Step(u8),
}

impl Slot {
    /// The slot of a feature, or `None` if the kernel does not know it.
    fn of(column: &FeatureColumn) -> Option<Slot> {
        let kind = match column.feature.name {
            "landing_height" => Kind::Basis(Basis::LandingHeight),
            "eroded_piece_cells" => Kind::Basis(Basis::ErodedPieceCells),
            "lines_cleared" => Kind::Basis(Basis::LinesCleared),
            "row_transitions" => Kind::Basis(Basis::RowTransitions),
            "column_transitions" => Kind::Basis(Basis::ColumnTransitions),
            "holes" => Kind::Basis(Basis::Holes),
            "cumulative_wells" => Kind::Basis(Basis::CumulativeWells),
            "hole_depth" => Kind::Basis(Basis::HoleDepth),
            "rows_with_holes" => Kind::Basis(Basis::RowsWithHoles),
            "pattern_diversity" => Kind::Basis(Basis::PatternDiversity),
            "total_height" => Kind::Basis(Basis::TotalHeight),
            "max_height" => Kind::Basis(Basis::MaxHeight),
            "bumpiness" => Kind::Basis(Basis::Bumpiness),
            "column_height" => Kind::Height(column.index),
            "height_difference" => Kind::Step(column.index),
            _ => return None,
        };
        Some(Slot { kind, preclear: column.preclear })
    }

    fn needs(self, needs: &mut Needs) {
        match self.kind {
            Kind::Basis(Basis::RowTransitions) => needs.row_transitions = true,
            Kind::Basis(Basis::ColumnTransitions | Basis::HoleDepth) => needs.columns = true,
            Kind::Basis(Basis::CumulativeWells) => needs.wells = true,
            Kind::Basis(Basis::RowsWithHoles) => needs.rows_with_holes = true,
            Kind::Basis(Basis::PatternDiversity) => needs.diversity = true,
            Kind::Basis(Basis::Bumpiness) => needs.bumpiness = true,
            _ => {}
        }
    }

    /// The feature of one landing, from the measures of its playfields before and after clearing.
    #[inline(always)]
    fn value<C: Column, const N: usize, L: Lanes<Word = C>>(
        self,
        shape: &Shape,
        landing: &Landing<C, N>,
        locked: &Measure<L>,
        after: &Measure<L>,
    ) -> f64 {
        let (measure, playfield) =
            if self.preclear { (locked, &landing.locked) } else { (after, &landing.afterstate) };
        let height = |column: u8| playfield.words()[usize::from(column)].top();
        f64::from(match self.kind {
            Kind::Basis(Basis::LandingHeight) => {
                return f64::from(landing.row) + (f64::from(shape.height) - 1.0) / 2.0;
            }
            Kind::Basis(Basis::ErodedPieceCells) => {
                u32::from(landing.lines) * u32::from(landing.vanished_cells)
            }
            Kind::Basis(Basis::LinesCleared) => landing.lines.into(),
            Kind::Basis(basis) => measure.get(basis),
            Kind::Height(column) => height(column),
            Kind::Step(column) => height(column).abs_diff(height(column + 1)),
        })
    }
}

impl<L: Lanes> Measure<L> {
    #[inline(always)]
    fn get(&self, basis: Basis) -> u32 {
        match basis {
            Basis::LandingHeight | Basis::ErodedPieceCells | Basis::LinesCleared => 0,
            Basis::RowTransitions => self.row_transitions,
            Basis::ColumnTransitions => self.column_transitions,
            Basis::Holes => self.holes,
            Basis::CumulativeWells => self.cumulative_wells,
            Basis::HoleDepth => self.hole_depth,
            Basis::RowsWithHoles => self.hole_rows.count(),
            Basis::PatternDiversity => {
                (0..5).filter(|d| self.step_fields >> (5 * d) & 31 != 0).count() as u32
            }
            Basis::TotalHeight => self.total_height,
            Basis::MaxHeight => self.max_height,
            Basis::Bumpiness => self.bumpiness,
        }
    }
}

/// A set of slots with a weight each, prepared for playing.
#[derive(Clone, Debug)]
pub struct Scorer {
    terms: Vec<(Slot, f64)>,
    /// What the sweep adds up; landing height is kept in halves, so its weight is halved here.
    sweep_terms: Vec<(Kind, f64)>,
    needs: Needs,
    locked_needs: Option<Needs>,
    after_needs: Option<Needs>,
    uses_columns: bool,
    terminal: TerminalPolicy,
}

/// A placement that was chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Which.
    pub placement: Placement,
    /// Its score; minus infinity when every placement ends the game.
    pub score: f64,
}

impl Scorer {
    /// Prepares a weight vector for a feature set.
    ///
    /// `None` when the set has a feature that the kernel does not know, or a weight with which it could not be exact: one
    /// over 1e300, or so small that half of it would be rounded.
    ///
    /// # Panics
    /// When there is not one weight a feature.
    pub fn new(set: &FeatureSet, weights: &[f64], terminal: TerminalPolicy) -> Option<Scorer> {
        assert_eq!(set.len(), weights.len(), "one weight a feature");
        let slots = set.columns().iter().map(Slot::of).collect::<Option<Vec<Slot>>>()?;
        if !weights.iter().all(|w| *w == 0.0 || (1e-300..=1e300).contains(&w.abs())) {
            return None;
        }
        let terms: Vec<(Slot, f64)> = slots.iter().copied().zip(weights.iter().copied()).collect();
        let sweep_terms = terms
            .iter()
            .filter(|(slot, _)| {
                // Zero wherever nothing is cleared, and adding zero changes no sum.
                !matches!(slot.kind, Kind::Basis(Basis::ErodedPieceCells | Basis::LinesCleared))
            })
            .map(|&(slot, weight)| {
                let halves = slot.kind == Kind::Basis(Basis::LandingHeight);
                (slot.kind, if halves { weight / 2.0 } else { weight })
            })
            .collect();
        let mut needs = Needs::default();
        let (mut locked, mut after) = (None, None);
        for slot in &slots {
            slot.needs(&mut needs);
            slot.needs(if slot.preclear { &mut locked } else { &mut after }.get_or_insert_default());
        }
        Some(Scorer {
            terms,
            sweep_terms,
            needs,
            locked_needs: locked,
            after_needs: after,
            uses_columns: slots.iter().any(|slot| matches!(slot.kind, Kind::Height(_) | Kind::Step(_))),
            terminal,
        })
    }

    /// Chooses a placement of a tetromino on a kernel.
    pub fn choose_on(
        &self,
        kernel: Kernel,
        rules: &Rules,
        playfield: &Playfield,
        piece: Tetromino,
    ) -> Choice {
        struct Choose<'a>(&'a Scorer, &'a Rules, &'a Playfield, Tetromino);
        impl Job for Choose<'_> {
            type Output = Choice;
            #[inline(always)]
            fn run<C: Column, const N: usize, L: Lanes<Word = C>>(self) -> Choice {
                let Choose(scorer, rules, playfield, piece) = self;
                let size = Size::<L>::new(rules.width, rules.height);
                let playfield: PlayfieldOf<C, N> = playfield.resized();
                scorer.choose(&size, &playfield, rules.shapes(piece), rules.top_out)
            }
        }
        dispatch(kernel, rules.width, rules.height, Choose(self, rules, playfield, piece))
    }

    /// Chooses among all placements of a tetromino, given by its shapes.
    #[inline(always)]
    pub fn choose<C: Column, const N: usize, L: Lanes<Word = C>>(
        &self,
        size: &Size<L>,
        playfield: &PlayfieldOf<C, N>,
        shapes: &[Shape],
        top_out: TopOut,
    ) -> Choice {
        let ground = Ground::<L>::new(size, playfield.words(), self.needs);
        let mut best = L::Doubles::splat(f64::NEG_INFINITY);
        let mut best_orientation = L::Doubles::splat(0.0);
        // The best of the placements that are measured whole, kept apart; actions decide between equals at the end.
        let mut best_single = f64::NEG_INFINITY;
        let mut single = Placement { orientation: u8::MAX, column: 0 };

        for (shape, orientation) in shapes.iter().zip(0u8..) {
            let swept = sweep(&ground, shape, self.needs);
            let ending = swept.ending(&ground, shape, top_out);
            let mut scores = L::Doubles::splat(0.0);
            if self.uses_columns {
                scores = self.score_with_columns(scores, &ground, shape, &swept);
            } else {
                for &(kind, weight) in &self.sweep_terms {
                    if let Kind::Basis(basis) = kind {
                        scores = swept.values[basis as usize].accumulate(scores, weight);
                    }
                }
            }
            let plain = swept.exist & !swept.clearing & !ending;
            let better = scores.greater(best) & plain;
            best = best.select(better, scores);
            best_orientation = best_orientation.select(better, L::Doubles::splat(orientation.into()));

            let mut apart = match self.terminal {
                TerminalPolicy::Avoid => swept.clearing,
                TerminalPolicy::Score => swept.clearing | ending,
            };
            if top_out == TopOut::Overflow && self.terminal == TerminalPolicy::Avoid {
                apart &= !ending;
            }
            while apart != 0 {
                let column = apart.trailing_zeros() as u8;
                apart &= apart - 1;
                let landing = playfield.land(shape, column, top_out);
                if landing.terminal && self.terminal == TerminalPolicy::Avoid {
                    continue;
                }
                let score = self.score_landing(size, shape, &landing);
                if score > best_single {
                    best_single = score;
                    single = Placement { orientation, column };
                }
            }
        }

        // The first of the best lanes: the smallest orientation, then the smallest column.
        let mut choice = Choice { placement: single, score: best_single };
        let largest = best.largest();
        if largest >= best_single && largest > f64::NEG_INFINITY {
            let mut equal = best.equal(largest);
            let mut first = if largest > best_single { u32::MAX } else { order(single) };
            while equal != 0 {
                let lane = equal.trailing_zeros();
                equal &= equal - 1;
                first = first.min((best_orientation.lane(lane as usize) as u32) << 8 | lane);
            }
            choice = Choice {
                placement: Placement { orientation: (first >> 8) as u8, column: first as u8 },
                score: largest,
            };
        }
        if choice.score == f64::NEG_INFINITY {
            choice.placement = Placement { orientation: 0, column: 0 };
        }
        choice
    }

    #[inline(always)]
    fn score_landing<C: Column, const N: usize, L: Lanes<Word = C>>(
        &self,
        size: &Size<L>,
        shape: &Shape,
        landing: &Landing<C, N>,
    ) -> f64 {
        let mut locked = Measure::default();
        if let Some(needs) = self.locked_needs {
            locked = *Ground::<L>::new(size, landing.locked.words(), needs).whole();
        }
        let mut after = Measure::default();
        if let Some(needs) = self.after_needs {
            after = *Ground::<L>::new(size, landing.afterstate.words(), needs).whole();
        }
        self.terms
            .iter()
            .fold(0.0, |score, (slot, weight)| score + weight * slot.value(shape, landing, &locked, &after))
    }

    /// The sum for sets that name single columns.
    #[inline(always)]
    fn score_with_columns<L: Lanes>(
        &self,
        mut scores: L::Doubles,
        ground: &Ground<L>,
        shape: &Shape,
        swept: &Sweep<L>,
    ) -> L::Doubles {
        let heights = swept.column_heights(ground, shape);
        for &(kind, weight) in &self.sweep_terms {
            let value = match kind {
                Kind::Basis(basis) => swept.values[basis as usize],
                Kind::Height(column) => heights[usize::from(column)],
                Kind::Step(column) => {
                    let (left, right) = (heights[usize::from(column)], heights[usize::from(column) + 1]);
                    left.max(right).sub(left.min(right))
                }
            };
            scores = value.accumulate(scores, weight);
        }
        scores
    }
}

/// The order of placements: by orientation, then by column.
fn order(placement: Placement) -> u32 {
    u32::from(placement.orientation) << 8 | u32::from(placement.column)
}
