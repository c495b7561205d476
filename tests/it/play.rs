//! `tetrion play`, driven by keys and simulated time.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Duration;

use ratatui::crossterm::event::KeyCode;
use tetrion::cli::play::{PlayArgs, begin};
use tetrion::engine::{ActionModel, MovingPiece, PRESETS, PieceCells, Rules, placements};
use tetrion::recording::{Replay, Scene};
use tetrion::viewers::{PlayScreen, TerminalProgram};

use crate::watch::{parsed, press, refused, screen};

const LEFT: KeyCode = KeyCode::Left;
const RIGHT: KeyCode = KeyCode::Right;
const TURN: KeyCode = KeyCode::Up;
const TURN_BACK: KeyCode = KeyCode::Char('z');
const DEEPER: KeyCode = KeyCode::Down;
const DROP: KeyCode = KeyCode::Char(' ');
const UNDO: KeyCode = KeyCode::Char('u');
const HINT: KeyCode = KeyCode::Char('h');

fn play(flags: &[&str]) -> PlayScreen {
    let flags = [flags, &["--palette", "ascii"]].concat();
    begin(&parsed::<PlayArgs>(&flags), 5).unwrap()
}

fn wait(play: &mut PlayScreen, seconds: f64) {
    play.pass(Duration::from_secs_f64(seconds));
}

fn scene(play: &PlayScreen) -> Scene {
    play.course().scene()
}

/// Puts the piece in play elsewhere than the one before it, so that games take a while.
fn drop_somewhere(play: &mut PlayScreen, n: usize) {
    press(play, &[LEFT; 8]);
    press(play, &vec![RIGHT; 3 * n % 8]);
    press(play, &[DROP]);
}

#[test]
fn keys_lead_to_every_placement_and_to_no_other() {
    // Keys that steer a piece are another game, and the cells that are compared here are four.
    let others =
        |rules: &Rules| rules.action_model == ActionModel::Keypress || !rules.pieces.is_tetrominoes();
    // Where garbage rises, a piece does not stay where it landed.
    let alone = |rules: &Rules| !others(rules) && rules.garbage.is_none();
    for preset in PRESETS.iter().filter(|preset| alone(&preset.rules)) {
        let rows_above = preset.rules.rows_above.min(4);
        let rules = format!("{},rows_above={rows_above}", preset.name);
        let mut play = play(&["--rules", &rules, "--height", "14"]);
        for n in 0..25 {
            let course = play.course();
            let Some(piece) = course.piece() else { break };
            let all = placements(course.rules(), course.playfield(), piece);
            let expected: BTreeSet<_> =
                all.iter().map(|place| course.resting_cells(place).unwrap().four()).collect();
            let mut reached = BTreeSet::new();
            for _ in 0..4 {
                press(&mut play, &[TURN]);
                press(&mut play, &[LEFT; 10]);
                for _ in 0..10 {
                    // Where pieces turn in under a roof, there is more than one place in a column.
                    for _ in 0..6 {
                        reached.insert(dropped(&play).four());
                        press(&mut play, &[DEEPER]);
                    }
                    press(&mut play, &[RIGHT]);
                }
            }
            assert_eq!(reached, expected, "{}: {piece} after {n} pieces", preset.name);
            drop_somewhere(&mut play, n);
        }
        assert!(play.course().outcome().pieces >= 8, "{}: a bad test", preset.name);
    }
}

/// Where a drop puts the piece: where the ghost shows it, which a drop confirms unless rows clear.
fn dropped(play: &PlayScreen) -> PieceCells {
    let ghost = play.ghost().expect("a piece is held");
    let mut after = play.clone();
    press(&mut after, &[DROP]);
    let after = scene(&after);
    if after.cleared.is_empty() && ghost.iter().all(|(row, _)| *row < play.course().rules().height) {
        assert_eq!(after.last, ghost[..]);
    }
    ghost
}

#[test]
fn four_turns_change_nothing_and_a_turn_back_undoes_one() {
    let mut play = play(&["--rules", "genetic"]);
    for n in 0..12 {
        press(&mut play, &vec![RIGHT; n % 7]);
        let ghost = play.ghost();
        press(&mut play, &[TURN, TURN, TURN, TURN]);
        assert_eq!(play.ghost(), ghost);
        press(&mut play, &[TURN, TURN_BACK, TURN_BACK, TURN]);
        assert_eq!(play.ghost(), ghost);
        drop_somewhere(&mut play, n);
    }
}

