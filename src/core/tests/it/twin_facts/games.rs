//! Perft against a published table, the controller's small print, and whole games of the
//! literature's own program.

use std::collections::BTreeMap;

use super::value;
use tetrion_twins::{
    Losing, Perft, TwinPlayfield, greedy, greedy_episode, land, perft, placements, score, uniform_tetromino,
};

const STANDARD_PERFT: &str = include_str!("../../data/standard.perft");
const REFERENCE_GAMES: &str = include_str!("../../data/reference_games.txt");

/// The rows of a table that has `#` before its comments, in words.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_whitespace().collect())
}

fn number(word: &str) -> usize {
    word.parse().expect("a whole number")
}

#[test]
fn perft_counts_what_the_table_says() {
    let mut checked = 0;
    for row in rows(STANDARD_PERFT) {
        let [size, sequence, counts @ ..] = &row[..] else { panic!("{row:?}") };
        let (width, height) = size.split_once('x').expect("WIDTHxHEIGHT");
        let found = perft(&TwinPlayfield::empty(number(width), number(height)), sequence);
        let [leaves, distinct, lines, holes] =
            [0, 1, 2, 3].map(|index| counts[index].parse().expect("a count"));
        assert_eq!(found, Perft { leaves, distinct, lines, holes }, "{size} {sequence}");
        checked += 1;
    }
    assert_eq!(checked, 8);
}

#[test]
fn the_first_of_equals_wins() {
    let playfield = TwinPlayfield::empty(10, 20);
    let first = placements(&playfield, 'L')[0];
    assert_eq!(greedy(&playfield, 'L', &["holes"], &[0.0], Losing::Avoid), first);
    assert_eq!(greedy(&playfield, 'L', &[], &[], Losing::Score), first);
    // An L lies flat without a hole in orientation 2 alone.
    let lowest = greedy(&playfield, 'L', &["landing_height", "holes"], &[-1.0, -1.0], Losing::Avoid);
    assert_eq!((lowest.orientation, lowest.column), (2, 0));
}

#[test]
fn a_losing_placement_is_avoided_or_scored_as_asked() {
    let playfield = TwinPlayfield::drawn("#.../#.../#...", 4);
    let choice = |losing| greedy(&playfield, 'O', &["landing_height"], &[1.0], losing);
    assert_eq!(choice(Losing::Score).column, 0, "on top of the tower, out of the playfield");
    assert_eq!(choice(Losing::Avoid).column, 1, "the first that stays inside");

    let lost = TwinPlayfield::drawn("#.#./.#.#/#.#./.#.#", 4);
    let first = placements(&lost, 'O')[0];
    assert!(placements(&lost, 'O').iter().all(|placement| land(&lost, placement).terminal));
    assert_eq!(greedy(&lost, 'O', &["landing_height"], &[1.0], Losing::Avoid), first);
}

#[test]
fn a_score_is_summed_in_the_order_of_the_features() {
    let playfield = TwinPlayfield::drawn("##..", 20);
    let placement = placements(&playfield, 'O')[0];
    let landing = land(&playfield, &placement);
    let of = |features: &[&str], weights: &[f64]| score(features, weights, &playfield, &landing);
    assert_eq!(of(&["max_height", "holes", "total_height"], &[2.0, 5.0, -0.5]), 2.0 * 3.0 - 0.5 * 6.0);
    // What is small is lost beside 1e300, unless the large terms are gone by then.
    assert_eq!(of(&["max_height", "max_height", "total_height"], &[1e300, -1e300, 1.0]), 6.0);
    assert_eq!(of(&["total_height", "max_height", "max_height"], &[1.0, 1e300, -1e300]), 0.0);
}

/// Games that MDPTetris played with the pieces of our seeds. They hold everything at once: sequence,
/// shapes, order of the placements, drop, clearing, top-out, every feature of ten controllers, the
/// sum and the tie rule. Only the shorter games, for the twin is slow; each controller has one.
#[test]
fn mdptetris_games_are_replayed_placement_for_placement() {
    const MOST_PIECES: usize = 1_100;
    let mut games_of = BTreeMap::new();
    for row in rows(REFERENCE_GAMES) {
        let [controller, width, height, seed, pieces, lines, checksum, end] = row[..] else {
            panic!("{row:?}")
        };
        if number(pieces) > MOST_PIECES {
            continue;
        }
        let (features, weights) = controller_named(controller, number(width));
        let features: Vec<&str> = features.iter().map(String::as_str).collect();
        let seed = seed.parse().expect("a seed");
        let sequence = (0..).take(number(pieces)).map(|n| uniform_tetromino(seed, n));
        let size = (number(width), number(height));
        let steps = greedy_episode(size, sequence, &features, weights, Losing::Avoid);

        let cleared: f64 = steps.iter().map(|step| value(step, "lines_cleared")).sum();
        assert_eq!((steps.len(), cleared as usize), (number(pieces), number(lines)), "{row:?}");
        assert_eq!(steps.last().map(|step| step.landing.terminal), Some(end == "over"), "{row:?}");
        let played = steps.iter().flat_map(|step| [step.placement.orientation, step.placement.column]);
        assert_eq!(format!("{:016x}", fnv1a(played.map(|number| number as u8))), checksum, "{row:?}");
        *games_of.entry(controller).or_insert(0) += 1;
    }
    assert_eq!(games_of.len(), 10, "every controller has a short game: {games_of:?}");
}

