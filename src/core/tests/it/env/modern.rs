//! Modern Tetris as environments play it, beside the same game written a second time, in [`modern_game`](super::modern_game).

use std::collections::{BTreeMap, BTreeSet};

use tetrion_core::agents::{LinearAgent, TerminalValue};
use tetrion_core::engine::{
    AttackTable, Chain, Clear, ClearPoints, ClearWorth, Garbage, HalfTurns, Hand, OrientationTable,
    Placement, Playfield, Randomizer, RotationSystem, Rules, SpinRule, Spot, Tetromino, TopOut,
};
use tetrion_core::env::{
    AutoresetMode, EnvBatch, EnvConfig, EnvState, Field, InvalidActionPolicy, PositionError, RestoreError,
    Restored, Seeding, StartPosition,
};
use tetrion_core::features::FeatureSet;
use tetrion_core::placements::{Options, Position, enumerate};

use super::modern_game::{Game, Way};
use super::{Dice, letters, see};
use tetrion_testing::choose_plainly;
use tetrion_twins::{TETROMINOES, bag7_sequence};

fn guideline() -> Rules {
    Rules::preset("guideline").unwrap()
}

/// The cells that an action of an environment fills, its label and whether it holds a piece, worked out from its number.
fn way(rules: &Rules, playfield: &Playfield, hand: (char, Option<char>), action: u32) -> Way {
    let placement = Placement::from_action(action, rules);
    let piece = if placement.hold { hand.1.expect("a piece to place") } else { hand.0 };
    let piece = Tetromino::from_letter(piece).unwrap();
    let shape = placement.shape(rules, piece).unwrap();
    let (row, spin) = match placement.spot {
        Some(Spot { row, spin }) => (row, ["none", "mini", "full"][spin as usize]),
        None => (playfield.landing_row(shape, placement.column), "none"),
    };
    let cells = shape.cells_at(row, placement.column);
    let mut cells: Vec<(i32, i32)> = cells.iter().map(|&(row, column)| (row.into(), column.into())).collect();
    cells.sort_unstable();
    (cells, spin, placement.hold)
}

fn garbage(lines_per_piece: f64, hole_move_chance: f64, delay_pieces: u8) -> Option<Garbage> {
    Some(Garbage { lines_per_piece, hole_move_chance, delay_pieces, ..Garbage::DEFAULT })
}

fn rule_sets() -> Vec<Rules> {
    let low = Rules { height: 14, rows_above: 4, ..guideline() };
    let plain = Rules { clear_points: ClearPoints::Lines, attack_table: AttackTable::None, ..low };
    vec![
        guideline(),
        Rules { clear_points: ClearPoints::Attack, ..low },
        Rules { width: 4, spin_rule: SpinRule::AllSpins, attack_table: AttackTable::ColdClear, ..low },
        plain,
        Rules { width: 4, height: 10, spin_rule: SpinRule::None, ..low },
        Rules {
            rotation_system: RotationSystem::SrsPlus,
            half_turns: HalfTurns::Tetrio,
            hold: false,
            ..plain
        },
        Rules { half_turns: HalfTurns::Cobra, spin_rule: SpinRule::AllSpins, width: 7, preview: 1, ..low },
        Rules {
            rotation_system: RotationSystem::NoKicks,
            spin_rule: SpinRule::TSpinsStrict,
            width: 18,
            ..low
        },
        Rules { top_out: TopOut::Overflow, rows_above: 0, height: 8, preview: 0, hold: false, ..low },
        // A held piece in the game of the literature.
        Rules { hold: true, preview: 2, randomizer: Randomizer::Bag7, ..Rules::simplified(6, 8) },
        // Clears in a row in the game of the literature.
        Rules { attack_table: AttackTable::Jstris, randomizer: Randomizer::Bag7, ..Rules::simplified(4, 12) },
        // Other rows to appear in: the highest visible one and no other, a low one, the highest one.
        Rules { spawn_row: Some(9), ..low },
        Rules { spawn_row: Some(3), hold: false, ..plain },
        Rules { spawn_row: Some(13), half_turns: HalfTurns::Tetrio, ..low },
        Rules {
            spawn_row: Some(8),
            garbage: garbage(0.5, 0.2, 1),
            top_out: TopOut::Overflow,
            width: 5,
            ..low
        },
        // Rows that rise: in the buffer, often and from far below, and where clears take lines away that wait.
        Rules { garbage: garbage(1.0, 0.05, 1), ..guideline() },
        Rules { garbage: garbage(2.5, 1.0, 0), ..low },
        Rules { garbage: garbage(0.3, 0.5, 7), clear_points: ClearPoints::Attack, width: 4, ..low },
        Rules {
            garbage: garbage(0.5, 0.2, 2),
            attack_table: AttackTable::Jstris,
            randomizer: Randomizer::Bag7,
            ..Rules::simplified(4, 12)
        },
        Rules {
            garbage: garbage(0.4, 0.0, 3),
            hold: true,
            preview: 2,
            randomizer: Randomizer::Bag7,
            ..Rules::simplified(6, 8)
        },
    ]
}