#[test]
fn what_was_taken_back_is_as_it_was() {
    for rules in [&["--against", "bcts"][..], &["--rules", "lab", "--against", "lab-uniform"]] {
        let mut play = play(rules);
        let both = |play: &PlayScreen| (scene(play), play.rival().unwrap().course().scene());
        let mut forth = Vec::new();
        for n in 0..9 {
            forth.push(both(&play));
            // Few keys, each of which costs a row where pieces fall.
            press(&mut play, &vec![[LEFT, RIGHT][n % 2]; n % 4]);
            press(&mut play, &[DROP]);
            wait(&mut play, 0.0);
            let pieces = play.course().outcome().pieces;
            assert_eq!(
                (pieces, play.rival().unwrap().course().outcome().pieces),
                (n as u64 + 1, n as u64 + 1)
            );
        }
        for expected in forth.iter().rev() {
            press(&mut play, &[UNDO]);
            wait(&mut play, 0.0);
            assert_eq!(&both(&play), expected);
        }
        press(&mut play, &[UNDO]);
        assert_eq!(both(&play), forth[0]);
    }
}

#[test]
fn a_piece_falls_in_time_where_keys_move_it() {
    let mut play = play(&["--rules", "lab", "--rows-per-second", "2"]);
    let row = |play: &PlayScreen| match play.course().moving() {
        Some(MovingPiece::Falling(piece)) => piece.row,
        other => panic!("{other:?} does not fall with every key"),
    };
    let top = row(&play);
    wait(&mut play, 0.4);
    assert_eq!(row(&play), top);
    wait(&mut play, 0.2);
    assert_eq!(row(&play), top - 1, "half a second is a row");
    press(&mut play, &[KeyCode::Char('p')]);
    wait(&mut play, 5.0);
    assert_eq!(row(&play), top - 1, "it is paused");
    press(&mut play, &[LEFT]);
    assert_eq!(row(&play), top - 2, "a key goes on, and is a row too");
    wait(&mut play, 1_000.0);
    assert_eq!(row(&play), top - 6, "a terminal that was stopped costs four rows at most");
    // A piece that has been moved goes back to where it appeared; a game that was taken back waits.
    press(&mut play, &[UNDO]);
    wait(&mut play, 5.0);
    assert_eq!((row(&play), play.course().steps()), (top, 0));
    assert!(screen(&play, 80, 24).contains("paused"));
    let mut still = self::play(&["--rules", "lab", "--rows-per-second", "0"]);
    wait(&mut still, 100.0);
    assert_eq!(row(&still), top, "at speed 0 only keys count");
}

#[test]
fn a_hint_says_why_and_goes_with_the_piece() {
    let mut play = play(&["--hint", "dt-10"]);
    press(&mut play, &[HINT]);
    let hint = play.hint().unwrap().clone();
    let drawn = screen(&play, 80, 24);
    assert!(drawn.contains("++") && drawn.contains("landing_height") && drawn.contains("dt-10"), "{drawn}");
    // Beside the best placement stands the one that the person points at.
    press(&mut play, &[LEFT; 9]);
    let yours = if play.ghost() == Some(hint.cells) { vec![RIGHT; 9] } else { vec![] };
    press(&mut play, &yours);
    assert_eq!(screen(&play, 80, 24).matches("yours").count(), 2, "in the table and in the line below");
    press(&mut play, &[HINT]);
    assert!(play.hint().is_none());
    press(&mut play, &[HINT, DROP]);
    assert!(play.hint().is_none());
}

