//! Environments in which a step is a key: drawings of what each key did, and what the fields show of it.
//!
//! Drawings are frames side by side, the key that led to each above it: `#` landed, `@` the falling piece. Cells above the
//! playfield are not drawn.

use tetrion_core::engine::{ActionModel, FallingPiece, Key, Playfield, Rules, Scoring, Tetromino, TopOut};
use tetrion_core::env::{
    ActionError, AutoresetMode, EnvBatch, EnvConfig, EnvState, Field, InvalidActionPolicy, PositionError,
    RefusedAction, RestoreError, Restored, Seeding, StartPosition, StepError,
};
use tetrion_core::features::FeatureSet;
use tetrion_core::render::{RenderFormat, View, render};

use super::model::sequence;
use super::{letters, numbers, running, see};

const WORDS: [&str; 6] = ["idle", "left", "right", "rotl", "rotr", "drop"];

fn lab(width: u8, height: u8) -> Rules {
    Rules { width, height, ..Rules::preset("lab").unwrap() }
}

/// The piece that falls in the first environment, over its playfield; neither next pieces nor numbers.
pub fn frame(batch: &EnvBatch, format: RenderFormat) -> String {
    let (playfield, falling) = (batch.playfield(0), batch.falling(0));
    render(format, &View { playfield: &playfield, falling, lines: 0, num_pieces: 0, ended: false })
}

/// An environment that deals these pieces, with the first of them over a drawing.
fn over(rules: Rules, drawing: &str, pieces: &str) -> EnvBatch {
    let config = EnvConfig { rules, autoreset_mode: AutoresetMode::Disabled, ..EnvConfig::default() };
    let mut batch = running(config, &Seeding::from_pieces(vec![sequence(pieces)]));
    let playfield = Playfield::from_drawing(rules.width, rules.height, drawing).unwrap();
    let position = StartPosition { playfield, piece: sequence(pieces)[0], queue: vec![], held: None };
    batch.restore(None, Restored::Positions(&[position]), None).unwrap();
    batch
}

fn press(batch: &mut EnvBatch, word: &str) -> (f32, bool, bool) {
    let key = WORDS.iter().position(|known| *known == word).expect("a key");
    let outcome = batch.step(&[key as i32], None).unwrap();
    (outcome.rewards[0], outcome.terminated[0], outcome.truncated[0])
}

/// Presses the keys of a drawing and compares every frame; returns the environment as it is then.
#[track_caller]
fn check(pieces: &str, drawing: &str) -> EnvBatch {
    let mut lines = drawing.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let keys = lines.find(|words| !words.is_empty()).expect("a line of keys");
    let rows: Vec<Vec<&str>> = lines.filter(|words| !words.is_empty()).collect();
    let nth = |n: usize| rows.iter().map(|row| row[n]).collect::<Vec<_>>().join("\n");
    let rules = lab(rows[0][0].len() as u8, rows.len() as u8);
    let mut batch = over(rules, &nth(0).replace('@', "."), pieces);
    assert_eq!(frame(&batch, RenderFormat::Ascii), nth(0), "at the start");
    for (n, key) in keys.iter().enumerate().skip(1) {
        press(&mut batch, key);
        assert_eq!(frame(&batch, RenderFormat::Ascii), nth(n), "after key {n}, {key}");
    }
    batch
}

#[test]
fn a_piece_moves_and_falls_in_one_step() {
    // The second step to the left has no room: nothing but the fall happens.
    let batch = check(
        "TO",
        "start  left   left   right  idle
         .@@@.  .@...  .....  .....  .@@..
         .....  @@@..  .@...  .....  .....
         .....  .....  @@@..  ..@..  .....
         .....  .....  .....  .@@@.  ..#..
         .....  .....  .....  .....  .###.",
    );
    assert_eq!((numbers(&batch, Field::Steps), numbers(&batch, Field::Pieces)), (vec![4], vec![1]));
}

#[test]
fn a_piece_turns_about_its_anchor() {
    check(
        "TI",
        "start  rotr   rotr   rotl
         .@@@.  ..@..  .....  ..@..
         .....  ..@@.  .....  .....
         .....  ..@..  .@@@.  ..#..
         .....  .....  ..@..  ..##.
         .....  .....  .....  ..#..",
    );
}

