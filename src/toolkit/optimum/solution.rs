//! The values of a process by value iteration, with bounds on their errors.

use super::process::Process;
use super::ranked_set::{Bits, RankedSet};
use super::transitions::{Transition, Transitions};
use tetrion_core::engine::{Playfield, Rules};
use tetrion_core::pool::Pool;
use tetrion_core::values::{Values, pack};

/// Largest error of the empty playfield's value, relative to the value.
const TOLERANCE: f64 = 1e-11;
/// Number of afterstates per part of the work.
const PART: usize = 1 << 14;
/// The rate at which errors shrink is steady once it changes by less than this between two periods.
const STEADY: f64 = 1e-3;
/// Number of sweeps until the rate is checked again.
const PAUSE: u32 = 8;
/// Fewest sweeps over all afterstates before those that the best player reaches are settled.
const ROUND: u32 = 4;
/// These are settled when a sweep leaves more than this share of the last change of all afterstates.
const SLOW: f64 = 0.9;
/// These are settled once they change by less than this share of the last change of all afterstates.
const SETTLED: f64 = 1e-3;

/// The way a player chooses a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// The placement with the largest value.
    Best,
    /// One of the placements, with equal probability.
    Even,
}

/// The progress of value iteration after a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolutionProgress {
    /// Number of sweeps so far.
    pub number: u32,
    /// Largest possible error of the empty playfield's value, in lines.
    pub error: f64,
    /// Largest error allowed at the end.
    pub wanted: f64,
}

/// The expected number of lines from an afterstate to the end of the game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectedLines {
    pub lines: f64,
    /// Lower bound on the true value.
    pub low: f64,
    /// Upper bound on the true value.
    pub high: f64,
}

/// The values of all afterstates of a process.
///
/// Let T be one step of value iteration. (TV)(s) is the mean, over the seven pieces, of the largest (or the mean) of
/// lines + V(s') over the placements; a placement that ends the game has the value 0. If |TV - V| is at most d
/// everywhere, then V differs from the truth by at most d N. Here N(s) bounds the expected number of pieces from s to
/// the end, including the last one, under any player. Proof: T(V + d N) <= V + d N, which by repetition gives an upper
/// bound of V + d N on the truth, and the same from below for the player that picks by V.
///
/// Every piece but the last adds four cells, a line removes `width` cells, and at most (width - 1) height cells can
/// remain. So N <= 1 + (width (V + d N) + (width - 1) height - cells) / 4, to be solved for N. A player that never
/// loses would have d >= 4 / width for every V, for which no such N exists. The rounding error of doubles is added to
/// d.
#[derive(Clone, Debug)]
pub struct Solution<'a> {
    process: &'a Process,
    lines: Vec<f64>,
    change: f64,
    sweeps: u32,
}

impl Process {
    /// The values of a player that picks from these transitions. In the process of an agent every piece has one
    /// placement, so both picks are equal.
    ///
    /// Every sweep computes all values from those of the previous sweep, so the bits do not depend on the number of
    /// threads. Most of the time goes to afterstates that the best player never reaches, and their values follow
    /// quickly once the others are right. So the others are settled whenever sweeps make slow progress. `watch` is called
    /// after each sweep.
    pub fn solve(&self, pick: Pick, pool: &Pool, mut watch: impl FnMut(SolutionProgress)) -> Solution<'_> {
        let period = period(self.rules().width);
        let lines = vec![0.0; self.num_afterstates()];
        let mut next = lines.clone();
        let mut solution = Solution { process: self, lines, change: 0.0, sweeps: 0 };
        let mut last_settled = 0;
        loop {
            let last_change = solution.change;
            let swept = self.transitions.sweep(pick, &self.num_placements, pool, &solution.lines, &mut next);
            solution.change = swept.change + swept.rounding;
            solution.sweeps += 1;
            let ExpectedLines { lines, low, .. } = solution.of_game();
            let (error, wanted) = (lines - low, TOLERANCE * lines);
            watch(SolutionProgress { number: solution.sweeps, error, wanted });
            if error <= wanted {
                return solution;
            }
            std::mem::swap(&mut solution.lines, &mut next);
            let is_due = solution.sweeps - last_settled >= ROUND && solution.change > SLOW * last_change;
            if pick == Pick::Best && is_due {
                last_settled = solution.sweeps;
                let (reached, transitions) = self.transitions.of_best(&solution.lines);
                let values = reached.iter().map(|number| solution.lines[number as usize]).collect();
                let settled = transitions.settle(period, pool, values, SETTLED * solution.change);
                for (number, value) in reached.iter().zip(settled) {
                    solution.lines[number as usize] = value;
                }
            }
        }
    }
}

