//! What a step of many environments costs, by itself and with what a client wants to see.
//!
//! Actions are random placements, or random keys; choosing them is in the time that is measured, a few nanoseconds each.
//! Episodes that end begin again in the same step, about every 25 pieces. Figures are environment steps, so key presses where
//! a step is one: `cargo bench --bench env`.

use divan::counter::ItemsCount;
use tetrion::engine::Rules;
use tetrion::env::{Field, Role};
use tetrion::workloads::Stepper;

fn main() {
    divan::main();
}

const NUM_ENVS: [u32; 3] = [1, 256, 4096];

fn bench(bencher: divan::Bencher<'_, '_>, rules: Rules, num_envs: u32, fields: &[Field]) {
    let mut stepper = Stepper::new(rules, num_envs).unwrap();
    bencher.counter(ItemsCount::new(num_envs)).bench_local(|| {
        stepper.step();
        fields.iter().map(|field| stepper.see(*field).len()).sum::<usize>()
    });
}

#[divan::bench(args = NUM_ENVS)]
fn step(bencher: divan::Bencher<'_, '_>, num_envs: u32) {
    bench(bencher, Rules::default(), num_envs, &[]);
}

#[divan::bench(args = NUM_ENVS)]
fn step_and_board(bencher: divan::Bencher<'_, '_>, num_envs: u32) {
    bench(bencher, Rules::default(), num_envs, &[Field::Board]);
}

#[divan::bench(args = NUM_ENVS)]
fn step_and_board_bits(bencher: divan::Bencher<'_, '_>, num_envs: u32) {
    bench(bencher, Rules::default(), num_envs, &[Field::BoardBits]);
}

#[divan::bench(args = NUM_ENVS)]
fn step_and_mask(bencher: divan::Bencher<'_, '_>, num_envs: u32) {
    bench(bencher, Rules::default(), num_envs, &[Field::ActionMask]);
}

#[divan::bench(args = NUM_ENVS)]
fn step_and_infos(bencher: divan::Bencher<'_, '_>, num_envs: u32) {
    bench(bencher, Rules::default(), num_envs, &Field::with_role(Role::Info).collect::<Vec<_>>());
}

#[divan::bench(args = NUM_ENVS)]
fn step_and_features(bencher: divan::Bencher<'_, '_>, num_envs: u32) {
    bench(bencher, Rules::default(), num_envs, &[Field::Features]);
}

/// Wider than the compact playfield: columns of 64 bits.
#[divan::bench(args = [4096])]
fn step_and_board_32x40(bencher: divan::Bencher<'_, '_>, num_envs: u32) {
    bench(bencher, Rules::simplified(32, 40), num_envs, &[Field::Board]);
}

#[divan::bench(args = NUM_ENVS)]
fn press(bencher: divan::Bencher<'_, '_>, num_envs: u32) {
    bench(bencher, Rules::preset("lab").unwrap(), num_envs, &[]);
}

#[divan::bench(args = NUM_ENVS)]
fn press_and_board_and_falling(bencher: divan::Bencher<'_, '_>, num_envs: u32) {
    bench(bencher, Rules::preset("lab").unwrap(), num_envs, &[Field::Board, Field::Falling]);
}

/// Keys on columns of 64 bits.
#[divan::bench(args = [4096])]
fn press_32x40(bencher: divan::Bencher<'_, '_>, num_envs: u32) {
    let rules = Rules { width: 32, height: 40, ..Rules::preset("lab").unwrap() };
    bench(bencher, rules, num_envs, &[]);
}
