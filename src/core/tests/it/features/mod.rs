//! Features: drawings with the numbers that were counted on them by hand, the notebooks' worked examples, every feature
//! against its slow twin, and sets of features by name.

use tetrion_core::engine::{OrientationTable, Placement, Playfield, Rules, Spin, Tetromino};
use tetrion_core::features::{FEATURES, FeatureSet, Seen};

mod against_twin;
mod sets;

/// A playfield as high as its drawing.
fn drawn(drawing: &str) -> Playfield {
    let rows: Vec<&str> = drawing.split('/').collect();
    Playfield::from_drawn_rows(rows[0].len() as u8, rows.len() as u8, &rows).unwrap()
}

/// Compares features of a bare playfield, given as `name number` pairs separated by commas.
#[track_caller]
fn check(drawing: &str, expected: &str) {
    let playfield = drawn(drawing);
    compare(expected, playfield.width(), |set, found| set.of_playfield(&playfield, found));
}

/// Drops a piece into a drawing, numbered as `simplified` does, and compares features of the landing.
#[track_caller]
fn check_landing(drawing: &str, piece: Tetromino, orientation: u8, column: u8, expected: &str) {
    check_spin(drawing, piece, Spin::None, orientation, column, expected);
}

/// Like [`check_landing`], for a landing with a spin label.
#[track_caller]
fn check_spin(drawing: &str, piece: Tetromino, spin: Spin, orientation: u8, column: u8, expected: &str) {
    let playfield = drawn(drawing);
    let rules = Rules::simplified(playfield.width(), playfield.height());
    let shape =
        Placement::straight(orientation, column).shape(&rules, piece).expect("a placement that exists");
    let landing = playfield.land(shape, column, rules.top_out);
    let seen = Seen { piece, spin, shape, landing: &landing };
    compare(expected, playfield.width(), |set, found| set.evaluate(&seen, found));
}

#[track_caller]
fn compare(expected: &str, width: u8, measure: impl Fn(&FeatureSet, &mut [f64])) {
    let pairs: Vec<(&str, f64)> = expected
        .split(',')
        .map(|pair| pair.trim().split_once(' ').expect("a name and a number"))
        .map(|(name, number)| (name, number.parse().expect("a number")))
        .collect();
    let names: Vec<&str> = pairs.iter().map(|pair| pair.0).collect();
    let set = FeatureSet::custom(&names, width).unwrap();
    let mut found = vec![f64::NAN; set.len()];
    measure(&set, &mut found);
    let found: Vec<(&str, f64)> = names.iter().copied().zip(found).collect();
    assert_eq!(found, pairs);
}

/// Every full name there is at a width.
fn all_names(width: u8) -> Vec<String> {
    let mut names = Vec::new();
    for feature in FEATURES {
        let plain = match feature.family_size(width) {
            None => vec![feature.name.to_owned()],
            Some(size) => (0..size).map(|i| format!("{}[{i}]", feature.name)).collect(),
        };
        if !feature.is_of_landing() {
            names.extend(plain.iter().map(|name| tetrion_twins::preclear_name(name)));
        }
        names.extend(plain);
    }
    names
}

#[test]
fn features_of_a_playfield_as_counted_by_hand() {
    check(
        "...../#...#/#.#.#/##.##",
        "column_height[0] 3, column_height[1] 1, column_height[2] 2, column_height[3] 1, column_height[4] 3,
         height_difference[0] 2, height_difference[1] 1, height_difference[2] 1, height_difference[3] 2,
         total_height 10, max_height 3, bumpiness 6, pattern_diversity 4,
         row_transitions 10, row_transitions_survey 8,
         column_transitions 7, column_transitions_lab 12, column_transitions_survey 6,
         holes 1, hole_runs 1, holes_enclosed 1, rows_with_holes 1, hole_depth 1, hole_depth_lab 1,
         cumulative_wells 3, wells_open 2, wells_lab 2, wells_runs 2, wells_survey 2, wells_heights 2,
         open_shafts 2, full_rows 0",
    );
}

