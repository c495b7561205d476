//! Tetrominoes that walk and fall: against a plain model of the course notebook, cell by cell and key by key.

use std::collections::HashMap;

use tetrion_core::engine::rng::{Tag, below, word};
use tetrion_core::engine::{
    Fall, FallingPiece, Hand, Key, Landed, MovingPiece, Placement, Playfield, Rules, Tetromino, TopOut,
    is_blocked, placements, settle,
};
use tetrion_core::features::FeatureSet;
use tetrion_core::placements::{Options, Placements, Position, enumerate, num_rows};

use crate::support::{LabPlacements, lab_placements};
use tetrion_twins::{NotebookBoard, NotebookPiece, TwinPlayfield};

/// The twin's board of the same cells.
fn board(playfield: &Playfield) -> NotebookBoard {
    NotebookBoard::of(&TwinPlayfield::drawn(&playfield.to_string(), playfield.height().into()))
}

fn rules(width: u8, height: u8) -> Rules {
    Rules { width, height, ..Rules::preset("genetic").unwrap() }
}

/// A playfield with towers up to the top, and holes in them.
fn jagged(width: u8, height: u8, seed: u64) -> Playfield {
    let draw = |n: u64, bound: u64| below(word(seed, Tag::Agent, n), bound);
    let columns: Vec<u64> = (0..u64::from(width))
        .map(|column| {
            // A few reach the top, most stay low.
            let highest = if draw(3 * column, 6) == 0 { height } else { height - 3 };
            let top = draw(3 * column + 1, u64::from(highest) + 1);
            word(seed, Tag::Game, column) & ((1 << top) - 1) | if top > 0 { 1 << (top - 1) } else { 0 }
        })
        .collect();
    Playfield::from_columns(width, height, &columns)
}

/// The next key of a piece that only falls, whatever is on the playfield.
fn key_towards(piece: FallingPiece, target: Placement, width: u8) -> Key {
    let rules = Rules { width, ..Rules::preset("lab").unwrap() };
    MovingPiece::Falling(piece).key_towards(&rules, &Playfield::empty(width, rules.height), target)
}

#[test]
fn walks_reach_what_the_notebook_reaches() {
    let mut blocked = 0;
    for (width, height) in [(4, 4), (5, 6), (6, 5), (7, 12), (10, 20), (16, 28), (32, 40)] {
        for seed in 0..200 {
            let (rules, playfield) = (rules(width, height), jagged(width, height, seed));
            let model = board(&playfield);
            for piece in Tetromino::ALL {
                let all = placements(&rules, &playfield, piece);
                let landed: Vec<NotebookBoard> = all
                    .iter()
                    .map(|placement| {
                        let shape = placement.shape(&rules, piece).unwrap();
                        board(&playfield.land(shape, placement.column, rules.top_out).locked)
                    })
                    .collect();
                let expected: Vec<NotebookBoard> = model
                    .next_moves(piece.letter())
                    .iter()
                    .map(|landed| {
                        let mut model = model.clone();
                        model.add(landed);
                        model
                    })
                    .collect();
                assert_eq!(landed, expected, "{piece}, seed {seed} on\n{playfield}");
                assert_eq!(is_blocked(&rules, &playfield, piece), expected.is_empty());
                blocked += u32::from(expected.is_empty());
            }
        }
    }
    assert!(blocked > 100, "only {blocked} pieces had no placement at all");
}

/// Lists that another program made of the notebook's moves.
#[test]
fn placements_are_those_of_the_notebook() {
    let (mut lists, mut listed) = (0, 0);
    for LabPlacements { head, rules, playfield, piece, rows } in lab_placements() {
        let height = rules.height;
        let found: Vec<String> = placements(&rules, &playfield, piece)
            .iter()
            .map(|placement| {
                let shape = placement.shape(&rules, piece).unwrap();
                let row = playfield.landing_row(shape, placement.column);
                let turns = [0, 1, 3, 2][usize::from(placement.orientation)];
                let column = placement.column + shape.anchor_column;
                let landed = FallingPiece { tetromino: piece, turns, column, row: row + shape.anchor_row };
                let mut cells = landed.cells().four().map(|(row, column)| (column, height - 1 - row));
                cells.sort();
                let cells = cells.map(|(column, row)| format!("{column},{row}")).join(" ");
                format!("{} {column} : {cells}", placement.orientation)
            })
            .collect();
        assert_eq!(found, rows.lines().collect::<Vec<_>>(), "{head}");
        lists += 1;
        listed += found.len();
    }
    assert_eq!((lists, listed), (14, 17 * 3 + 9 + 34 * 3 + 11 * 3 + 6 + 22 * 3));
}

