//! Measures placements anywhere on one playfield together.
//!
//! The [sweep](super::sweep) measures straight drops that clear nothing. Pieces that turn and slide into place may rest
//! under overhangs, several of them in one column. They are measured [one per lane](super::placement_lanes).
//!
//! This requires a playfield on which no landing reaches the upper rows, where the rules may end the game or cut off
//! cells: see [`Together::holds`]. The caller knows which placements end the game for other reasons.

use std::sync::Arc;

use super::bounds::LaneBounds;
use super::placement_lanes::{LandingLanes, PlacementLanes};
use super::scorer::{Scorer, Term};
use super::set::KernelSet;
use super::{Kernel, LaneWork, dispatch, rows_for};
use crate::engine::lanes::{Apart, Doubles, Lanes};
use crate::engine::{Column, Playfield, PlayfieldOf, Rules, Shape, Spin, Tetromino};
use crate::features::sets::FeatureSet;

/// A feature set, prepared for measuring placements together, and optional weights.
#[derive(Clone, Debug)]
pub(crate) struct Together {
    set: KernelSet,
    /// Terms of the score; empty if no scores are wanted.
    terms: Arc<[Term]>,
}

/// A piece at rest: everything about a placement that its features depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RestingPiece {
    pub piece: Tetromino,
    pub shape: &'static Shape,
    /// Row of the piece's lowest cells.
    pub row: u8,
    /// Column of the piece's leftmost cells.
    pub column: u8,
    pub spin: Spin,
}

/// Measurements of placements, one entry per placement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measurements {
    /// The scores, if weights were given.
    pub scores: Vec<f64>,
    /// The feature vectors, row-major, if wanted.
    pub features: Vec<f32>,
    pub lines: Vec<u8>,
    /// Whether the playfield is empty after clearing.
    pub is_empty: Vec<bool>,
}

impl Together {
    /// Prepares a feature set, or only landings without features, and weights if scores are wanted. `None` if the
    /// kernels do not support a feature, or if a score could not be exact with a weight.
    ///
    /// # Panics
    /// If the numbers of weights and features differ.
    pub(crate) fn new(set: Option<&FeatureSet>, weights: Option<&[f64]>) -> Option<Together> {
        let set = set.map_or_else(|| Some(KernelSet::new(Vec::new())), |set| set.on_kernels().cloned())?;
        let terms = weights.map_or(Some(Vec::new()), |weights| Term::all(&set, weights, 1.0))?;
        Some(Together { set, terms: terms.into() })
    }

    /// Prepares the set and the weights of a scorer.
    pub(crate) fn like(scorer: &Scorer) -> Together {
        Together { set: scorer.set.clone(), terms: scorer.terms.clone() }
    }

    /// Whether placements on this playfield can be measured together, because no landing reaches the four upper rows.
    #[inline]
    pub(crate) fn holds(rules: &Rules, playfield: &Playfield) -> bool {
        rules.pieces.is_tetrominoes() && playfield.occupied_rows().top() + 8 <= u32::from(rules.height)
    }

    /// Measures placements on a playfield, with feature vectors if wanted.
    ///
    /// # Panics
    /// If [`Together::holds`] is false for the playfield, or its width is not the set's.
    pub(crate) fn measure(
        &self,
        kernel: Kernel,
        rules: &Rules,
        playfield: &Playfield,
        rests: &[RestingPiece],
        wants_features: bool,
    ) -> Measurements {
        assert!(Together::holds(rules, playfield), "a low stack");
        let rows = rows_for(rules.width, rules.height, playfield.occupied_rows().top());
        let mut measured = Measurements {
            scores: Vec::with_capacity(rests.len()),
            features: Vec::with_capacity(if wants_features {
                rests.len() * self.set.columns.len()
            } else {
                0
            }),
            lines: Vec::with_capacity(rests.len()),
            is_empty: Vec::with_capacity(rests.len()),
        };
        let job =
            MeasureAll { together: self, rules, rows, playfield, rests, wants_features, out: &mut measured };
        dispatch(kernel, rules.width, rows, job);
        measured
    }
}

/// Work that measures all placements, as many at a time as there are lanes.
struct MeasureAll<'a> {
    together: &'a Together,
    rules: &'a Rules,
    rows: u8,
    playfield: &'a Playfield,
    rests: &'a [RestingPiece],
    wants_features: bool,
    out: &'a mut Measurements,
}

impl LaneWork for MeasureAll<'_> {
    type Output = ();

    #[inline(always)]
    fn run<C: Column, const N: usize, L: Lanes<Word = C>>(self) {
        let MeasureAll { together, rules, rows, playfield, rests, wants_features, out } = self;
        let size = LaneBounds::<L>::lowered(rules.width, rules.height, rows);
        let playfield: PlayfieldOf<C, N> = playfield.with_height(rows);
        L::apart(MeasureLanes::<L, N> {
            together,
            size: &size,
            words: playfield.words(),
            rests,
            wants_features,
            out,
        });
    }
}

/// Work that measures one placement per lane.
struct MeasureLanes<'a, L: Lanes, const N: usize> {
    together: &'a Together,
    size: &'a LaneBounds<L>,
    words: &'a [L::Word; N],
    rests: &'a [RestingPiece],
    wants_features: bool,
    out: &'a mut Measurements,
}

impl<L: Lanes, const N: usize> Apart for MeasureLanes<'_, L, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let MeasureLanes { together, size, words, rests, wants_features, out } = self;
        let (mut pieces, mut landings) = (PlacementLanes::none(), LandingLanes::none());
        // The features of the placements in the lanes, by column.
        let mut columns = vec![[0.0; 32]; if wants_features { together.set.columns.len() } else { 0 }];
        for rests in rests.chunks(L::LANES) {
            let count = rests.len();
            pieces.clear();
            for rest in rests {
                pieces.add(rest.piece, rest.shape, rest.row.into(), rest.column, rest.spin);
            }
            pieces.measure(&together.set, size, words, &mut landings);

            let mut words = [L::Word::EMPTY; 32];
            landings.lines.store(&mut words);
            out.lines.extend(words[..count].iter().map(|lines| lines.to_u64() as u8));
            out.is_empty.extend((0..count).map(|lane| landings.empty >> lane & 1 == 1));
            if !together.terms.is_empty() {
                let scores = landings.scores(&together.terms);
                for lane in 0..count {
                    out.scores.push(scores.lane(lane));
                }
            }
            if wants_features {
                for (values, column) in columns.iter_mut().zip(together.set.columns.iter()) {
                    landings.lanes(*column).store(&mut words);
                    let unit = column.feature.unit();
                    // All lanes, because a loop without conditions becomes vectors.
                    for lane in 0..L::LANES {
                        values[lane] = words[lane].to_u64() as u32 as i32 as f32 * unit;
                    }
                }
                for lane in 0..count {
                    out.features.extend(columns.iter().map(|values| values[lane]));
                }
            }
        }
    }
}
