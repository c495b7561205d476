//! The library's environments against the model: random calls, legal ones and others, in every mode and many sizes.

use tetrion_core::engine::{ActionModel, Garbage, Playfield, Randomizer, Rules, Scoring, TopOut};
use tetrion_core::env::{
    AutoresetMode, EnvBatch, EnvConfig, EnvIdError, EnvState, FIELDS, Field, InvalidActionPolicy,
    PositionError, ResetError, RestoreError, Restored, Seeding, StartPosition, StepOutcome,
};
use tetrion_core::features::FeatureSet;

use super::model::{self, Model, Stage, expected_ids, observations_and_infos, sequence};
use super::{Dice, see};
use tetrion_twins::{bag7_sequence, random_playfield, word};

const SIZES: [(u8, u8); 7] = [(10, 20), (5, 6), (4, 4), (16, 28), (17, 5), (6, 29), (32, 40)];
const MODES: [AutoresetMode; 3] = [AutoresetMode::NextStep, AutoresetMode::SameStep, AutoresetMode::Disabled];
const SEQUENCES: [&str; 3] = ["T", "IIOLJ", "SZSZSZTOLLJIITO"];

fn random_config(dice: &mut Dice) -> (EnvConfig, Seeding) {
    let (width, height) = SIZES[dice.below(SIZES.len())];
    let scoring = match dice.below(2) {
        0 => Scoring::LINES,
        _ => Scoring { piece: 0.1, lines: [1.0, 3.0, 5.5, 8.0], game_end: -2.5 },
    };
    let randomizer =
        [Randomizer::Uniform, Randomizer::Bag7, Randomizer::Balanced, Randomizer::Nes][dice.below(4)];
    let preview = dice.below(7) as u8;
    let top_out = [TopOut::TopRow, TopOut::Overflow, TopOut::SpawnBlocked, TopOut::AboveField][dice.below(4)];
    let rules = match dice.below(2) {
        0 => Rules::simplified(width, height),
        _ => Rules { width, height, top_out, ..Rules::preset("lab").unwrap() },
    };
    let garbage = match dice.below(3) {
        0 => Some(Garbage {
            lines_per_piece: [0.05, 0.3, 1.0, 1.5, 4.0][dice.below(5)],
            hole_move_chance: [0.0, 0.05, 0.5, 1.0][dice.below(4)],
            delay_pieces: dice.below(8) as u8,
            ..Garbage::DEFAULT
        }),
        _ => None,
    };
    let config = EnvConfig {
        rules: Rules { randomizer, scoring, preview, garbage, ..rules },
        num_envs: 1 + dice.below(5) as u32,
        autoreset_mode: MODES[dice.below(3)],
        invalid_action_policy: [
            InvalidActionPolicy::Reject,
            InvalidActionPolicy::Terminate,
            InvalidActionPolicy::Ignore { reward: -0.7 },
        ][dice.below(3)],
        max_episode_steps: [0, 0, 1, 7][dice.below(4)],
        values: None,
        features: match dice.below(4) {
            0 => Some(FeatureSet::named("bdu", width).unwrap()),
            1 => Some(
                FeatureSet::custom(&["lines_cleared", "holes_preclear", "column_height[2]"], width).unwrap(),
            ),
            _ => None,
        },
    };
    let seeding = match dice.below(4) {
        0 => Seeding::Seeds((0..config.num_envs).map(|_| dice.word()).collect()),
        1 => Seeding::from_pieces(vec![sequence(SEQUENCES[dice.below(3)])]),
        _ => Seeding::Seed(dice.word()),
    };
    (config, seeding)
}

/// Some environments in any order, now and then a list that is wrong.
fn random_ids(dice: &mut Dice, num_envs: u32) -> Option<Vec<u32>> {
    if dice.below(2) == 0 {
        return None;
    }
    let mut env_ids: Vec<u32> = (0..num_envs).collect();
    for i in (1..env_ids.len()).rev() {
        env_ids.swap(i, dice.below(i + 1));
    }
    env_ids.truncate(dice.below(env_ids.len() + 1));
    match dice.below(30) {
        0 => env_ids.push(dice.below(num_envs as usize) as u32),
        1 => env_ids.push(num_envs + dice.below(3) as u32),
        _ => {}
    }
    Some(env_ids)
}