/// What waits and what has risen, if anything can.
pub(super) fn check_garbage(batch: &EnvBatch, game: &Game, context: &str) {
    let Some(garbage) = &game.garbage else { return };
    assert_eq!(see(batch, Field::Garbage, None), garbage.waiting(), "{context}");
    assert_eq!(super::numbers(batch, Field::GarbageRows), [garbage.holes.len() as u64], "{context}");
}

#[test]
fn random_games_are_those_of_the_twin() {
    for (n, rules) in rule_sets().into_iter().enumerate() {
        let config = EnvConfig { rules, autoreset_mode: AutoresetMode::Disabled, ..EnvConfig::default() };
        let mut dice = Dice::new(n as u64);
        let mut ends = BTreeMap::new();
        for seed in 0..12 {
            let mut batch = EnvBatch::new(config.clone(), &Seeding::Seeds(vec![seed])).unwrap();
            batch.reset(None, None).unwrap();
            let dealt = match rules.randomizer {
                Randomizer::Bag7 => bag7_sequence(seed, 60),
                _ => unreachable!("these games have bags"),
            };
            let mut game = Game::new(rules, seed, dealt);
            for step in 0..150 {
                let context = format!("rules {n}, seed {seed}, step {step}:\n{}", batch.playfield(0));
                let shown = usize::from(rules.preview) + 1;
                assert_eq!(letters(&batch, 0), game.pieces[..shown], "{context}");
                let number = |piece: Option<char>| piece.map_or(255, |p| TETROMINOES.find(p).unwrap() as u8);
                assert_eq!(see(&batch, Field::Held, None), [number(game.held)], "{context}");

                let mask = see(&batch, Field::ActionMask, None);
                assert_eq!(mask.len() as u32, rules.num_actions());
                let actions: Vec<u32> =
                    (0..).zip(&mask).filter(|(_, bit)| **bit == 1).map(|(action, _)| action).collect();
                let hand = (game.current(), game.other());
                let ways: Vec<Way> =
                    actions.iter().map(|action| way(&rules, &batch.playfield(0), hand, *action)).collect();
                let found: BTreeSet<Way> = ways.iter().cloned().collect();
                assert_eq!(found.len(), ways.len(), "a placement has one number; {context}");
                assert_eq!(found, game.ways(), "{context}");

                // Low ones, so that games go on for a while; and now and then any.
                let lowest = |way: &Way| way.0.iter().map(|(row, _)| row).sum::<i32>();
                let chosen = match dice.below(4) {
                    0 => dice.below(ways.len()),
                    _ => (0..ways.len()).min_by_key(|&i| lowest(&ways[i])).unwrap(),
                };
                let outcome = batch.step(&[actions[chosen] as i32], None).unwrap();
                let (points, is_over) = game.place(&ways[chosen]);
                let seen = (outcome.rewards[0], outcome.terminated[0]);
                assert_eq!(seen, (points as f32, is_over), "{:?} on {context}", ways[chosen]);
                if rules.keeps_chain() {
                    let number = |field| {
                        see(&batch, field, None).iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte))
                    };
                    let seen = [Field::Attack, Field::Combo, Field::BackToBack].map(number);
                    assert_eq!(
                        seen,
                        [game.attack, game.clears as u64, game.was_difficult.into()],
                        "{context}"
                    );
                }
                check_garbage(&batch, &game, &context);
                let spin = if rules.spin_labels() > 1 { ways[chosen].1 } else { "none" };
                assert_eq!(["none", "mini", "full"][usize::from(see(&batch, Field::Spin, None)[0])], spin);
                let cells = game.playfield.rows.iter().flatten().map(|full| u8::from(*full));
                assert_eq!(see(&batch, Field::Board, None), cells.collect::<Vec<_>>(), "{context}");
                assert_eq!(batch.statistics(0).lines as usize, game.lines);

                // A snapshot is the same environment.
                let bytes = batch.state(0).to_bytes();
                let state = EnvState::from_bytes(&bytes).unwrap();
                assert_eq!(state, batch.state(0), "{context}");
                assert_eq!(state.to_bytes(), bytes);
                if is_over {
                    *ends.entry(step / 30).or_insert(0) += 1;
                    break;
                }
            }
        }
        assert!(ends.values().sum::<u32>() > 3, "rules {n}: games that end: {ends:?}");
    }
}

