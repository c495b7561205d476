//! Random placements and random key presses: in the bare engine, and in environments.

use std::hint::black_box;

use tetrion_core::engine::rng::{Tag, below, mix, stream, stream_word};
use tetrion_core::engine::{
    ActionModel, CompactPlayfield, Dealer, Key, Playfield, Rules, Tetromino, drops,
    every_choice_always_exists, place, placements,
};
use tetrion_core::env::{AutoresetMode, EnvBatch, EnvConfig, Field, Seeding, StepOutcome};
use tetrion_core::features::FeatureSet;

/// Games of random placements in the bare engine: deal, choose, drop, clear, and restart at the end.
#[derive(Clone, Debug)]
pub struct RandomPlacements {
    rules: Rules,
    dealer: Dealer,
    playfield: CompactPlayfield,
    placed: u64,
}

impl Default for RandomPlacements {
    fn default() -> RandomPlacements {
        let rules = Rules::default();
        RandomPlacements {
            rules,
            dealer: rules.dealer(1),
            playfield: CompactPlayfield::empty(rules.width, rules.height),
            placed: 0,
        }
    }
}

impl RandomPlacements {
    /// Makes this many placements and returns their number, the work that was done.
    pub fn place(&mut self, count: u64) -> u64 {
        let RandomPlacements { rules, dealer, playfield, placed } = self;
        let words = stream(1, Tag::Agent);
        for n in *placed..*placed + count {
            let piece = dealer.deal().expect("a seed deals for ever");
            let all = drops(rules, playfield, piece);
            let nth = below(stream_word(words, n), all.len().into()) as u32;
            let placement = all.nth(nth).expect("one of those there are");
            if place(rules, playfield, piece, placement).terminal {
                *playfield = CompactPlayfield::empty(rules.width, rules.height);
            }
        }
        *placed += count;
        black_box(&*playfield);
        count
    }
}

/// Environments stepped with random actions; ended episodes restart in the same step.
///
/// Choosing the actions is part of the work: a few nanoseconds each, or a list of all placements if they depend on the
/// playfield.
#[derive(Debug)]
pub struct Stepper {
    batch: EnvBatch,
    /// Choices per tetromino, or all keys in the keypress model; `None` if the placements depend on the playfield.
    choices: Option<[Vec<i32>; 7]>,
    drawn: u64,
    // Buffers of the last step, reused.
    pieces: Vec<u8>,
    actions: Vec<i32>,
    outcome: StepOutcome,
}

impl Stepper {
    /// Environments in the middle of their games.
    ///
    /// # Panics
    /// If there are no environments under these rules.
    pub fn new(rules: Rules, num_envs: u32) -> Stepper {
        let config = EnvConfig {
            rules,
            num_envs,
            autoreset_mode: AutoresetMode::SameStep,
            features: FeatureSet::named("bcts8", rules.width).ok(),
            ..EnvConfig::default()
        };
        let mut batch = EnvBatch::new(config, &Seeding::Seed(42)).expect("rules that can be played");
        batch.reset(None, None).expect("all environments may begin");
        let empty = Playfield::empty(rules.width, rules.height);
        let choices = |piece: Tetromino| match rules.action_model {
            ActionModel::Placement => {
                let all = placements(&rules, &empty, piece);
                all.iter().map(|placement| placement.action(&rules) as i32).collect()
            }
            // Keys that can be pressed at any time.
            ActionModel::Keypress => {
                let is_always = |key: &&Key| !matches!(key, Key::TurnHalf | Key::Hold);
                rules.keys().iter().filter(is_always).map(|key| *key as i32).collect()
            }
        };
        let are_known = rules.action_model == ActionModel::Keypress || every_choice_always_exists(&rules);
        let mut stepper = Stepper {
            batch,
            choices: are_known.then(|| Tetromino::ALL.map(choices)),
            drawn: 0,
            pieces: Vec::new(),
            actions: Vec::new(),
            outcome: StepOutcome::default(),
        };
        for _ in 0..100 {
            stepper.step();
        }
        stepper
    }

    /// Steps every environment once, with random actions that exist.
    pub fn step(&mut self) {
        let Stepper { batch, choices, drawn, pieces, actions, outcome } = self;
        let mut draw = |count: usize| {
            *drawn += 1;
            below(mix(*drawn), count as u64) as usize
        };
        actions.clear();
        if let Some(choices) = choices {
            pieces.clear();
            batch.observe(Field::Current, None, pieces);
            let choices = pieces.iter().map(|&piece| &choices[usize::from(piece)]);
            actions.extend(choices.map(|choices| choices[draw(choices.len())]));
        } else {
            let rules = batch.config().rules;
            let random_action = |env_id| {
                let hand = batch.hand(env_id).expect("a running episode");
                let all = hand.placements(&rules.after(batch.chain(env_id)), &batch.playfield(env_id));
                all[draw(all.len())].1.action(&rules) as i32
            };
            actions.extend((0..batch.config().num_envs).map(random_action));
        }
        batch.step_into(actions, None, outcome).expect("actions that exist");
        black_box(&*outcome);
    }
}
