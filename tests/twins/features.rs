//! Every feature by name, each the most literal loop over cells its definition allows.
//!
//! `NAME` is taken after lines are cleared, `NAME_preclear` with the tetromino locked and full rows
//! still there; one of a family is `NAME[3]` and `NAME_preclear[3]`. The features of a landing (`LANDING_FEATURES`) are taken before clearing by
//! definition and have no second form. Walls and floor are full and the sky is empty, unless a
//! feature's comment says otherwise.

use std::iter::once;

use super::playfield::{TwinLanding, TwinPlayfield};
use super::{modern_features, surface};

/// The features that describe the landing and not the playfield.
pub const LANDING_FEATURES: [&str; 18] = [
    "landing_height",
    "eroded_piece_cells",
    "lines_cleared",
    "rows_sunk",
    "landing_height_lab",
    "landing_height_mid",
    "landing_height_hint",
    "landing_height_survey",
    "landing_top",
    "clears[0]",
    "clears[1]",
    "clears[2]",
    "clears[3]",
    "clears[4]",
    "clears[5]",
    "clears[6]",
    "base_attack",
    "idle_t",
];

/// The features that are one number of a playfield; `column_height[i]`, `height_difference[i]` and
/// `SEVENS` come on top.
pub const PLAYFIELD_FEATURES: [&str; 32] = [
    "row_transitions",
    "column_transitions",
    "holes",
    "cumulative_wells",
    "hole_depth",
    "rows_with_holes",
    "pattern_diversity",
    "total_height",
    "max_height",
    "bumpiness",
    "full_rows",
    "wells_lab",
    "wells_runs",
    "wells_open",
    "wells_survey",
    "wells_heights",
    "hole_depth_lab",
    "hole_runs",
    "holes_enclosed",
    "row_transitions_survey",
    "column_transitions_lab",
    "column_transitions_survey",
    "open_shafts",
    "accommodated",
    "fits",
    "weighted_holes",
    "deep_wells",
    "surface_parity",
    "ready_rows",
    "spin_slots",
    "spin_slot_rows",
    "perfect_clear_near",
];

/// The families of seven at any width.
pub const SEVENS: [&str; 3] = ["readiness", "fits_of", "steps"];

/// Every name that `playfield_feature` knows at that width, the indexed ones spelled out.
pub fn playfield_feature_names(width: usize) -> Vec<String> {
    let mut names: Vec<String> = PLAYFIELD_FEATURES.iter().map(|name| name.to_string()).collect();
    names.extend((0..width).map(|column| format!("column_height[{column}]")));
    names.extend((0..width - 1).map(|column| format!("height_difference[{column}]")));
    for family in SEVENS {
        names.extend((0..7).map(|index| format!("{family}[{index}]")));
    }
    names
}

/// Every name that `feature` knows at that width: of the landing, of the playfield, and of the
/// playfield before clearing.
pub fn feature_names(width: usize) -> Vec<String> {
    let mut names: Vec<String> = LANDING_FEATURES.iter().map(|name| name.to_string()).collect();
    for name in playfield_feature_names(width) {
        names.push(preclear_name(&name));
        names.push(name);
    }
    names
}

/// The name of a playfield's feature when it is taken before clearing.
pub fn preclear_name(plain: &str) -> String {
    match plain.split_once('[') {
        None => format!("{plain}_preclear"),
        Some((family, index)) => format!("{family}_preclear[{index}"),
    }
}

/// The plain name of a feature that is taken before clearing; `None` for any other one.
pub fn plain_name(preclear: &str) -> Option<String> {
    preclear.contains("_preclear").then(|| preclear.replacen("_preclear", "", 1))
}