#[test]
fn a_number_of_an_action_says_what_the_proto_file_says() {
    let rules = guideline();
    assert_eq!((rules.spin_labels(), rules.num_placements()), (3, 40 * 24 * 3));
    assert_eq!(rules.num_actions(), 2 * 2880);
    // ((1 * 10 + 7) * 24 + 5) * 3 + 2, and as many more as there are placements.
    let spot = Some(Spot { row: 5, spin: tetrion_core::engine::Spin::Full });
    let placement = Placement { spot, ..Placement::straight(1, 7) };
    assert_eq!(placement.action(&rules), 1241);
    assert_eq!(placement.holding(true).action(&rules), 1241 + 2880);
    for rules in rule_sets() {
        for action in 0..rules.num_actions() {
            assert_eq!(Placement::from_action(action, &rules).action(&rules), action);
        }
    }
    let plain = Rules { spin_rule: SpinRule::None, hold: false, ..rules };
    assert_eq!(plain.num_actions(), 4 * 10 * 24);
    let held = Rules { hold: true, preview: 1, ..Rules::default() };
    assert_eq!((held.num_placements(), held.num_actions()), (40, 80));
}

/// Clears one after the other, with what each is worth, counted by hand from the tables.
#[test]
fn clears_are_worth_what_the_tables_say() {
    use tetrion_core::engine::Spin::{Full, Mini, None as Plain};
    let clears = |table, clears: &[(u8, tetrion_core::engine::Spin, bool)]| -> Vec<(f64, u32)> {
        let mut chain = Chain::default();
        let worth = clears.iter().map(|&(lines, spin, is_perfect)| {
            let clear = Clear { lines, spin, is_perfect, has_garbage: false };
            let (next, ClearWorth { points, attack, .. }) = chain.then(table, 1.0, clear);
            chain = next;
            (points, attack.lines())
        });
        worth.collect()
    };
    // Four lines, nothing, four lines back to back, a T-spin double in a combo, a single that breaks it, four lines again.
    let game = [
        (4, Plain, false),
        (0, Plain, false),
        (4, Plain, false),
        (2, Full, false),
        (1, Plain, false),
        (4, Plain, false),
    ];
    let expected = [(800.0, 4), (0.0, 0), (1200.0, 5), (1850.0, 5), (200.0, 1), (950.0, 5)];
    assert_eq!(clears(AttackTable::Jstris, &game), expected);
    let points: Vec<f64> = clears(AttackTable::None, &game).iter().map(|worth| worth.0).collect();
    assert_eq!(points, expected.map(|worth| worth.0));
    assert!(clears(AttackTable::None, &game).iter().all(|worth| worth.1 == 0));
    // A spin without lines has points, ends a combo, and keeps what is back to back.
    let game = [(1, Mini, false), (0, Full, false), (0, Mini, false), (3, Full, false), (4, Plain, true)];
    let expected = [(200.0, 0), (400.0, 0), (100.0, 0), (2400.0, 7), (4450.0, 10)];
    assert_eq!(clears(AttackTable::Jstris, &game), expected);
    // Fourteen singles in a row.
    let sent =
        |table| clears(table, &[(1, Plain, false); 14]).iter().map(|worth| worth.1).collect::<Vec<_>>();
    assert_eq!(sent(AttackTable::Jstris), [0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5]);
    assert_eq!(sent(AttackTable::ColdClear), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 5]);
}