#[test]
fn on_an_empty_playfield_every_column_is_reached() {
    for width in 4..=32 {
        let rules = rules(width, 10);
        for piece in Tetromino::ALL {
            let w = u32::from(width);
            let counted = match piece {
                Tetromino::T | Tetromino::J | Tetromino::L => 4 * w - 6,
                Tetromino::S | Tetromino::Z | Tetromino::I => 2 * w - 3,
                _ => w - 1,
            };
            assert_eq!(placements(&rules, &Playfield::empty(width, 10), piece).len(), counted);
        }
    }
}

#[test]
fn what_stands_in_the_way_hides_what_is_behind_it() {
    #[track_caller]
    fn check(drawing: &str, piece: Tetromino, orientation: u8, columns: &str) {
        let rows = drawing.split('/').count() as u8;
        let rules = rules(7, rows);
        let playfield = Playfield::from_drawing(7, rows, drawing).unwrap();
        let all = placements(&rules, &playfield, piece);
        let reached: String =
            (0..7).map(|c| if all.columns(orientation) >> c & 1 == 1 { '1' } else { '.' }).collect();
        assert_eq!(reached, columns);
    }
    let tower = ".#...../.#...../.#...../.#.....";
    // An upright I appears in column 3 with its lowest cell in the top row.
    check(tower, Tetromino::I, 0, "..11111");
    // Lying it appears in columns 3 to 6.
    check(tower, Tetromino::I, 1, "..11...");
    // One row lower the tower blocks no piece whose cells are all in the top row and above.
    let lower = "......./.#...../.#...../.#.....";
    check(lower, Tetromino::I, 1, "1111...");
    check(lower, Tetromino::T, 0, "11111..");
    // But a T that points down has its foot there: the column of its leftmost cell is one to the left.
    check(lower, Tetromino::T, 3, ".1111..");
    // The foot appears in column 3, where this tower is.
    check("......./...#.../...#.../...#...", Tetromino::T, 3, ".......");
    check("......./...#.../...#.../...#...", Tetromino::T, 0, "11111..");
}

#[test]
fn quiz_1_of_the_notebook() {
    // T at (3, 1) from the top left: left, left, rotate left, drop.
    let before =
        "......./......./......./......./......./......./..#..../..#..../#.#..../#.#..#./###..#./###..##";
    let after =
        "......./......./......./......./......./......./.##..../###..../###..../#.#..#./###..#./###..##";
    let playfield = Playfield::from_drawing(7, 12, before).unwrap();
    let created = FallingPiece { row: 10, ..FallingPiece::spawn(Tetromino::T, 7, 12) };
    assert_eq!(created.cells(), [(10, 2), (10, 3), (10, 4), (11, 3)]);
    let turned = FallingPiece { column: 1, turns: 3, ..created };
    let Fall { piece, rests } = turned.step(Key::HardDrop, &playfield);
    assert_eq!((piece.row, piece.column, rests), (11 - 7, 1, true));
    assert_eq!(piece.cells(), [(3, 1), (4, 0), (4, 1), (5, 1)]);
    let (row, column) = piece.corner();
    let landing = playfield.land_at(piece.shape(), row, column, TopOut::TopRow);
    assert_eq!(landing.afterstate.to_string(), after.replace('/', "\n"));

    // The notebook's own way, a key at a time, leads to the same place three rows further down.
    let keys = [Key::Left, Key::Left, Key::TurnLeft, Key::HardDrop];
    let walked = keys.iter().fold(created, |piece, &key| piece.step(key, &playfield).piece);
    assert_eq!(walked, piece);
}

