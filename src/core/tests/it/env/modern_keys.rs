//! Modern Tetris key by key, beside the same game written a second time, in [`key_game`](super::key_game).

use tetrion_core::engine::{
    ActionModel, AttackTable, ClearPoints, Garbage, HalfTurns, NamedChoice, Playfield, RotationSystem, Rules,
    SpinRule, Tetromino, Timing, TopOut,
};
use tetrion_core::env::{
    ActionError, AutoresetMode, EnvBatch, EnvConfig, EnvState, Field, InvalidActionPolicy, Restored, Seeding,
    StartPosition, StepError,
};

use super::key_game::{KEYS, KeyGame};
use super::modern::check_garbage;
use super::modern_game::Game;
use super::{Dice, letters, running, see};
use tetrion_twins::{TETROMINOES, bag7_sequence};

pub(super) fn key(name: &str) -> i32 {
    KEYS.iter().position(|key| *key == name).unwrap() as i32
}

pub(super) fn timing(fall_delay: u8, lock_delay: u8, lock_resets: u8) -> Option<Timing> {
    Some(Timing { fall_delay, lock_delay, lock_resets })
}

/// The game people play, key by key, on a playfield that is lower.
pub(super) fn keys() -> Rules {
    Rules {
        action_model: ActionModel::Keypress,
        timing: Some(Timing::LEVEL_1),
        height: 14,
        rows_above: 4,
        ..Rules::preset("guideline").unwrap()
    }
}

/// So slow that no time seems to pass.
pub(super) fn slow() -> Rules {
    Rules { timing: timing(255, 255, 255), ..keys() }
}

fn garbage(lines_per_piece: f64, hole_move_chance: f64, delay_pieces: u8) -> Option<Garbage> {
    Some(Garbage { lines_per_piece, hole_move_chance, delay_pieces, ..Garbage::DEFAULT })
}

fn rule_sets() -> Vec<Rules> {
    let plain = Rules { clear_points: ClearPoints::Lines, attack_table: AttackTable::None, ..keys() };
    vec![
        Rules { height: 40, rows_above: 20, ..keys() },
        Rules { timing: timing(1, 1, 0), ..keys() },
        Rules { timing: timing(1, 4, 2), clear_points: ClearPoints::Attack, ..keys() },
        Rules { timing: timing(3, 2, 15), half_turns: HalfTurns::Tetrio, width: 4, ..keys() },
        Rules {
            timing: timing(2, 30, 0),
            spin_rule: SpinRule::AllSpins,
            half_turns: HalfTurns::Cobra,
            ..keys()
        },
        Rules { timing: timing(255, 255, 255), spin_rule: SpinRule::None, hold: false, ..plain },
        Rules {
            timing: timing(5, 3, 3),
            rotation_system: RotationSystem::SrsPlus,
            width: 18,
            preview: 1,
            ..keys()
        },
        Rules { timing: timing(2, 1, 9), rotation_system: RotationSystem::NoKicks, width: 6, ..plain },
        Rules { timing: timing(4, 6, 1), spin_rule: SpinRule::TSpinsStrict, width: 5, height: 10, ..keys() },
        Rules { timing: timing(1, 2, 1), top_out: TopOut::Overflow, rows_above: 0, height: 8, ..keys() },
        Rules { timing: timing(1, 2, 1), spawn_row: Some(13), ..keys() },
        Rules { timing: timing(4, 2, 1), spawn_row: Some(6), ..plain },
        Rules { timing: timing(1, 2, 1), garbage: garbage(0.7, 0.3, 1), ..keys() },
        Rules { timing: timing(3, 3, 2), garbage: garbage(1.5, 0.0, 0), width: 5, ..plain },
    ]
}

/// Keys as a player presses them who is in no hurry to drop.
fn random_key(dice: &mut Dice, mask: &[u8]) -> usize {
    loop {
        let key = match dice.below(24) {
            0 | 1 => key("hard_drop") as usize,
            2 => key("sonic_drop") as usize,
            3..=6 => key("soft_drop") as usize,
            7 => key("hold") as usize,
            8..=10 => key("idle") as usize,
            n => [1, 2, 3, 4, 8][n % 5],
        };
        if mask[key] == 1 {
            return key;
        }
    }
}

