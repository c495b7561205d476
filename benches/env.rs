//! What a step of many environments costs, by itself and with what a client wants to see.
//!
//! Actions are random placements; choosing them is in the time that is measured, a few nanoseconds each. Episodes that end
//! begin again in the same step, about every 25 pieces. Figures are environment steps: `cargo bench --bench env`.

use divan::counter::ItemsCount;
use tetrion::engine::rng::{below, mix};
use tetrion::engine::{Playfield, Rules, Tetromino, placements};
use tetrion::env::{AutoresetMode, EnvBatch, EnvConfig, Episodes, Field, Seeding, StepOutcome};
use tetrion::features::FeatureSet;

fn main() {
    divan::main();
}

const NUM_ENVS: [u32; 3] = [1, 256, 4096];

struct Player {
    batch: EnvBatch,
    /// By tetromino.
    placements: [Vec<i32>; 7],
    drawn: u64,
}

impl Player {
    fn new(rules: Rules, num_envs: u32) -> Player {
        let config = EnvConfig {
            rules,
            num_envs,
            autoreset_mode: AutoresetMode::SameStep,
            features: Some(FeatureSet::named("bcts8", rules.width).unwrap()),
            ..EnvConfig::default()
        };
        let mut batch = EnvBatch::new(config, &Seeding::Session(42)).unwrap();
        batch.reset(None, Episodes::Next).unwrap();
        let empty = Playfield::empty(rules.width, rules.height);
        let actions = |piece| {
            let all = placements(&rules, &empty, piece);
            all.iter().map(|placement| placement.action(rules.width) as i32).collect()
        };
        let mut player = Player { batch, placements: Tetromino::ALL.map(actions), drawn: 0 };
        for _ in 0..100 {
            player.step();
        }
        player
    }

    fn step(&mut self) -> StepOutcome {
        let mut pieces = Vec::new();
        self.batch.observe(Field::Current, None, &mut pieces);
        let random_placement = |&piece: &u8| {
            self.drawn += 1;
            let placements = &self.placements[usize::from(piece)];
            placements[below(mix(self.drawn), placements.len() as u64) as usize]
        };
        let actions: Vec<i32> = pieces.iter().map(random_placement).collect();
        self.batch.step(&actions, None).unwrap()
    }

    fn see(&self, field: Field) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.batch.observe(field, None, &mut bytes);
        bytes
    }
}

fn bench<const F: usize>(bencher: divan::Bencher<'_, '_>, rules: Rules, num_envs: u32, fields: [Field; F]) {
    let mut player = Player::new(rules, num_envs);
    bencher
        .counter(ItemsCount::new(num_envs))
        .bench_local(|| (player.step(), fields.map(|field| player.see(field))));
}

#[divan::bench(args = NUM_ENVS)]
fn step(bencher: divan::Bencher<'_, '_>, num_envs: u32) {
    bench(bencher, Rules::default(), num_envs, []);
}

#[divan::bench(args = NUM_ENVS)]
fn step_and_board(bencher: divan::Bencher<'_, '_>, num_envs: u32) {
    bench(bencher, Rules::default(), num_envs, [Field::Board]);
}

#[divan::bench(args = NUM_ENVS)]
fn step_and_board_bits(bencher: divan::Bencher<'_, '_>, num_envs: u32) {
    bench(bencher, Rules::default(), num_envs, [Field::BoardBits]);
}

#[divan::bench(args = NUM_ENVS)]
fn step_and_mask(bencher: divan::Bencher<'_, '_>, num_envs: u32) {
    bench(bencher, Rules::default(), num_envs, [Field::ActionMask]);
}

#[divan::bench(args = NUM_ENVS)]
fn step_and_infos(bencher: divan::Bencher<'_, '_>, num_envs: u32) {
    bench(bencher, Rules::default(), num_envs, Field::INFOS);
}

#[divan::bench(args = NUM_ENVS)]
fn step_and_features(bencher: divan::Bencher<'_, '_>, num_envs: u32) {
    bench(bencher, Rules::default(), num_envs, [Field::Features]);
}

/// Wider than the compact playfield: columns of 64 bits.
#[divan::bench(args = [4096])]
fn step_and_board_32x40(bencher: divan::Bencher<'_, '_>, num_envs: u32) {
    bench(bencher, Rules::simplified(32, 40), num_envs, [Field::Board]);
}
