//! Multilayer perceptrons: they compute a number from features, in float32 with a defined order of operations. The
//! first hidden layer may also read the tables of an n-tuple network.
//!
//! The message `Mlp` of the protocol defines every sum and every activation, so that a client can compute the same
//! bits. Only operations that IEEE 754 defines exactly are used: sums, products, quotients, comparisons.
//!
//! Several rows of features go through the network in parallel, one per lane, and a few units at a time. The order of a
//! sum does not depend on the number of lanes.

use super::n_tuple::{LANES, NTuple, SideBySide, TUPLES};
use crate::engine::{Column, PlayfieldOf};

/// The shape of a network over some features, without its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mlp {
    /// Units of each hidden layer.
    pub hidden: Vec<u32>,
    /// Activation of the hidden units.
    pub activation: Activation,
    /// Tables whose entries are vectors with one number per unit of the first hidden layer. Each unit adds its number
    /// to its sum.
    pub tables: Option<NTuple>,
}

/// Function that a hidden unit applies to its sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activation {
    /// x if positive, else 0.
    #[default]
    Relu,
    /// x if positive, else a hundredth of x.
    LeakyRelu,
    /// x, clipped to -1 and 1.
    HardTanh,
    /// `x / (1 + |x|)`.
    Softsign,
    /// `x * r / 6`, where r is x + 3, clipped to 0 and 6.
    HardSwish,
    /// A quotient of polynomials that differs from tanh by 4.2e-7 at most.
    Tanh,
}

/// Number of units of a layer that are summed in parallel.
const UNITS: usize = 4;
/// Number of units that are summed in parallel if tables are read, whose entries are already vectors.
const TABLE_UNITS: usize = 16;
/// Number of rows whose table sums are computed in parallel; divides [`LANES`].
const TABLE_LANES: usize = 4;

/// From here on the float32 that is nearest to tanh is 1.
const TANH_LIMIT: f32 = 7.905_311;
/// The polynomials in x * x whose quotient, times x, is tanh; the highest power first. Eigen and XLA compute tanh with them.
/// `libm` has another tanh, which calls exp: NumPy could not repeat its bits, and it has no lanes.
const TANH_NUMERATOR: [f32; 7] = [
    -2.760_768_4e-16,
    2.000_188e-13,
    -8.604_672e-11,
    5.122_297_3e-8,
    1.485_722_35e-5,
    6.372_619_5e-4,
    4.893_524_6e-3,
];
const TANH_DENOMINATOR: [f32; 4] = [1.198_258_4e-6, 1.185_347_1e-4, 2.268_434_7e-3, 4.893_525e-3];

impl Mlp {
    /// Number of parameters for this many features: those of the network, then the tables.
    pub fn num_parameters(&self, num_features: usize) -> usize {
        let tables = self.tables.as_ref().map_or(0, |tables| tables.num_entries() * self.entry_len());
        self.num_weights(num_features) + tables
    }

    /// Numbers per entry of a table.
    pub fn entry_len(&self) -> usize {
        self.hidden.first().map_or(1, |&units| units as usize)
    }

    /// Number of parameters of the network without its tables: weights and biases.
    pub fn num_weights(&self, num_features: usize) -> usize {
        let inputs = [num_features].into_iter().chain(self.layers());
        inputs.zip(self.layers()).map(|(inputs, units)| (inputs + 1) * units).sum()
    }

