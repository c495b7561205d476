//! Modern Tetris key by key, beside a second game that turns drawings by charts, counts the steps of each piece in plain
//! numbers and shares no code with the library; and what is promised of it: keys that lead where they should, and no stalling.

use tetrion::engine::{
    ActionModel, AttackTable, Chain, ClearPoints, Garbage, HalfTurns, Hand, NamedChoice, Placement,
    PlayerKey, Playfield, RotationSystem, Rules, SpinRule, Tetromino, Timing, TopOut,
};
use tetrion::env::{
    ActionError, AutoresetMode, EnvBatch, EnvConfig, EnvState, Episodes, Field, InvalidActionPolicy,
    Restored, Seeding, StartPosition, StepError,
};
use tetrion::placements::{Options, Position, enumerate};

use super::modern::{Game, check_garbage};
use super::{Dice, letters, running, see};
use crate::twin::{TETROMINOES, TwinGround, TwinPiece, TwinPlayfield, bag7_sequence};

const KEYS: [&str; 10] = [
    "idle",
    "left",
    "right",
    "turn_left",
    "turn_right",
    "hard_drop",
    "soft_drop",
    "sonic_drop",
    "turn_half",
    "hold",
];

fn key(name: &str) -> i32 {
    KEYS.iter().position(|key| *key == name).unwrap() as i32
}

fn timing(gravity: u8, lock_delay: u8, lock_resets: u8) -> Option<Timing> {
    Some(Timing { gravity, lock_delay, lock_resets })
}

/// The game people play, key by key, on a playfield that is lower.
fn keys() -> Rules {
    Rules {
        action_model: ActionModel::Keypress,
        timing: Some(Timing::LEVEL_1),
        height: 14,
        rows_above: 4,
        ..Rules::preset("guideline").unwrap()
    }
}

/// So slow that no time seems to pass.
fn slow() -> Rules {
    Rules { timing: timing(255, 255, 255), ..keys() }
}

/// A game of keys, slowly.
struct KeyGame {
    game: Game,
    piece: TwinPiece,
    is_swapped: bool,
    in_air: u32,
    on_ground: u32,
    resets: u32,
    lifts: u32,
    lowest: i32,
}

impl KeyGame {
    fn new(rules: Rules, seed: u64, pieces: String) -> KeyGame {
        let game = Game::new(rules, seed, pieces);
        let piece = TwinGround::new(&game.playfield, game.movement(), game.current()).appears().unwrap();
        let mut game = KeyGame {
            game,
            piece,
            is_swapped: false,
            in_air: 0,
            on_ground: 0,
            resets: 0,
            lifts: 0,
            lowest: 0,
        };
        game.appear(false);
        game
    }