#[test]
fn wells_with_a_gap_tell_the_definitions_apart() {
    check(
        "..../#.#./#.#./#.../#.#./#.#.",
        "total_height 10, bumpiness 15, pattern_diversity 0,
         row_transitions 20, row_transitions_survey 13,
         column_transitions 6, column_transitions_lab 10, column_transitions_survey 4,
         holes 1, holes_enclosed 0, hole_depth 2, hole_depth_lab 2,
         cumulative_wells 24, wells_open 24, wells_lab 20, wells_runs 12, wells_survey 6, wells_heights 30,
         open_shafts 10",
    );
}

#[test]
fn holes_upon_holes_tell_the_definitions_apart() {
    check(
        "..../##../#.#./.##./#.../.#.#",
        "total_height 15, max_height 5, bumpiness 4, pattern_diversity 2,
         row_transitions 18, row_transitions_survey 10,
         column_transitions 14, column_transitions_lab 18, column_transitions_survey 12,
         holes 6, hole_runs 5, holes_enclosed 3, rows_with_holes 4, hole_depth 7, hole_depth_lab 12,
         cumulative_wells 9, wells_open 5, wells_lab 3, wells_runs 3, wells_survey 0, wells_heights 6,
         open_shafts 3",
    );
}

#[test]
fn the_edges_of_a_playfield_are_walls_floor_and_sky() {
    check(
        "..../..../..../....",
        "total_height 0, max_height 0, bumpiness 0, pattern_diversity 1,
         row_transitions 8, row_transitions_survey 0,
         column_transitions 4, column_transitions_lab 8, column_transitions_survey 0,
         holes 0, cumulative_wells 0, wells_lab 0, wells_heights 0, open_shafts 0",
    );
    check(
        "####/####/####/####",
        "total_height 16, max_height 4, bumpiness 0, pattern_diversity 1,
         row_transitions 0, row_transitions_survey 0,
         column_transitions 4, column_transitions_lab 0, column_transitions_survey 0,
         holes 0, hole_depth 0, hole_depth_lab 0, cumulative_wells 0, wells_heights 0, open_shafts 0,
         full_rows 4",
    );
    check(
        "#..#/..../..../....",
        "total_height 8, bumpiness 8, pattern_diversity 1,
         row_transitions 8, row_transitions_survey 2,
         column_transitions 8, column_transitions_lab 8, column_transitions_survey 2,
         holes 6, hole_runs 2, holes_enclosed 0, rows_with_holes 3, hole_depth 2, hole_depth_lab 6,
         cumulative_wells 0, wells_heights 0, open_shafts 0",
    );
}

#[test]
fn fitting_tetrominoes_as_counted_by_hand() {
    // A level floor of four columns: O stands in three places, J and L too, and as T they lie in two; I stands on each column
    // and lies in one place; S and Z fit nowhere.
    check(
        "..../..../..../....",
        "accommodated 5, fits 20, readiness[0] 1, readiness[1] 1, readiness[2] 1, readiness[3] 0, readiness[4] 0,
         readiness[5] 1, readiness[6] 1, fits_of[0] 5, fits_of[1] 3, fits_of[2] 2, fits_of[3] 0, fits_of[4] 0,
         fits_of[5] 5, fits_of[6] 5, steps[3] 3",
    );
    // Heights 0 1 1 3: the steps up 1, level, up 2.
    // T and Z stand on the step up; O, J and L on the level; J hangs its foot over the step of two, L lies on the first three
    // columns; S flat needs level, then up one, and S upright down one: neither.
    check(
        "...#/...#/.###",
        "accommodated 6, fits 11, fits_of[0] 4, fits_of[1] 1, fits_of[2] 1, fits_of[3] 1, fits_of[4] 0, fits_of[5] 2,
         fits_of[6] 2, readiness[4] 0, readiness[3] 1, steps[4] 1, steps[3] 1, steps[5] 1, steps[2] 0",
    );
    // Heights 3 2 2 1 0: down 1, level, down 1, down 1. S and T stand on each step down; Z lies on the first and the level; J
    // lies on the level and the step after it; O, J and L stand on the level.
    check(
        "...../#..../###../####.",
        "accommodated 7, fits 16, fits_of[0] 5, fits_of[1] 1, fits_of[2] 3, fits_of[3] 1, fits_of[4] 3, fits_of[5] 2,
         fits_of[6] 1, steps[2] 3, steps[3] 1",
    );
    // Heights 1 0 1 4: T points down into the valley or stands on either side of it; S stands on the first step, Z on the
    // second.
    check(
        "...#/...#/...#/#.##",
        "accommodated 4, fits 9, fits_of[0] 4, fits_of[1] 0, fits_of[2] 3, fits_of[3] 1, fits_of[4] 1, fits_of[5] 0,
         fits_of[6] 0, steps[2] 1, steps[4] 1, steps[6] 1, steps[0] 0",
    );
    // Heights 2 2 0 1 1 0: level, down 2, up 1, level, down 1.
    check(
        "....../##..../##.##.",
        "accommodated 7, fits 19, fits_of[0] 6, fits_of[1] 2, fits_of[2] 2, fits_of[3] 1, fits_of[4] 1, fits_of[5] 3,
         fits_of[6] 4, steps[1] 1, steps[2] 1, steps[3] 2, steps[4] 1",
    );
    // Heights 4 0 0 4: a hole under the last column changes nothing. On heights 4 0 4 0 only an I fits.
    check(
        "#..#/#..#/#..#/#...",
        "accommodated 4, fits 7, readiness[0] 1, readiness[2] 0, steps[0] 1, steps[6] 1, steps[3] 1, fits_of[1] 1",
    );
    check(
        "#.#./#.#./#.#./....",
        "accommodated 1, fits 4, fits_of[0] 4, steps[0] 2, steps[6] 1, deep_wells 4",
    );
}