/// The 64-bit FNV-1a checksum of the bytes.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

const DELLACHERIE: [&str; 6] = [
    "landing_height",
    "eroded_piece_cells",
    "row_transitions",
    "column_transitions",
    "holes",
    "cumulative_wells",
];

/// The features and the published weights of a controller.
fn controller_named(name: &str, width: usize) -> (Vec<String>, &'static [f64]) {
    let mut features: Vec<String> = DELLACHERIE.map(str::to_owned).to_vec();
    let mut then = |names: &[&str]| features.extend(names.iter().map(|name| name.to_string()));
    let weights: &[f64] = match name {
        "dellacherie" => &[-1.0, 1.0, -1.0, -1.0, -4.0, -1.0],
        "ce-d" => &[-8.593742, 4.982987, -5.315517, -17.01111, -14.26038, -6.035001],
        "cma-d" => &[-1.168, 1.328, -1.017, -2.168, -4.335, -1.472],
        "el-tetris" => {
            features[1] = "lines_cleared".to_owned();
            &[
                -4.500158825082766,
                3.4181268101392694,
                -3.2178882868487753,
                -9.348695305445199,
                -7.899265427351652,
                -3.3855972247263626,
            ]
        }
        "bcts" => {
            then(&["hole_depth", "rows_with_holes"]);
            &[-12.62900, 6.601974, -9.215815, -19.77356, -13.08335, -10.48747, -1.611863, -24.04087]
        }
        "bcts-rounded" => {
            then(&["hole_depth", "rows_with_holes"]);
            &[-12.63, 6.60, -9.22, -19.77, -13.08, -10.49, -1.61, -24.04]
        }
        "dt-10" => {
            then(&["hole_depth", "rows_with_holes", "pattern_diversity"]);
            &[-2.18, 2.42, -2.17, -3.31, 0.95, -2.22, -0.81, -9.65, 1.27]
        }
        "dt-20" => {
            then(&["hole_depth", "rows_with_holes", "pattern_diversity"]);
            &[-2.68, 1.38, -2.41, -6.32, 2.03, -2.71, -0.43, -9.48, 0.89]
        }
        "rv-ce" => {
            then(&["hole_depth", "rows_with_holes", "pattern_diversity"]);
            &[
                -11.334763, 5.599150, -9.951538, -15.122333, -3.301414, -10.990716, -5.651008, -34.671752,
                5.484312,
            ]
        }
        "bdu" => {
            features = (0..width).map(|column| format!("column_height[{column}]")).collect();
            features.extend((0..width - 1).map(|column| format!("height_difference[{column}]")));
            features.extend(["max_height", "holes"].map(str::to_owned));
            features.extend(DELLACHERIE.iter().filter(|&&name| name != "holes").map(|name| name.to_string()));
            features.extend(["hole_depth", "rows_with_holes"].map(str::to_owned));
            &BDU
        }
        other => panic!("no controller is called {other}"),
    };
    assert_eq!(features.len(), weights.len(), "{name}");
    (features, weights)
}

const BDU: [f64; 28] = [
    // the heights of columns 0 to 9
    -13.18725, -7.652075, 7.622007, -9.044294, -1.747279, -7.569865, -5.221819, -0.6874555, -6.483100,
    -16.01383, // the nine differences of neighbours
    2.356909, 2.143912, -7.351929, 1.558139, 0.4336980, 3.655922, -4.673708, -1.997187, 9.122675,
    // the greatest height, holes
    12.36382, -40.64000,
    // landing height, eroded cells, row and column transitions, wells, hole depth, rows with holes
    -43.27153, -1.036039, -36.93346, -81.00232, -41.17906, -13.27585, -75.47524,
];
