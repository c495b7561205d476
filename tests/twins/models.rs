//! Models beside a weighted sum, as the protocol's comments define them: one number after the other.

use super::playfield::TwinPlayfield;

/// A model without its parameters.
#[derive(Clone, Debug)]
pub enum TwinModel {
    /// Units of each hidden layer, what they do with their sum, and the patterns that the first of them reads, if any.
    Mlp(Vec<usize>, &'static str, Vec<TwinTuple>),
    /// The patterns of an n-tuple network over the afterstate.
    NTuple(Vec<TwinTuple>),
}

/// A pattern of digits that an n-tuple network reads.
#[derive(Clone, Debug)]
pub struct TwinTuple {
    /// `steps`, `heights` or `cells`.
    pub kind: &'static str,
    /// Columns, or numbers of cells, at which digits are read.
    pub positions: Vec<usize>,
    /// Where they are cut off; 0 for cells.
    pub clip: i64,
    /// The tuple whose table it looks up, if it is not its own.
    pub shares: Option<usize>,
}

impl TwinModel {
    /// How many parameters it has beside some features.
    pub fn num_parameters(&self, num_features: usize) -> usize {
        match self {
            TwinModel::Mlp(hidden, _, tuples) => {
                let (mut inputs, mut total) = (num_features, 0);
                for units in hidden.iter().chain(&[1]) {
                    total += inputs * units + units;
                    inputs = *units;
                }
                total + num_entries(tuples) * hidden[0]
            }
            TwinModel::NTuple(tuples) => num_entries(tuples),
        }
    }

    /// What it adds to the score of a landing.
    pub fn output(&self, parameters: &[f32], features: &[f64], afterstate: &TwinPlayfield) -> f32 {
        let output = match self {
            TwinModel::Mlp(hidden, activation, tuples) => {
                let entries = entries(tuples, afterstate);
                let tables = parameters.len() - num_entries(tuples) * hidden[0];
                let (weights, tables) = parameters.split_at(tables);
                let added = |unit: usize| -> Vec<f32> {
                    entries.iter().map(|entry| tables[entry * hidden[0] + unit]).collect()
                };
                network(hidden, activation, weights, features, added)
            }
            TwinModel::NTuple(tuples) => {
                let mut sum = 0.0;
                for entry in entries(tuples, afterstate) {
                    sum += parameters[entry];
                }
                sum
            }
        };
        if output.is_finite() { output } else { -3.402_823_5e38 }
    }
}

/// The entries of all tables of their own.
fn num_entries(tuples: &[TwinTuple]) -> usize {
    tuples.iter().filter(|tuple| tuple.shares.is_none()).map(TwinTuple::num_entries).sum()
}

/// What each tuple looks up, among the entries of all tables.
fn entries(tuples: &[TwinTuple], afterstate: &TwinPlayfield) -> Vec<usize> {
    let look_up = |(number, tuple): (usize, &TwinTuple)| {
        let owner = tuple.shares.unwrap_or(number);
        num_entries(&tuples[..owner]) + tuple.entry(afterstate)
    };
    tuples.iter().enumerate().map(look_up).collect()
}

fn network(
    hidden: &[usize],
    activation: &str,
    parameters: &[f32],
    features: &[f64],
    added: impl Fn(usize) -> Vec<f32>,
) -> f32 {
    let mut numbers = parameters.iter().copied();
    let mut x: Vec<f32> = features.iter().map(|feature| *feature as f32).collect();
    for layer in 0..=hidden.len() {
        let units = *hidden.get(layer).unwrap_or(&1);
        let matrix: Vec<Vec<f32>> = x.iter().map(|_| numbers.by_ref().take(units).collect()).collect();
        let biases: Vec<f32> = numbers.by_ref().take(units).collect();
        let mut y = Vec::new();
        for unit in 0..units {
            let mut sum = biases[unit];
            for (input, weights) in x.iter().zip(&matrix) {
                sum += input * weights[unit];
            }
            if layer == 0 {
                for number in added(unit) {
                    sum += number;
                }
            }
            y.push(if layer < hidden.len() { activated(activation, sum) } else { sum });
        }
        x = y;
    }
    assert_eq!((x.len(), numbers.next()), (1, None), "one output, and every parameter used");
    x[0]
}

fn activated(activation: &str, x: f32) -> f32 {
    match activation {
        "relu" if x > 0.0 => x,
        "relu" => 0.0,
        "leaky_relu" if x > 0.0 => x,
        "leaky_relu" => x * 0.01,
        "hard_tanh" if x > 1.0 => 1.0,
        "hard_tanh" if x < -1.0 => -1.0,
        "hard_tanh" => x,
        "softsign" => x / (1.0 + x.abs()),
        "hard_swish" if x + 3.0 > 6.0 => x * 6.0 / 6.0,
        "hard_swish" if x + 3.0 < 0.0 => x * 0.0 / 6.0,
        "hard_swish" => x * (x + 3.0) / 6.0,
        "tanh" => {
            let y = x.clamp(-7.905_311, 7.905_311);
            let s = y * y;
            let mut p = -2.760_768_4e-16_f32 * s + 2.000_188e-13;
            p = p * s - 8.604_672e-11;
            p = p * s + 5.122_297_3e-8;
            p = p * s + 1.485_722_35e-5;
            p = p * s + 6.372_619_5e-4;
            p = p * s + 4.893_524_6e-3;
            let mut q = 1.198_258_4e-6_f32 * s + 1.185_347_1e-4;
            q = q * s + 2.268_434_7e-3;
            q = q * s + 4.893_525e-3;
            y * p / q
        }
        _ => panic!("no activation {activation}"),
    }
}

impl TwinTuple {
    fn base(&self) -> usize {
        match self.kind {
            "steps" => 2 * self.clip as usize + 1,
            "heights" => self.clip as usize + 1,
            "cells" => 2,
            _ => panic!("no kind {}", self.kind),
        }
    }

    fn num_entries(&self) -> usize {
        self.positions.iter().map(|_| self.base()).product()
    }

    fn entry(&self, playfield: &TwinPlayfield) -> usize {
        let height = |column: usize| {
            let rows = 0..playfield.height();
            rows.rev().find(|&row| playfield.is_full(row, column)).map_or(0, |row| row as i64 + 1)
        };
        let digit = |position: usize| match self.kind {
            "steps" => {
                let step = height(position + 1) - height(position);
                step.max(-self.clip).min(self.clip) + self.clip
            }
            "heights" => height(position).min(self.clip),
            _ => {
                let (row, column) = (position / playfield.width(), position % playfield.width());
                playfield.is_full(row, column).into()
            }
        };
        // The last position counts one, the one before it as much as a digit has values, and so on.
        let mut worth = 1;
        let mut entry = 0;
        for &position in self.positions.iter().rev() {
            entry += worth * digit(position) as usize;
            worth *= self.base();
        }
        entry
    }
}