#[test]
fn anchors_are_where_the_notebook_has_them() {
    #[track_caller]
    fn check(piece: Tetromino, drawings: &str) {
        for (turns, drawing) in (0..).zip(drawings.split_ascii_whitespace()) {
            let falling = FallingPiece { turns, row: 5, column: 5, tetromino: piece };
            let rows: Vec<&str> = drawing.split('/').collect();
            let mut drawn = Vec::new();
            let anchor = rows.iter().rev().position(|row| row.contains('@')).unwrap();
            let column = rows.iter().find_map(|row| row.find('@')).unwrap();
            for (row, cells) in rows.iter().rev().enumerate() {
                let full = cells.char_indices().filter(|&(_, cell)| cell != '.');
                drawn.extend(full.map(|(c, _)| ((5 + row - anchor) as u8, (5 + c - column) as u8)));
            }
            assert_eq!(falling.cells()[..], *drawn, "{piece} after {turns} turns");
        }
    }
    // As created, then quarter turns to the right.
    check(Tetromino::T, ".#./#@# #./@#/#. #@#/.#. .#/#@/.#");
    check(Tetromino::J, ".#/.#/#@ #../@## @#/#./#. ##@/..#");
    check(Tetromino::L, "#./#./@# @##/#.. #@/.#/.# ..#/##@");
    check(Tetromino::S, ".##/#@. #./@#/.# .@#/##. #./#@/.#");
    check(Tetromino::Z, "##./.@# .#/@#/#. #@./.## .#/#@/#.");
    check(Tetromino::I, "#/#/#/@ @### @/#/#/# ###@");
    check(Tetromino::O, "##/#@ ##/@# @#/## #@/##");
}

/// Random keys: every cell of the falling piece and of the playfield, every line and every end.
#[test]
fn games_of_random_keys_go_as_in_the_model() {
    let mut ends = 0;
    let mut lines_in_all = 0;
    for (seed, (width, height)) in
        (0..).zip([(4, 5), (5, 4), (6, 12), (10, 20), (10, 8), (17, 30)].repeat(40))
    {
        let rules = Rules { width, height, ..Rules::preset("lab").unwrap() };
        let draw = |n: u64, bound: u64| below(word(seed, Tag::Agent, n), bound);
        // A shaft in the middle, so that even random keys clear lines.
        let ground = |c: u8| if c.abs_diff(width / 2) < 2 { 0 } else { (1 << (height / 2)) - 1 };
        let columns: Vec<u64> = (0..width).map(ground).collect();
        let mut playfield = Playfield::from_columns(width, height, &columns);
        let mut model = board(&playfield);
        let mut dealt = 0;
        let mut deal = || {
            dealt += 1;
            Tetromino::ALL[below(word(seed, Tag::Pieces, dealt), 7) as usize]
        };
        let tetromino = deal();
        let mut falling = FallingPiece::spawn(tetromino, width, height);
        let mut model_piece = model.spawn(tetromino.letter());
        for n in 0..2_000 {
            // Few drops and many steps to the side, so that pieces get under others.
            let key = Key::ALL[[0, 1, 1, 2, 2, 3, 4, 5][draw(n, 8) as usize]];

            let (pressed, model_rests) = model.press(key as usize, model_piece);
            model_piece = pressed;

            let Fall { piece, rests } = falling.step(key, &playfield);
            let mut cells: Vec<(i32, i32)> =
                model_piece.cells().iter().map(|&(x, y)| (i32::from(height) - 1 - y, x)).collect();
            cells.sort();
            let said = format!("seed {seed}, key {n} ({key:?}), {falling:?} on\n{playfield}");
            assert_eq!(
                piece.cells().four().map(|(row, column)| (row.into(), column.into())),
                *cells,
                "{said}"
            );
            assert_eq!(rests, model_rests, "{said}");
            falling = piece;
            if !rests {
                continue;
            }

            let Landed { lines, terminal, .. } = settle(&rules, &mut playfield, falling);
            model.add(&model_piece);
            assert_eq!(usize::from(lines), model.clear(), "{said}");
            assert_eq!(board(&playfield), model, "{said}");
            assert_eq!(terminal, model.rows[0].contains(&true), "{said}");
            lines_in_all += u32::from(lines);
            if terminal {
                ends += 1;
                break;
            }
            let tetromino = deal();
            falling = FallingPiece::spawn(tetromino, width, height);
            model_piece = model.spawn(tetromino.letter());
            assert!(!is_blocked(&rules, &playfield, tetromino) && falling.is_free(&playfield), "{said}");
        }
    }
    assert!(ends > 100 && lines_in_all > 30, "{ends} ends, {lines_in_all} lines");
}