    fn ground(&self) -> TwinGround<'_> {
        TwinGround::new(&self.game.playfield, self.game.movement(), self.game.current())
    }

    fn cells(&self) -> Vec<(i32, i32)> {
        self.ground().resting(self.piece).0
    }

    fn appear(&mut self, is_swapped: bool) {
        self.piece = self.ground().appears().expect("a piece that is not blocked");
        self.is_swapped = is_swapped;
        (self.in_air, self.on_ground, self.resets, self.lifts) = (0, 0, 0, 0);
        self.lowest = self.cells()[0].0;
    }

    /// The piece that comes if this one is held.
    fn other(&self) -> Option<char> {
        let other = self.game.held.or(self.game.pieces.chars().nth(1))?;
        let can_be = self.game.rules.hold && !self.is_swapped && !self.game.is_blocked(other);
        can_be.then_some(other)
    }

    fn mask(&self) -> Vec<u8> {
        let has_half = self.game.rules.half_turns != HalfTurns::Off;
        let mut mask = vec![1; 8];
        mask.extend([u8::from(has_half), u8::from(self.other().is_some())]);
        mask
    }

    /// Presses a key that exists; returns the points, whether the game is over, and the label of a landing.
    fn press(&mut self, key: &str) -> (f64, bool, Option<&'static str>) {
        let Timing { gravity, lock_delay, lock_resets } = self.game.rules.timing.unwrap();
        if key == "hold" {
            let held = self.game.pieces.remove(0);
            if let Some(back) = self.game.held.replace(held) {
                self.game.pieces.insert(0, back);
            }
            self.appear(true);
            return (0.0, false, None);
        }
        let ground = self.ground();
        let before = self.piece;
        let was_on_ground = ground.moved(before, 0, -1).is_none();
        let most = if self.lifts < 15 { i32::MAX } else { 0 };
        let turned = |quarters| match before.tetromino {
            'O' => None,
            _ => ground.turned_up_to(before, quarters, most),
        };
        let mut piece = match key {
            "turn_left" => turned(3),
            "turn_right" => turned(1),
            "turn_half" => turned(2),
            "idle" => None,
            key => {
                Some(ground.pressed(before, key)).filter(|after| (after.x, after.y) != (before.x, before.y))
            }
        };
        let is_moved = piece.is_some();
        let piece = piece.take().unwrap_or(before);
        // The box of a piece stays where it is unless a kick moves it.
        let is_lifted = piece.y > before.y;
        let is_lower = piece.y < before.y && key.ends_with("drop");
        let is_locked = key == "hard_drop";
        let fallen = ground.moved(piece, 0, -1).filter(|_| !is_locked);
        let in_air = if is_lower { 0 } else { self.in_air } + u32::from(fallen.is_some());
        let falls = in_air >= u32::from(gravity);
        let piece = fallen.filter(|_| falls).unwrap_or(piece);
        let is_on_ground = ground.moved(piece, 0, -1).is_none();
        let (cells, label) = ground.resting(piece);
        self.piece = piece;
        self.in_air = if falls { 0 } else { in_air };
        self.lifts += u32::from(is_lifted);
        let is_step = is_moved && !key.ends_with("drop");
        if is_step && was_on_ground && self.resets < lock_resets.into() {
            (self.resets, self.on_ground) = (self.resets + 1, 0);
        }
        if cells[0].0 < self.lowest {
            self.lowest = cells[0].0;
            (self.resets, self.on_ground, self.lifts) = (0, 0, 0);
        }
        self.on_ground += u32::from(is_on_ground && !is_locked);
        if !is_locked && (!is_on_ground || self.on_ground < lock_delay.into()) {
            return (0.0, false, None);
        }
        let (points, is_over) = self.game.place(&(cells, label, false));
        if !is_over {
            self.appear(false);
        }
        (points, is_over, Some(label))
    }

    /// What the library says of the piece, but for the number that tells turns from moves.
    fn state(&self) -> [u32; 7] {
        let Timing { gravity, lock_delay, lock_resets } = self.game.rules.timing.unwrap();
        [
            self.piece.turns as u32,
            u32::from(gravity) - self.in_air,
            u32::from(lock_delay) - self.on_ground,
            u32::from(lock_resets) - self.resets,
            15 - self.lifts,
            self.lowest as u32,
            self.is_swapped.into(),
        ]
    }
}

fn garbage(lines_per_piece: f64, hole_moves: f64, delay: u8) -> Option<Garbage> {
    Some(Garbage { lines_per_piece, hole_moves, delay })
}

