//! The rules, as drawings before and after, and the sequences that seeds deal.

use tetrion_core::engine::{
    Chain, Dealer, DrawingError, Landed, OrientationTable, Placement, Playfield, Randomizer, Rules,
    Tetromino, TopOut, episode_seed, is_blocked, parse_sequence, placements,
};

/// Drops a piece into a drawing and compares the drawing afterwards, the lines and the end of the game.
#[track_caller]
fn check(
    before: &str,
    piece: Tetromino,
    orientation: u8,
    column: u8,
    after: &str,
    lines: u8,
    terminal: bool,
) {
    let rows: Vec<&str> = before.split('/').collect();
    let (width, height) = (rows[0].len() as u8, rows.len() as u8);
    let rules = Rules::simplified(width, height);
    let playfield = Playfield::from_drawing(width, height, before).unwrap();
    let shape =
        Placement::straight(orientation, column).shape(&rules, piece).expect("a placement that exists");
    let landing = playfield.land(shape, column, rules.top_out);
    assert_eq!(landing.afterstate.to_string(), after.replace('/', "\n"), "the playfield afterwards");
    assert_eq!((landing.lines, landing.terminal), (lines, terminal), "lines and the end of the game");

    let mut in_place = playfield;
    assert_eq!(in_place.drop(shape, column, rules.top_out), Landed { lines, sunk: 0, terminal });
    assert_eq!(in_place, landing.afterstate, "drop and land agree");
}

#[test]
fn pieces_come_to_rest_on_the_first_thing_under_any_of_their_cells() {
    use crate::support::letters::*;
    check("...../...../.....", O, 0, 3, "...../...##/...##", 0, false);
    check("...../...../..#..", S, 1, 1, "..##./.##../..#..", 0, false);
    check("...../...../.#.../##...", J, 1, 2, "...../...#./.#.#./####.", 0, false);
    // A roof is not passed: pieces come straight down.
    check("...../...../.####/.....", I, 1, 0, "...../####./.####/.....", 0, false);
}

#[test]
fn full_rows_vanish_and_what_lies_above_moves_down() {
    use crate::support::letters::*;
    check("...../...../...../####.", O, 0, 3, "...../...##/...##/####.", 0, false);
    check(
        "...../...../#..../####./####./####./####.",
        I,
        0,
        4,
        "...../...../...../...../...../...../#....",
        4,
        false,
    );
    check("...../#...#/##.##", T, 1, 1, "...../..#../##.##", 1, false);
    // Two rows that are not neighbours.
    check("...../...../##.##/#..##/##.##", I, 0, 2, "...../...../...../..#../#.###", 2, false);
}

#[test]
fn a_game_ending_placement_clears_nothing_and_is_cut_off_at_the_height() {
    use crate::support::letters::*;
    check("####./####./####./####.", I, 0, 4, "...../...../...../.....", 4, false);
    check("####./####./####./#####", I, 0, 4, "#####/#####/#####/#####", 0, true);
    check("..../..../#.../#...", I, 0, 0, "#.../#.../#.../#...", 0, true);
    check("...../#.###/#.###", O, 0, 0, "##.../#.###/#.###", 0, true);
}

#[test]
fn other_top_outs_are_tested_after_clearing() {
    let board = Playfield::from_drawing(5, 5, "...../####./####./####./####.").unwrap();
    let upright = Placement::straight(0, 4).shape(&Rules::simplified(5, 5), Tetromino::I).unwrap();
    for top_out in [TopOut::TopRow, TopOut::AboveField] {
        let landing = board.land(upright, 4, top_out);
        assert_eq!((landing.lines, landing.terminal), (4, false), "{top_out:?}");
    }
    // The left column is as high as the third row from the top: lost above a field, not yet lost below a top row.
    let landing = board.land(upright, 0, TopOut::TopRow);
    assert_eq!((landing.lines, landing.terminal), (0, true));
    let low = Playfield::empty(5, 5);
    assert!(!low.land(upright, 0, TopOut::TopRow).terminal);
    assert!(low.land(upright, 0, TopOut::AboveField).terminal);
}

#[test]
fn every_table_numbers_the_same_shapes() {
    let shapes = |orientations, piece| {
        let mut drawings: Vec<String> = Rules { orientations, ..Rules::simplified(6, 6) }
            .shapes(piece)
            .iter()
            .map(|shape| Playfield::empty(6, 6).land(shape, 0, TopOut::Overflow).afterstate.to_string())
            .collect();
        drawings.sort();
        drawings
    };
    for piece in Tetromino::ALL {
        let literature = shapes(OrientationTable::Literature, piece);
        for table in [OrientationTable::Lab, OrientationTable::Survey, OrientationTable::Leiden] {
            assert_eq!(shapes(table, piece), literature, "{piece} in {table:?}");
        }
    }
}

