//! Pictures, to the character.

use tetrion_core::engine::{FallingPiece, Playfield, Tetromino};
use tetrion_core::render::{RenderFormat, View, max_bytes, render};

fn drawn(width: u8, height: u8, drawing: &str) -> Playfield {
    Playfield::from_drawing(width, height, drawing).unwrap()
}

#[track_caller]
fn check(format: RenderFormat, playfield: &Playfield, expected: &[&str]) {
    let scene = View { playfield, falling: None, lines: 0, num_pieces: 0, ended: false };
    let text = render(format, &scene);
    assert_eq!(text.split('\n').collect::<Vec<_>>(), expected, "\n{text}");
    assert!(text.len() <= max_bytes(format, playfield.width(), playfield.height()));
}

#[test]
fn ascii_is_what_a_drawing_is_read_from() {
    let playfield = drawn(5, 4, "#...#/##.##");
    check(RenderFormat::Ascii, &playfield, &[".....", ".....", "#...#", "##.##"]);
    assert_eq!(drawn(5, 4, &playfield.to_string()), playfield);
}

#[test]
fn lab_is_the_course_notebooks_frame() {
    let board = drawn(7, 12, ".##..../###..../###..../#.#..#./###..#./###..##");
    let expected = [
        "   o--------------o",
        " 0 |              |",
        " 1 |              |",
        " 2 |              |",
        " 3 |              |",
        " 4 |              |",
        " 5 |              |",
        " 6 |  [][]        |",
        " 7 |[][][]        |",
        " 8 |[][][]        |",
        " 9 |[]  []    []  |",
        "10 |[][][]    []  |",
        "11 |[][][]    [][]|",
        "   o--------------o",
    ];
    check(RenderFormat::Lab, &board, &expected);
}

#[test]
fn leiden_has_three_rows_above_its_field_and_numbers_below() {
    let board = drawn(11, 6, "#........../##........#/.##########/###########");
    let expected = [
        "            ",
        "            ",
        " X          ",
        "|XX        X|",
        "| XXXXXXXXXX|",
        "|XXXXXXXXXXX|",
        "-------------",
        " 01234567890",
        "This was move 0.",
        "Top row 3 has 10 empties.",
    ];
    check(RenderFormat::Leiden, &board, &expected);
}

#[test]
fn leiden_says_how_the_top_row_is_and_how_a_game_ended() {
    let empty = drawn(4, 5, "");
    let field = ["     ", "     ", "     ", "|    |", "|    |", "------", " 0123"];
    check(RenderFormat::Leiden, &empty, &[&field[..], &["This was move 0."]].concat());

    let lost = drawn(4, 5, ".XX./XXX./XX.X");
    let scene = View { playfield: &lost, falling: None, lines: 3, num_pieces: 7, ended: true };
    let lost = render(RenderFormat::Leiden, &scene);
    let expected = [
        "     ",
        "     ",
        "  XX ",
        "|XXX |",
        "|XX X|",
        "------",
        " 0123",
        "This was move 7.",
        "Top row 2 has 2 empties.",
        "Done! We have 3 row(s) cleared, using 7 pieces.",
    ];
    assert_eq!(lost.split('\n').collect::<Vec<_>>(), expected);
}

/// Drawings of the notebook, each with the text that it prints for it.
#[test]
fn the_notebooks_pictures_come_out() {
    let mut pictures = 0;
    for part in include_str!("../data/lab_pictures.txt").split("\n\n").skip(1) {
        let (drawing, picture) = part.split_once('\n').unwrap();
        let rows: Vec<&str> = drawing.split('/').collect();
        let playfield = drawn(rows[0].len() as u8, rows.len() as u8, drawing);
        check(RenderFormat::Lab, &playfield, &picture.trim_end_matches('\n').split('\n').collect::<Vec<_>>());
        pictures += 1;
    }
    assert_eq!(pictures, 8);
}

#[test]
fn a_falling_piece_is_in_every_picture() {
    let playfield = drawn(5, 4, "#...#/##.##");
    // A T that points to the right, its uppermost cell above the playfield.
    let falling = FallingPiece { tetromino: Tetromino::T, turns: 1, column: 2, row: 3 };
    let scene =
        View { playfield: &playfield, falling: Some(falling.into()), lines: 0, num_pieces: 2, ended: false };
    assert_eq!(render(RenderFormat::Ascii, &scene), "..@@.\n..@..\n#...#\n##.##");
    let frame = "   o----------o\n \
        0 |    [][]  |\n \
        1 |    []    |\n \
        2 |[]      []|\n \
        3 |[][]  [][]|\n   \
        o----------o";
    assert_eq!(render(RenderFormat::Lab, &scene), frame);
    let sentences = "This was move 2.\nTop row 1 has 3 empties.";
    let expected = format!("   XX \n   X  \n X   X\n|XX XX|\n-------\n 01234\n{sentences}");
    assert_eq!(render(RenderFormat::Leiden, &scene), expected);
    // One that comes to lie on full cells, as the piece after a lost game may, hides them.
    let lost = View { falling: Some(FallingPiece { row: 1, ..falling }.into()), ..scene };
    assert_eq!(render(RenderFormat::Ascii, &lost), ".....\n..@..\n#.@@#\n##@##");
}

#[test]
fn no_picture_is_larger_than_the_largest() {
    let falling = Some(FallingPiece { tetromino: Tetromino::L, turns: 0, column: 1, row: 1 }.into());
    for (width, height) in [(4, 4), (10, 20), (32, 40), (17, 5)] {
        let striped: Vec<u32> =
            (0..height).map(|row| if row % 2 == 0 { 0x5555_5555 } else { 0xAAAA_AAAA }).collect();
        let full = vec![u32::MAX; height.into()];
        for rows in [striped, full, vec![0; height.into()]] {
            let playfield = Playfield::from_rows(width, height, rows);
            let scene =
                View { playfield: &playfield, falling, lines: u64::MAX, num_pieces: u64::MAX, ended: true };
            for format in [RenderFormat::Ascii, RenderFormat::Lab, RenderFormat::Leiden] {
                let (bytes, max) = (render(format, &scene).len(), max_bytes(format, width, height));
                assert!(bytes <= max, "{format:?} of {width} x {height}: {bytes} bytes, at most {max}");
                let lines = render(format, &scene).lines().count();
                assert!(!render(format, &scene).ends_with('\n') && lines >= usize::from(height));
            }
        }
    }
}