fn rule_sets() -> Vec<Rules> {
    let plain = Rules { clear_points: ClearPoints::Lines, attack: AttackTable::Off, ..keys() };
    vec![
        Rules { height: 40, rows_above: 20, ..keys() },
        Rules { timing: timing(1, 1, 0), ..keys() },
        Rules { timing: timing(1, 4, 2), clear_points: ClearPoints::Attack, ..keys() },
        Rules { timing: timing(3, 2, 15), half_turns: HalfTurns::Tetrio, width: 4, ..keys() },
        Rules { timing: timing(2, 30, 0), spins: SpinRule::AllSpins, half_turns: HalfTurns::Cobra, ..keys() },
        Rules { timing: timing(255, 255, 255), spins: SpinRule::Off, hold: false, ..plain },
        Rules { timing: timing(5, 3, 3), rotation: RotationSystem::SrsPlus, width: 18, preview: 1, ..keys() },
        Rules { timing: timing(2, 1, 9), rotation: RotationSystem::None, width: 6, ..plain },
        Rules { timing: timing(4, 6, 1), spins: SpinRule::TSpinsStrict, width: 5, height: 10, ..keys() },
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
            let mut batch = running(config.clone(), &Seeding::Environments(vec![seed]));
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
                let mut state: Vec<u32> =
                    see(&batch, Field::PieceState, None).into_iter().map(u32::from).collect();
                let arrival = state.remove(1);
                assert_eq!(state, twin.state(), "{context}");
                if twin.piece.last_turn.is_none() {
                    assert_eq!(arrival, 0, "{context}");
                } else if rules.spins != SpinRule::Off && twin.piece.tetromino == 'T' {
                    assert_ne!(arrival, 0, "{context}");
                }

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
                    batch = running(config.clone(), &Seeding::Session(0));
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
fn over(rules: Rules, playfield: Playfield, piece: Tetromino) -> EnvBatch {
    let config = EnvConfig { rules, autoreset_mode: AutoresetMode::Disabled, ..EnvConfig::default() };
    let mut batch = running(config, &Seeding::Session(1));
    let position = StartPosition { playfield, piece, queue: vec![], held: None };
    batch.restore(None, Restored::Positions(&[position]), None).unwrap();
    batch
}

fn rows(batch: &EnvBatch) -> Vec<u8> {
    see(batch, Field::FallingCells, None).chunks(2).map(|pair| pair[0]).collect()
}

/// Presses keys; returns how many of the steps ended with a landing.
fn press(batch: &mut EnvBatch, keys: &[&str]) -> u64 {
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
        let mut batch = running(config, &Seeding::Session(3));
        press(&mut batch, &["left", "hold"]);
        for wrong in ["hold", "turn_half"] {
            if batch.has_ended(0) {
                continue;
            }
            let before = (batch.falling(0), batch.playfield(0), batch.held(0));
            match (policy, batch.step(&[key(wrong)], None)) {
                (InvalidActionPolicy::Reject, refused) => {
                    let actions = vec![tetrion::env::RefusedAction { row: 0, action: key(wrong) }];
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
    let mut batch = running(config, &Seeding::Sequences(vec![super::model::sequence("OOIOOOO")]));
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

/// Keys of a list, one press each: those that go as far as they can are pressed until nothing moves any more.
fn press_list(batch: &mut EnvBatch, list: &[u8]) {
    for number in list {
        let (name, is_far) = match PlayerKey::ALL[usize::from(*number)].name() {
            "far_left" => ("left", true),
            "far_right" => ("right", true),
            name => (name, false),
        };
        loop {
            let before = batch.falling(0).unwrap().cells();
            batch.step(&[key(name)], None).unwrap();
            if !is_far || batch.falling(0).unwrap().cells() == before {
                break;
            }
        }
    }
}

/// Every list of keys of EnumeratePlacements, pressed in a slow game of keys; and the next key towards each placement, asked
/// for again after each step.
#[test]
fn keys_lead_to_the_placements_that_they_are_promised_for() {
    let mut spins = 0;
    let sets = [
        Rules { height: 12, rows_above: 4, ..slow() },
        Rules { half_turns: HalfTurns::Tetrio, spins: SpinRule::AllSpins, width: 7, ..slow() },
        Rules { half_turns: HalfTurns::Cobra, rotation: RotationSystem::SrsPlus, width: 5, ..slow() },
    ];
    for (n, rules) in sets.into_iter().enumerate() {
        for seed in 0..12 {
            let (width, height) = (rules.width, rules.height);
            let mut dice = Dice::new(1000 * n as u64 + seed);
            let rows: Vec<String> = match seed % 3 {
                // A slot for a T under an overhang.
                0 => {
                    let beside = usize::from(width) - 4;
                    [("...#", "."), ("#...", "#"), ("##.#", "#")]
                        .map(|(slot, row)| slot.to_owned() + &row.repeat(beside))
                        .into()
                }
                _ => {
                    let mut cell = || if dice.below(20) < 9 { '#' } else { '.' };
                    (0..6).map(|_| (0..width).map(|_| cell()).collect()).collect()
                }
            };
            let playfield = Playfield::from_drawing(width, height, &rows.join("\n")).unwrap();
            let current = Tetromino::ALL[((seed + 2) % 7) as usize];
            let other = Tetromino::ALL[((seed + 5) % 7) as usize];
            let start = StartPosition { playfield, piece: current, queue: vec![other], held: None };
            let hand = Hand { current, other: Some(other) };
            let position = Position { playfield, hand: Some(hand), chain: Chain::default(), falling: None };
            let options = Options { keys: true, afterstates: true, ..Options::default() };
            let all = enumerate(&rules, &[position], None, options);
            let config = EnvConfig { rules, autoreset_mode: AutoresetMode::Disabled, ..EnvConfig::default() };
            let mut batch = running(config, &Seeding::Session(seed));
            let board_bytes = all.afterstates.len() / all.actions.len();
            for (row, action) in all.placements.iter().enumerate() {
                let placement = Placement::from_action(*action as u32, &rules);
                let list = &all.keys[all.key_offsets[row] as usize..all.key_offsets[row + 1] as usize];
                let check = |batch: &EnvBatch, context: &str| {
                    let context = format!("{context} {list:?} to {placement:?} on\n{playfield}");
                    assert_eq!(batch.statistics(0).pieces, 1, "{context}");
                    let spin = see(batch, Field::Spin, None)[0];
                    assert_eq!(spin, placement.spin() as u8, "{context}");
                    assert_eq!(
                        see(batch, Field::LandingRow, None)[0],
                        placement.spot.unwrap().row,
                        "{context}"
                    );
                    let after = &all.afterstates[row * board_bytes..][..board_bytes];
                    assert_eq!(see(batch, Field::BoardBits, None), after, "{context}");
                    assert_eq!(batch.held(0), placement.hold.then_some(current), "{context}");
                };
                batch.restore(None, Restored::Positions(std::slice::from_ref(&start)), None).unwrap();
                press_list(&mut batch, list);
                check(&batch, "pressed");
                spins += u32::from(placement.spin() as u8 > 0);

                batch.restore(None, Restored::Positions(std::slice::from_ref(&start)), None).unwrap();
                let mut asked = 0;
                while batch.statistics(0).pieces == 0 {
                    let tetrion::engine::MovingPiece::Steered(piece) = batch.falling(0).unwrap() else {
                        panic!("it is steered")
                    };
                    let next = piece.key_towards(&rules, &playfield, placement);
                    if asked == 0 {
                        assert_eq!(all.actions[row], next as i32, "the action is the next key");
                    }
                    asked += 1;
                    batch.step(&[next as i32], None).unwrap();
                }
                check(&batch, "asked for");
            }
        }
    }
    assert!(spins > 20, "{spins} spins");
}

/// The most steps that a piece can be kept in play: each time that it comes lower than before, its delay as often as it
/// begins anew, and the rows that it can fall, with those by which kicks lift it.
fn most_steps(rules: &Rules) -> usize {
    let Timing { gravity, lock_delay, lock_resets } = rules.timing.unwrap();
    let on_ground = u32::from(lock_delay) * (u32::from(lock_resets) + 1);
    let in_air = u32::from(gravity) * (15 * 2 + 5);
    ((u32::from(rules.height) + 2) * (on_ground + in_air)) as usize
}

/// The first key of those that take a piece to the highest or the lowest place of a shaft that it can come to; none if it is
/// there.
fn towards_the_end(twin: &KeyGame, is_up: bool) -> Option<&'static str> {
    let ground = twin.ground();
    let mut seen = vec![(twin.piece, None)];
    let mut next = 0;
    while next < seen.len() {
        let (piece, first) = seen[next];
        let steps = [("left", -1, 0), ("right", 1, 0), ("soft_drop", 0, -1)];
        let steps = steps.map(|(key, x, y)| (key, ground.moved(piece, x, y)));
        let turns = [("turn_left", 3), ("turn_right", 1)];
        let turns = turns.map(|(key, quarters)| (key, ground.turned_up_to(piece, quarters, i32::MAX)));
        for (key, moved) in turns.into_iter().chain(steps) {
            let Some(moved) = moved else { continue };
            let place = |piece: &TwinPiece| (piece.turns, piece.x, piece.y);
            if (!is_up || moved.y <= 6) && seen.iter().all(|(other, _)| place(other) != place(&moved)) {
                seen.push((moved, first.or(Some(key))));
            }
        }
        next += 1;
    }
    let heights = seen.iter().map(|(piece, _)| piece.y);
    let end = if is_up { heights.max() } else { heights.min() };
    seen.iter().find(|(piece, _)| Some(piece.y) == end).unwrap().1
}

/// In these shafts kicks take an L, a T and an S up as far as the player likes. A player who goes up and down there and does
/// nothing else would keep them in play for ever.
#[test]
fn no_piece_can_be_kept_in_play_for_ever() {
    let shafts = [
        ["....", "#...", "...#", "...."],
        [".#..", "...#", "..#.", "...#"],
        ["..#..", ".....", ".#...", "..#.."],
    ];
    let (mut lifted, mut longest) = (0, 0);
    for shaft in shafts {
        let rows: Vec<String> = shaft.repeat(2).iter().map(|row| format!("{row:#<8}")).collect();
        for (delay, resets) in [(1, 0), (3, 2), (9, 15)] {
            for piece in "IOTZSJL".chars() {
                let rules = Rules { width: 8, timing: timing(9, delay, resets), ..keys() };
                let playfield = Playfield::from_drawing(8, rules.height, &rows.join("\n")).unwrap();
                let mut batch = over(rules, playfield, Tetromino::from_letter(piece).unwrap());
                let dealt = format!("{piece}{}", &letters(&batch, 0)[1..]);
                let mut twin = KeyGame::new(rules, 0, dealt);
                twin.game.playfield = TwinPlayfield::drawn(&rows.join("/"), rules.height.into());
                twin.appear(false);
                let (mut steps, mut is_up) = (0, false);
                while batch.statistics(0).pieces == 0 {
                    let name = towards_the_end(&twin, is_up).unwrap_or_else(|| {
                        is_up = !is_up;
                        towards_the_end(&twin, is_up).unwrap_or("turn_left")
                    });
                    press(&mut batch, &[name]);
                    steps += 1;
                    assert!(steps <= most_steps(&rules), "{piece} in {shaft:?}");
                    if batch.statistics(0).pieces == 0 {
                        twin.press(name);
                        lifted += u32::from(twin.lifts == 15);
                        let cells = twin.cells();
                        assert_eq!(
                            self::rows(&batch),
                            cells.iter().map(|(row, _)| *row as u8).collect::<Vec<_>>()
                        );
                    }
                }
                longest = longest.max(steps);
            }
        }
    }
    assert!(lifted > 0 && longest > 60, "{lifted} steps without a lift, at most {longest} steps");
}

/// The states of this game are outside input like all others.
#[test]
fn no_byte_of_a_snapshot_makes_it_unsafe() {
    let rules = Rules { timing: timing(3, 5, 2), half_turns: HalfTurns::Tetrio, ..keys() };
    let config = EnvConfig { rules, ..EnvConfig::default() };
    let mut batch = running(config, &Seeding::Session(8));
    let mut dice = Dice::new(2);
    while batch.held(0).is_none() || batch.statistics(0).pieces < 6 || rows(&batch)[0] > 6 {
        let mask = see(&batch, Field::ActionMask, None);
        batch.step(&[random_key(&mut dice, &mask) as i32], None).unwrap();
    }
    super::snapshots::no_changed_byte_is_unsafe(&batch, &mut dice);
}

#[test]
fn time_passes_only_where_keys_steer() {
    let check = |rules: Rules, expected: &str| assert_eq!(rules.check().unwrap_err().to_string(), expected);
    check(
        Rules { timing: None, ..keys() },
        "the keypress action model and reach srs need gravity, lock_delay and lock_resets",
    );
    for rules in [Rules::preset("guideline").unwrap(), Rules::preset("lab").unwrap(), Rules::default()] {
        check(
            Rules { timing: Some(Timing::LEVEL_1), ..rules },
            "gravity, lock_delay and lock_resets need the keypress action model and reach srs",
        );
    }
    check(Rules { timing: timing(0, 1, 0), ..keys() }, "gravity is 0, expected 1..=255 steps");
    check(Rules { timing: timing(1, 0, 0), ..keys() }, "lock_delay is 0, expected 1..=255 steps");
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
        let mut batch = running(config(8), &Seeding::Environments(seeds.clone()));
        let single = |seed| running(config(1), &Seeding::Environments(vec![seed]));
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
        batch.reset(None, Episodes::Next).unwrap();
    }
}