#[test]
fn a_game_that_is_over_can_be_taken_back_or_followed_by_another() {
    let mut play = play(&["--height", "4", "--against", "random"]);
    while play.course().end().is_none() {
        press(&mut play, &[DROP]);
    }
    let report = play.report();
    assert!(report.contains("\nyou: ") && report.contains(" points, topped out\nrandom: "), "{report}");
    press(&mut play, &[LEFT, TURN, DROP, HINT, KeyCode::Char('p'), KeyCode::Down]);
    wait(&mut play, 1.0);
    assert!(screen(&play, 80, 24).contains("topped out, n starts a new game"), "{}", screen(&play, 80, 24));
    let pieces = play.course().outcome().pieces;
    press(&mut play, &[UNDO]);
    assert_eq!((play.course().end(), play.course().outcome().pieces), (None, pieces - 1));
    press(&mut play, &[KeyCode::Char('n')]);
    assert_eq!(play.course().steps(), 0);
    assert!(play.report().contains("seed 5, game 1\n"));
    assert_eq!(play.press(KeyCode::Char('q')), ControlFlow::Break(()));
}

/// A person plays a match: both land a piece a turn, lines go to the other side, and what is taken back is as it was.
#[test]
fn a_match_has_turns() {
    let mut play = play(&["--rules", "tetrio,players=2", "--against", "dt-10", "--hint", "dt-10"]);
    let both = |play: &PlayScreen| (scene(play), play.course().opponent().unwrap().scene());
    let mut forth = vec![both(&play)];
    while play.course().end().is_none() {
        // As a person who always follows the hint for a while, and then does not.
        press(&mut play, &[HINT]);
        let keys = if forth.len() < 12 { vec![DROP] } else { vec![LEFT, DROP] };
        press(&mut play, &keys);
        for _ in 0..50 {
            wait(&mut play, 0.02);
        }
        let turns = play.course().outcome().pieces;
        assert_eq!(turns, forth.len() as u64, "the opponent answers");
        assert_eq!(play.course().opponent().unwrap().outcome().pieces, turns);
        forth.push(both(&play));
    }
    assert!(forth.len() > 10, "it ended early: a bad test");
    let shown = screen(&play, 100, 30);
    assert!(shown.contains("won") && shown.contains("topped out") && shown.contains("received"), "{shown}");
    let recording = play.recording();
    let names = (recording.player.as_str(), recording.opponent.as_ref().unwrap().player.as_str());
    assert_eq!(names, ("a person", "dt-10"));
    assert_eq!(Replay::new(recording).unwrap().difference(), None);
    assert!(play.report().contains("dt-10: ") && play.report().contains("won"), "{}", play.report());
    for expected in forth.iter().rev().skip(1) {
        press(&mut play, &[UNDO]);
        assert_eq!(&both(&play), expected);
    }
    // A move that the opponent has not answered is taken back alone.
    press(&mut play, &[DROP]);
    wait(&mut play, 0.02);
    let after = both(&play);
    press(&mut play, &[DROP, UNDO]);
    wait(&mut play, 0.02);
    assert_eq!(both(&play), after);
}

#[test]
fn the_other_player_chooses_as_it_is_asked_to() {
    let against = ["--against", "tetrion-10x10-preview"];
    let other = |flags: &[&str]| {
        let play = play(&[&against[..], flags].concat());
        (play.rival().unwrap().name().to_owned(), play.course().rules().preview)
    };
    assert_eq!(other(&[]), ("tetrion-10x10-preview".to_owned(), 1), "it looks at a next piece");
    assert_eq!(other(&["--search", "greedy"]), ("tetrion-10x10-preview (greedy)".to_owned(), 0));
    assert_eq!(
        other(&["--search", "lookahead,pieces=2"]),
        ("tetrion-10x10-preview + lookahead 2".to_owned(), 2)
    );
    assert_eq!(other(&["--search", "greedy", "--preview", "3"]).1, 3);
    assert_eq!(other(&["--rules", "guideline", "--height", "24", "--search", "lookahead,pieces=1"]).1, 5);
}

#[test]
fn what_cannot_be_played_is_refused() {
    #[track_caller]
    fn check(args: &[&str], why: &str) {
        let error = refused(&[&["play"], args].concat());
        assert!(error.contains(why), "{error}");
    }
    check(&[], "error: this needs a terminal, but stdin is not one");
    check(&["--rules", "chess"], "no preset is called \"chess\"");
    check(&["--hint", "random"], "no controller is called \"random\"");
    check(&["--against", "bcst"], "no policy is called \"bcst\"");
    check(&["--features", "lab4"], "--features is for the plain numbers of --weights");
    check(&["--weights", "no.txt", "--features", "lab4", "--search", "greedy"], "no.txt: cannot read it");
    check(&["--weights", "no.txt", "--against", "bcts"], "cannot be used with");
    check(&["--rules", "tetrio,players=2"], "rules with players 2 need an opponent: name one with --against");
    check(&["--search", "greedy"], "--against");
    check(&["--search", "expectation"], "--against");
    check(&["--rows-per-second", "101"], "expected a number from 0 to 100");
    check(&["--rows-per-second", "fast"], "expected a number from 0 to 100");
}