#[track_caller]
fn check_everything(batch: &EnvBatch, models: &[Model], context: &str) {
    for field in FIELDS.iter().map(|info| info.field) {
        let expected: Vec<u8> = models.iter().flat_map(|model| model.see(field)).collect();
        assert_eq!(see(batch, field, None), expected, "{field:?}, {context}");
    }
}

#[track_caller]
fn check_restored(
    result: Result<(), RestoreError>,
    envs: Result<Vec<usize>, EnvIdError>,
    models: &mut [Model],
    reseed: Option<u64>,
    context: &str,
    restore: impl Fn(&mut Model, usize),
) {
    match envs {
        Ok(envs) => {
            assert_eq!(result, Ok(()), "{context}");
            for (row, &i) in envs.iter().enumerate() {
                restore(&mut models[i], row);
                if let Some(reseed) = reseed {
                    models[i].reseed(word(reseed, 5, row as u64));
                }
            }
        }
        Err(error) => assert_eq!(result, Err(RestoreError::EnvIds(error)), "{context}"),
    }
}

fn reported(outcome: &StepOutcome) -> (Vec<f32>, Vec<bool>, Vec<bool>, Vec<u32>) {
    let StepOutcome { rewards, terminated, truncated, finals } = outcome;
    (rewards.clone(), terminated.clone(), truncated.clone(), finals.rows().to_vec())
}

