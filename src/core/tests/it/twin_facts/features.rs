//! Drawings counted by hand, and what must hold between features on any playfield.

use super::{drop, value};
use tetrion_twins::{
    LANDING_FEATURES, PLAYFIELD_FEATURES, SEVENS, TwinPlayfield, feature_names, playfield_feature,
    playfield_feature_names, random_episode, random_playfield, uniform_sequence,
};

/// Playfields of all widths and heights, with their seeds.
fn random_playfields() -> impl Iterator<Item = (u64, TwinPlayfield)> {
    let size = |seed: u64| (4 + seed as usize % 29, 4 + seed as usize % 37);
    (0..2000).map(move |seed| (seed, random_playfield(size(seed).0, size(seed).1, seed)))
}

#[test]
fn wells_counted_by_hand() {
    #[track_caller]
    fn check(drawing: &str, expected: [usize; 6]) {
        let playfield = TwinPlayfield::drawn(drawing, 8);
        let names =
            ["cumulative_wells", "wells_open", "wells_lab", "wells_runs", "wells_survey", "wells_heights"];
        let found = names.map(|name| playfield_feature(name, &playfield) as usize);
        assert_eq!(found, expected, "{names:?}{playfield:?}");
    }
    // Free-standing, three deep: 1 + 2 + 3.
    check("#.##/#.##/#.##", [6, 6, 6, 6, 6, 6]);
    // Beside the wall two deep, and in column 1 two deep under a cover: 1 + 2 twice for the literature.
    check("##../#.#./#.#./####", [6, 3, 3, 3, 3, 3]);
    // A gap in the middle: 1 below it; above it 3 empty cells down to the floor, the second of the
    // column, the first after the gap.
    check("#.##/..##/#.##", [4, 4, 3, 2, 1, 6]);
    // The gap is at the bottom: no well cell stands on the surface.
    check("#.##/#.##/..##", [5, 5, 3, 3, 0, 6]);
    // Column 0 is two deep beside the wall; column 2 two deep above a gap.
    check(".#.#/.#.#/#..#/####", [8, 8, 6, 6, 3, 9]);
    check("....", [0; 6]);
}

#[test]
fn heights_counted_by_hand() {
    #[track_caller]
    fn check(playfield: &TwinPlayfield, name: &str, expected: usize) {
        assert_eq!(playfield_feature(name, playfield), expected as f64, "{name}{playfield:?}");
    }
    // Heights 4 3 1 0 2.
    let playfield = TwinPlayfield::drawn("#..../##.../##..#/###.#", 20);
    check(&playfield, "total_height", 10);
    check(&playfield, "max_height", 4);
    check(&playfield, "bumpiness", 6);
    for (column, difference) in [1, 2, 1, 2].into_iter().enumerate() {
        check(&playfield, &format!("height_difference[{column}]"), difference);
    }
    check(&TwinPlayfield::empty(10, 20), "max_height", 0);

    // The steps -1 -2 -1 +2 are three values, +1 +2 0 -1 -2 five, -3 0 0 one, 0 alone one.
    check(&playfield, "pattern_diversity", 3);
    check(&TwinPlayfield::drawn("..##../..###./.####.", 20), "pattern_diversity", 5);
    check(&TwinPlayfield::drawn("#.../#.../#.../####", 20), "pattern_diversity", 1);
    check(&TwinPlayfield::empty(10, 20), "pattern_diversity", 1);
}

#[test]
fn landings_counted_by_hand() {
    let flat = drop(".....", 20, 'I', 1, 0);
    assert_eq!(value(&flat, "landing_height"), 0.0);
    let upright = drop(".....", 20, 'I', 0, 3);
    assert_eq!(value(&upright, "landing_height"), 1.5);
    assert_eq!(value(&upright, "landing_height_lab"), 1.0);
    assert_eq!(value(&upright, "landing_height_mid"), 2.5);
    let square = drop(".....", 20, 'O', 0, 2);
    assert_eq!(value(&square, "landing_height"), 0.5);
    assert_eq!(value(&square, "landing_height_survey"), 2.5);

    let four_lines = drop("###./###./###./###.", 20, 'I', 0, 3);
    assert_eq!(value(&four_lines, "lines_cleared"), 4.0);
    assert_eq!(value(&four_lines, "eroded_piece_cells"), 16.0);
}

#[test]
fn a_plain_name_is_of_the_afterstate_and_a_preclear_name_of_the_locked_playfield() {
    // The O completes row 0 and fills a part of row 1.
    let step = drop("#...#/#..##", 6, 'O', 0, 1);
    let locked = TwinPlayfield::drawn("###.#/#####", 6);
    let cleared = TwinPlayfield::drawn("###.#", 6);
    for name in playfield_feature_names(5) {
        assert_eq!(value(&step, &name), playfield_feature(&name, &cleared), "{name}");
        let preclear = format!("{name}_preclear");
        assert_eq!(value(&step, &preclear), playfield_feature(&name, &locked), "{preclear}");
    }
    assert_eq!(value(&step, "total_height"), 4.0);
    assert_eq!(value(&step, "total_height_preclear"), 9.0);
    assert_eq!(value(&step, "column_height_preclear[3]"), 1.0);
}

#[test]
#[should_panic(expected = "no feature is called lines_cleared")]
fn a_feature_of_the_landing_has_no_second_form() {
    value(&drop("....", 20, 'O', 0, 0), "lines_cleared_preclear");
}