/// The feature of that name of what came to rest on a playfield.
pub fn feature(name: &str, before: &TwinPlayfield, landing: &TwinLanding) -> f64 {
    let landed_rows = landing.cells.iter().map(|&(row, _)| row);
    let lowest = landed_rows.clone().min().expect("four cells") as f64;
    let highest = landed_rows.max().expect("four cells") as f64;
    let piece_height = highest - lowest + 1.0;
    match name {
        // The row of the lowest cell plus half of what is above it: an I lying on the floor has 0.
        "landing_height" => lowest + (piece_height - 1.0) / 2.0,
        // Lines cleared by this landing times the tetromino's own cells that vanished.
        "eroded_piece_cells" => (landing.lines * landing.cells_cleared) as f64,
        "lines_cleared" => landing.lines as f64,
        // Nothing sinks in games of tetrominoes; `pieces::sinking` has the others.
        "rows_sunk" => 0.0,
        // The lab counts the rows from its anchor cell down to the floor, both ends included.
        "landing_height_lab" => (landing.anchor_row + 1) as f64,
        // Halfway between the heights of the lowest and the highest cell, the floor row at height 1.
        "landing_height_mid" => ((lowest + 1.0) + (highest + 1.0)) / 2.0,
        // The rows below the tetromino plus half its height.
        "landing_height_hint" => lowest + piece_height / 2.0,
        // As the survey codes it: rows - drop row + (h - 1) / 2, where the drop row is the
        // tetromino's top row counted downwards from 0 at the top of the playfield.
        "landing_height_survey" => {
            let rows = before.height() as f64;
            let drop_row = rows - 1.0 - highest;
            rows - drop_row + (piece_height - 1.0) / 2.0
        }
        // The highest row the tetromino reaches, whether or not it stays.
        "landing_top" => highest,
        "base_attack" => modern_features::base_attack(landing) as f64,
        "idle_t" => f64::from(modern_features::is_idle_t(landing)),
        _ if name.starts_with("clears[") => {
            let (_, index) = indexed(name).expect("an index");
            f64::from(modern_features::way_of_clearing(landing) == Some(index))
        }
        _ => match plain_name(name) {
            Some(plain) => playfield_feature(&plain, &landing.preclear),
            None => playfield_feature(name, &landing.afterstate),
        },
    }
}

/// The feature of that name of a playfield as it is.
pub fn playfield_feature(name: &str, playfield: &TwinPlayfield) -> f64 {
    let whole = match name {
        "row_transitions" => row_transitions(playfield),
        "column_transitions" => column_transitions(playfield),
        "holes" => holes(playfield),
        "cumulative_wells" => cumulative_wells(playfield),
        "hole_depth" => hole_depth(playfield),
        "rows_with_holes" => rows_with_holes(playfield),
        "pattern_diversity" => pattern_diversity(playfield),
        "total_height" => heights(playfield).iter().sum(),
        "max_height" => heights(playfield).into_iter().max().expect("at least one column"),
        "bumpiness" => height_differences(playfield).iter().sum(),
        "full_rows" => playfield.full_rows().len(),
        "wells_lab" => wells_lab(playfield),
        "wells_runs" => wells_runs(playfield),
        "wells_open" => wells_open(playfield),
        "wells_survey" => wells_survey(playfield),
        "wells_heights" => wells_heights(playfield),
        "hole_depth_lab" => hole_depth_lab(playfield),
        "hole_runs" => hole_runs(playfield),
        "holes_enclosed" => holes_enclosed(playfield),
        "row_transitions_survey" => row_transitions_survey(playfield),
        "column_transitions_lab" => column_transitions_lab(playfield),
        "column_transitions_survey" => column_transitions_survey(playfield),
        "open_shafts" => open_shafts(playfield),
        "accommodated" => surface::accommodated(playfield),
        "fits" => surface::fits(playfield),
        "weighted_holes" => surface::weighted_holes(playfield),
        "deep_wells" => surface::deep_wells(playfield),
        "surface_parity" => surface::surface_parity(playfield),
        "ready_rows" => modern_features::ready_rows(playfield),
        "spin_slots" => modern_features::spin_slots(playfield),
        "spin_slot_rows" => modern_features::spin_slot_rows(playfield),
        "perfect_clear_near" => modern_features::perfect_clear_near(playfield),
        _ => {
            let (family, index) = indexed(name).unwrap_or_else(|| panic!("no feature is called {name}"));
            match family {
                "column_height" => heights(playfield)[index],
                "height_difference" => height_differences(playfield)[index],
                "readiness" => surface::readiness(playfield, index),
                "fits_of" => surface::fits_of(playfield, index),
                "steps" => surface::steps(playfield, index),
                _ => panic!("no family of features is called {family}"),
            }
        }
    };
    whole as f64
}

/// `column_height[3]` is entry 3 of the family `column_height`.
fn indexed(name: &str) -> Option<(&str, usize)> {
    let (family, rest) = name.split_once('[')?;
    let index = rest.strip_suffix(']')?.parse().ok()?;
    Some((family, index))
}

// What the definitions below talk about.

/// Every cell as (row, column).
fn cells(playfield: &TwinPlayfield) -> impl Iterator<Item = (usize, usize)> {
    let (width, height) = (playfield.width(), playfield.height());
    (0..height).flat_map(move |row| (0..width).map(move |column| (row, column)))
}

/// Whether some cell above in the column is full.
fn is_covered(playfield: &TwinPlayfield, row: usize, column: usize) -> bool {
    (row + 1..playfield.height()).any(|above| playfield.is_full(above, column))
}

/// An empty cell with a full cell anywhere above it in its column.
fn is_hole(playfield: &TwinPlayfield, row: usize, column: usize) -> bool {
    !playfield.is_full(row, column) && is_covered(playfield, row, column)
}

