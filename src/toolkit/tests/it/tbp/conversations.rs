//! Conversations as text, in tests/data/tbp: `>` is said by the front end, `<` and `!` are the bot's answer and its complaint.
//!
//! Rows under a line, indented, are the board that the line has in place of `BOARD`: from the top, `#` for a cell.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tetrion_core::agents::{Agent, Controller};
use tetrion_core::engine::Tetromino;
use tetrion_toolkit::tbp::messages::{BoardCell, BotMessage, FrontEndMessage, read, write};
use tetrion_toolkit::tbp::{Bot, BotSetup};

use super::moves::guideline;

/// dt-10, which suggests two moves.
fn bot() -> Bot {
    let agent = Agent::Linear(Controller::named("dt-10").unwrap().agent(10).unwrap());
    let setup = BotSetup::new("dt-10".to_owned(), agent, guideline(), 1);
    Bot::new(BotSetup { max_moves: 2, ..setup })
}

/// The JSON of a board.
fn board(rows: &[&str]) -> String {
    let mut cells: Vec<Vec<Option<BoardCell>>> = vec![vec![None; 10]; 40];
    for (row, drawing) in rows.iter().rev().enumerate() {
        for (column, _) in drawing.char_indices().filter(|(_, cell)| *cell == '#') {
            cells[row][column] =
                Some(if column % 2 == 0 { BoardCell::Garbage } else { BoardCell::Piece(Tetromino::J) });
        }
    }
    serde_json::to_string(&cells).unwrap()
}

/// The conversation with the bot's current answers.
fn held_again(text: &str) -> String {
    let (mut bot, mut again, mut is_over) = (bot(), String::new(), false);
    let mut first_words = Some(bot.info());
    let mut lines = text.lines().filter(|line| !line.starts_with(['<', '!'])).peekable();
    while let Some(line) = lines.next() {
        let Some(said) = line.strip_prefix("> ") else {
            let _ = writeln!(again, "{line}");
            continue;
        };
        assert!(!is_over, "{said} is said to a bot that has ended");
        if let Some(info) = first_words.take() {
            let _ = write!(again, "< {}", write(&info));
        }
        let _ = writeln!(again, "{line}");
        let mut rows = Vec::new();
        while let Some(row) = lines.next_if(|line| line.starts_with("  ")) {
            let _ = writeln!(again, "{row}");
            rows.push(row.trim());
        }
        let heard = bot.hear(&said.replace("BOARD", &board(&rows)));
        if let Some(answer) = heard.answer {
            let _ = write!(again, "< {}", write(&answer));
        }
        if let Some(complaint) = heard.complaint {
            let _ = writeln!(again, "! {complaint}");
        }
        is_over = heard.quits;
    }
    assert!(is_over, "nothing says quit");
    again
}

#[track_caller]
fn check(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tbp").join(name);
    let kept = fs::read_to_string(&path).unwrap();
    let held = held_again(&kept);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &held).unwrap();
        return;
    }
    let different = held.lines().zip(kept.lines()).find(|(held, kept)| held != kept);
    assert!(held == kept, "{name}: {different:?}; UPDATE_GOLDEN=1 rewrites it");
}

#[test]
fn whole_numbers_are_read_however_json_writes_them() {
    let play = |x: &str, y: &str| {
        let line = format!(
            r#"{{"type":"play","move":{{"location":{{"type":"T","orientation":"north","x":{x},"y":{y}}},"spin":"none"}}}}"#
        );
        read::<FrontEndMessage>(&line)
    };
    let plain = play("4", "0").unwrap();
    for (x, y) in [("4.0", "0.0"), ("4e0", "-0.0"), ("40E-1", "0e9"), ("0.4e+1", "0.000")] {
        assert_eq!(play(x, y).unwrap(), plain, "{x} {y}");
    }
    for x in ["4.5", "4.0000001", "1e300", "-9007199254740993.0", "\"4\"", "null"] {
        let error = play(x, "0").unwrap_err().to_string();
        assert!(error.starts_with("play: invalid type") && error.ends_with("expected i64"), "{x}: {error}");
    }
    let start = |one: &str, combo: &str| {
        let bag = ["I", "O", "T", "L", "J", "S", "Z"].map(|letter| format!(r#""{letter}":{one}"#)).join(",");
        let randomizer =
            format!(r#"{{"type":"general_bag","current_bag":{{{bag}}},"filled_bag":{{{bag}}}}}"#);
        let line = format!(
            r#"{{"type":"start","hold":null,"queue":["T"],"combo":{combo},"back_to_back":false,"board":[],"randomizer":{randomizer}}}"#
        );
        read::<FrontEndMessage>(&line)
    };
    assert_eq!(start("1.0", "3.0").unwrap(), start("1", "3").unwrap());
    for (one, combo) in [("1", "-1.0"), ("1", "4294967296.0"), ("0.5", "0"), ("-1e0", "0")] {
        let error = start(one, combo).unwrap_err().to_string();
        assert!(error.ends_with("expected u32"), "{one} {combo}: {error}");
    }
    let suggestion = r#"{"type":"suggestion","moves":[],"move_info":{"nodes":2.0,"nps":1e9,"depth":1.5}}"#;
    assert!(read::<BotMessage>(suggestion).unwrap().is_some());
}

#[test]
fn a_game() {
    check("game.txt");
}

#[test]
fn what_is_wrong_is_named_and_the_game_goes_on() {
    check("mistakes.txt");
}

#[test]
fn bags_are_followed() {
    check("bags.txt");
}
