//! The values of a process by value iteration, with bounds on their errors.

use super::process::{Process, Transition, Transitions};
use crate::engine::{Playfield, Rules};
use crate::pool::Pool;
use crate::values::Values;

/// Largest error of the empty playfield's value, relative to the value.
const TOLERANCE: f64 = 1e-11;
/// Number of afterstates per part of the work. Sums over all afterstates are added up part by part.
const PART: usize = 1 << 14;
/// The rate at which errors shrink is steady once it changes by less than this between two sweeps.
const STEADY: f64 = 1e-3;
/// Number of sweeps until the rate is checked again.
const PAUSE: u32 = 8;
/// Number of sweeps over all afterstates before those that the best player reaches are settled.
const ROUND: u32 = 4;
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

/// Progress of a solution.
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
pub struct Value {
    /// Computed value.
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
    /// quickly once the others are right. So the others are settled after every few sweeps. `watch` is called after
    /// each sweep.
    pub fn solve(&self, pick: Pick, pool: &Pool, mut watch: impl FnMut(SolutionProgress)) -> Solution<'_> {
        let lines = vec![0.0; self.num_afterstates()];
        let mut next = lines.clone();
        let mut solution = Solution { process: self, lines, change: 0.0, sweeps: 0 };
        loop {
            let swept = self.transitions.sweep(pick, &self.num_placements, pool, &solution.lines, &mut next);
            solution.change = swept.change + swept.rounding;
            solution.sweeps += 1;
            let Value { lines, low, .. } = solution.of_number(0);
            let (error, wanted) = (lines - low, TOLERANCE * lines);
            watch(SolutionProgress { number: solution.sweeps, error, wanted });
            if error <= wanted {
                return solution;
            }
            std::mem::swap(&mut solution.lines, &mut next);
            if pick == Pick::Best && solution.sweeps.is_multiple_of(ROUND) {
                let (numbers, transitions) = self.transitions.of_best(&solution.lines);
                let values = numbers.iter().map(|&number| solution.lines[number]).collect();
                let settled = transitions.settle(pool, values, SETTLED * solution.change);
                for (number, value) in numbers.into_iter().zip(settled) {
                    solution.lines[number] = value;
                }
            }
        }
    }
}

impl Transitions {
    /// The afterstates of a player that picks the first of the best transitions by these values, and those transitions,
    /// numbered separately.
    fn of_best(&self, values: &[f64]) -> (Vec<usize>, Transitions) {
        let (mut numbers, mut transitions) = (vec![0], Transitions::default());
        let mut known = vec![u32::MAX; self.len()];
        known[0] = 0;
        while let Some(&number) = numbers.get(transitions.len()) {
            transitions.begin();
            for (piece, choices) in self.of(number).enumerate() {
                let better = |best: Transition, step: Transition| {
                    if worth(step, values) > worth(best, values) { step } else { best }
                };
                let Some(best) = choices.iter().copied().reduce(better) else { continue };
                let own = &mut known[best.to()];
                if *own == u32::MAX {
                    *own = numbers.len() as u32;
                    numbers.push(best.to());
                }
                transitions.push(piece, Transition::new(best.lines(), *own as usize));
            }
        }
        (numbers, transitions)
    }

    /// Improves the values of a player without a choice, until no sweep changes one by more than `enough`.
    ///
    /// In the long run, every sweep shrinks all errors by the same small rate. As soon as the rate is steady, the rest
    /// of the errors is added at once. Where errors go round in a cycle, as on 5 x 5, that makes them larger; then they
    /// only shrink by sweeps from there on.
    fn settle(&self, pool: &Pool, mut values: Vec<f64>, enough: f64) -> Vec<f64> {
        let mut next = values.clone();
        let (mut last_squares, mut last_rate, mut pause) = (f64::NAN, f64::NAN, PAUSE);
        let (mut before_adding, mut helps) = (f64::INFINITY, true);
        loop {
            let swept = self.sweep(Pick::Best, &[1.0; 7], pool, &values, &mut next);
            helps &= swept.squares <= before_adding;
            before_adding = f64::INFINITY;
            let rate = (swept.squares / last_squares).sqrt();
            pause = pause.saturating_sub(1);
            if helps && pause == 0 && rate < 1.0 && (rate - last_rate).abs() < STEADY {
                for (next, now) in next.iter_mut().zip(&values) {
                    *next = (*next + (*next - now) * rate / (1.0 - rate)).max(0.0);
                }
                pause = PAUSE;
                before_adding = swept.squares;
            }
            (last_squares, last_rate) = (swept.squares, rate);
            std::mem::swap(&mut values, &mut next);
            if swept.change <= enough.max(swept.rounding) {
                return values;
            }
        }
    }