#[test]
fn what_lies_under_the_surface_as_counted_by_hand() {
    // Column 0 has holes in rows 0 and 2 under height 4, column 2 one in row 1 under height 3: 4 + 2 + 2. Column 1 lies two
    // rows under its lower neighbour, column 3 three rows beside the wall.
    check("#.../..#./#.../.##.", "weighted_holes 8, deep_wells 1, holes 3, surface_parity 0");
    // A well of four rows at the wall, and one of two in the middle, which does not count.
    check("...../.#.../.#.##/.#.##/.####", "deep_wells 2, weighted_holes 0, surface_parity 1");
    // On heights 1 0 1 0 1 all cells have one colour, on 1 1 1 1 0 they are two and two.
    check("...../#.#.#", "surface_parity 3, deep_wells 0");
    check("...../####.", "surface_parity 0");
    check(".#.#/....", "surface_parity 0, weighted_holes 4");
    check("..../.#.#", "surface_parity 2, deep_wells 0");
}

#[test]
fn features_of_a_landing_as_counted_by_hand() {
    use crate::support::letters::*;
    // Lying on the floor, an I has its middle in row 0.
    check_landing(
        "...../...../...../.....",
        I,
        1,
        0,
        "landing_height 0, landing_height_lab 1, landing_height_mid 1, landing_height_hint 0.5,
         landing_height_survey 1, landing_top 0, lines_cleared 0, eroded_piece_cells 0",
    );
    check_landing(
        "..../..../..../....",
        O,
        0,
        1,
        "landing_height 0.5, landing_height_lab 1, landing_height_mid 1.5, landing_height_hint 1,
         landing_height_survey 2.5, landing_top 1",
    );
    // Four lines, and all four cells of the piece go with them.
    check_landing(
        "####./####./####./####.",
        I,
        0,
        4,
        "landing_height 1.5, landing_height_lab 1, landing_height_mid 2.5, landing_height_hint 2,
         landing_height_survey 5.5, landing_top 3, lines_cleared 4, eroded_piece_cells 16,
         row_transitions 8, row_transitions_preclear 0, total_height 0, total_height_preclear 20,
         full_rows 0, full_rows_preclear 4",
    );
    // One line, and three of the four cells go with it; what is left covers a hole.
    check_landing(
        "...../#...#/##.##",
        T,
        1,
        1,
        "landing_height 1.5, lines_cleared 1, eroded_piece_cells 3,
         total_height 6, total_height_preclear 11, hole_depth 1, hole_depth_preclear 2,
         holes 1, holes_preclear 1, column_height[2] 2, column_height_preclear[2] 3,
         height_difference[1] 1, height_difference_preclear[1] 1",
    );
    // Game over: nothing clears, the landing height is that of the whole piece, the playfield is cut off.
    check_landing(
        "..../###./###./###.",
        I,
        0,
        0,
        "landing_height 4.5, landing_height_lab 4, landing_top 6, lines_cleared 0, eroded_piece_cells 0,
         column_height[0] 4, total_height 10, total_height_preclear 10, cumulative_wells 6",
    );
}