/// The tables that are drawn in rules.proto.
#[test]
fn orientations_are_those_of_the_proto_file() {
    let proto = include_str!("../../../../../proto/tetrion/v1/rules.proto");
    let (table, _) = proto.split_once("ORIENTATION_TABLE_GUIDELINE = 5").unwrap();
    let rows: Vec<&str> = table.lines().rev().skip(1).take(7).collect();
    for (piece, row) in Tetromino::ALL.into_iter().rev().zip(rows) {
        let mut words = row.trim_start_matches([' ', '/']).split_whitespace();
        assert_eq!(words.next(), Some(piece.to_string().as_str()));
        let drawn: Vec<&str> = words.collect();
        let shapes = guideline().shapes(piece).iter().map(|shape| {
            let cell = |row: u8, column: u8| match (row, column) {
                at if at == (shape.anchor_row, shape.anchor_column) => '@',
                (row, column) if shape.column_bits(column.into()) >> row & 1 == 1 => '#',
                _ => '.',
            };
            let row = |row| (0..shape.width).map(|column| cell(row, column)).collect::<String>();
            (0..shape.height).rev().map(row).collect::<Vec<_>>().join("/")
        });
        assert_eq!(shapes.collect::<Vec<_>>(), drawn, "{piece}");
    }
}

#[test]
fn rules_that_contradict_each_other_are_refused() {
    let check = |rules: Rules, expected: &str| assert_eq!(rules.check().unwrap_err().to_string(), expected);
    let plain = Rules::default();
    check(
        Rules { hold: true, ..plain },
        "hold needs a preview of at least 1: while no piece is held, the next one is placed",
    );
    check(
        Rules { rotation_system: RotationSystem::Srs, ..plain },
        "rotation_system, half_turns and spin_rule need reach moves",
    );
    check(
        Rules { spin_rule: SpinRule::TSpins, ..plain },
        "rotation_system, half_turns and spin_rule need reach moves",
    );
    check(Rules { rows_above: 2, ..plain }, "rows_above needs reach moves");
    check(Rules { top_out: TopOut::LockOut, ..plain }, "top-out lock_out needs reach moves");
    check(Rules { spawn_row: Some(5), ..plain }, "spawn_row needs reach moves");
    let above = |spawn_row| Rules { spawn_row: Some(spawn_row), ..guideline() };
    assert_eq!([0, 19, 23].map(|row| above(row).check().is_ok()), [true; 3]);
    check(
        above(24),
        "spawn_row is 24, expected 0 to 23: at most 3 rows above the 20 visible ones, and 1 above all",
    );
    let high = Rules { height: 20, rows_above: 0, top_out: TopOut::Overflow, ..above(20) };
    assert_eq!(high.check(), Ok(()));
    check(
        Rules { spawn_row: Some(21), ..high },
        "spawn_row is 21, expected 0 to 20: at most 3 rows above the 20 visible ones, and 1 above all",
    );
    check(
        Rules { orientations: OrientationTable::Lab, ..guideline() },
        "reach moves needs the guideline's orientation table",
    );
    check(
        Rules { rows_above: 2, ..guideline() },
        "top-out lock_out needs rows_above of at least 3: a piece may rest partly above the field",
    );
    check(Rules { rows_above: 37, ..guideline() }, "rows_above is 37, expected 0 to 36");
    check(
        Rules { rows_above: 17, height: 20, ..guideline() },
        "rows_above is 17, expected at most 16: height 20 less 4 visible rows",
    );
    check(
        Rules { clear_points: ClearPoints::Attack, ..Rules::default() },
        "clear_points attack needs an attack_table",
    );
    let keys = Rules { hold: true, preview: 1, ..Rules::preset("lab").unwrap() };
    check(keys, "the keypress action model has a key to hold a piece under reach moves only");
}

