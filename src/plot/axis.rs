//! Positions of numbers on an axis, and the numbers written next to it.

/// One axis, as long as 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    /// Numbers to write at the axis, rising. Never empty.
    pub(super) ticks: Vec<f64>,
    pub(super) low: f64,
    pub(super) high: f64,
    log: bool,
}

/// Factor from which on values are drawn in powers of ten.
const LOG_SPAN: f64 = 100.0;

/// Most powers of ten that an axis shows below its highest: with more, a beginner's scores would take the space of
/// what was learned.
const MAX_DECADES: i32 = 5;

/// Number of powers of ten below which an axis has ticks between them.
const MAX_FINE_DECADES: i32 = 3;

impl Axis {
    /// An axis from the smallest value to the largest, with ticks at round numbers; at whole ones if all values are
    /// whole.
    pub(super) fn tight(values: impl Iterator<Item = f64> + Clone, num_ticks: usize) -> Option<Self> {
        let (low, high) = range(values.clone())?;
        let (low, high) = if high > low { (low, high) } else { (low - 0.5, low + 0.5) };
        let mut step = nice_step((high - low) / num_ticks.max(1) as f64);
        if values.clone().all(|value| value.fract() == 0.0) {
            step = step.max(1.0);
        }
        let ticks = multiples(step, (low / step).ceil(), (high / step).floor());
        Some(Self { ticks, low, high, log: false })
    }

    /// An axis from a tick, or half way between two, to another around all values.
    pub(super) fn rounded(values: impl Iterator<Item = f64> + Clone, num_ticks: usize) -> Option<Self> {
        let (low, high) = range(values.clone())?;
        let smallest = values.filter(|&value| value > 0.0).fold(f64::INFINITY, f64::min);
        if high / smallest >= LOG_SPAN && low >= 0.0 {
            return Some(Self::powers_of_ten(smallest, high));
        }
        // Scores count from zero; only what falls below it moves the bottom.
        let low = low.min(0.0);
        let high = if high > low { high } else { low + 1.0 };
        let step = nice_step((high - low) / num_ticks.max(1) as f64);
        let (low, high) = ((2.0 * low / step).floor() * step / 2.0, (2.0 * high / step).ceil() * step / 2.0);
        let ticks = multiples(step, (low / step).ceil(), (high / step).floor());
        Some(Self { ticks, low, high, log: false })
    }

    fn powers_of_ten(smallest: f64, largest: f64) -> Self {
        let last = largest.log10().floor() as i32;
        let first = (smallest.log10().floor() as i32).max(last - MAX_DECADES);
        let (low, high) = (power_of_ten(first), nice_step(largest));
        // With few powers of ten, numbers between them too; in any case where the axis ends, above all values.
        let factors: &[f64] = if last - first < MAX_FINE_DECADES { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let of_decade = |exponent| factors.iter().map(move |factor| factor * power_of_ten(exponent));
        let mut ticks: Vec<f64> = (first..=last).flat_map(of_decade).filter(|tick| *tick < high).collect();
        ticks.push(high);
        Self { low, high, ticks, log: true }
    }

    /// Position of a value: 0 at the low end, 1 at the high end, clipped there.
    pub(super) fn position(&self, value: f64) -> f64 {
        let position = if self.log {
            (value.max(self.low) / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        position.clamp(0.0, 1.0)
    }
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `step`.
fn nice_step(step: f64) -> f64 {
    let magnitude = power_of_ten(step.log10().floor() as i32);
    // A hair of slack, so that 0.3 / 3 does not count as more than 0.1.
    let fits = |factor: &f64| factor * magnitude >= step * (1.0 - 1e-9);
    [1.0, 2.0, 5.0].into_iter().find(fits).unwrap_or(10.0) * magnitude
}

/// A power of ten, by its digits, because a product of tens below one is not the nearest number.
fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().expect("a number")
}

fn multiples(step: f64, first: f64, last: f64) -> Vec<f64> {
    // Adding 0 turns -0 into 0.
    (first as i64..=last as i64).map(|n| n as f64 * step + 0.0).collect()
}

/// A tick as text: `12,500`, `0.05`.
pub(super) fn label(value: f64) -> String {
    // Ticks are round, so ten digits show all of them, and the last bits of a sum do not.
    let digits = format!("{:.10}", value.abs());
    let (whole, fraction) = digits.split_once('.').expect("a decimal point");
    let mut text = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    let fraction = fraction.trim_end_matches('0');
    if !fraction.is_empty() {
        text = format!("{text}.{fraction}");
    }
    if value < 0.0 { format!("-{text}") } else { text }
}