#[test]
fn an_o_that_turns_is_elsewhere() {
    // Its anchor is the right one of its lower cells, then the left one of its lower, then of its upper ones.
    check(
        "OI",
        "start  rotr   rotr   idle
         .@@..  ..@@.  .....  ..@..
         .....  ..@@.  .....  .....
         .....  .....  ..@@.  .....
         .....  .....  ..@@.  ..##.
         .....  .....  .....  ..##.",
    );
}

#[test]
fn what_is_in_the_way_stops_a_turn_and_a_step_but_not_the_fall() {
    check(
        "IO",
        "start  idle   rotr   left   drop
         ..@..  ..@..  ..@..  ..@..  .@@..
         .#.#.  .#@#.  .#@#.  .#@#.  .#.#.
         .#.#.  .#.#.  .#@#.  .#@#.  .###.
         .#.#.  .#.#.  .#.#.  .#@#.  .###.
         .#.#.  .#.#.  .#.#.  .#.#.  .###.
         .#.#.  .#.#.  .#.#.  .#.#.  .###.",
    );
}

#[test]
fn a_piece_slides_under_an_overhang_and_locks_there() {
    check(
        "OZ",
        "start  left   idle   idle   idle   right
         .@@..  @@...  .....  .....  .....  ..@@.
         .....  @@...  @@...  .....  .....  .....
         ..###  ..###  @@###  @@###  ..###  ..###
         .....  .....  .....  @@...  @@...  .....
         .....  .....  .....  .....  @@...  .##..
         .....  .....  .....  .....  .....  .##..",
    );
}

#[test]
fn a_piece_that_comes_to_rest_by_a_step_locks_in_that_step() {
    // It moves onto a ledge and has nowhere to fall; there is no time to move it on.
    check(
        "OI",
        "start  idle   idle   right
         .@@..  .@@..  .....  ..@..
         .....  .@@..  .@@..  ..##.
         .....  .....  .@@..  ..##.
         ...#.  ...#.  ...#.  ...#.
         ...#.  ...#.  ...#.  ...#.
         ...#.  ...#.  ...#.  ...#.",
    );
}

#[test]
fn full_rows_clear_when_a_piece_locks() {
    let mut batch = over(lab(5, 5), "##.##/##.##", "II");
    assert_eq!(press(&mut batch, "idle"), (0.0, false, false));
    assert_eq!(press(&mut batch, "drop"), (2.0, false, false));
    assert_eq!(frame(&batch, RenderFormat::Ascii), "..@..\n.....\n.....\n..#..\n..#..");
    assert_eq!((numbers(&batch, Field::Lines), batch.statistics(0).episode_return), (vec![2], 2.0));
}

/// The notebook's Quiz 1: a T in column 3 of row 1, left, left, rotate left, drop.
#[test]
fn quiz_1_in_the_notebooks_own_frames() {
    let before = "..#..../..#..../#.#..../#.#..#./###..#./###..##";
    let mut batch = over(lab(7, 12), before, "TI");
    press(&mut batch, "idle");
    let spawned = "   o--------------o
 0 |      []      |
 1 |    [][][]    |
 2 |              |
 3 |              |
 4 |              |
 5 |              |
 6 |    []        |
 7 |    []        |
 8 |[]  []        |
 9 |[]  []    []  |
10 |[][][]    []  |
11 |[][][]    [][]|
   o--------------o";
    assert_eq!(frame(&batch, RenderFormat::Lab), spawned);
    for key in ["left", "left", "rotl", "drop"] {
        press(&mut batch, key);
    }
    // The same as in the notebook, but for the next piece, which has appeared in the top row.
    let landed = "   o--------------o
 0 |      []      |
 1 |              |
 2 |              |
 3 |              |
 4 |              |
 5 |              |
 6 |  [][]        |
 7 |[][][]        |
 8 |[][][]        |
 9 |[]  []    []  |
10 |[][][]    []  |
11 |[][][]    [][]|
   o--------------o";
    assert_eq!(frame(&batch, RenderFormat::Lab), landed);
    assert_eq!((numbers(&batch, Field::Pieces), numbers(&batch, Field::Lines)), (vec![1], vec![0]));
}