#[test]
fn what_is_ready_for_an_i_or_a_t_as_counted_by_hand() {
    // Three rows lack column 4 only, which is open. The row above lacks another cell too.
    check("...../###../####./####./####.", "ready_rows 3, spin_slots 0, spin_slot_rows 0");
    // One row lies under the surface of the open column: it is not ready, and the two above it are.
    check("...../.###./####./####./.####", "ready_rows 2");
    check("##.##/##.##/##.##/##.##", "ready_rows 4");
    // The cell on top of the open column hides what lies under it.
    check("...../....#/####./####.", "ready_rows 0");
    // A T comes in from the right and turns under the cell over column 1: it fills both rows.
    check(".#..../#...##/##.###", "spin_slots 1, spin_slot_rows 2");
    // The mirror image; the upper row lacks one cell more.
    check("....#./#....#/###.##", "spin_slots 1, spin_slot_rows 1");
    // Nothing hangs over it; the middle is covered; both ends are; a corner below is missing: no slot.
    check("....../#...##/##.###", "spin_slots 0, spin_slot_rows 0");
    check(".##.../#...##/##.###", "spin_slots 0");
    check(".#.#../#...##/##.###", "spin_slots 0");
    check(".#..../#...##/#..###", "spin_slots 0");
    // The open end is covered further up.
    check("...#../.#..../#...##/##.###", "spin_slots 0");
    // Two slots, on either side of a wall of full cells; neither fills a row.
    check("#......#/...##.../#.####.#", "spin_slots 2, spin_slot_rows 0, ready_rows 0");
}

#[test]
fn how_near_a_perfect_clear_is_as_counted_by_hand() {
    // Two rows of six columns hold three tetrominoes; two, one of them are missing.
    check("....../......", "perfect_clear_near 3");
    check("....../..####", "perfect_clear_near 4");
    check("....##/######", "perfect_clear_near 5");
    // Regions of two and ten cells; with two more rows above, they are one.
    check(".#..../.#..../.#....", "perfect_clear_near 0");
    check("##..../.#####", "perfect_clear_near 0");
    // A stack of five rows.
    check("#...../#...../#...../#...../#.....", "perfect_clear_near 0");
}

#[test]
fn what_a_landing_sends_as_counted_by_hand() {
    use crate::support::letters::*;
    check_landing("####./####./####./####.", I, 0, 4, "clears[3] 1, clears[0] 0, base_attack 10, idle_t 0");
    check_landing("#..../####./####./####./####.", I, 0, 4, "clears[3] 1, base_attack 4");
    check_landing("#..../####./####./####./##...", I, 0, 4, "clears[2] 1, clears[3] 0, base_attack 2");
    check_landing("###..../#####../#####..", O, 0, 5, "clears[1] 1, base_attack 1");
    check_landing("..../..../..../....", O, 0, 0, "clears[0] 0, clears[1] 0, base_attack 0, idle_t 0");
    // A T that points down into a slot: two lines by a full spin, by a mini, and by a drop.
    let places = [
        (Spin::Full, "clears[5] 1, clears[1] 0, base_attack 4, idle_t 0"),
        (Spin::Mini, "clears[5] 0, clears[1] 1, base_attack 1, idle_t 1"),
        (Spin::None, "clears[5] 0, clears[1] 1, base_attack 1, idle_t 1"),
    ];
    for (spin, expected) in places {
        check_spin("#..../#...#/##.##", T, spin, 3, 1, expected);
    }
    // One line, none, and two that leave nothing.
    check_spin("...../....#/##.##", T, Spin::Full, 3, 1, "clears[4] 1, clears[0] 0, base_attack 2, idle_t 0");
    check_spin("...../....#/##.##", T, Spin::Mini, 3, 1, "clears[4] 0, clears[0] 1, base_attack 0, idle_t 1");
    check_spin("...../....#/.#.##", T, Spin::Full, 3, 1, "clears[4] 0, clears[0] 0, base_attack 0, idle_t 1");
    check_spin("...../#...#/##.##", T, Spin::Full, 3, 1, "clears[5] 1, base_attack 10, idle_t 0");
}