/// An empty cell with full cells or walls to its left and right. It may be covered.
fn is_well_cell(playfield: &TwinPlayfield, row: usize, column: usize) -> bool {
    let left_is_full = column == 0 || playfield.is_full(row, column - 1);
    let right_is_full = column + 1 == playfield.width() || playfield.is_full(row, column + 1);
    !playfield.is_full(row, column) && left_is_full && right_is_full
}

/// A well cell with nothing above it in its column.
fn is_open_well_cell(playfield: &TwinPlayfield, row: usize, column: usize) -> bool {
    is_well_cell(playfield, row, column) && !is_covered(playfield, row, column)
}

/// The empty cells from an empty cell straight down to the first full one, itself included.
fn empty_cells_down_from(playfield: &TwinPlayfield, row: usize, column: usize) -> usize {
    (0..=row).rev().take_while(|&below| !playfield.is_full(below, column)).count()
}

/// The row of each column's highest full cell plus one, 0 for a column without any.
fn heights(playfield: &TwinPlayfield) -> Vec<usize> {
    let height_of = |column: usize| {
        (0..playfield.height()).rev().find(|&row| playfield.is_full(row, column)).map_or(0, |row| row + 1)
    };
    (0..playfield.width()).map(height_of).collect()
}

fn height_differences(playfield: &TwinPlayfield) -> Vec<usize> {
    heights(playfield).windows(2).map(|pair| pair[0].abs_diff(pair[1])).collect()
}

