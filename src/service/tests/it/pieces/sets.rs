//! The sets themselves: the shapes on paper, every drawing that is a piece, and texts that are no set.

use tetrion_core::engine::{
    ActionModel, AttackTable, ClearPoints, Garbage, MAX_PIECES, OrientationTable, PIECE_SETS, PieceSet,
    Randomizer, Reach, Rules, TopOut,
};

use super::{Dice, drawings, others, shapes};
use tetrion_twins::{TwinCells, cells_of, turned_pictures};

#[test]
fn the_named_sets_have_the_shapes_that_their_pieces_have_on_paper() {
    let [melax, trominoes, pentominoes] =
        ["melax", "trominoes", "pentominoes"].map(|name| PieceSet::named(name).unwrap());
    // Turned by hand, each a quarter to the left of the one before.
    for (set, letter, drawn) in [
        (melax, 'M', &["X"][..]),
        (melax, 'D', &["XX", "X/X"]),
        (melax, 'X', &[".X/X.", "X./.X"]),
        (melax, 'L', &[".X/XX", "XX/.X", "XX/X.", "X./XX"]),
        (melax, 'O', &["XX/XX"]),
        (trominoes, 'L', &["XX/.X", "XX/X.", "X./XX", ".X/XX"]),
        (trominoes, 'I', &["XXX", "X/X/X"]),
        (pentominoes, 'F', &[".XX/XX./.X.", "X../XXX/.X.", ".X./.XX/XX.", ".X./XXX/..X"]),
        (pentominoes, 'I', &["X/X/X/X/X", "XXXXX"]),
        (pentominoes, 'U', &["X.X/XXX", "XX/.X/XX", "XXX/X.X", "XX/X./XX"]),
        (pentominoes, 'X', &[".X./XXX/.X."]),
        (pentominoes, 'Z', &["XX./.X./.XX", "..X/XXX/X.."]),
        (pentominoes, 'z', &[".XX/.X./XX.", "X../XXX/..X"]),
        (pentominoes, 'W', &["X../XX./.XX", "..X/.XX/XX.", "XX./.XX/..X", ".XX/XX./X.."]),
    ] {
        assert_eq!(shapes(set, letter), drawn, "{letter} of {set}");
    }
    // Counted on paper; the fixed pentominoes are 63.
    for (name, cells, counts) in [
        ("tetrominoes", 4, &[2, 1, 4, 2, 2, 4, 4][..]),
        ("melax", 4, &[1, 2, 2, 4, 1]),
        ("trominoes", 3, &[4, 2]),
        ("sz", 4, &[2, 2]),
        ("pentominoes", 5, &[4, 4, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 1, 4, 4, 2, 2]),
    ] {
        let set = PieceSet::named(name).unwrap();
        let of_set: Vec<usize> = set.letters().map(|letter| shapes(set, letter).len()).collect();
        assert_eq!((of_set, set.max_cells()), (counts.to_vec(), cells), "{name}");
    }
    let mut fixed: Vec<TwinCells> = drawings(&pentominoes).iter().flat_map(|d| turned_pictures(d)).collect();
    fixed.sort();
    fixed.dedup();
    assert_eq!(fixed.len(), 63, "no two of the 18 are the same piece");
    assert!(fixed.iter().all(|cells| cells.len() == 5));
}

/// Every way to fill one to five cells of a square of five rows.
fn every_picture() -> Vec<TwinCells> {
    let mut pictures: Vec<(TwinCells, i32)> = vec![(Vec::new(), 0)];
    let mut at = 0;
    while at < pictures.len() {
        let (cells, first) = pictures[at].clone();
        if cells.len() < 5 {
            let larger = |place| ([&cells[..], &[(place / 5, place % 5)]].concat(), place + 1);
            pictures.extend((first..25).map(larger));
        }
        at += 1;
    }
    pictures.into_iter().map(|(cells, _)| cells).filter(|cells| !cells.is_empty()).collect()
}

/// Whether steps from cell to cell, diagonal ones too, lead from the first cell to all others.
fn is_one_piece(cells: &TwinCells) -> bool {
    let mut found = vec![cells[0]];
    let mut at = 0;
    while at < found.len() {
        let (row, column) = found[at];
        let near = |&&(r, c): &&(i32, i32)| (r - row).abs() <= 1 && (c - column).abs() <= 1;
        let new: Vec<_> = cells.iter().filter(near).filter(|cell| !found.contains(cell)).copied().collect();
        found.extend(new);
        at += 1;
    }
    found.len() == cells.len()
}

#[test]
fn every_drawing_of_cells_that_touch_is_a_piece_and_no_other_is() {
    let mut pieces = std::collections::BTreeSet::new();
    for cells in every_picture() {
        let row = |row| (0..5).map(|column| if cells.contains(&(row, column)) { 'X' } else { '.' }).collect();
        let drawing = (0..5).rev().map(row).collect::<Vec<String>>().join("/");
        let set = PieceSet::parse(&format!("a={drawing}"));
        if !is_one_piece(&cells) {
            assert!(set.is_err(), "{drawing}");
            continue;
        }
        let expected = turned_pictures(&drawing);
        // Once for each piece, and not again wherever it is in the square.
        if pieces.insert(expected[0].clone()) {
            let got: Vec<TwinCells> = shapes(set.unwrap(), 'a').iter().map(|shape| cells_of(shape)).collect();
            assert_eq!(got, expected, "{drawing}");
        }
    }
    let of_size = |size| pieces.iter().filter(|cells| cells.len() == size).count();
    assert_eq!([1, 2, 3, 4, 5].map(of_size), [1, 4, 20, 110, 638], "as the literature counts them");
}

