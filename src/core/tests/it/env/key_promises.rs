//! What is promised of modern Tetris key by key: lists of keys lead where they should, and no piece stays in play for ever.

use tetrion_core::engine::{
    HalfTurns, Hand, Key, Placement, Playfield, RotationSystem, Rules, SpinRule, Tetromino, Timing,
};
use tetrion_core::env::{AutoresetMode, EnvBatch, EnvConfig, Field, Restored, Seeding, StartPosition};
use tetrion_core::placements::{Options, Position, enumerate};

use super::key_game::KeyGame;
use super::modern_keys::{key, keys, over, press, rows, slow, timing};
use super::{Dice, letters, running, see};
use tetrion_twins::{TwinPiece, TwinPlayfield};

/// Keys of a list, one press each: those that go as far as they can are pressed until nothing moves any more.
fn press_list(batch: &mut EnvBatch, list: &[u8]) {
    for number in list {
        let (name, is_far) = match Key::ALL[usize::from(*number)].name() {
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
        Rules { half_turns: HalfTurns::Tetrio, spin_rule: SpinRule::AllSpins, width: 7, ..slow() },
        Rules { half_turns: HalfTurns::Cobra, rotation_system: RotationSystem::SrsPlus, width: 5, ..slow() },
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
            let position = Position::of(playfield, Some(hand));
            let options = Options { keys: true, afterstates: true, ..Options::default() };
            let all = enumerate(&rules, &[position], None, options);
            let config = EnvConfig { rules, autoreset_mode: AutoresetMode::Disabled, ..EnvConfig::default() };
            let mut batch = running(config, &Seeding::Seed(seed));
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
                    let next = batch.falling(0).unwrap().key_towards(&rules, &playfield, placement);
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
    let Timing { fall_delay, lock_delay, lock_resets } = rules.timing.unwrap();
    let on_ground = u32::from(lock_delay) * (u32::from(lock_resets) + 1);
    let in_air = u32::from(fall_delay) * (15 * 2 + 5);
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