#[test]
fn hole_depth_counts_the_full_cells_that_adjoin_a_hole_from_above() {
    let mut told_apart = 0;
    for (seed, playfield) in random_playfields() {
        // For each empty cell the run of full cells that starts right above it ...
        let mut adjoining = 0;
        // ... and the same as one formula on a column's bits, bit 0 at the floor.
        let mut by_bits = 0;
        for column in 0..playfield.width() {
            let cells = playfield.column(column);
            for row in (0..cells.len()).filter(|&row| !cells[row]) {
                adjoining += cells[row + 1..].iter().take_while(|&&full| full).count();
            }
            let bits = cells.iter().rev().fold(0u64, |bits, &full| bits * 2 + u64::from(full));
            by_bits += (bits & (bits + 1)).count_ones();
        }
        let hole_depth = playfield_feature("hole_depth", &playfield);
        assert_eq!(hole_depth, adjoining as f64, "seed {seed}{playfield:?}");
        assert_eq!(hole_depth, f64::from(by_bits), "seed {seed}{playfield:?}");

        let labs = playfield_feature("hole_depth_lab", &playfield);
        assert!(labs >= hole_depth, "seed {seed}{playfield:?}");
        told_apart += usize::from(labs > hole_depth);
    }
    assert!(told_apart > 1000, "only {told_apart} playfields tell the lab's definition apart");
}

#[test]
fn features_keep_their_relations_on_any_playfield() {
    for (seed, playfield) in random_playfields() {
        let of = |name: &str| playfield_feature(name, &playfield) as usize;
        let (width, height) = (playfield.width(), playfield.height());
        let full_cells = playfield.rows.iter().flatten().filter(|&&full| full).count();
        let full_on_top = playfield.rows[height - 1].iter().filter(|&&full| full).count();
        let empty_on_floor = playfield.rows[0].iter().filter(|&&full| !full).count();

        let heights: Vec<usize> = (0..width).map(|i| of(&format!("column_height[{i}]"))).collect();
        let steps: Vec<usize> = (0..width - 1).map(|i| of(&format!("height_difference[{i}]"))).collect();
        assert_eq!(of("total_height"), heights.iter().sum::<usize>(), "seed {seed}");
        assert_eq!(Some(&of("max_height")), heights.iter().max(), "seed {seed}");
        assert_eq!(of("bumpiness"), steps.iter().sum::<usize>(), "seed {seed}");

        // Below a column's height a cell is full or a hole.
        assert_eq!(of("holes"), of("total_height") - full_cells, "seed {seed}");
        for fewer in ["hole_runs", "rows_with_holes", "holes_enclosed"] {
            assert!(of(fewer) <= of("holes"), "seed {seed}: {fewer}");
        }
        assert!(of("hole_runs") <= of("hole_depth"), "seed {seed}");

        // Each definition of a well adds to the one before it.
        let wells = ["wells_survey", "wells_runs", "wells_lab", "wells_open", "cumulative_wells"].map(of);
        assert!(wells.is_sorted(), "seed {seed}: {wells:?}{playfield:?}");

        // Between two full ends changes come in pairs, from full to empty they come in odd numbers.
        assert_eq!(of("row_transitions") % 2, 0, "seed {seed}");
        assert_eq!(of("column_transitions_lab") % 2, 0, "seed {seed}");
        assert_eq!(of("column_transitions") % 2, width % 2, "seed {seed}");
        // A floor shows below empty cells, a sky above full ones, a ceiling below empty ones.
        let inside = of("column_transitions_survey");
        assert_eq!(of("column_transitions"), inside + empty_on_floor + full_on_top, "seed {seed}");
        let empty_on_top = width - full_on_top;
        assert_eq!(of("column_transitions_lab"), inside + empty_on_floor + empty_on_top, "seed {seed}");
        let empty_at_walls = playfield.rows.iter().flat_map(|row| [row[0], row[width - 1]]);
        let empty_at_walls = empty_at_walls.filter(|full| !full).count();
        assert_eq!(of("row_transitions"), of("row_transitions_survey") + empty_at_walls, "seed {seed}");
    }
}

#[test]
fn every_feature_of_every_landing_is_a_whole_number_or_a_half() {
    for width in [4, 10, 32] {
        let names = feature_names(width);
        let num_playfield_features = PLAYFIELD_FEATURES.len() + width + (width - 1) + 7 * SEVENS.len();
        assert_eq!(playfield_feature_names(width).len(), num_playfield_features);
        assert_eq!(names.len(), LANDING_FEATURES.len() + 2 * num_playfield_features);
        for seed in 0..10 {
            let start = random_playfield(width, 12, seed);
            for step in random_episode(start, uniform_sequence(seed, 40).chars(), seed) {
                for name in &names {
                    let found = value(&step, name);
                    assert!(found >= 0.0 && (2.0 * found).fract() == 0.0, "{name} is {found}, seed {seed}");
                }
                // Three of the landing heights differ by constants.
                let middle = value(&step, "landing_height_mid");
                assert_eq!(value(&step, "landing_height"), middle - 1.0, "seed {seed}");
                assert_eq!(value(&step, "landing_height_hint"), middle - 0.5, "seed {seed}");
            }
        }
    }
}