#[test]
fn keys_lead_to_the_placement_they_aim_at() {
    for width in 4..=32 {
        // Room for a turn, half a turn and a step from the middle to the wall, on a floor that is not flat.
        let height = width / 2 + 9;
        let rules = Rules { width, height, ..Rules::preset("lab").unwrap() };
        let floor = (0..u64::from(width)).map(|c| (1 << below(word(7, Tag::Game, c), 4)) - 1);
        let playfield = Playfield::from_columns(width, height, &floor.collect::<Vec<u64>>());
        for piece in Tetromino::ALL {
            for target in placements(&rules, &playfield, piece).iter() {
                let shape = target.shape(&rules, piece).unwrap();
                let expected = playfield.land(shape, target.column, rules.top_out);
                let mut falling = FallingPiece::spawn(piece, width, height);
                let mut presses = 0;
                loop {
                    let fall = falling.step(key_towards(falling, target, width), &playfield);
                    falling = fall.piece;
                    presses += 1;
                    if fall.rests {
                        break;
                    }
                }
                let (row, column) = falling.corner();
                assert_eq!((row, column), (expected.row, target.column), "{piece} to {target:?}");
                assert_eq!(playfield.land_at(falling.shape(), row, column, rules.top_out), expected);
                assert!(presses <= 3 + u32::from(width / 2) + 2, "{presses} presses for {target:?}");
            }
        }
    }
}

#[test]
fn turns_come_before_steps_and_half_turns_go_left() {
    #[track_caller]
    fn check(piece: Tetromino, orientation: u8, column: u8, keys: &str) {
        let target = Placement::straight(orientation, column);
        let playfield = Playfield::empty(10, 20);
        let mut falling = FallingPiece::spawn(piece, 10, 20);
        let mut pressed = String::new();
        loop {
            let key = key_towards(falling, target, 10);
            pressed.push_str(&(key as u8).to_string());
            let fall = falling.step(key, &playfield);
            falling = fall.piece;
            if fall.rests {
                break;
            }
        }
        assert_eq!(pressed, keys);
    }
    // A T appears in columns 4 to 6, its anchor in column 5.
    check(Tetromino::T, 0, 4, "5");
    check(Tetromino::T, 0, 2, "115");
    check(Tetromino::T, 1, 5, "45");
    check(Tetromino::T, 2, 4, "35");
    check(Tetromino::T, 3, 4, "335");
    check(Tetromino::T, 3, 6, "33225");
    check(Tetromino::S, 1, 5, "45");
    check(Tetromino::I, 1, 0, "4111115");
    check(Tetromino::O, 0, 4, "5");
    // An I that lies does not fit beside the middle of five columns: it makes room first.
    let falling = FallingPiece::spawn(Tetromino::I, 5, 20);
    let lying = Placement::straight(1, 1);
    assert_eq!(key_towards(falling, lying, 5), Key::Left);
    assert_eq!(key_towards(FallingPiece { column: 1, ..falling }, lying, 5), Key::TurnRight);
    // So does a T on any playfield that keys have moved to the wall, its flat side first.
    let created = Placement::straight(0, 3);
    let at_the_wall = FallingPiece { turns: 1, column: 0, ..FallingPiece::spawn(Tetromino::T, 10, 20) };
    assert_eq!(key_towards(at_the_wall, created, 10), Key::Right);
    assert_eq!(key_towards(FallingPiece { column: 1, ..at_the_wall }, created, 10), Key::TurnLeft);
}