#[test]
fn random_games_are_those_of_the_twin() {
    let mut labels = [0; 3];
    let (mut ends, mut locked, mut held) = (0, 0, 0);
    for (n, rules) in rule_sets().into_iter().enumerate() {
        rules.check().unwrap();
        let config = EnvConfig { rules, autoreset_mode: AutoresetMode::Disabled, ..EnvConfig::default() };
        let mut dice = Dice::new(100 + n as u64);
        for seed in 0..40 {
            let mut batch = running(config.clone(), &Seeding::Seeds(vec![seed]));
            let mut twin = KeyGame::new(rules, seed, bag7_sequence(seed, 400));
            for step in 0..900 {
                let context = format!("rules {n}, seed {seed}, step {step}:\n{}", batch.playfield(0));
                let shown = usize::from(rules.preview) + 1;
                assert_eq!(letters(&batch, 0), twin.game.pieces[..shown], "{context}");
                let number = |piece: Option<char>| piece.map_or(255, |p| TETROMINOES.find(p).unwrap() as u8);
                assert_eq!(see(&batch, Field::Held, None), [number(twin.game.held)], "{context}");
                let mask = see(&batch, Field::ActionMask, None);
                assert_eq!(mask, twin.mask(), "{context}");
                let cells = see(&batch, Field::FallingCells, None);
                let cells: Vec<(i32, i32)> =
                    cells.chunks(2).map(|pair| (pair[0].into(), pair[1].into())).collect();
                assert_eq!(cells, twin.cells(), "{context}");
                assert!(cells.iter().all(|(row, _)| *row <= i32::from(rules.height) + 6));
                let state: Vec<u32> =
                    see(&batch, Field::PieceState, None).into_iter().map(u32::from).collect();
                assert_eq!(state, twin.state(), "{context}");

                let key = random_key(&mut dice, &mask);
                let outcome = batch.step(&[key as i32], None).unwrap();
                let (points, is_over, label) = twin.press(KEYS[key]);
                let context = format!("{}, {context}", KEYS[key]);
                let seen = (outcome.rewards[0], outcome.terminated[0]);
                assert_eq!(seen, (points as f32, is_over), "{context}");
                if let Some(label) = label {
                    let spin = ["none", "mini", "full"].iter().position(|name| *name == label).unwrap();
                    assert_eq!(usize::from(see(&batch, Field::Spin, None)[0]), spin, "{context}");
                    labels[spin] += 1;
                    locked += u32::from(KEYS[key] != "hard_drop");
                }
                held += u32::from(KEYS[key] == "hold");
                if rules.keeps_chain() {
                    let number = |field| {
                        see(&batch, field, None).iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte))
                    };
                    let seen = [Field::Attack, Field::Combo, Field::BackToBack].map(number);
                    let Game { attack, clears, was_difficult, .. } = twin.game;
                    assert_eq!(seen, [attack, clears as u64, was_difficult.into()], "{context}");
                }
                check_garbage(&batch, &twin.game, &context);
                let board = twin.game.playfield.rows.iter().flatten().map(|full| u8::from(*full));
                assert_eq!(see(&batch, Field::Board, None), board.collect::<Vec<_>>(), "{context}");
                assert_eq!(batch.statistics(0).lines as usize, twin.game.lines);

                // A snapshot is the same environment, and goes on as it.
                let bytes = batch.state(0).to_bytes();
                let state = EnvState::from_bytes(&bytes).unwrap();
                assert_eq!(state, batch.state(0), "{context}");
                assert_eq!(state.to_bytes(), bytes);
                if dice.below(20) == 0 {
                    batch = running(config.clone(), &Seeding::Seed(0));
                    batch.restore(None, Restored::States(&[state]), None).unwrap();
                }
                if is_over {
                    ends += 1;
                    break;
                }
            }
        }
    }
    // What happens often enough to say something.
    assert!(
        ends > 30 && locked > 100 && held > 50,
        "{ends} ends, {locked} pieces lock by time, {held} are held"
    );
    // Rare where keys are drawn: every kind is tried with the keys that are promised for it, below.
    assert!(labels[1] + labels[2] > 0, "drops, minis and full spins: {labels:?}");
}

