//! Every number of `src/core/tests/data/lab_features.txt`. The head of that file says how it is read.

use std::collections::BTreeMap;

use super::value;
use tetrion_twins::{
    TETROMINOES, TwinPlacement, TwinPlayfield, TwinStep, land, orientations, placements, playfield_feature,
};

const LAB_FEATURES: &str = include_str!("../../data/lab_features.txt");

/// The file's blocks, separated by blank lines, without the comments. A drawing has no blanks, so `# `
/// never starts one.
fn blocks() -> Vec<Vec<&'static str>> {
    let is_comment = |line: &str| line == "#" || line.starts_with("# ");
    let lines: Vec<&str> = LAB_FEATURES.lines().filter(|line| !is_comment(line)).collect();
    let blocks = lines.split(|line| line.is_empty()).filter(|block| !block.is_empty());
    blocks.map(<[&str]>::to_vec).collect()
}

/// The playfields by name, and with each what is said about it.
fn playfields() -> BTreeMap<&'static str, (TwinPlayfield, Vec<&'static str>)> {
    let is_drawing = |line: &&&str| line.chars().all(|letter| letter == '#' || letter == '.');
    let mut playfields = BTreeMap::new();
    for block in blocks() {
        if let Some(name) = block[0].strip_prefix("playfield ") {
            let drawn: Vec<&str> = block[1..].iter().take_while(is_drawing).copied().collect();
            let playfield = TwinPlayfield::drawn(&drawn.join("/"), drawn.len());
            playfields.insert(name, (playfield, block[1 + drawn.len()..].to_vec()));
        }
    }
    playfields
}

/// `holes 4 (quiz 6)` is the feature `holes` and the number 4.
fn statement(line: &str) -> (&str, Vec<f64>) {
    let said = line.split_once(" (").map_or(line, |(said, _where)| said);
    let (name, numbers) = said.split_once(' ').expect("a feature and its value");
    (name, numbers.split(' ').map(|number| number.parse().expect("a number")).collect())
}

/// The tetromino and the orientation by their drawing, and the column of the leftmost cell.
fn placement(tetromino: &str, drawing: &str, column: usize) -> TwinPlacement {
    let tetromino = tetromino.parse().expect("one letter");
    let orientation = orientations(tetromino).iter().position(|shape| shape.drawing == drawing);
    TwinPlacement { tetromino, orientation: orientation.expect("an orientation"), column }
}

fn step(before: &TwinPlayfield, placement: TwinPlacement) -> TwinStep {
    TwinStep { before: before.clone(), placement, landing: land(before, &placement) }
}

#[test]
fn every_number_said_about_a_playfield_comes_out() {
    let mut checked = 0;
    for (playfield_name, (playfield, lines)) in &playfields() {
        for line in lines {
            let (name, expected) = statement(line);
            let found: Vec<f64> = match name {
                "column_height" => (0..playfield.width())
                    .map(|column| playfield_feature(&format!("column_height[{column}]"), playfield))
                    .collect(),
                _ => vec![playfield_feature(name, playfield)],
            };
            assert_eq!(found, expected, "{name} of {playfield_name}{playfield:?}");
            checked += 1;
        }
    }
    assert_eq!(checked, 20 * 20, "twenty statements about each of twenty playfields");
}

#[test]
fn every_drop_locks_and_counts_as_said() {
    let playfields = playfields();
    let mut checked = 0;
    for block in blocks() {
        let Some(title) = block[0].strip_prefix("drop ") else { continue };
        let (title, onto) = title.split_once(" onto ").expect("drop NAME onto PLAYFIELD");
        let words: Vec<&str> = block[1].split(' ').collect();
        let ["tetromino", tetromino, drawing, "column", column] = words[..] else {
            panic!("{title}: {}", block[1])
        };
        let column = column.parse().expect("a column");
        let step = step(&playfields[onto].0, placement(tetromino, drawing, column));
        let locked = block[2].strip_prefix("locked ").expect("locked PLAYFIELD");
        assert_eq!(step.landing.preclear, playfields[locked].0, "{title}");
        for line in &block[3..] {
            let (name, expected) = statement(line);
            assert_eq!(vec![value(&step, name)], expected, "{title}: {name}");
            checked += 1;
        }
    }
    assert_eq!(checked, 11, "seven, two and two statements");
}

#[test]
fn every_shape_comes_to_rest_where_the_lab_lets_it() {
    let before = &playfields()["quiz1_before"].0;
    let mut checked = 0;
    for line in blocks().concat() {
        let Some(said) = line.strip_prefix("landings ") else { continue };
        let words: Vec<&str> = said.split(' ').collect();
        for (column, entry) in words[2..].iter().enumerate() {
            let placement = placement(words[0], words[1], column);
            assert!(placements(before, placement.tetromino).contains(&placement), "{said}, column {column}");
            let step = step(before, placement);
            let found = format!("{}:{}", step.landing.row, value(&step, "landing_height_lab"));
            assert_eq!(&found, entry, "{said}, column {column}");
            checked += 1;
        }
    }
    let all: usize = TETROMINOES.chars().map(|tetromino| placements(before, tetromino).len()).sum();
    assert_eq!((checked, all), (105, 105), "T J L 22 each, S Z I 11 each, O 6");
}