/// From wherever a piece can be to wherever it can land.
#[test]
fn keys_are_those_of_the_notebooks_agent() {
    let mut walls_in_the_way = 0;
    for width in [7, 10, 16] {
        let rules = Rules { width, height: 20, ..Rules::preset("lab").unwrap() };
        let playfield = Playfield::empty(width, 20);
        let board = board(&playfield);
        for piece in Tetromino::ALL {
            let targets: Vec<Placement> = placements(&rules, &playfield, piece).iter().collect();
            let landed = board.next_moves(piece.letter());
            for (turns, column) in (0..4).flat_map(|turns| (0..width).map(move |column| (turns, column))) {
                let falling = FallingPiece { tetromino: piece, turns, column, row: 9 };
                if !falling.is_free(&playfield) {
                    continue;
                }
                let created = NotebookPiece::created(piece.letter(), column.into(), 10);
                let model = (0..turns).fold(created, |piece, _| piece.rotated_right());
                for (target, landed) in targets.iter().zip(&landed) {
                    let key = key_towards(falling, *target, width);
                    let expected = model.key_towards(landed);
                    let turned = match expected {
                        3 => model.clone().rotated_left(),
                        4 => model.clone().rotated_right(),
                        _ => model.clone(),
                    };
                    if board.can_place(&turned) {
                        assert_eq!(key as usize, expected, "{falling:?} to {target:?}");
                    } else {
                        // The notebook's agent would press on without effect.
                        assert!(matches!(key, Key::Left | Key::Right), "{falling:?} to {target:?}: {key:?}");
                        walls_in_the_way += 1;
                    }
                }
            }
        }
    }
    assert!(walls_in_the_way > 100, "{walls_in_the_way}");
}

#[test]
fn a_piece_under_an_overhang_stays_under_it() {
    // What is above a falling piece does not stop it, and it locks where it is.
    let playfield = Playfield::from_drawing(5, 6, "...../..###/...../...../...../.....").unwrap();
    let falling = FallingPiece { tetromino: Tetromino::O, turns: 0, column: 1, row: 2 };
    let right = falling.step(Key::Right, &playfield);
    assert_eq!(right, Fall { piece: FallingPiece { column: 2, row: 1, ..falling }, rests: false });
    let under = right.piece.step(Key::Right, &playfield);
    assert_eq!(under, Fall { piece: FallingPiece { column: 3, row: 0, ..falling }, rests: true });
    let (row, column) = under.piece.corner();
    let landing = playfield.land_at(under.piece.shape(), row, column, TopOut::TopRow);
    assert_eq!((landing.row, landing.terminal), (0, false));
    assert_eq!(landing.afterstate.to_string().replace('\n', "/"), "...../..###/...../...../..##./..##.");
}