/// A batch of these rules with a piece over a drawing.
pub(super) fn over(rules: Rules, playfield: Playfield, piece: Tetromino) -> EnvBatch {
    let config = EnvConfig { rules, autoreset_mode: AutoresetMode::Disabled, ..EnvConfig::default() };
    let mut batch = running(config, &Seeding::Seed(1));
    let position = StartPosition { playfield, piece, queue: vec![], held: None };
    batch.restore(None, Restored::Positions(&[position]), None).unwrap();
    batch
}

pub(super) fn rows(batch: &EnvBatch) -> Vec<u8> {
    see(batch, Field::FallingCells, None).chunks(2).map(|pair| pair[0]).collect()
}

/// Presses keys; returns how many of the steps ended with a landing.
pub(super) fn press(batch: &mut EnvBatch, keys: &[&str]) -> u64 {
    let before = batch.statistics(0).pieces;
    for name in keys {
        batch.step(&[key(name)], None).unwrap();
    }
    batch.statistics(0).pieces - before
}

#[test]
fn gravity_and_the_lock_delay_count_steps() {
    let rules = Rules { timing: timing(3, 4, 2), ..keys() };
    let empty = Playfield::empty(10, 14);
    let mut batch = over(rules, empty, Tetromino::O);
    assert_eq!(rows(&batch), [9, 9, 10, 10]);
    press(&mut batch, &["idle", "left"]);
    assert_eq!(rows(&batch)[0], 9);
    // Two steps in the air and this one; a row of soft drop begins the count anew.
    press(&mut batch, &["idle"]);
    assert_eq!(rows(&batch)[0], 8);
    press(&mut batch, &["idle", "idle", "soft_drop"]);
    assert_eq!(rows(&batch)[0], 7);
    press(&mut batch, &["idle", "idle"]);
    assert_eq!(rows(&batch)[0], 6);
    // On the ground the step in which it comes down is the first of four. An O that turns is where it was.
    assert_eq!(press(&mut batch, &["sonic_drop", "turn_left", "idle"]), 0);
    assert_eq!(press(&mut batch, &["soft_drop"]), 1);
    // Each step begins the delay anew, twice.
    let mut batch = over(rules, empty, Tetromino::O);
    let keys = ["sonic_drop", "idle", "idle", "left", "idle", "idle", "right", "idle", "left"];
    assert_eq!(press(&mut batch, &keys), 0);
    assert_eq!(see(&batch, Field::PieceState, None)[2..5], [3, 1, 0]);
    assert_eq!(press(&mut batch, &["left"]), 1);
    // What is lower than ever before begins everything anew: off a ledge of two rows, by gravity.
    let ledge = Playfield::from_drawing(10, 14, "....##....\n....##....").unwrap();
    let mut batch = over(rules, ledge, Tetromino::O);
    press(&mut batch, &["sonic_drop", "left", "right", "left", "left"]);
    assert_eq!((rows(&batch)[0], see(&batch, Field::PieceState, None)[2..5].to_vec()), (2, vec![2, 2, 0]));
    press(&mut batch, &["idle", "idle"]);
    assert_eq!((rows(&batch)[0], see(&batch, Field::PieceState, None)[2..5].to_vec()), (1, vec![3, 4, 2]));
}

#[test]
fn with_gravity_and_delay_of_one_step_a_piece_falls_with_every_key() {
    let mut batch =
        over(Rules { timing: timing(1, 1, 15), ..keys() }, Playfield::empty(10, 14), Tetromino::T);
    assert_eq!(press(&mut batch, &["left"; 8]), 0);
    assert_eq!(rows(&batch)[0], 1);
    assert_eq!(press(&mut batch, &["left"]), 1);
}