#[test]
fn orientations_are_numbered_as_each_source_draws_them() {
    #[track_caller]
    fn check(orientations: OrientationTable, piece: Tetromino, drawings: &str) {
        let rules = Rules { orientations, ..Rules::simplified(4, 4) };
        for (shape, expected) in rules.shapes(piece).iter().zip(drawings.split_ascii_whitespace()) {
            let landed = Playfield::empty(4, 4).land(shape, 0, TopOut::Overflow).locked.to_string();
            let rows: Vec<&str> = landed.lines().map(|row| &row[..usize::from(shape.width)]).collect();
            assert_eq!(
                rows[usize::from(4 - shape.height)..].join("/"),
                expected,
                "{piece} in {orientations:?}"
            );
        }
        assert_eq!(rules.shapes(piece).len(), drawings.split_ascii_whitespace().count(), "{piece}");
    }
    use crate::support::letters::*;
    use OrientationTable::*;
    check(Literature, I, "#/#/#/# ####");
    check(Literature, T, "#./##/#. .#./### .#/##/.# ###/.#.");
    check(Literature, Z, ".#/##/#. ##./.##");
    check(Literature, S, "#./##/.# .##/##.");
    check(Literature, J, "#../### .#/.#/## ###/..# ##/#./#.");
    check(Literature, L, "###/#.. #./#./## ..#/### ##/.#/.#");
    check(Lab, T, ".#./### #./##/#. .#/##/.# ###/.#.");
    check(Lab, J, ".#/.#/## #../### ###/..# ##/#./#.");
    check(Lab, L, "#./#./## ###/#.. ..#/### ##/.#/.#");
    check(Survey, T, "###/.#. #./##/#. .#./### .#/##/.#");
    check(Leiden, J, "###/..# ##/#./#. #../### .#/.#/##");
    check(Leiden, L, "###/#.. #./#./## ..#/### ##/.#/.#");
    check(Leiden, Z, "##./.## .#/##/#.");
    check(Leiden, S, ".##/##. #./##/.#");
}

#[test]
fn placements_are_distinct_and_come_in_ascending_action_order() {
    let rules = Rules::default();
    let count = |piece| placements(&rules, &Playfield::empty(10, 20), piece).len();
    assert_eq!(Tetromino::ALL.map(count), [17, 9, 34, 17, 17, 34, 34]);
    for width in [4, 5, 10, 16, 17, 32] {
        let rules = Rules::simplified(width, 8);
        for piece in Tetromino::ALL {
            let all = placements(&rules, &Playfield::empty(width, 8), piece);
            let actions: Vec<u32> = all.iter().map(|placement| placement.action(&rules)).collect();
            assert!(actions.is_sorted_by(|a, b| a < b), "{piece} at width {width}");
            assert_eq!(actions.len() as u32, all.len());
            for action in 0..rules.num_actions() {
                let placement = Placement::from_action(action, &rules);
                assert_eq!(actions.contains(&action), placement.shape(&rules, piece).is_some());
                assert_eq!(actions.contains(&action), all.contains(placement));
            }
            let by_number: Vec<u32> =
                (0..).map_while(|n| all.nth(n)).map(|placement| placement.action(&rules)).collect();
            assert_eq!(by_number, actions);
        }
    }
}

#[test]
fn a_straight_drop_goes_over_every_column_however_high_the_stack() {
    let rules = Rules::simplified(4, 4);
    let full = Playfield::from_drawing(4, 4, "####/####/####/####").unwrap();
    for piece in Tetromino::ALL {
        assert_eq!(placements(&rules, &full, piece), placements(&rules, &Playfield::empty(4, 4), piece));
        assert!(!is_blocked(&rules, &full, piece));
    }
}

/// However high garbage has lifted the stack, a piece that appears above it can be placed.
#[test]
fn a_raised_piece_has_placements() {
    let rules = Rules::preset("tetrio").unwrap();
    let after_a_clear = rules.after(Chain { clears: 1, ..Chain::default() });
    for rows in 18..38 {
        let stack = vec!["##########"; rows].join("/");
        let playfield = Playfield::from_drawing(rules.width, rules.height, &stack).unwrap();
        for piece in Tetromino::ALL {
            let all = placements(&after_a_clear, &playfield, piece);
            assert!(!is_blocked(&after_a_clear, &playfield, piece), "{piece} on {rows} rows");
            assert!(!all.is_empty(), "{piece} on {rows} rows");
            assert!(
                all.iter().all(|placement| placement.spot.unwrap().row as usize >= rows),
                "{piece} on {rows} rows"
            );
            let is_over = is_blocked(&rules, &playfield, piece);
            assert!(rows == 21 || is_over == (rows > 21), "{piece} on {rows} rows without a clear");
        }
    }
}