/// The outcome is reused from steps of other environments, of any size.
fn wander(seed: u64, outcome: &mut StepOutcome) {
    let mut dice = Dice::new(seed);
    let (config, seeding) = random_config(&mut dice);
    let mut batch = EnvBatch::new(config.clone(), &seeding).unwrap();
    let mut models = Model::batch(&config, &seeding);
    let mut saved: Vec<(Vec<u8>, Model)> = Vec::new();
    for call in 0..60 {
        let context = format!("seed {seed}, call {call}, {config:?}");
        let env_ids = random_ids(&mut dice, config.num_envs);
        let env_ids = env_ids.as_deref();
        let envs = expected_ids(&models, env_ids);
        let rows = envs.as_ref().map_or(1, Vec::len);
        if let (0, Some(i)) =
            (dice.below(8), models.iter().position(|model| model.stage != Stage::NotStarted))
        {
            saved.push((batch.state(i as u32).to_bytes(), models[i].clone()));
        }
        if !saved.is_empty() && dice.below(10) == 0 {
            let chosen: Vec<&(Vec<u8>, Model)> = (0..if dice.below(2) == 0 { 1 } else { rows })
                .map(|_| &saved[dice.below(saved.len())])
                .collect();
            let states: Vec<EnvState> =
                chosen.iter().map(|(bytes, _)| EnvState::from_bytes(bytes).unwrap()).collect();
            let reseed = (dice.below(2) == 0).then(|| dice.word());
            let result = batch.restore(env_ids, Restored::States(&states), reseed);
            check_restored(result, envs, &mut models, reseed, &context, |model, row| {
                model.restore(&chosen[row % chosen.len()].1);
            });
        } else if dice.below(20) == 0 {
            let drawing =
                random_playfield(config.rules.width.into(), config.rules.height.into(), dice.word());
            let letters = bag7_sequence(dice.word(), 1)
                [..1 + dice.below(usize::from(config.rules.preview) + 1)]
                .to_owned();
            let pieces = sequence(&letters);
            let playfield =
                Playfield::from_drawing(config.rules.width, config.rules.height, &drawing.to_string())
                    .unwrap();
            let position =
                StartPosition { playfield, piece: pieces[0], queue: pieces[1..].to_vec(), held: None };
            let reseed = (dice.below(2) == 0).then(|| dice.word());
            let result = batch.restore(env_ids, Restored::Positions(&[position]), reseed);
            let is_over = config.rules.action_model == ActionModel::Keypress
                && Model::is_over(&config.rules, &drawing, letters.chars().next().unwrap());
            if envs.is_ok() && is_over {
                let error = PositionError::GameOver;
                assert_eq!(result, Err(RestoreError::Position { row: 0, error }), "{context}");
            } else {
                check_restored(result, envs, &mut models, reseed, &context, |model, _| {
                    model.begin_from(drawing.clone(), &letters);
                });
            }
        } else if dice.below(12) == 0 || call == 1 {
            let seeds: Vec<u64> = (0..rows).map(|_| dice.word() >> dice.below(64)).collect();
            let sequences = vec![sequence(SEQUENCES[dice.below(3)])];
            let seeding = match dice.below(6) {
                0 => Some(Seeding::Seeds(seeds)),
                1 => Some(Seeding::from_pieces(sequences)),
                2 => Some(Seeding::Seed(seeds.iter().sum())),
                _ => None,
            };
            let result = batch.reset(env_ids, seeding.as_ref());
            match envs {
                Ok(envs) => {
                    assert_eq!(result, Ok(()), "{context}");
                    model::reset(&mut models, &envs, seeding.as_ref());
                }
                Err(error) => assert_eq!(result, Err(ResetError::EnvIds(error)), "{context}"),
            }
        } else {
            let envs = envs.unwrap_or_default();
            let mut actions: Vec<i32> = envs
                .iter()
                .map(|&i| {
                    let allowed = models[i].allowed_actions();
                    if allowed.is_empty() { 0 } else { allowed[dice.below(allowed.len())] }
                })
                .collect();
            if let (Some(action), 0) = (actions.last_mut(), dice.below(10)) {
                *action = [-1, i32::MIN, i32::MAX, 4 * i32::from(config.rules.width), 3, 7][dice.below(6)];
            }
            if dice.below(40) == 0 {
                actions.push(0);
            }
            let before = reported(outcome);
            let result = batch.step_into(&actions, env_ids, outcome);
            let expected = model::step(&mut models, &config, &actions, env_ids);
            match (result, expected) {
                (Ok(()), Ok(rows)) => {
                    assert_eq!(
                        outcome.rewards,
                        rows.iter().map(|row| row.reward).collect::<Vec<_>>(),
                        "{context}"
                    );
                    assert_eq!(
                        outcome.terminated,
                        rows.iter().map(|row| row.terminated).collect::<Vec<_>>(),
                        "{context}"
                    );
                    assert_eq!(
                        outcome.truncated,
                        rows.iter().map(|row| row.truncated).collect::<Vec<_>>(),
                        "{context}"
                    );
                    let last: Vec<_> =
                        rows.iter().enumerate().filter(|(_, row)| row.last.is_some()).collect();
                    assert_eq!(
                        outcome.finals.rows(),
                        last.iter().map(|&(row, _)| row as u32).collect::<Vec<_>>(),
                        "{context}"
                    );
                    for (nth, field) in observations_and_infos().enumerate() {
                        let mut seen = Vec::new();
                        batch.observe_finals(field, &outcome.finals, &mut seen);
                        let expected: Vec<u8> = last
                            .iter()
                            .flat_map(|(_, row)| row.last.as_ref().unwrap().0[nth].clone())
                            .collect();
                        assert_eq!(seen, expected, "last {field:?}, {context}");
                    }
                }
                (Err(error), Err(expected)) => {
                    assert_eq!(error, expected, "{context}");
                    assert_eq!(reported(outcome), before, "a refusal tells nothing, {context}");
                }
                (result, expected) => panic!("{result:?}, expected {expected:?}, {context}"),
            }
        }
        check_everything(&batch, &models, &context);
        if let Some(env_ids) = env_ids.filter(|env_ids| expected_ids(&models, Some(env_ids)).is_ok()) {
            let expected: Vec<u8> =
                env_ids.iter().flat_map(|&i| models[i as usize].see(Field::Board)).collect();
            assert_eq!(
                see(&batch, Field::Board, Some(env_ids)),
                expected,
                "rows in the order asked for, {context}"
            );
        }
    }
}

#[test]
fn every_call_does_what_the_model_does() {
    let mut outcome = StepOutcome::default();
    for seed in 0..600 {
        wander(seed, &mut outcome);
    }
}