    /// Computes `next` from `values`.
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
            for (number, next) in (index * PART..).zip(part.iter_mut()) {
                *next = self.step(pick, num_placements, values, number);
                swept.add(values[number], *next);
            }
        });
        parts.iter().fold(Swept::default(), |all, (_, part)| all.and(part))
    }

    /// The value of an afterstate, from the values of its successors.
    fn step(&self, pick: Pick, num_placements: &[f64; 7], values: &[f64], number: usize) -> f64 {
        let mut sum = 0.0;
        for (choices, placements) in self.of(number).zip(num_placements) {
            let worths = choices.iter().map(|step| worth(*step, values));
            sum += match pick {
                Pick::Best => worths.fold(0.0, f64::max),
                Pick::Even => worths.fold(0.0, |sum, worth| sum + worth) / placements,
            };
        }
        sum / 7.0
    }
}

/// The value of a transition.
fn worth(step: Transition, values: &[f64]) -> f64 {
    f64::from(step.lines()) + values[step.to()]
}

/// Effects of a sweep.
#[derive(Clone, Copy, Debug, Default)]
struct Swept {
    /// Largest change of a value.
    change: f64,
    /// Largest rounding error of doubles.
    rounding: f64,
    /// Sum of the squared changes.
    squares: f64,
}

impl Swept {
    fn add(&mut self, before: f64, after: f64) {
        let change = after - before;
        // At most 34 placements and 7 pieces are added up, and each sum is off by at most half of EPSILON.
        self.rounding = self.rounding.max(32.0 * f64::EPSILON * after);
        self.change = self.change.max(change.abs());
        self.squares += change * change;
    }

    fn and(self, other: &Swept) -> Swept {
        Swept {
            change: self.change.max(other.change),
            rounding: self.rounding.max(other.rounding),
            squares: self.squares + other.squares,
        }
    }
}

impl Solution<'_> {
    /// The value of the empty playfield: lines per game.
    pub fn of_game(&self) -> Value {
        self.of_number(0)
    }

    /// The value of an afterstate; `None` if it cannot be reached.
    pub fn of(&self, afterstate: &Playfield) -> Option<Value> {
        self.process.find(afterstate).map(|number| self.of_number(number))
    }

    /// The computed values, in the order of [`Process::afterstates`].
    pub fn lines(&self) -> &[f64] {
        &self.lines
    }

    /// The computed values as a table.
    pub fn to_values(&self) -> Values {
        let Rules { width, height, .. } = *self.process.rules();
        let entries = self.process.cells.iter().copied().zip(self.lines.iter().copied());
        Values::new(width, height, entries.collect())
    }

    /// Number of sweeps.
    pub fn sweeps(&self) -> u32 {
        self.sweeps
    }

    fn of_number(&self, number: usize) -> Value {
        let lines = self.lines[number];
        let Rules { width, height, .. } = *self.process.rules();
        let (width, height) = (f64::from(width), f64::from(height));
        let cells = f64::from(self.process.cells[number].count_ones());
        let shrunk = 1.0 - width * self.change / 4.0;
        let pieces = (1.0 + (width * lines + (width - 1.0) * height - cells) / 4.0) / shrunk;
        let error = if shrunk > 0.0 { self.change * pieces } else { f64::INFINITY };
        Value { lines, low: lines - error, high: lines + error }
    }
}