/// The keys of every placement, pressed on the notebook's board, where every key has been tried in every place.
#[test]
fn keys_of_placements_are_the_fewest_that_lead_there() {
    let options = Options { keys: true, cells: true, ..Options::default() };
    let (mut pressed, mut without_way, mut without_drop) = (0, 0, 0);
    for (width, height) in [(4, 4), (5, 6), (7, 12), (10, 20), (16, 12)] {
        let rules = Rules { width, height, ..Rules::preset("lab").unwrap() };
        for seed in 0..20 {
            let playfield = jagged(width, height, seed);
            let board = board(&playfield);
            let cells_of = |piece: &NotebookPiece| {
                let mut cells =
                    piece.cells().map(|(x, y)| [(i32::from(height) - 1 - y) as i8, x as i8]).to_vec();
                cells.sort_unstable();
                cells.concat()
            };
            for piece in Tetromino::ALL.into_iter().filter(|&piece| !is_blocked(&rules, &playfield, piece)) {
                let fewest = fewest_keys(&board, piece.letter());
                let fewest: HashMap<_, _> =
                    fewest.iter().rev().map(|(piece, keys)| (cells_of(piece), *keys)).collect();
                let position = Position::of(playfield, Some(Hand::only(piece)));
                let listed = enumerate(&rules, &[position], None, options);
                for (row, cells) in listed.cells.chunks(8).enumerate() {
                    let ends = [row, row + 1].map(|at| listed.key_offsets[at] as usize);
                    let keys = &listed.keys[ends[0]..ends[1]];
                    let said = format!("{keys:?} to {cells:?}, {piece}, seed {seed} on\n{playfield}");
                    assert_eq!(fewest.get(cells).copied().unwrap_or(0), keys.len(), "{said}");
                    let Some((last, way)) = keys.split_last() else {
                        without_way += 1;
                        continue;
                    };
                    let mut model = board.spawn(piece.letter());
                    for &key in way {
                        let (moved, rests) = board.press(key.into(), model);
                        assert!(!rests, "{said}");
                        model = moved;
                    }
                    let (rested, rests) = board.press((*last).into(), model);
                    assert!(rests && cells_of(&rested) == cells, "{said}");
                    pressed += 1;
                    without_drop += u32::from(*last != Key::HardDrop as u8);
                }
            }
        }
    }
    assert!(pressed > 5_000, "{pressed} lists");
    assert!(
        without_way > 100 && without_drop > 100,
        "{without_way} without keys, {without_drop} without a drop"
    );
}

/// Every piece at rest with a number of keys that lead to it, the fewest first.
fn fewest_keys(board: &NotebookBoard, tetromino: char) -> Vec<(NotebookPiece, usize)> {
    let (mut rested, mut on_their_way, mut presses) = (Vec::new(), vec![board.spawn(tetromino)], 0);
    while !on_their_way.is_empty() {
        presses += 1;
        let (mut next, before) = (Vec::new(), rested.len());
        for piece in on_their_way {
            for key in 0..6 {
                let (piece, rests) = board.press(key, piece.clone());
                let known = if rests {
                    rested[before..].iter().any(|(other, _)| *other == piece)
                } else {
                    next.contains(&piece)
                };
                match (known, rests) {
                    (false, true) => rested.push((piece, presses)),
                    (false, false) => next.push(piece),
                    (true, _) => {}
                }
            }
        }
        on_their_way = next;
    }
    rested
}

#[test]
fn enumerations_list_what_can_be_reached_and_the_key_towards_it() {
    let playfield = jagged(9, 12, 5);
    let set = FeatureSet::named("bcts8", 9).unwrap();
    for (preset, keys) in [("genetic", false), ("lab", true)] {
        let rules = Rules { width: 9, height: 12, ..Rules::preset(preset).unwrap() };
        for piece in Tetromino::ALL {
            let position = Position::of(playfield, Some(Hand::only(piece)));
            let listed = enumerate(&rules, &[position], Some(&set), Options::default());
            let all: Vec<Placement> = placements(&rules, &playfield, piece).iter().collect();
            let actions: Vec<i32> = all.iter().map(|placement| placement.action(&rules) as i32).collect();
            assert_eq!(listed.placements, actions);
            assert_eq!(listed.row_offsets, [0, num_rows(&rules, &position)]);
            assert_eq!(listed.features.len(), actions.len() * set.len());
            let created = FallingPiece::spawn(piece, 9, 12);
            let first_keys: Vec<i32> = all.iter().map(|to| key_towards(created, *to, 9) as i32).collect();
            assert_eq!(listed.actions, if keys { first_keys } else { actions });
            if keys {
                // On its way it has turned and moved: the same placements, and the keys from where it is.
                let falling = FallingPiece { turns: 3, column: 3, row: 10, ..created };
                let on_its_way = Position { falling: Some(falling.into()), ..position };
                let later = enumerate(&rules, &[on_its_way], Some(&set), Options::default());
                let next_keys = all.iter().map(|to| key_towards(falling, *to, 9) as i32).collect();
                assert_eq!(later, Placements { actions: next_keys, ..listed });
            }
        }
    }
}