    /// Number of units of each layer, including the output.
    fn layers(&self) -> impl Iterator<Item = usize> + '_ {
        self.hidden.iter().map(|&units| units as usize).chain([1])
    }

    /// Appends the output for each row of features and its afterstate. Only tables read the afterstate.
    #[inline(always)]
    pub(super) fn append_outputs<C: Column, const M: usize>(
        &self,
        parameters: &[f32],
        num_features: usize,
        rows: &[f32],
        afterstates: impl Iterator<Item = PlayfieldOf<C, M>>,
        out: &mut Vec<f32>,
    ) {
        // A single row cannot fill other lanes. Tables are always looked up for all lanes.
        if rows.len() == num_features && self.tables.is_none() {
            self.append_blocks::<C, M, 1>(parameters, num_features, rows, afterstates, out);
        } else {
            self.append_blocks::<C, M, LANES>(parameters, num_features, rows, afterstates, out);
        }
    }

    /// Appends the outputs of rows, `N` rows at a time.
    #[inline(always)]
    fn append_blocks<C: Column, const M: usize, const N: usize>(
        &self,
        parameters: &[f32],
        num_features: usize,
        rows: &[f32],
        mut afterstates: impl Iterator<Item = PlayfieldOf<C, M>>,
        out: &mut Vec<f32>,
    ) {
        let (parameters, tables) = parameters.split_at(self.num_weights(num_features));
        let widest = self.layers().fold(num_features, usize::max);
        let (mut inputs, mut sums) = (vec![[0.0; N]; widest], vec![[0.0; N]; widest]);
        for block in rows.chunks(N * num_features) {
            let lanes = block.len() / num_features;
            // The compiler knows the number of lanes, and leaves out the tables for a single row.
            let n_tuple = if N == LANES { self.tables.as_ref() } else { None };
            if n_tuple.is_none() {
                for (lane, row) in block.chunks_exact(num_features).enumerate() {
                    for (input, value) in inputs.iter_mut().zip(row) {
                        input[lane] = *value;
                    }
                }
            }
            let (mut num_inputs, mut rest) = (num_features, parameters);
            for (number, units) in self.layers().enumerate() {
                let (matrix, behind) = rest.split_at(num_inputs * units);
                let (biases, behind) = behind.split_at(units);
                let sums_of_layer = &mut sums[..units];
                match n_tuple.filter(|_| number == 0) {
                    Some(n_tuple) => {
                        let (seen, _) = SideBySide::<C, M>::next(&mut afterstates);
                        let mut room = [[0; LANES]; TUPLES];
                        let mut first = 0;
                        // At least once, because the features count even without tuples.
                        while first == 0 || first < n_tuple.tuples().len() {
                            let entries = n_tuple.look_up(&seen, first, &mut room);
                            let looked_up = LookedUp { begun: first > 0, entries, tables };
                            add_up_tables(block, matrix, biases, looked_up, sums_of_layer);
                            first += TUPLES;
                        }
                    }
                    None => add_up(&inputs[..num_inputs], matrix, biases, sums_of_layer),
                }
                if number < self.hidden.len() {
                    self.activation.apply(sums[..units].as_flattened_mut());
                }
                std::mem::swap(&mut inputs, &mut sums);
                (num_inputs, rest) = (units, behind);
            }
            out.extend_from_slice(&inputs[0][..lanes]);
        }
    }
}

/// The sums of a layer: biases, then input times weight.
#[inline(always)]
fn add_up<const N: usize>(inputs: &[[f32; N]], matrix: &[f32], biases: &[f32], sums: &mut [[f32; N]]) {
    let mut first = 0;
    while first + UNITS <= sums.len() {
        add_up_some::<N, UNITS>(inputs, matrix, biases, first, sums);
        first += UNITS;
    }
    while first < sums.len() {
        add_up_some::<N, 1>(inputs, matrix, biases, first, sums);
        first += 1;
    }
}

/// The sums of some units of a layer, kept in registers.
#[inline(always)]
fn add_up_some<const N: usize, const U: usize>(
    inputs: &[[f32; N]],
    matrix: &[f32],
    biases: &[f32],
    first: usize,
    sums: &mut [[f32; N]],
) {
    let mut some = [[0.0; N]; U];
    for (sum, bias) in some.iter_mut().zip(&biases[first..]) {
        *sum = [*bias; N];
    }
    for (input, weights) in inputs.iter().zip(matrix.chunks_exact(biases.len())) {
        let weights = &weights[first..first + U];
        for (sum, weight) in some.iter_mut().zip(weights) {
            *sum = plus_product(*sum, input, *weight);
        }
    }
    sums[first..first + U].copy_from_slice(&some);
}

/// Adds a product in each lane. A separate loop over the lanes, because compilers vectorize it more reliably than
/// nested loops.
#[inline(always)]
fn plus_product<const N: usize>(mut sum: [f32; N], input: &[f32; N], weight: f32) -> [f32; N] {
    for (sum, input) in sum.iter_mut().zip(input) {
        *sum += input * weight;
    }
    sum
}

/// The table entries that some tuples look up.
#[derive(Clone, Copy)]
struct LookedUp<'a> {
    /// Whether the sums already include earlier tuples.
    begun: bool,
    /// One row per tuple, with an index per lane.
    entries: &'a [[u32; LANES]],
    /// All entries, with one number per unit.
    tables: &'a [f32],
}

/// The sums of a first layer that reads tables: biases, then input times weight, then the entries that each lane looks
/// up, one vector per tuple. If the sums have begun, only adds the entries.
///
/// Here the units are adjacent, as in an entry, because each lane looks up different entries.
#[inline(always)]
fn add_up_tables<const N: usize>(
    rows: &[f32],
    matrix: &[f32],
    biases: &[f32],
    looked_up: LookedUp<'_>,
    sums: &mut [[f32; N]],
) {
    let mut first = 0;
    while first + TABLE_UNITS <= sums.len() {
        add_up_some_tables::<N, TABLE_UNITS>(rows, matrix, biases, looked_up, first, sums);
        first += TABLE_UNITS;
    }
    while first + UNITS <= sums.len() {
        add_up_some_tables::<N, UNITS>(rows, matrix, biases, looked_up, first, sums);
        first += UNITS;
    }
    while first < sums.len() {
        add_up_some_tables::<N, 1>(rows, matrix, biases, looked_up, first, sums);
        first += 1;
    }
}