#[test]
fn a_spawn_is_blocked_where_the_first_orientation_overlaps() {
    // A literature T lies `#./##/#.`, its anchor, the middle cell of the upright, in the top row.
    let rules = Rules { top_out: TopOut::SpawnBlocked, ..Rules::simplified(5, 4) };
    for (drawing, piece, blocked) in [
        ("..#../..#../..#../.##..", Tetromino::T, true),
        ("...../..#../..#../.##..", Tetromino::T, true),
        ("...../...../..#../.##..", Tetromino::T, false),
        ("##.##/##.##/##.##/##.##", Tetromino::T, true),
        ("##.##/##.##/##.##/##.##", Tetromino::I, false),
        ("##..#/#####/...../.....", Tetromino::I, false),
        ("##.../...../...../.....", Tetromino::O, true),
    ] {
        let playfield = Playfield::from_drawing(5, 4, drawing).unwrap();
        assert_eq!(is_blocked(&rules, &playfield, piece), blocked, "{piece} on\n{playfield}");
        assert!(!is_blocked(&Rules::simplified(5, 4), &playfield, piece), "under the overflow rule");
    }
    // What sticks out of the top is cut off, and that is not the end yet.
    let tower = Playfield::from_drawing(5, 4, "#..../#..../#..../#....").unwrap();
    let upright = Placement::straight(0, 0).shape(&rules, Tetromino::I).unwrap();
    let landing = tower.land(upright, 0, rules.top_out);
    assert_eq!((landing.row, landing.afterstate, landing.terminal), (4, tower, false));
}

#[test]
fn drawings_of_the_wrong_size_are_refused() {
    assert_eq!(
        Playfield::from_drawing(4, 4, "....".repeat(5).as_str()),
        Err(DrawingError::WrongWidth { row: 0, length: 20, width: 4 })
    );
    assert_eq!(
        Playfield::from_drawing(4, 4, "....\n....\n....\n....\n...."),
        Err(DrawingError::TooManyRows { rows: 5, height: 4 })
    );
    assert_eq!(
        Playfield::from_drawing(4, 4, "#..#/###"),
        Err(DrawingError::WrongWidth { row: 1, length: 3, width: 4 })
    );
    assert_eq!(Playfield::from_drawing(4, 4, "").unwrap(), Playfield::empty(4, 4));
}

fn dealt(mut dealer: Dealer, count: usize) -> String {
    (0..count).map(|_| dealer.deal().expect("a seed never ends").letter()).collect()
}

#[test]
fn seeds_deal_the_sequences_they_promise() {
    assert_eq!(dealt(Dealer::seeded(Randomizer::Uniform, 42), 20), "TLZISIOJIJSOOOLJZZSI");
    assert_eq!(dealt(Dealer::seeded(Randomizer::Bag7, 42), 14), "OZSILJTZJLTISO");
    assert_eq!(episode_seed(42, 0), 42);
}

#[test]
fn every_bag_holds_all_seven() {
    for seed in 0..200 {
        let letters = dealt(Dealer::seeded(Randomizer::Bag7, seed), 70);
        for bag in letters.as_bytes().chunks(7) {
            let mut bag = bag.to_vec();
            bag.sort();
            assert_eq!(bag, b"IJLOSTZ", "seed {seed}");
        }
    }
}

#[test]
fn uniform_pieces_are_uniform() {
    let mut counts = [0u32; 7];
    let mut dealer = Dealer::seeded(Randomizer::Uniform, 0);
    for _ in 0..70_000 {
        counts[dealer.deal().unwrap().index()] += 1;
    }
    // Six degrees of freedom: 22.5 is the 99.9 % point.
    let chi_squared: f64 = counts.iter().map(|&n| (f64::from(n) - 10_000.0).powi(2) / 10_000.0).sum();
    assert!(chi_squared < 22.5, "{counts:?}");
}

/// A tetromino that fell behind comes sooner: counts stay closer together than those of independent draws.
#[test]
fn balanced_pieces_are_balanced() {
    let letters = dealt(Dealer::seeded(Randomizer::Balanced, 3), 70_000);
    for tetromino in Tetromino::ALL {
        let count = letters.matches(tetromino.letter()).count();
        // Independent draws would give 10,000 with a standard deviation of 92.6.
        assert!(count.abs_diff(10_000) < 15, "{count} times {tetromino}");
    }
}

#[test]
fn nes_pieces_seldom_repeat() {
    let letters = dealt(Dealer::seeded(Randomizer::Nes, 3), 56_001);
    let repeats = letters.as_bytes().windows(2).filter(|pair| pair[0] == pair[1]).count();
    // 2 in 56: 2,000 with a standard deviation of 44.
    assert!(repeats.abs_diff(2_000) < 150, "{repeats} repeats");
}

#[test]
fn written_sequences_end() {
    let pieces = parse_sequence("IOT zsjl").unwrap();
    let mut dealer = Dealer::sequence(pieces.into());
    let letters: String = std::iter::from_fn(|| dealer.deal()).map(Tetromino::letter).collect();
    assert_eq!(letters, "IOTZSJL");
    assert_eq!(dealer.deal(), None);
    let error = parse_sequence("IOX").unwrap_err();
    assert_eq!(error.to_string(), "'X' at position 2 names no tetromino, expected one of I O T Z S J L");
}