/// An I that is moved beside the middle stands on a tower there, with its lowest cell in the top row and the rest above.
#[test]
fn each_rule_of_the_end_says_when() {
    #[track_caller]
    fn end(top_out: TopOut, tower: &str, pieces: &str, keys: &str, expected: bool) {
        let scoring = Scoring { piece: 1.0, game_end: -5.0, ..Scoring::LINES };
        let mut batch = over(Rules { top_out, scoring, ..lab(7, 5) }, tower, pieces);
        let mut keys = keys.split(' ').collect::<Vec<_>>();
        let last = keys.pop().unwrap();
        for key in keys {
            assert_eq!(press(&mut batch, key), (0.0, false, false), "{top_out:?}");
        }
        let reward = if expected { -4.0 } else { 1.0 };
        assert_eq!(press(&mut batch, last), (reward, expected, false), "{top_out:?}");
        assert_eq!(batch.has_ended(0), expected);
    }
    let tower = "....#../....#../....#../....#..";
    end(TopOut::TopRow, tower, "II", "right", true);
    end(TopOut::Overflow, tower, "II", "right", true);
    // The next piece appears in column 3 if it is an I, in columns 2 to 4 if it is a T.
    end(TopOut::SpawnBlocked, tower, "II", "right", false);
    end(TopOut::SpawnBlocked, tower, "IT", "right", true);
    // The third row from the top is the first one above the field.
    let step = "....#../....#..";
    end(TopOut::AboveField, step, "II", "right drop", true);
    end(TopOut::AboveField, step, "OI", "drop", false);
    end(TopOut::TopRow, step, "II", "right drop", true);
    end(TopOut::TopRow, step, "OI", "right drop", false);
    // What stays in the playfield may still leave the next piece no room to appear: that is the end under any rule.
    end(TopOut::Overflow, "..##.../..##.../..##...", "OI", "drop", true);
    end(TopOut::Overflow, ".##..../.##..../.##....", "OI", "left", false);
    end(TopOut::Overflow, ".##..../.##..../.##....", "OT", "left", true);
}

#[test]
fn a_game_that_is_over_is_no_position_to_start_from() {
    let (left, middle) = ("#..../#..../#..../#..../#....", "..#../..#../..#../..#../..#..");
    for (top_out, drawing, is_over) in [
        (TopOut::TopRow, left, true),
        (TopOut::TopRow, middle, true),
        (TopOut::SpawnBlocked, left, false),
        (TopOut::SpawnBlocked, middle, true),
        (TopOut::Overflow, left, false),
        (TopOut::Overflow, middle, true),
    ] {
        let rules = Rules { top_out, ..lab(5, 5) };
        let mut batch = running(EnvConfig { rules, ..EnvConfig::default() }, &Seeding::Seed(1));
        let playfield = Playfield::from_drawing(5, 5, drawing).unwrap();
        let position = StartPosition { playfield, piece: Tetromino::T, queue: vec![], held: None };
        let over = Err(RestoreError::Position { row: 0, error: PositionError::GameOver });
        let got = batch.restore(None, Restored::Positions(&[position]), None);
        assert_eq!(got, if is_over { over } else { Ok(()) }, "{top_out:?}");
    }
}

#[test]
fn every_key_is_legal_at_any_time() {
    for invalid_action_policy in [InvalidActionPolicy::Reject, InvalidActionPolicy::Terminate] {
        let config = EnvConfig { rules: lab(4, 4), invalid_action_policy, ..EnvConfig::default() };
        let mut batch = EnvBatch::new(config, &Seeding::from_pieces(vec![sequence("II")])).unwrap();
        assert_eq!(see(&batch, Field::ActionMask, None), [0; 6], "before the first reset");
        batch.reset(None, None).unwrap();
        assert_eq!(see(&batch, Field::ActionMask, None), [1; 6]);
        for action in [-1, 6, i32::MAX] {
            let actions = vec![RefusedAction { row: 0, action }];
            let refused = StepError::Action(ActionError::OutOfRange { actions, num_actions: 6 });
            assert_eq!(batch.step(&[action], None).unwrap_err(), refused);
        }
        // The first I stands in the top row when it has dropped.
        assert!(batch.step(&[Key::HardDrop as i32], None).unwrap().terminated[0]);
        assert_eq!(see(&batch, Field::ActionMask, None), [1, 0, 0, 0, 0, 0]);
        assert!(batch.step(&[-1], None).is_ok(), "it begins a new episode whatever the action is");
        assert_eq!(see(&batch, Field::ActionMask, None), [1; 6]);
    }
}

