//! Conversations as text, in tests/data/tbp: `>` is said by the front end, `<` and `!` are the bot's answer and its complaint.
//!
//! Rows under a line, indented, are the board that the line has in place of `BOARD`: from the top, `#` for a cell.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tetrion::agents::{Agent, Controller};
use tetrion::engine::Tetromino;
use tetrion::tbp::messages::{Cell, write};
use tetrion::tbp::{Bot, BotSetup};

use super::moves::guideline;

/// dt-10, which suggests two moves.
fn bot() -> Bot {
    let agent = Agent::Linear(Controller::named("dt-10").unwrap().agent(10).unwrap());
    let setup = BotSetup::new("dt-10".to_owned(), agent, guideline(), 1);
    Bot::new(BotSetup { max_moves: 2, ..setup })
}

/// The JSON of a board.
fn board(rows: &[&str]) -> String {
    let mut cells: Vec<Vec<Option<Cell>>> = vec![vec![None; 10]; 40];
    for (row, drawing) in rows.iter().rev().enumerate() {
        for (column, _) in drawing.char_indices().filter(|(_, cell)| *cell == '#') {
            cells[row][column] =
                Some(if column % 2 == 0 { Cell::Garbage } else { Cell::Piece(Tetromino::J) });
        }
    }
    serde_json::to_string(&cells).unwrap()
}

/// The same conversation, with what the bot says today.
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