/// A T that fits under a roof only by turning in, a well that only a kick reaches, and what a spin of them is.
#[test]
fn spins_and_tucks_are_actions_of_their_own() {
    let rules = Rules { height: 14, rows_above: 4, hold: false, ..guideline() };
    let set = FeatureSet::custom(&["clears[1]", "clears[5]", "base_attack", "idle_t"], 10).unwrap();
    let config = EnvConfig {
        rules,
        autoreset_mode: AutoresetMode::Disabled,
        features: Some(set.clone()),
        ..EnvConfig::default()
    };
    let mut batch = EnvBatch::new(config, &Seeding::Seed(1)).unwrap();
    // The classic T-spin double: an overhang on the right of a notch three wide.
    let drawing = "...#....../".to_owned() + "#...######/##.#######";
    let drawing = ["........../".repeat(11), drawing].concat();
    let playfield = Playfield::from_drawing(10, 14, &drawing).unwrap();
    let position = StartPosition { playfield, piece: Tetromino::T, queue: vec![], held: None };
    batch.restore(None, Restored::Positions(&[position]), None).unwrap();
    let down = |spin| Placement { spot: Some(Spot { row: 0, spin }), ..Placement::straight(2, 1) };
    let mask = see(&batch, Field::ActionMask, None);
    let exists = |placement: Placement| mask[placement.action(&rules) as usize] == 1;
    use tetrion_core::engine::Spin::{Full, Mini, None as NoSpin};
    assert_eq!([NoSpin, Mini, Full].map(|spin| exists(down(spin))), [false, false, true]);
    let features = [0.0, 1.0, 4.0, 0.0];
    let position = Position::of(playfield, Some(Hand::new(&rules, Tetromino::T, None, None)));
    let found = enumerate(&rules, &[position], Some(&set), Options::default());
    let row = found.placements.iter().position(|number| *number == down(Full).action(&rules) as i32).unwrap();
    assert_eq!(found.features[row * 4..][..4], features.map(|value| value as f32));
    let agent = LinearAgent::new(set, vec![-1.0, 1.0, 1.0, -1.0], TerminalValue::Avoid).unwrap();
    let choice = choose_plainly(&agent, &rules, &playfield, Tetromino::T);
    assert_eq!((choice.placement, choice.score), (down(Full), 5.0), "a controller sees what it is");
    let outcome = batch.step(&[down(Full).action(&rules) as i32], None).unwrap();
    let seen: Vec<f32> = see(&batch, Field::Features, None)
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    assert_eq!(seen, features.map(|value| value as f32));
    // 1,200 points for a T-spin double.
    assert_eq!((outcome.rewards[0], batch.statistics(0).lines), (1200.0, 2));
    assert_eq!([see(&batch, Field::Attack, None)[0], see(&batch, Field::Spin, None)[0]], [4, 2]);
}