impl Transitions {
    /// The afterstates of a player that picks the first of the best transitions by these values, and those transitions,
    /// numbered among these afterstates.
    fn of_best(&self, values: &[f64]) -> (RankedSet, Transitions) {
        let best = |choices: &[Transition]| {
            let better = |best: Transition, step: Transition| {
                if worth(step, values) > worth(best, values) { step } else { best }
            };
            choices.iter().copied().reduce(better).expect("a piece with a transition")
        };
        let mut reached = Bits::below(self.len());
        reached.insert(0);
        let mut open = vec![0_u32];
        while let Some(number) = open.pop() {
            self.walk(number as usize).next_choices(|_, choices| {
                let to = best(choices).to() as u32;
                if reached.insert(to) {
                    open.push(to);
                }
            });
        }
        let reached = reached.ranked();
        let mut transitions = Transitions::default();
        for number in reached.iter() {
            transitions.begin();
            self.walk(number as usize).next_choices(|piece, choices| {
                let best = best(choices);
                transitions.push(piece, best.lines(), reached.rank(best.to() as u32));
            });
        }
        (reached, transitions)
    }

    /// Improves the values of a player without a choice, until no sweep changes one by more than `enough`.
    ///
    /// In the long run, all errors shrink by the same small rate per [`period`] of sweeps. As soon as the rate is steady,
    /// the rest of the errors is added at once. If that makes them larger, they only shrink by sweeps from there on.
    fn settle(&self, period: u32, pool: &Pool, mut values: Vec<f64>, enough: f64) -> Vec<f64> {
        let (mut next, mut before) = (values.clone(), values.clone());
        let (mut last_squares, mut last_rate, mut earliest) = (f64::NAN, f64::NAN, PAUSE);
        let (mut before_adding, mut helps) = (f64::INFINITY, true);
        for sweeps in 1.. {
            let swept = self.sweep(Pick::Best, &[1.0; 7], pool, &values, &mut next);
            std::mem::swap(&mut values, &mut next);
            if swept.change <= enough.max(swept.rounding) {
                break;
            }
            if sweeps % period > 0 {
                continue;
            }
            let changes = values.iter().zip(&before);
            let squares: f64 = changes.map(|(now, before)| (now - before).powi(2)).sum();
            helps &= squares <= before_adding;
            before_adding = f64::INFINITY;
            let rate = (squares / last_squares).sqrt();
            if helps && sweeps >= earliest && rate < 1.0 && (rate - last_rate).abs() < STEADY {
                for (now, before) in values.iter_mut().zip(&before) {
                    *now = (*now + (*now - before) * rate / (1.0 - rate)).max(0.0);
                }
                earliest = sweeps + PAUSE;
                before_adding = squares;
            }
            (last_squares, last_rate) = (squares, rate);
            before.copy_from_slice(&values);
        }
        values
    }

