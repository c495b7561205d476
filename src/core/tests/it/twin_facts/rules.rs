//! Shapes, placements, falling, clearing, the end of a game.

use super::{drop, value};
use tetrion_twins::{
    TETROMINOES, TwinLanding, TwinPlacement, TwinPlayfield, orientations, placements, random_episode,
    random_playfield, uniform_sequence,
};

#[test]
fn turning_the_paper_gives_the_published_orientations() {
    #[track_caller]
    fn check(tetromino: char, drawings: &[&str]) {
        let turned: Vec<String> = orientations(tetromino).into_iter().map(|shape| shape.drawing).collect();
        assert_eq!(turned, drawings, "{tetromino}");
    }
    check('I', &["X/X/X/X", "XXXX"]);
    check('O', &["XX/XX"]);
    check('T', &["X./XX/X.", ".X./XXX", ".X/XX/.X", "XXX/.X."]);
    check('Z', &[".X/XX/X.", "XX./.XX"]);
    check('S', &["X./XX/.X", ".XX/XX."]);
    check('J', &["X../XXX", ".X/.X/XX", "XXX/..X", "XX/X./X."]);
    check('L', &["XXX/X..", "X./X./XX", "..X/XXX", "XX/.X/.X"]);
}

#[test]
fn a_playfield_of_any_width_has_the_counted_placements() {
    for width in 4..=32 {
        let playfield = TwinPlayfield::empty(width, 4);
        let count = |tetromino| placements(&playfield, tetromino).len();
        assert_eq!(count('O'), width - 1, "O at width {width}");
        for tetromino in ['I', 'S', 'Z'] {
            assert_eq!(count(tetromino), 2 * width - 3, "{tetromino} at width {width}");
        }
        for tetromino in ['T', 'L', 'J'] {
            assert_eq!(count(tetromino), 4 * width - 6, "{tetromino} at width {width}");
        }
    }
}

#[test]
fn placements_come_in_ascending_action_order() {
    let playfield = TwinPlayfield::empty(10, 20);
    for tetromino in TETROMINOES.chars() {
        let actions: Vec<usize> = placements(&playfield, tetromino).iter().map(|p| p.action(10)).collect();
        assert!(actions.windows(2).all(|pair| pair[0] < pair[1]), "{tetromino}: {actions:?}");
    }
    let last_of_t = TwinPlacement { tetromino: 'T', orientation: 3, column: 7 };
    assert_eq!(placements(&playfield, 'T').last(), Some(&last_of_t));
    assert_eq!(last_of_t.action(10), 37);
}

#[test]
fn a_tetromino_falls_straight_and_does_not_slide_under_an_overhang() {
    let before = "###../...../.....";
    for (column, row) in [(0, 3), (1, 3), (2, 3), (3, 0)] {
        assert_eq!(drop(before, 6, 'O', 0, column).landing.row, row, "column {column}");
    }
}

#[test]
fn a_row_comes_down_once_for_each_cleared_row_below_it() {
    // The I completes rows 0, 1 and 3, and fills a cell of row 2.
    let step = drop("..#./###./#.#./###./###.", 8, 'I', 0, 3);
    let TwinLanding { row, lines, cells_cleared, terminal, .. } = step.landing;
    assert_eq!((row, lines, cells_cleared, terminal), (0, 3, 3, false));
    assert_eq!(step.landing.preclear, TwinPlayfield::drawn("..#./####/#.##/####/####", 8));
    assert_eq!(step.landing.afterstate, TwinPlayfield::drawn("..#./#.##", 8));
    assert_eq!(value(&step, "eroded_piece_cells"), 9.0);
}

#[test]
fn a_cell_above_the_wall_ends_the_game_before_anything_is_cleared() {
    // The upright I completes rows 2 and 3, but its upper half sticks out.
    let step = drop("###./###./#.##/##.#", 4, 'I', 0, 3);
    let TwinLanding { row, lines, cells_cleared, terminal, .. } = step.landing;
    assert_eq!((row, lines, cells_cleared, terminal), (2, 0, 0, true));
    assert_eq!(step.landing.afterstate, TwinPlayfield::drawn("####/####/#.##/##.#", 4));
    assert_eq!(step.landing.preclear, step.landing.afterstate);
    assert_eq!(value(&step, "eroded_piece_cells"), 0.0);
    assert_eq!(value(&step, "lines_cleared"), 0.0);
    assert_eq!(value(&step, "landing_height"), 3.5);
}

#[test]
fn a_tetromino_may_come_to_rest_entirely_above_the_wall() {
    let step = drop("#.../#.../#.../#...", 4, 'O', 0, 0);
    assert_eq!((step.landing.row, step.landing.terminal), (4, true));
    assert_eq!(step.landing.afterstate, step.before);
}

#[test]
fn the_topmost_row_is_still_inside() {
    let step = drop("####/#.../#...", 5, 'O', 0, 2);
    assert_eq!((step.landing.row, step.landing.terminal), (3, false));
    assert_eq!(step.landing.afterstate, TwinPlayfield::drawn("..##/..##/#.../#...", 5));
}

#[test]
fn full_rows_of_a_drawn_position_go_with_the_next_landing() {
    let step = drop("#.../####", 6, 'O', 0, 2);
    assert_eq!((step.landing.lines, step.landing.cells_cleared), (1, 0));
    assert_eq!(step.landing.afterstate, TwinPlayfield::drawn("..##/#.##", 6));
    assert_eq!(value(&step, "eroded_piece_cells"), 0.0);
}

#[test]
fn what_is_drawn_is_read_back() {
    for seed in 0..200 {
        let playfield = random_playfield(4 + seed as usize % 29, 4 + seed as usize % 37, seed);
        let drawing = playfield.to_string();
        assert_eq!(TwinPlayfield::drawn(&drawing, playfield.height()), playfield, "seed {seed}");
    }
}

#[test]
fn no_cell_appears_or_vanishes_outside_a_cleared_row() {
    let count = |playfield: &TwinPlayfield| playfield.rows.iter().flatten().filter(|&&full| full).count();
    let (mut games_over, mut lines) = (0, 0);
    for seed in 0..300 {
        let start = TwinPlayfield::empty(4 + seed as usize % 5, 4 + seed as usize % 17);
        let width = start.width();
        for step in random_episode(start, uniform_sequence(seed, 300).chars(), seed) {
            let landing = &step.landing;
            let landed_inside = landing.cells.iter().filter(|(row, _)| *row < step.before.height()).count();
            assert_eq!(
                count(&landing.afterstate) + width * landing.lines,
                count(&step.before) + landed_inside,
                "seed {seed}"
            );
            assert_eq!(landing.terminal, landed_inside < 4, "seed {seed}");
            assert_eq!(
                landing.lines == 0,
                landing.cells_cleared == 0,
                "seed {seed}: no full row is left over"
            );
            lines += landing.lines;
            games_over += usize::from(landing.terminal);
        }
    }
    assert_eq!(games_over, 300, "random play always tops out");
    assert!(lines > 50, "{lines} lines are too few to say much");
}