#[test]
fn a_hint_may_be_to_hold_the_piece() {
    let mut play = play(&["--rules", "guideline", "--height", "24"]);
    let mut held = 0;
    for n in 0..20 {
        press(&mut play, &[HINT]);
        let hint = play.hint().expect("a game that goes on").clone();
        held += usize::from(hint.placement.hold);
        assert_eq!(play.course().resting_cells(hint.placement), Some(hint.cells));
        let best = hint.scores.iter().map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(hint.score, best);
        screen(&play, 100, 30);
        drop_somewhere(&mut play, n);
    }
    assert!(held > 3, "{held} hints to hold");
}

#[test]
fn every_key_is_on_a_screen_of_80_by_24() {
    let rules = ["--rules", "guideline,half_turns=cobra,action_model=keypress"];
    let mut play = play(&rules);
    let drawn = screen(&play, 80, 24);
    let keys =
        ["left/right move", "r half turn", "down soft drop", "f sonic drop", "u undo", "n new", "q quit"];
    keys.into_iter().for_each(|key| assert!(drawn.contains(key), "{key}: {drawn}"));
    // The reasons take the room of the others.
    press(&mut play, &[HINT]);
    let drawn = screen(&play, 80, 24);
    assert!(drawn.contains("landing_height") && drawn.contains("q quit"), "{drawn}");
}

#[test]
fn modern_tetris_is_played_key_by_key() {
    let flags = ["--rules", "guideline,action_model=keypress", "--height", "24", "--seed", "3"];
    let mut play = play(&flags);
    let low = |play: &PlayScreen| scene(play).current.unwrap().cells[0].0;
    assert_eq!(low(&play), 19);
    // A row a second, which takes sixty steps: the clock of a terminal is finer than a row.
    wait(&mut play, 0.8);
    assert_eq!((low(&play), play.course().steps()), (19, 48));
    wait(&mut play, 0.22);
    assert_eq!((low(&play), play.course().steps()), (18, 61));
    let first = play.course().piece().unwrap();
    press(&mut play, &[LEFT, TURN, KeyCode::Char('c')]);
    assert_eq!((play.course().held(), low(&play)), (Some(first), 19));
    press(&mut play, &[KeyCode::Char('c')]);
    assert!(screen(&play, 100, 30).contains("the piece cannot be held now"));
    press(&mut play, &[KeyCode::Char('r')]);
    assert!(screen(&play, 100, 30).contains("these rules do not allow half turns"));
    assert!(screen(&play, 100, 30).contains("c hold") && !screen(&play, 100, 30).contains("r half turn"));
    let others = self::play(&[&flags[..], &["--rules", "half_turns=tetrio,hold=false"]].concat());
    let keys = screen(&others, 100, 30);
    assert!(keys.contains("r half turn") && !keys.contains("c hold"), "{keys}");
    // Down by a row, to the ground, and locked only by time or a drop.
    press(&mut play, &[KeyCode::Down]);
    assert_eq!(low(&play), 18);
    press(&mut play, &[KeyCode::Char('f'), LEFT]);
    assert_eq!((low(&play), play.course().outcome().pieces), (0, 0));
    press(&mut play, &[HINT]);
    assert!(!play.hint().expect("a game that goes on").placement.hold, "it was held already");
    press(&mut play, &[DROP]);
    assert_eq!(play.course().outcome().pieces, 1);
    press(&mut play, &[KeyCode::Char('f')]);
    wait(&mut play, 0.55);
    assert_eq!(play.course().outcome().pieces, 2, "the lock delay is half a second at this speed");
    let keys = screen(&play, 100, 30);
    assert!(keys.contains("f sonic drop") && keys.contains("c hold"), "{keys}");
}
