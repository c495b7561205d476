//! The fingerprint of behaviour: one number over fixed games, observations, rewards, placements and features of every preset.
//!
//! [`BEHAVIOUR`] changes only on purpose, and the commit gives the reason: games that are played again, and
//! published numbers, may differ from then on. Other tests say what is right; the fingerprint says that nothing has moved.

use tetrion_core::agents::Kernel;
use tetrion_core::engine::rng::{below, mix};
use tetrion_core::engine::{PRESETS, Rules};
use tetrion_core::env::{AutoresetMode, EnvBatch, EnvConfig, FIELDS, Field, Seeding};
use tetrion_core::features::{FEATURES, Feature, FeatureSet};
use tetrion_core::placements::{Options, Placements, Position, enumerate_with};
use xxhash_rust::xxh3::Xxh3;

use super::games::AgentGames;

/// The fingerprint of every kernel.
pub const BEHAVIOUR: u64 = 0x846c_eea2_13f5_54f8;

/// Environments of each preset, their steps, and pieces of each player's game.
const NUM_ENVS: u32 = 8;
const STEPS: u64 = 64;
const PIECES: u64 = 64;

/// The fingerprint of a kernel.
///
/// # Panics
/// If this machine does not support the kernel.
pub fn behaviour_of(kernel: Kernel) -> u64 {
    let mut seen = Xxh3::new();
    for preset in &PRESETS {
        seen.update(preset.name.as_bytes());
        play_environments(kernel, preset.rules, &mut seen);
    }
    for games in AgentGames::all() {
        seen.update(games.name.as_bytes());
        let game = games.play_one(kernel, 1, PIECES).game;
        seen.update(game.playfield.to_string().as_bytes());
        seen.update(format!("{} {} {}", game.pieces, game.lines, game.score).as_bytes());
    }
    seen.digest()
}

/// Steps environments with random actions that exist, and lists all placements with all features now and then.
fn play_environments(kernel: Kernel, rules: Rules, seen: &mut Xxh3) {
    let config = EnvConfig {
        rules,
        num_envs: NUM_ENVS,
        autoreset_mode: AutoresetMode::SameStep,
        ..EnvConfig::default()
    };
    let mut batch = EnvBatch::new(config, &Seeding::Seed(42)).expect("rules that can be played");
    batch.reset(None, None).expect("all environments may begin");
    let names: Vec<String> = FEATURES.iter().flat_map(|feature| names_of(feature, rules.width)).collect();
    let features = FeatureSet::custom(&names, rules.width).expect("all features");
    let mut bytes = Vec::new();
    for step in 0..STEPS {
        bytes.clear();
        batch.observe(Field::ActionMask, None, &mut bytes);
        let num_actions = bytes.len() / NUM_ENVS as usize;
        let random_action = |(env, mask): (usize, &[u8])| {
            let exist: Vec<usize> = (0..num_actions).filter(|&action| mask[action] != 0).collect();
            exist[below(mix(step * u64::from(NUM_ENVS) + env as u64), exist.len() as u64) as usize] as i32
        };
        let actions: Vec<i32> = bytes.chunks(num_actions).enumerate().map(random_action).collect();
        let stepped = batch.step(&actions, None).expect("actions that exist");
        for info in FIELDS.iter().filter(|info| info.field.is_of(&rules) && info.field != Field::Regret) {
            batch.observe(info.field, None, &mut bytes);
            batch.observe_finals(info.field, &stepped.finals, &mut bytes);
        }
        seen.update(&bytes);
        stepped.rewards.iter().for_each(|reward| seen.update(&reward.to_le_bytes()));
        stepped.terminated.iter().for_each(|&ended| seen.update(&[ended.into()]));
        if step % 8 == 0 {
            let positions = (0..NUM_ENVS).map(|env_id| position(&batch, env_id));
            let positions: Vec<Position> = positions.collect();
            let all = enumerate_with(kernel, &rules, &positions, Some(&features), Options::default());
            add_placements(&all, seen);
        }
    }
}

/// The names of a feature, or of all features of a family.
fn names_of(feature: &Feature, width: u8) -> Vec<String> {
    match feature.family_size(width) {
        None => vec![feature.name.to_owned()],
        Some(size) => (0..size).map(|index| format!("{}[{index}]", feature.name)).collect(),
    }
}

fn position(batch: &EnvBatch, env_id: u32) -> Position {
    Position {
        chain: batch.chain(env_id),
        falling: batch.falling(env_id),
        ..Position::of(batch.playfield(env_id), batch.hand(env_id)).with_garbage(batch.incoming(env_id))
    }
}

fn add_placements(all: &Placements, seen: &mut Xxh3) {
    let Placements { row_offsets, actions, placements, features, rewards, lines, terminated, .. } = all;
    row_offsets.iter().for_each(|offset| seen.update(&offset.to_le_bytes()));
    actions.iter().chain(placements).for_each(|number| seen.update(&number.to_le_bytes()));
    features.iter().chain(rewards).for_each(|number| seen.update(&number.to_le_bytes()));
    for column in [lines, &all.spins, &all.attacks] {
        seen.update(column);
    }
    terminated.iter().chain(&all.holds).for_each(|&flag| seen.update(&[flag.into()]));
}
