//! Observations in the format `text-1`, to the character, and actions that are read back from their names.

use tetrion_core::engine::{PRESETS, Piece, Playfield, Rules, parse_sequence};
use tetrion_core::env::{EnvBatch, EnvConfig, Restored, Seeding, StartPosition};
use tetrion_toolkit::prompts::{Choices, Detail, ObservedState, observation};

use tetrion_testing::Dice;

fn started(rules: Rules, seed: u64) -> EnvBatch {
    let mut batch = EnvBatch::new(EnvConfig { rules, ..EnvConfig::default() }, &Seeding::Seed(seed)).unwrap();
    batch.reset(None, None).unwrap();
    batch
}

/// An environment with this playfield, the first letter as the current piece and the others as the next ones.
fn placed(rules: Rules, drawing: &str, pieces: &str, held: Option<Piece>) -> EnvBatch {
    let mut batch = started(rules, 1);
    let playfield = Playfield::from_drawing(rules.width, rules.height, drawing).unwrap();
    let pieces = parse_sequence(pieces).unwrap();
    let position = StartPosition { playfield, piece: pieces[0], queue: pieces[1..].to_vec(), held };
    batch.restore(None, Restored::Positions(&[position]), None).unwrap();
    batch
}

#[track_caller]
fn check(batch: &EnvBatch, detail: Detail, expected: &[&str]) {
    let text = observation(detail, &ObservedState::new(batch, 0));
    assert_eq!(text.split('\n').collect::<Vec<_>>(), expected, "\n{text}");
    assert!(text.is_ascii());
}

const LEGEND: &str = "text-1: # full, . empty, top row first; row 0 is the floor, column 0 is at the left";

#[test]
fn a_board_with_its_pieces_and_actions() {
    let batch = placed(Rules { preview: 1, ..Rules::simplified(5, 4) }, "#..../##.##", "TO", None);
    let board = [
        LEGEND,
        "3 .....",
        "2 .....",
        "1 #....",
        "0 ##.##",
        "columns 01234",
        "current T, next O",
        "lines 0, pieces 0",
    ];
    check(&batch, Detail::Board, &board);
    let actions = "actions: letter orientation@leftmost-rightmost column";
    let listed = ["a 0@0-1", "b 0@1-2", "c 0@2-3", "d 0@3-4", "e 1@0-2", "f 1@1-3", "g 1@2-4"];
    let more = ["h 2@0-1", "i 2@1-2", "j 2@2-3", "k 2@3-4", "l 3@0-2", "m 3@1-3", "n 3@2-4"];
    let shapes = "shapes of T: 0 #./##/#. 1 .#./### 2 .#/##/.# 3 ###/.#.";
    check(&batch, Detail::Actions, &[&board[..], &[shapes, actions], &listed, &more].concat());
    let short = [
        "text-1 short: current T, next O; lines 0, pieces 0; heights 2 1 0 1 1; holes none",
        "actions: 0@0..3 1@0..2 2@0..3 3@0..2",
    ];
    check(&batch, Detail::Short, &short);
}

#[test]
fn consequences_are_counted_on_the_afterstate() {
    // The I clears the lowest row where it stands in the gap, and the row above it where it lies.
    let batch = placed(Rules::simplified(4, 5), "##.#", "I", None);
    let expected = [
        LEGEND,
        "4 ....",
        "3 ....",
        "2 ....",
        "1 ....",
        "0 ##.#",
        "columns 0123",
        "current I",
        "lines 0, pieces 0",
        "shapes of I: 0 #/#/#/# 1 ####",
        "actions: letter orientation@leftmost-rightmost column",
        "a 0@0: lines 0, holes 0, height 5, bumpiness 6",
        "b 0@1: lines 0, holes 0, height 5, bumpiness 10",
        "c 0@2: lines 1, holes 0, height 3, bumpiness 6",
        "d 0@3: lines 0, holes 0, height 5, bumpiness 6",
        "e 1@0-3: lines 1, holes 0, height 1, bumpiness 2",
    ];
    check(&batch, Detail::Consequences, &expected);
}

#[test]
fn both_pieces_that_can_be_placed_have_their_shapes() {
    let rules = Rules { hold: true, preview: 1, ..Rules::simplified(4, 5) };
    let held = parse_sequence("I").unwrap()[0];
    let text = observation(Detail::Actions, &ObservedState::new(&placed(rules, "", "OT", Some(held)), 0));
    assert!(text.contains("\nshapes of O: 0 ##/##\nshapes of I: 0 #/#/#/# 1 ####\nactions:"), "{text}");
    assert!(text.contains("\nd hold 0@0\n"), "{text}");
}