/// The sums of some units of a first layer with tables, kept in registers, for a few lanes at a time. While one sum
/// waits for its last addition, the others proceed.
#[inline(always)]
fn add_up_some_tables<const N: usize, const U: usize>(
    rows: &[f32],
    matrix: &[f32],
    biases: &[f32],
    looked_up: LookedUp<'_>,
    first: usize,
    sums: &mut [[f32; N]],
) {
    let units = biases.len();
    let num_features = matrix.len() / units;
    let lanes = rows.len() / num_features;
    let mut lane = 0;
    while lane < lanes {
        let mut some = [[0.0; U]; TABLE_LANES];
        let mut inputs = [&rows[..num_features]; TABLE_LANES];
        for (beside, (sum, input)) in some.iter_mut().zip(&mut inputs).enumerate() {
            // Lanes beyond the last one are summed too, and ignored.
            let at = (lane + beside).min(lanes - 1);
            *input = &rows[at * num_features..][..num_features];
            sum.copy_from_slice(&biases[first..first + U]);
            if looked_up.begun {
                for (sum, sums) in sum.iter_mut().zip(&sums[first..first + U]) {
                    *sum = sums[at];
                }
            }
        }
        if !looked_up.begun {
            for (number, weights) in matrix.chunks_exact(units).enumerate() {
                let weights = &weights[first..first + U];
                for (sum, input) in some.iter_mut().zip(&inputs) {
                    *sum = plus_row(*sum, input[number], weights);
                }
            }
        }
        for entries in looked_up.entries {
            for (sum, entry) in some.iter_mut().zip(&entries[lane..lane + TABLE_LANES]) {
                *sum = plus_entry(*sum, &looked_up.tables[*entry as usize * units + first..][..U]);
            }
        }
        for (beside, sum) in some.iter().enumerate().take(lanes - lane) {
            for (sums, sum) in sums[first..first + U].iter_mut().zip(sum) {
                sums[lane + beside] = *sum;
            }
        }
        lane += TABLE_LANES;
    }
}

/// Adds input times weight to the sum of each unit. A separate loop, like [`plus_product`].
#[inline(always)]
fn plus_row<const U: usize>(mut sum: [f32; U], input: f32, weights: &[f32]) -> [f32; U] {
    for (sum, weight) in sum.iter_mut().zip(weights) {
        *sum += input * weight;
    }
    sum
}

/// Adds the numbers of an entry to the units' sums. A separate loop, like [`plus_product`].
#[inline(always)]
fn plus_entry<const U: usize>(mut sum: [f32; U], entry: &[f32]) -> [f32; U] {
    for (sum, number) in sum.iter_mut().zip(entry) {
        *sum += number;
    }
    sum
}

impl Activation {
    #[inline(always)]
    fn apply(self, sums: &mut [f32]) {
        #[inline(always)]
        fn each(sums: &mut [f32], activation: impl Fn(f32) -> f32) {
            for sum in sums {
                *sum = activation(*sum);
            }
        }
        match self {
            Activation::Relu => each(sums, |x| if x > 0.0 { x } else { 0.0 }),
            Activation::LeakyRelu => each(sums, |x| if x > 0.0 { x } else { x * 0.01 }),
            Activation::HardTanh => each(sums, |x| cut(x, -1.0, 1.0)),
            Activation::Softsign => each(sums, |x| x / (1.0 + x.abs())),
            Activation::HardSwish => each(sums, |x| x * cut(x + 3.0, 0.0, 6.0) / 6.0),
            Activation::Tanh => each(sums, tanh),
        }
    }
}

#[inline(always)]
fn tanh(x: f32) -> f32 {
    let x = cut(x, -TANH_LIMIT, TANH_LIMIT);
    let square = x * x;
    let polynomial = |terms: &[f32]| terms.iter().fold(0.0, |sum, term| sum * square + term);
    x * polynomial(&TANH_NUMERATOR) / polynomial(&TANH_DENOMINATOR)
}

/// Clips a number at both ends. NaN stays NaN.
#[inline(always)]
fn cut(x: f32, least: f32, most: f32) -> f32 {
    if x > most {
        most
    } else if x < least {
        least
    } else {
        x
    }
}