#[test]
fn a_key_that_does_not_exist_is_refused_ignored_or_the_end() {
    let rules = keys();
    let ignore = InvalidActionPolicy::Ignore { reward: -1.0 };
    for policy in [InvalidActionPolicy::Reject, ignore, InvalidActionPolicy::Terminate] {
        let config = EnvConfig {
            rules,
            invalid_action_policy: policy,
            autoreset_mode: AutoresetMode::Disabled,
            ..EnvConfig::default()
        };
        let mut batch = running(config, &Seeding::Seed(3));
        press(&mut batch, &["left", "hold"]);
        for wrong in ["hold", "turn_half"] {
            if batch.has_ended(0) {
                continue;
            }
            let before = (batch.falling(0), batch.playfield(0), batch.held(0));
            match (policy, batch.step(&[key(wrong)], None)) {
                (InvalidActionPolicy::Reject, refused) => {
                    let actions = vec![tetrion_core::env::RefusedAction { row: 0, action: key(wrong) }];
                    assert_eq!(refused.unwrap_err(), StepError::Action(ActionError::Illegal { actions }));
                }
                (InvalidActionPolicy::Ignore { .. }, outcome) => assert_eq!(outcome.unwrap().rewards, [-1.0]),
                (InvalidActionPolicy::Terminate, outcome) => assert_eq!(outcome.unwrap().terminated, [true]),
            }
            assert_eq!((batch.falling(0), batch.playfield(0), batch.held(0)), before);
        }
        if policy == InvalidActionPolicy::Reject {
            assert!(batch.step(&[10], None).is_err(), "there are ten keys");
            // The next piece may be held again.
            press(&mut batch, &["hard_drop"]);
            assert_eq!(see(&batch, Field::ActionMask, None), [1, 1, 1, 1, 1, 1, 1, 1, 0, 1]);
        }
    }
}

#[test]
fn an_equal_piece_comes_back_to_where_it_appears_and_a_blocked_one_not_at_all() {
    let config = EnvConfig { rules: keys(), autoreset_mode: AutoresetMode::Disabled, ..EnvConfig::default() };
    let mut batch = running(config, &Seeding::from_pieces(vec![super::model::sequence("OOIOOOO")]));
    press(&mut batch, &["hold", "soft_drop", "hard_drop", "sonic_drop"]);
    assert_eq!((letters(&batch, 0), batch.held(0)), ("IOOOO".to_owned(), Some(Tetromino::O)));
    press(&mut batch, &["hard_drop", "sonic_drop", "hold"]);
    assert_eq!((letters(&batch, 0), batch.held(0)), ("OOOO".to_owned(), Some(Tetromino::O)));
    assert_eq!(rows(&batch), [9, 9, 10, 10]);
    // An I that lies has room in row 10, where an O has none.
    let roof = ["....##....", "..........", "....##...."].join("\n") + &"\n..........".repeat(8);
    let playfield = Playfield::from_drawing(10, 14, &roof).unwrap();
    let position = |held| StartPosition { playfield, piece: Tetromino::I, queue: vec![], held };
    for (held, bit) in [(Tetromino::O, 0), (Tetromino::I, 1)] {
        batch.restore(None, Restored::Positions(&[position(Some(held))]), None).unwrap();
        assert_eq!(see(&batch, Field::ActionMask, None)[9], bit, "{held}");
    }
}

/// The states of this game are outside input like all others.
#[test]
fn no_byte_of_a_snapshot_makes_it_unsafe() {
    let rules = Rules { timing: timing(3, 5, 2), half_turns: HalfTurns::Tetrio, ..keys() };
    let config = EnvConfig { rules, ..EnvConfig::default() };
    let mut batch = running(config, &Seeding::Seed(8));
    let mut dice = Dice::new(2);
    while batch.held(0).is_none() || batch.statistics(0).pieces < 6 || rows(&batch)[0] > 6 {
        let mask = see(&batch, Field::ActionMask, None);
        batch.step(&[random_key(&mut dice, &mask) as i32], None).unwrap();
    }
    tetrion_testing::no_changed_byte_is_unsafe(&batch);
}