#[test]
fn keys_are_named_and_the_falling_piece_is_shown() {
    let lab = PRESETS.iter().find(|preset| preset.name == "lab").unwrap().rules;
    let batch = placed(Rules { width: 7, height: 6, ..lab }, "", "O", None);
    let text = observation(Detail::Actions, &ObservedState::new(&batch, 0));
    assert!(text.starts_with("text-1: # full, . empty, @ falling piece, top row first;"), "{text}");
    assert!(text.contains("\n5 ..@@...\n"), "the other half is above the playfield: {text}");
    assert!(text.contains("\nactions: letter key\na idle\nb left\n"), "{text}");
}

#[test]
fn the_end_of_an_episode_is_said_and_leaves_no_action() {
    let mut batch = started(Rules::simplified(4, 4), 3);
    while !batch.has_ended(0) {
        let state = ObservedState::new(&batch, 0);
        batch.step(&[state.choices().action(state.rules(), 0)], None).unwrap();
    }
    let state = ObservedState::new(&batch, 0);
    assert!(state.choices().is_empty());
    for detail in [Detail::Board, Detail::Actions, Detail::Consequences, Detail::Short] {
        let text = observation(detail, &state);
        assert!(text.ends_with("\nthe episode has ended"), "{text}");
        assert!(text.contains("current none"), "{text}");
    }
}

#[test]
fn every_listed_action_is_read_back_and_can_be_stepped() {
    for preset in &PRESETS {
        for seed in 0..3 {
            let mut batch = started(preset.rules, seed);
            let mut dice = Dice(seed, 0);
            for _ in 0..40 {
                if batch.has_ended(0) {
                    break;
                }
                let state = ObservedState::new(&batch, 0);
                let (rules, choices) = (state.rules(), state.choices());
                let listed = observation(Detail::Consequences, &state);
                let listed: Vec<&str> =
                    listed.lines().skip_while(|line| !line.starts_with("actions:")).skip(1).collect();
                assert_eq!(listed.len(), choices.len(), "{} with seed {seed}", preset.name);
                for (n, line) in listed.iter().enumerate() {
                    let entry = line.split(':').next().unwrap();
                    let (letter, name) = entry.split_once(' ').unwrap();
                    for said in [*line, entry, letter, name, &format!("  {} ", name.to_uppercase())] {
                        let read = choices.read(rules, said);
                        assert_eq!(
                            read,
                            Ok(choices.action(rules, n)),
                            "{said:?}, {} with seed {seed}",
                            preset.name
                        );
                    }
                }
                check_mask(&batch, &choices, rules);
                let n = dice.below(choices.len());
                batch.step(&[choices.action(rules, n)], None).unwrap();
            }
        }
    }
}

/// The legal actions are the ones in the action mask.
fn check_mask(batch: &EnvBatch, choices: &Choices, rules: &Rules) {
    let mut mask = Vec::new();
    batch.observe(tetrion_core::env::Field::ActionMask, None, &mut mask);
    let legal: Vec<i32> = (0..choices.len()).map(|n| choices.action(rules, n)).collect();
    let masked: Vec<i32> =
        mask.iter().enumerate().filter(|(_, legal)| **legal == 1).map(|(n, _)| n as i32).collect();
    assert_eq!(legal, masked);
    let illegal = mask.iter().position(|legal| *legal == 0).map(|n| n as i32);
    assert_eq!(choices.illegal_action(rules), illegal);
}

#[test]
fn a_text_that_is_no_action_gets_the_list_of_legal_ones() {
    let batch = placed(Rules::simplified(4, 5), "", "O", None);
    let state = ObservedState::new(&batch, 0);
    let (rules, choices) = (state.rules(), state.choices());
    for said in ["", "d", "0@3", "1@0", "left", "a b", "a:b", "a: b", ":", ".", "@", "0@-1", "\u{e4}"] {
        let problem = choices.read(rules, said).unwrap_err().to_string();
        let expected = format!("{said:?} is not a legal action, expected one of: a 0@0-1, b 0@1-2, c 0@2-3");
        assert_eq!(problem, expected);
    }
    let long = "a".repeat(100_000);
    let problem = choices.read(rules, &long).unwrap_err().to_string();
    assert!(problem.len() < 256, "{}", problem.len());
    for said in ["b", " B ", "b.", "0@1", "0@1-2", "b 0@1-2", "b 0@1-2:", "B: ENDS the game"] {
        assert_eq!(choices.read(rules, said), Ok(1), "{said:?}");
    }
}