#[test]
fn a_set_is_what_its_text_says() {
    for text in ["a=X", "A=X./XX 7=XX z=X", "F=.XX/XX./.X. f=XX./.XX/.X."] {
        assert_eq!(PieceSet::parse(text).unwrap().to_string(), text);
    }
    // Letters in order where none are given; what is empty around a drawing does not count; twice the same drawing.
    assert_eq!(PieceSet::parse(" .../.X./...  XX/.. X").unwrap().to_string(), "A=X B=XX C=X");
    for row in &PIECE_SETS {
        let set = PieceSet::parse(&row.name.to_uppercase()).unwrap();
        assert_eq!((set.to_string(), PieceSet::named(row.name)), (row.name.to_owned(), Some(set)));
        let drawn = PieceSet::parse(&set.drawings()).unwrap();
        assert_ne!(drawn, set, "a caller's own set has no name");
        assert_eq!(drawn.letters().collect::<String>(), set.letters().collect::<String>());
        assert_eq!(drawings(&drawn), drawings(&set));
    }
    let full: Vec<String> = (0..MAX_PIECES).map(|_| "X".to_owned()).collect();
    assert_eq!(PieceSet::parse(&full.join(" ")).unwrap().len(), 32);
    let mut dice = Dice { seed: 2, thrown: 0 };
    for _ in 0..200 {
        let set = dice.set();
        assert_eq!(PieceSet::parse(&set.to_string()), Ok(set));
    }
}

#[test]
fn what_is_no_set_is_refused_in_words() {
    let too_many = ["X"; 33].join(" ");
    let too_long = "X ".repeat(513);
    for (text, said) in [
        ("", "has 0 pieces, expected 1 to 32"),
        (&too_many[..], "has 33 pieces, expected 1 to 32"),
        (&too_long, "has 1026 bytes, expected at most 1024"),
        (
            "melaks",
            "no set of pieces is called \"melaks\", expected one of tetrominoes, melax, trominoes, sz, pentominoes",
        ),
        ("A=X XX", "has letters for some pieces only"),
        ("X A=XX", "has letters for some pieces only"),
        ("A=X A=XX", "has two pieces with the letter 'A', expected all different"),
        ("=X", "has a piece with the letter \"\", expected one of A to Z"),
        ("AB=X", "has a piece with the letter \"AB\""),
        ("ä=X", "has a piece with the letter \"ä\""),
        ("A=X/XX", "has the drawing \"X/XX\", expected rows of the same length"),
        ("A=Xx", "has the drawing \"Xx\""),
        ("A=", "has the drawing \"\""),
        ("A=X=X", "has the drawing \"X=X\""),
        ("A=.", "has the drawing \".\", expected 1 to 5 cells"),
        ("A=X.X", "has the drawing \"X.X\", expected 1 to 5 cells, each of which touches another"),
        ("A=XXXXXX", "has the drawing \"XXXXXX\", expected 1 to 5 cells"),
        ("A=XX/../XX", "has the drawing \"XX/../XX\", expected 1 to 5 cells"),
    ] {
        let error = PieceSet::parse(text).unwrap_err().to_string();
        assert!(error.contains(said), "{text:?}: {error}");
    }
    let melax = PieceSet::MELAX;
    assert_eq!(melax.parse_sequence("MD XLO").unwrap(), melax.iter().collect::<Vec<_>>());
    let error = melax.parse_sequence("MDm").unwrap_err().to_string();
    assert_eq!(error, "'m' at position 2 names no piece of the set, expected one of M D X L O");
}

#[test]
fn rules_that_other_pieces_cannot_play_are_refused() {
    let rules = others(PieceSet::MELAX, 6, 8);
    assert_eq!(rules.check(), Ok(()));
    for (changed, said) in [
        (Rules { action_model: ActionModel::Keypress, ..rules }, "need the placement action model"),
        (Rules { reach: Reach::Moves, ..rules }, "need reach straight_drop or sideways_walk"),
        (
            Rules { orientations: OrientationTable::Survey, ..rules },
            "need the literature's orientation table",
        ),
        (Rules { randomizer: Randomizer::Nes, ..rules }, "need randomizer uniform or bag7"),
        (Rules { randomizer: Randomizer::Balanced, ..rules }, "need randomizer uniform or bag7"),
        (
            Rules { clear_points: ClearPoints::Guideline, ..rules },
            "need clear_points lines and attack_table none",
        ),
        (
            Rules { attack_table: AttackTable::Jstris, ..rules },
            "need clear_points lines and attack_table none",
        ),
        (Rules { top_out: TopOut::Sink, height: 5, ..rules }, "sink needs a height of at least 6"),
        (Rules { top_out: TopOut::Sink, garbage: Some(Garbage::DEFAULT), ..rules }, "sink needs no garbage"),
        (
            Rules { top_out: TopOut::Sink, ..Rules::simplified(6, 8) },
            "sink needs pieces other than the tetrominoes",
        ),
    ] {
        let error = changed.check().unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    // Five cells in a row stand upright on four columns; a diagonal of five cannot.
    let upright = PieceSet::parse("i=XXXXX").unwrap();
    assert_eq!(others(upright, 4, 8).check(), Ok(()));
    let diagonal = PieceSet::parse("a=X d=X..../.X.../..X../...X./....X").unwrap();
    assert_eq!(others(diagonal, 5, 8).check(), Ok(()));
    let error = others(diagonal, 4, 8).check().unwrap_err().to_string();
    assert_eq!(error, "piece 'd' of the set has no orientation of at most 4 columns, expected one");
}