#[test]
fn time_passes_only_where_keys_steer() {
    let check = |rules: Rules, expected: &str| assert_eq!(rules.check().unwrap_err().to_string(), expected);
    check(
        Rules { timing: None, ..keys() },
        "the keypress action model and reach moves need fall_delay, lock_delay and lock_resets",
    );
    for rules in [Rules::preset("guideline").unwrap(), Rules::preset("lab").unwrap(), Rules::default()] {
        check(
            Rules { timing: Some(Timing::LEVEL_1), ..rules },
            "fall_delay, lock_delay and lock_resets need the keypress action model and reach moves",
        );
    }
    check(Rules { timing: timing(0, 1, 0), ..keys() }, "fall_delay is 0, expected 1 to 255");
    check(Rules { timing: timing(1, 0, 0), ..keys() }, "lock_delay is 0, expected 1 to 255");
    assert_eq!(ActionModel::from_name("keypress"), Some(ActionModel::Keypress));
    assert_eq!((keys().num_actions(), Rules::preset("lab").unwrap().num_actions()), (10, 6));
}

/// Games of many environments at once are those of single ones, in all modes of what follows their end.
#[test]
fn environments_of_a_batch_do_not_know_each_other() {
    let rules = Rules { timing: timing(2, 3, 1), width: 5, ..keys() };
    for mode in [AutoresetMode::NextStep, AutoresetMode::SameStep] {
        let config = |num_envs| EnvConfig { rules, num_envs, autoreset_mode: mode, ..EnvConfig::default() };
        let seeds: Vec<u64> = (40..48).collect();
        let mut batch = running(config(8), &Seeding::Seeds(seeds.clone()));
        let single = |seed| running(config(1), &Seeding::Seeds(vec![seed]));
        let mut singles: Vec<EnvBatch> = seeds.into_iter().map(single).collect();
        let mut dice = Dice::new(5);
        for _ in 0..400 {
            let mask = see(&batch, Field::ActionMask, None);
            let key =
                |mask: &[u8]| if mask[1..].contains(&1) { random_key(&mut dice, mask) as i32 } else { 0 };
            let actions: Vec<i32> = mask.chunks(10).map(key).collect();
            let outcome = batch.step(&actions, None).unwrap();
            for (i, single) in singles.iter_mut().enumerate() {
                let alone = single.step(&actions[i..=i], None).unwrap();
                assert_eq!(
                    (alone.rewards[0], alone.terminated[0]),
                    (outcome.rewards[i], outcome.terminated[i])
                );
            }
            for field in [Field::Board, Field::Falling, Field::PieceState, Field::ActionMask, Field::Attack] {
                let alone: Vec<u8> = singles.iter().flat_map(|single| see(single, field, None)).collect();
                assert_eq!(see(&batch, field, None), alone, "{field:?}");
            }
        }
        batch.reset(None, None).unwrap();
    }
}

#[test]
fn every_piece_but_o_is_seen_to_have_turned() {
    let arrival = |batch: &EnvBatch| see(batch, Field::PieceState, None)[1];
    for &spin_rule in SpinRule::ALL {
        for piece in Tetromino::ALL {
            let mut batch = over(Rules { spin_rule, ..slow() }, Playfield::empty(10, 14), piece);
            assert_eq!(arrival(&batch), 0, "{piece} as it appears");
            for turn in ["turn_left", "turn_right"] {
                press(&mut batch, &["soft_drop", turn]);
                let expected = u8::from(piece != Tetromino::O);
                assert_eq!(arrival(&batch), expected, "{piece} after {turn} under {spin_rule:?}");
                press(&mut batch, &["idle"]);
                assert_eq!(arrival(&batch), expected, "{piece} while no row has passed");
                let restored = EnvState::from_bytes(&batch.state(0).to_bytes()).unwrap();
                batch.restore(None, Restored::States(&[restored]), None).unwrap();
                assert_eq!(arrival(&batch), expected, "{piece} in a snapshot");
                press(&mut batch, &["left"]);
                assert_eq!(arrival(&batch), 0, "{piece} after a step");
            }
        }
    }
    // Where it falls by time, it was moved.
    let fast = Rules { timing: timing(1, 9, 9), ..keys() };
    let mut batch = over(fast, Playfield::empty(10, 14), Tetromino::L);
    press(&mut batch, &["turn_left"]);
    assert_eq!(arrival(&batch), 0);
}