    /// Computes `next` from `values`: one step of value iteration, on all threads of the pool.
    fn sweep(
        &self,
        pick: Pick,
        num_placements: &[f64; 7],
        pool: &Pool,
        values: &[f64],
        next: &mut [f64],
    ) -> Swept {
        let mut parts: Vec<(&mut [f64], Swept)> =
            next.chunks_mut(PART).map(|part| (part, Swept::default())).collect();
        pool.for_each(&mut parts, |index, (part, swept)| {
            let mut walk = self.walk(index * PART);
            for (next, before) in part.iter_mut().zip(&values[index * PART..]) {
                let mut sum = 0.0;
                walk.next_choices(|piece, choices| {
                    let worths = choices.iter().map(|step| worth(*step, values));
                    sum += match pick {
                        Pick::Best => worths.fold(0.0, f64::max),
                        Pick::Even => worths.fold(0.0, |sum, worth| sum + worth) / num_placements[piece],
                    };
                });
                *next = sum / 7.0;
                swept.add(*before, *next);
            }
        });
        parts.iter().fold(Swept::default(), |all, (_, part)| all.and(part))
    }
}

/// Number of sweeps after which errors come back to the afterstates that they came from.
///
/// A piece adds four cells, and a line removes `width`. So the number of cells, modulo `width`, moves on with every piece
/// and repeats after this many. Errors move on in the same way: only over whole periods do all of them shrink by the same
/// rate.
fn period(width: u8) -> u32 {
    (1..).find(|pieces| 4 * pieces % u32::from(width) == 0).expect("at most `width` pieces")
}

/// The value of a transition.
fn worth(step: Transition, values: &[f64]) -> f64 {
    f64::from(step.lines()) + values[step.to()]
}

/// The effects of a sweep, from which the bounds on errors follow.
#[derive(Clone, Copy, Debug, Default)]
struct Swept {
    /// Largest change of a value.
    change: f64,
    /// Largest rounding error of doubles.
    rounding: f64,
}

impl Swept {
    fn add(&mut self, before: f64, after: f64) {
        // At most 34 placements and 7 pieces are added up, and each sum is off by at most half of EPSILON.
        self.rounding = self.rounding.max(32.0 * f64::EPSILON * after);
        self.change = self.change.max((after - before).abs());
    }

    fn and(self, other: &Swept) -> Swept {
        Swept { change: self.change.max(other.change), rounding: self.rounding.max(other.rounding) }
    }
}

impl Solution<'_> {
    /// The value of the empty playfield: lines per game.
    pub fn of_game(&self) -> ExpectedLines {
        self.bounded(self.lines[0], 0)
    }

    /// The value of an afterstate; `None` if it cannot be reached.
    pub fn of(&self, afterstate: &Playfield) -> Option<ExpectedLines> {
        let Rules { width, height, .. } = *self.process.rules();
        let same_size = (afterstate.width(), afterstate.height()) == (width, height);
        let cells = same_size.then(|| pack(afterstate))?;
        let number = self.process.cells.find(cells)?;
        Some(self.bounded(self.lines[number], cells.count_ones()))
    }

    /// The computed values, in the order of [`Process::afterstates`].
    pub fn lines(&self) -> &[f64] {
        &self.lines
    }

    /// The computed values as a table.
    pub fn into_values(self) -> Values {
        let Rules { width, height, .. } = *self.process.rules();
        Values::new(width, height, self.process.cells.iter().collect(), self.lines)
    }

    /// Number of sweeps until the error was small enough.
    pub fn sweeps(&self) -> u32 {
        self.sweeps
    }

    /// The value of an afterstate with this number of cells, with its bounds.
    fn bounded(&self, lines: f64, num_cells: u32) -> ExpectedLines {
        let Rules { width, height, .. } = *self.process.rules();
        let (width, height) = (f64::from(width), f64::from(height));
        let shrunk = 1.0 - width * self.change / 4.0;
        let pieces = (1.0 + (width * lines + (width - 1.0) * height - f64::from(num_cells)) / 4.0) / shrunk;
        let error = if shrunk > 0.0 { self.change * pieces } else { f64::INFINITY };
        ExpectedLines { lines, low: lines - error, high: lines + error }
    }
}
