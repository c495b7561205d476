//! About the best score that each piece can reach on a playfield: all shapes of all tetrominoes, as many at once as the
//! machine's vectors hold.
//!
//! Shapes of the same width differ in numbers only. Where there are vectors twice as long as a playfield needs, two shapes
//! of one width are swept at once, each in its own part of the lanes ([`Words::PARTS`]): eleven sweeps in place of nineteen.
//! The numbers of the shapes are laid out in lanes once for many playfields. Where there are none ([`Lanes::IS_WIDENED`]),
//! the shapes are swept one by one.
//!
//! Two shapes and not two playfields, because the shapes share all that is known of their playfield: its features are one
//! number each, and nothing that reduces over lanes has to stop at the half.

use super::base::SweepBase;
use super::bounds::LaneBounds;
use super::candidates::Candidates;
use super::clearing::Clearing;
use super::lanes::{Apart, Floats, Lanes, Words, lanes_below};
use super::scorer::{Chooser, Scorer, TerminalPolicy};
use super::sweep::{Form, sweep_form};
use crate::engine::{Column, Placement, PlayfieldOf, Rules, Shape, Tetromino, TopOut};

/// The shapes of all tetrominoes, prepared.
#[derive(Clone, Debug)]
pub struct Prospects<L: Lanes>(Vec<Forms<L>>);

/// Shapes of one width, one for each part of the lanes.
#[derive(Clone, Debug)]
struct Forms<L: Lanes> {
    form: Form<L::Wide>,
    shapes: [(Tetromino, &'static Shape); 2],
    /// The lanes of the parts that have a shape of their own.
    lanes: u32,
}

impl<L: Lanes> Prospects<L> {
    /// Prepares them, if a controller needs nothing but the sweep's own features, avoids the end of the game, and only a
    /// landing that sticks out brings it.
    #[inline(always)]
    pub fn new(scorer: &Scorer, rules: &Rules) -> Option<Self> {
        if rules.top_out != TopOut::Overflow
            || scorer.terminal() != TerminalPolicy::Avoid
            || scorer.plain_terms().is_none()
        {
            return None;
        }
        let mut groups = Vec::with_capacity(19);
        L::apart(Prepare { rules, groups: &mut groups });
        Some(Prospects(groups))
    }

    /// Writes about the best score of each of some pieces, bit by bit by their numbers; minus infinity where there is none.
    #[inline(always)]
    pub fn bests<const N: usize>(
        &self,
        chooser: &Chooser<'_, L>,
        playfield: &PlayfieldOf<L::Word, N>,
        pieces: u32,
        bests: &mut [f64; 7],
    ) {
        L::apart(LookForBests { groups: &self.0, chooser, playfield, pieces, bests });
    }
}

/// Laying out the shapes of all tetrominoes.
struct Prepare<'a, L: Lanes> {
    rules: &'a Rules,
    groups: &'a mut Vec<Forms<L>>,
}

impl<L: Lanes> Apart for Prepare<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Prepare { rules, groups } = self;
        // Those with most shapes first: each has two of a width, which are needed together.
        let mut pieces = Tetromino::ALL;
        pieces.sort_by_key(|piece| std::cmp::Reverse(rules.shapes(*piece).len()));
        // By width, the shape that waits for a second one.
        let mut waiting = [None; 5];
        for piece in pieces {
            for shape in rules.shapes(piece) {
                let shape = (piece, shape);
                let waits = &mut waiting[usize::from(shape.1.width)];
                if let Some(first) = waits.take() {
                    groups.push(Forms::of([first, shape], 2));
                } else {
                    *waits = Some(shape);
                }
            }
        }
        for shape in waiting.into_iter().flatten() {
            groups.push(Forms::of([shape, shape], 1));
        }
    }
}

impl<L: Lanes> Forms<L> {
    #[inline(always)]
    fn of(shapes: [(Tetromino, &'static Shape); 2], parts: usize) -> Self {
        let [(_, first), (_, second)] = shapes;
        let form = Form::<L>::of(first).widened(&Form::of(second));
        Forms { form, shapes, lanes: lanes_below((parts * L::LANES) as u32) }
    }
}

/// A look at all placements of some pieces on a playfield.
struct LookForBests<'a, L: Lanes, const N: usize> {
    groups: &'a [Forms<L>],
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
                // As the columns of one orientation, though they are lanes.
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

/// Takes down the scores of placements that clear lines.
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