#[test]
fn a_limit_counts_keys_and_the_last_piece_ends_a_sequence() {
    let config = |max_episode_steps| EnvConfig {
        rules: lab(6, 20),
        max_episode_steps,
        autoreset_mode: AutoresetMode::Disabled,
        ..EnvConfig::default()
    };
    let mut batch = running(config(3), &Seeding::from_pieces(vec![sequence("OO")]));
    assert_eq!(press(&mut batch, "idle"), (0.0, false, false));
    assert_eq!(press(&mut batch, "left"), (0.0, false, false));
    assert_eq!(press(&mut batch, "idle"), (0.0, false, true));
    // A learner must value where the piece was when time was up.
    let expected = FallingPiece { tetromino: Tetromino::O, turns: 0, column: 2, row: 16 };
    assert_eq!(batch.falling(0), Some(expected.into()));

    let mut batch = running(config(0), &Seeding::from_pieces(vec![sequence("OO")]));
    assert_eq!(press(&mut batch, "drop"), (0.0, false, false));
    assert_eq!(press(&mut batch, "drop"), (0.0, false, true));
    assert_eq!((batch.falling(0), letters(&batch, 0)), (None, String::new()));
    assert_eq!(see(&batch, Field::Falling, None), [0; 120]);
    assert_eq!(see(&batch, Field::FallingCells, None), [255; 8]);
    assert_eq!(EnvState::from_bytes(&batch.state(0).to_bytes()), Ok(batch.state(0)));
}

#[test]
fn the_falling_piece_is_shown_as_a_plane_and_as_cells() {
    let mut batch = over(lab(5, 5), "#....", "JO");
    // J stands with its foot to the left of its anchor; two of its cells are above the playfield.
    assert_eq!(see(&batch, Field::FallingCells, None), [4, 1, 4, 2, 5, 2, 6, 2]);
    assert_eq!(see(&batch, Field::Falling, None)[20..], [0, 1, 1, 0, 0]);
    assert_eq!(see(&batch, Field::Falling, None)[..20], [0; 20]);
    press(&mut batch, "idle");
    assert_eq!(see(&batch, Field::FallingCells, None), [3, 1, 3, 2, 4, 2, 5, 2]);
    assert_eq!(see(&batch, Field::Falling, None)[15..], [0, 1, 1, 0, 0, 0, 0, 1, 0, 0]);
    assert_eq!(see(&batch, Field::Board, None)[..5], [1, 0, 0, 0, 0], "and is not in the board");
    // Where pieces do not fall there is nothing to show.
    let placed =
        running(EnvConfig { rules: Rules::simplified(5, 5), ..EnvConfig::default() }, &Seeding::Seed(1));
    assert_eq!(placed.falling(0), None);
    assert_eq!(see(&placed, Field::FallingCells, None), [255; 8]);
}

#[test]
fn features_stay_as_they_are_between_landings() {
    let features = FeatureSet::custom(&["lines_cleared", "landing_height_lab", "total_height"], 5).unwrap();
    let config = EnvConfig { rules: lab(5, 8), features: Some(features), ..EnvConfig::default() };
    let mut batch = running(config, &Seeding::from_pieces(vec![sequence("SOT")]));
    let shown = |batch: &EnvBatch| -> Vec<f32> {
        let bytes = see(batch, Field::Features, None);
        bytes.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
    };
    assert_eq!(shown(&batch), [0.0, 0.0, 0.0]);
    // Half a turn of an S: the same cells about another anchor, which is now in its upper row.
    for key in ["rotl", "rotl"] {
        press(&mut batch, key);
        assert_eq!(shown(&batch), [0.0, 0.0, 0.0]);
    }
    press(&mut batch, "drop");
    let landed = shown(&batch);
    assert_eq!(landed, [0.0, 2.0, 5.0], "no line, the anchor in the second row, heights 0 1 2 2 0");
    press(&mut batch, "left");
    assert_eq!(shown(&batch), landed);
}

#[test]
fn keys_need_no_more_room_than_placements() {
    let per_env = |rules| {
        let config = EnvConfig { rules, num_envs: 1000, ..EnvConfig::default() };
        EnvBatch::new(config, &Seeding::Seed(1)).unwrap().memory_bytes() / 1000
    };
    assert_eq!(Rules::preset("lab").unwrap().action_model, ActionModel::Keypress);
    let usual = per_env(Rules::preset("lab").unwrap());
    assert!(usual <= 256, "{usual} bytes");
    let largest = per_env(lab(32, 40));
    assert!(largest <= 1024, "{largest} bytes");
}