#[test]
fn a_piece_is_held_once_and_comes_back_as_it_appears() {
    let rules = Rules { preview: 2, ..guideline() };
    let config = EnvConfig { rules, autoreset_mode: AutoresetMode::Disabled, ..EnvConfig::default() };
    let sequence = super::sequence("TIOSZJ");
    let mut batch = EnvBatch::new(config, &Seeding::from_pieces(vec![sequence])).unwrap();
    batch.reset(None, None).unwrap();
    let seen = |batch: &EnvBatch| (letters(batch, 0), batch.held(0).map(Tetromino::letter));
    assert_eq!(seen(&batch), ("TIO".to_owned(), None));
    let first_with_hold = |batch: &EnvBatch| {
        let mask = see(batch, Field::ActionMask, None);
        let n = rules.num_placements() as usize;
        mask[n..].iter().position(|bit| *bit == 1).map(|at| (n + at) as i32)
    };
    // T is held, I is placed, and S comes into sight together with O and Z.
    let action = first_with_hold(&batch).unwrap();
    batch.step(&[action], None).unwrap();
    assert_eq!(seen(&batch), ("OSZ".to_owned(), Some('T')));
    // O is held and T is placed; nothing more is dealt than a piece.
    let action = first_with_hold(&batch).unwrap();
    batch.step(&[action], None).unwrap();
    assert_eq!(seen(&batch), ("SZJ".to_owned(), Some('O')));
    // Another episode begins with nothing held.
    batch.reset(None, None).unwrap();
    assert_eq!(seen(&batch), ("TIO".to_owned(), None));
    // With an O in hand, to hold an O changes nothing.
    let playfield = Playfield::empty(10, 40);
    let position = |held| StartPosition { playfield, piece: Tetromino::O, queue: vec![Tetromino::O], held };
    batch.restore(None, Restored::Positions(&[position(Some(Tetromino::O))]), None).unwrap();
    assert_eq!(first_with_hold(&batch), None);
    // With none, it changes which pieces are left.
    batch.restore(None, Restored::Positions(&[position(None)]), None).unwrap();
    assert!(first_with_hold(&batch).is_some());
}

#[test]
fn what_cannot_be_placed_or_held_is_refused_or_ignored() {
    let rules = Rules { height: 14, rows_above: 4, ..guideline() };
    let ignore = InvalidActionPolicy::Ignore { reward: -1.0 };
    for policy in [InvalidActionPolicy::Reject, ignore, InvalidActionPolicy::Terminate] {
        let config = EnvConfig {
            rules,
            invalid_action_policy: policy,
            autoreset_mode: AutoresetMode::Disabled,
            ..EnvConfig::default()
        };
        let mut batch = EnvBatch::new(config, &Seeding::Seed(3)).unwrap();
        batch.reset(None, None).unwrap();
        let mask = see(&batch, Field::ActionMask, None);
        let before = batch.state(0);
        let wrong = mask.iter().rposition(|bit| *bit == 0).unwrap() as i32;
        match policy {
            InvalidActionPolicy::Reject => {
                assert!(batch.step(&[wrong], None).is_err());
                assert_eq!(batch.state(0), before);
            }
            _ => {
                let outcome = batch.step(&[wrong], None).unwrap();
                assert_eq!(outcome.terminated[0], policy == InvalidActionPolicy::Terminate);
                let unchanged = (batch.playfield(0), letters(&batch, 0), batch.held(0));
                assert_eq!(unchanged, (*before.playfield(), letters(&batch, 0), None));
            }
        }
    }
    let config = EnvConfig::default();
    let mut batch = EnvBatch::new(config, &Seeding::Seed(3)).unwrap();
    let position = StartPosition {
        playfield: Playfield::empty(10, 20),
        piece: Tetromino::T,
        queue: vec![],
        held: Some(Tetromino::I),
    };
    let refused = batch.restore(None, Restored::Positions(&[position]), None).unwrap_err();
    assert_eq!(refused, RestoreError::Position { row: 0, error: PositionError::Held });
}

/// Snapshots of these rules are outside input like all others.
#[test]
fn no_byte_of_a_snapshot_makes_it_unsafe() {
    let rules = Rules { height: 14, rows_above: 4, ..guideline() };
    let config = EnvConfig { rules, ..EnvConfig::default() };
    let mut batch = EnvBatch::new(config, &Seeding::Seed(8)).unwrap();
    batch.reset(None, None).unwrap();
    let mut dice = Dice::new(2);
    for _ in 0..9 {
        let actions = super::random_actions(&batch, &mut dice);
        batch.step(&actions, None).unwrap();
    }
    tetrion_testing::no_changed_byte_is_unsafe(&batch);
}
