//! Estimates of the best score that each piece can reach on a playfield, from sweeps of two shapes at once.
//!
//! Shapes of the same width differ only in numbers. If vectors are twice as long as a playfield needs
//! ([`Lanes::IS_WIDENED`]), two shapes of one width are swept at once, each in its own part of the lanes
//! ([`Words::PARTS`]): eleven sweeps instead of nineteen. The numbers of the shapes are put into lanes once for many
//! playfields.
//!
//! Why two shapes and not two playfields: two shapes share the features of their playfield, one number each, and no
//! reduction over lanes has to stop at the half.
//!
//! Gain with AVX-512 on an AMD EPYC (Zen 4): `dt-10` with the exact mean plays 1.14 times as fast with 4 placements and
//! 1.17 times with 8 (processor time per piece, best of 24 alternating rounds). These are cases of `tetrion bench
//! --only rollouts`. Sets with features of the surface sweep one shape at a time.

use super::base::SweepBase;
use super::bounds::LaneBounds;
use super::candidates::Candidates;
use super::clearing::Clearing;
use super::scorer::{Chooser, Scorer, TerminalValue};
use super::sweep::{Form, sweep_form};
use crate::engine::lanes::{Apart, Floats, Lanes, Words, lanes_below};
use crate::engine::{Column, Placement, PlayfieldOf, Rules, Shape, Tetromino, TopOut};

/// The shapes of all tetrominoes, prepared for sweeps in pairs.
#[derive(Clone, Debug)]
pub(super) struct Prospects<L: Lanes>(Vec<FormGroup<L>>);

/// Shapes of one width, one per part of the lanes.
#[derive(Clone, Debug)]
struct FormGroup<L: Lanes> {
    form: Form<L::Wide>,
    shapes: [(Tetromino, &'static Shape); 2],
    /// The lanes of parts that do not repeat another part's shape.
    lanes: u32,
}

impl<L: Lanes> Prospects<L> {
    /// Prepares the shapes. `None` unless every sweep measures all features, the controller avoids the end of the game,
    /// and only a landing that sticks out ends it.
    #[inline(always)]
    pub(super) fn new(scorer: &Scorer, rules: &Rules) -> Option<Self> {
        if rules.top_out != TopOut::Overflow
            || scorer.terminal_value() != TerminalValue::Avoid
            || scorer.plain_terms().is_none()
        {
            return None;
        }
        let mut groups = Vec::with_capacity(19);
        L::apart(Prepare { rules, groups: &mut groups });
        Some(Prospects(groups))
    }

    /// Writes an estimate of the best score of each piece in a mask of piece numbers; minus infinity for the others.
    #[inline(always)]
    pub(crate) fn bests<const N: usize>(
        &self,
        chooser: &Chooser<'_, L>,
        playfield: &PlayfieldOf<L::Word, N>,
        pieces: u32,
        bests: &mut [f64; 7],
    ) {
        L::apart(LookForBests { groups: &self.0, chooser, playfield, pieces, bests });
    }
}

/// Work that puts the shapes of all tetrominoes into lanes.
struct Prepare<'a, L: Lanes> {
    rules: &'a Rules,
    groups: &'a mut Vec<FormGroup<L>>,
}

impl<L: Lanes> Apart for Prepare<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Prepare { rules, groups } = self;
        // Pieces with the most shapes first: each has two shapes of a width, which are needed together.
        let mut pieces = Tetromino::ALL;
        pieces.sort_by_key(|piece| std::cmp::Reverse(rules.shapes(*piece).len()));
        // For each width, the shape that waits for a partner.
        let mut waiting = [None; 5];
        for piece in pieces {
            for shape in rules.shapes(piece) {
                let shape = (piece, shape);
                let waits = &mut waiting[usize::from(shape.1.width)];
                if let Some(first) = waits.take() {
                    groups.push(FormGroup::of([first, shape], 2));
                } else {
                    *waits = Some(shape);
                }
            }
        }
        for shape in waiting.into_iter().flatten() {
            groups.push(FormGroup::of([shape, shape], 1));
        }
    }
}

impl<L: Lanes> FormGroup<L> {
    #[inline(always)]
    fn of(shapes: [(Tetromino, &'static Shape); 2], parts: usize) -> Self {
        let [(_, first), (_, second)] = shapes;
        let form = Form::<L>::of(first).widened(&Form::of(second));
        FormGroup { form, shapes, lanes: lanes_below((parts * L::LANES) as u32) }
    }
}

/// Work that sweeps all placements of some pieces on a playfield.
struct LookForBests<'a, L: Lanes, const N: usize> {
    groups: &'a [FormGroup<L>],
    chooser: &'a Chooser<'a, L>,
    playfield: &'a PlayfieldOf<L::Word, N>,
    pieces: u32,
    bests: &'a mut [f64; 7],
}

impl<L: Lanes, const N: usize> Apart for LookForBests<'_, L, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let LookForBests { groups, chooser: Chooser { scorer, size, .. }, playfield, pieces, bests } = self;
        let needs = scorer.set.needs;
        let terms = scorer.plain_terms().expect("prepared for nothing but features of the sweep");
        let base = SweepBase::<L>::new(size, playfield.words(), needs).widened();
        let mut highest = [L::Floats::splat(f32::NEG_INFINITY); 7];
        let out_of_question = <L::Wide as Words>::Floats::splat(f32::NEG_INFINITY);
        let mut clearing = Clearing::<L, N>::none();
        *bests = [f64::NEG_INFINITY; 7];
        for group in groups {
            let [(first, _), (second, _)] = group.shapes;
            if pieces & (1 << first.number() | 1 << second.number()) == 0 {
                continue;
            }
            let swept = sweep_form(&base, &group.form, needs);
            let (plain, clears) = scorer.split(&swept, &base, TopOut::Overflow);
            let estimates = scorer.plain_estimates(terms, &swept);
            let estimates = out_of_question.select(plain & group.lanes, estimates);
            for (part, (piece, _)) in group.shapes.iter().enumerate() {
                let highest = &mut highest[piece.index()];
                *highest = highest.max(L::part(estimates, part));
            }
            let clears = clears & group.lanes;
            if clears != 0 {
                let mut rows = [L::Word::EMPTY; 32];
                swept.rows.store(&mut rows);
                // Lanes are columns of one orientation here.
                for Placement { column: lane, .. } in Candidates::of_lanes(0, clears) {
                    if clearing.is_full() {
                        settle(scorer, size, playfield, &mut clearing, bests);
                    }
                    let lane = usize::from(lane);
                    let (piece, shape) = group.shapes[lane / L::LANES];
                    let placement = Placement::straight(0, (lane % L::LANES) as u8);
                    clearing.add(piece, placement, shape, rows[lane]);
                }
            }
        }
        settle(scorer, size, playfield, &mut clearing, bests);
        for (number, best) in bests.iter_mut().enumerate() {
            if pieces >> number & 1 == 0 {
                *best = f64::NEG_INFINITY;
            } else {
                *best = best.max(f64::from(highest[number].largest()) / scorer.scale);
            }
        }
    }
}

/// Stores the scores of placements that clear lines.
#[inline(always)]
fn settle<L: Lanes, const N: usize>(
    scorer: &Scorer,
    size: &LaneBounds<L>,
    playfield: &PlayfieldOf<L::Word, N>,
    clearing: &mut Clearing<L, N>,
    bests: &mut [f64; 7],
) {
    for (piece, _, score) in clearing.take_scored(scorer, size, playfield) {
        bests[piece.index()] = bests[piece.index()].max(score);
    }
}