#[test]
fn the_worked_examples_of_the_notebooks_come_out() {
    // The head of the file says how it is read.
    let blocks = include_str!("../../data/lab_features.txt").split("\n\n");
    let mut checked = 0;
    for block in blocks.filter_map(|block| block.strip_prefix("playfield ")) {
        let is_drawing = |line: &&str| line.chars().all(|cell| cell == '#' || cell == '.');
        let rows: Vec<&str> = block.lines().skip(1).take_while(is_drawing).collect();
        for line in block.lines().skip(1 + rows.len()) {
            let said = line.split(" (").next().unwrap();
            let expected = match said.split_once(' ').unwrap() {
                ("column_height", heights) => {
                    let height = |(i, height): (usize, &str)| format!("column_height[{i}] {height}");
                    heights.split(' ').enumerate().map(height).collect::<Vec<_>>().join(",")
                }
                _ => said.to_owned(),
            };
            check(&rows.join("/"), &expected);
            checked += 1;
        }
    }
    assert_eq!(checked, 20 * 20, "twenty statements about each of twenty playfields");
}

#[test]
fn the_score_of_the_notebooks_quiz_comes_out() {
    // Quiz 8: complete lines for, height, holes and bumpiness against, every weight 1.
    let names = ["total_height", "full_rows", "holes", "bumpiness"];
    let set = FeatureSet::custom(&names, 10).unwrap();
    let playfield = drawn("....##..../.####.#..#/.##.#.####/##########/###.######/##########");
    let mut found = [f64::NAN; 4];
    set.of_playfield(&playfield, &mut found);
    let [height, lines, holes, bumpiness] = found;
    assert_eq!((-height, lines, -holes, -bumpiness), (-48.0, 2.0, -4.0, -6.0));
    assert_eq!(-height + lines - holes - bumpiness, -56.0);
}

#[test]
fn the_lab_counts_the_rows_of_the_anchor_it_turns_pieces_around() {
    // Its drawings in its order, the anchor drawn as @.
    let drawings = [
        (Tetromino::I, "#/#/#/@ @###"),
        (Tetromino::O, "##/#@"),
        (Tetromino::T, ".#./#@# #./@#/#. .#/#@/.# #@#/.#."),
        (Tetromino::Z, "##./.@# .#/@#/#."),
        (Tetromino::S, ".##/#@. #./@#/.#"),
        (Tetromino::J, ".#/.#/#@ #../@## ##@/..# @#/#./#."),
        (Tetromino::L, "#./#./@# @##/#.. ..#/##@ #@/.#/.#"),
    ];
    let rules = Rules { orientations: OrientationTable::Lab, ..Rules::simplified(4, 6) };
    let set = FeatureSet::custom(&["landing_height_lab"], 4).unwrap();
    for (piece, drawings) in drawings {
        let drawings: Vec<&str> = drawings.split(' ').collect();
        assert_eq!(rules.shapes(piece).len(), drawings.len());
        for (shape, drawing) in rules.shapes(piece).iter().zip(&drawings) {
            let landing = Playfield::empty(4, 6).land(shape, 0, rules.top_out);
            let rows: Vec<String> = drawing.split('/').map(|row| format!("{row:.<4}")).collect();
            assert_eq!(landing.locked, Playfield::from_drawn_rows(4, 6, &rows).unwrap());
            let anchor_height = rows.iter().rev().position(|row| row.contains('@')).unwrap() + 1;
            let mut found = [f64::NAN];
            set.evaluate(&Seen { piece, spin: Spin::None, shape, landing: &landing }, &mut found);
            assert_eq!(found[0], anchor_height as f64, "{piece} as {drawing}");
        }
    }
}