/// How often full and empty follow each other in a line of cells.
fn changes(line: impl Iterator<Item = bool>) -> usize {
    let line: Vec<bool> = line.collect();
    line.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// 1 + 2 + ... + n.
fn sum_up_to(n: usize) -> usize {
    (1..=n).sum()
}

// The literature's features, as MDPTetris defines them.

/// Changes along every row of the playfield between two full walls; an empty row has two.
fn row_transitions(playfield: &TwinPlayfield) -> usize {
    let in_row = |row: &Vec<bool>| changes(once(true).chain(row.iter().copied()).chain(once(true)));
    playfield.rows.iter().map(in_row).sum()
}

/// Changes along every column from the full floor to the empty sky; an empty column has one.
fn column_transitions(playfield: &TwinPlayfield) -> usize {
    let in_column = |column| changes(once(true).chain(playfield.column(column)).chain(once(false)));
    (0..playfield.width()).map(in_column).sum()
}

fn holes(playfield: &TwinPlayfield) -> usize {
    cells(playfield).filter(|&(row, column)| is_hole(playfield, row, column)).count()
}

/// For each well cell, covered or not, the empty cells from it down to the first full one.
fn cumulative_wells(playfield: &TwinPlayfield) -> usize {
    cells(playfield)
        .filter(|&(row, column)| is_well_cell(playfield, row, column))
        .map(|(row, column)| empty_cells_down_from(playfield, row, column))
        .sum()
}

/// Full cells with an empty cell somewhere below them in the column.
///
/// This is the fixtures' `hole_depths_contiguous`, for every hole the full cells that adjoin it from
/// above: the full cells of a column fall into vertical runs, each run rests either on the floor,
/// and then none of its cells has an empty one below, or on a hole, and then all of them do and are
/// counted at that hole and at no other. It is not `hole_depths` (here `hole_depth_lab`), which
/// counts a full cell once for each hole below it. `twin_facts` compares all three.
fn hole_depth(playfield: &TwinPlayfield) -> usize {
    let has_empty_below = |row: usize, column: usize| (0..row).any(|below| !playfield.is_full(below, column));
    cells(playfield)
        .filter(|&(row, column)| playfield.is_full(row, column) && has_empty_below(row, column))
        .count()
}

fn rows_with_holes(playfield: &TwinPlayfield) -> usize {
    (0..playfield.height())
        .filter(|&row| (0..playfield.width()).any(|column| is_hole(playfield, row, column)))
        .count()
}

/// How many of the values -2, -1, 0, 1, 2 occur among the steps from a column to its right neighbour.
fn pattern_diversity(playfield: &TwinPlayfield) -> usize {
    let heights = heights(playfield);
    let occurs = |step: i64| heights.windows(2).any(|pair| pair[1] as i64 - pair[0] as i64 == step);
    (-2..=2).filter(|&step| occurs(step)).count()
}

// Variants met in teaching material, kept because weights are only good with their own definition.

/// 1 + 2 + ... + n for the n open well cells of a column, gaps between them allowed.
fn wells_lab(playfield: &TwinPlayfield) -> usize {
    let well_cells =
        |column| (0..playfield.height()).filter(|&row| is_open_well_cell(playfield, row, column)).count();
    (0..playfield.width()).map(|column| sum_up_to(well_cells(column))).sum()
}

/// Like `wells_lab`, but n starts again after a gap.
fn wells_runs(playfield: &TwinPlayfield) -> usize {
    let mut sum = 0;
    for column in 0..playfield.width() {
        let mut run = 0;
        for row in 0..playfield.height() {
            if is_open_well_cell(playfield, row, column) {
                run += 1;
            } else {
                sum += sum_up_to(run);
                run = 0;
            }
        }
        sum += sum_up_to(run);
    }
    sum
}

/// As `cumulative_wells`, but covered well cells do not count.
fn wells_open(playfield: &TwinPlayfield) -> usize {
    cells(playfield)
        .filter(|&(row, column)| is_open_well_cell(playfield, row, column))
        .map(|(row, column)| empty_cells_down_from(playfield, row, column))
        .sum()
}

/// 1 + 2 + ... + n for the n well cells that stand one above the other on the column's surface.
fn wells_survey(playfield: &TwinPlayfield) -> usize {
    let mut sum = 0;
    for (column, &surface) in heights(playfield).iter().enumerate() {
        let run =
            (surface..playfield.height()).take_while(|&row| is_well_cell(playfield, row, column)).count();
        sum += sum_up_to(run);
    }
    sum
}

/// 1 + 2 + ... + d for a column d lower than its lower neighbour, walls endlessly high.
fn wells_heights(playfield: &TwinPlayfield) -> usize {
    let heights = heights(playfield);
    let mut sum = 0;
    for (column, &height) in heights.iter().enumerate() {
        let left = if column == 0 { usize::MAX } else { heights[column - 1] };
        let right = if column + 1 == heights.len() { usize::MAX } else { heights[column + 1] };
        let lower_neighbour = left.min(right);
        if lower_neighbour > height {
            sum += sum_up_to(lower_neighbour - height);
        }
    }
    sum
}

/// For every hole, all full cells above it in its column.
fn hole_depth_lab(playfield: &TwinPlayfield) -> usize {
    let full_above = |row: usize, column: usize| {
        (row + 1..playfield.height()).filter(|&above| playfield.is_full(above, column)).count()
    };
    cells(playfield)
        .filter(|&(row, column)| is_hole(playfield, row, column))
        .map(|(row, column)| full_above(row, column))
        .sum()
}

/// Vertical runs of holes. A run's highest cell is the hole that has a full cell right above it.
fn hole_runs(playfield: &TwinPlayfield) -> usize {
    cells(playfield)
        .filter(|&(row, column)| is_hole(playfield, row, column) && playfield.is_full(row + 1, column))
        .count()
}

/// Empty cells that water poured in from above does not reach, even creeping sideways and upwards.
fn holes_enclosed(playfield: &TwinPlayfield) -> usize {
    let (width, height) = (playfield.width(), playfield.height());
    // One more row, for the sky.
    let mut wet = vec![vec![false; width]; height + 1];
    wet[height] = vec![true; width];
    loop {
        let mut spread = false;
        for (row, column) in cells(playfield) {
            let neighbour_is_wet = wet[row + 1][column]
                || (row > 0 && wet[row - 1][column])
                || (column > 0 && wet[row][column - 1])
                || (column + 1 < width && wet[row][column + 1]);
            if !playfield.is_full(row, column) && !wet[row][column] && neighbour_is_wet {
                wet[row][column] = true;
                spread = true;
            }
        }
        if !spread {
            break;
        }
    }
    cells(playfield).filter(|&(row, column)| !playfield.is_full(row, column) && !wet[row][column]).count()
}

/// Changes along every row, without walls.
fn row_transitions_survey(playfield: &TwinPlayfield) -> usize {
    playfield.rows.iter().map(|row| changes(row.iter().copied())).sum()
}

/// Changes along every column between a full floor and a full ceiling; an empty column has two.
fn column_transitions_lab(playfield: &TwinPlayfield) -> usize {
    let in_column = |column| changes(once(true).chain(playfield.column(column)).chain(once(true)));
    (0..playfield.width()).map(in_column).sum()
}

/// Changes along every column, with neither floor nor ceiling.
fn column_transitions_survey(playfield: &TwinPlayfield) -> usize {
    (0..playfield.width()).map(|column| changes(playfield.column(column).into_iter())).sum()
}

/// Looking down each column until something is in the way: from the first cell with full cells or
/// walls on both sides, this and every further empty cell.
fn open_shafts(playfield: &TwinPlayfield) -> usize {
    let mut sum = 0;
    for column in 0..playfield.width() {
        let mut in_a_shaft = false;
        for row in (0..playfield.height()).rev() {
            if playfield.is_full(row, column) {
                break;
            }
            in_a_shaft |= is_well_cell(playfield, row, column);
            sum += usize::from(in_a_shaft);
        }
    }
    sum
}
