//! Every placement of a position, against landings done one by one.

use tetrion_core::engine::{Hand, Placement, Playfield, Rules, Tetromino, TopOut};
use tetrion_core::features::{FEATURE_SETS, FeatureSet, Seen};
use tetrion_core::placements::{Options, Placements, Position, enumerate, num_rows};

use crate::support::{LabPlacements, lab_placements};
use tetrion_twins as twin;

const EVERYTHING: Options = Options {
    afterstates: true,
    anchors: true,
    cells: true,
    preclear_boards: true,
    position_features: true,
    keys: false,
    optimal_values: None,
};

/// A playfield of random cells under no particular height, in which some rows may be full.
fn random_playfield(rules: &Rules, draws: &mut impl FnMut() -> u64) -> Playfield {
    let filled = draws() % u64::from(rules.height + 1);
    let rows = (0..filled).map(|_| {
        // Now and then a row that one piece can complete, or that is complete already.
        match draws() % 4 {
            0 => u32::MAX << (draws() % 3),
            1 => !(0xF << (draws() % u64::from(rules.width))),
            _ => (draws() | draws()) as u32,
        }
    });
    Playfield::from_rows(rules.width, rules.height, rows)
}

fn all_rules() -> Vec<Rules> {
    let leiden = Rules::preset("leiden").unwrap();
    let survey = Rules::preset("survey").unwrap();
    vec![
        Rules::default(),
        Rules { width: 4, height: 4, ..Rules::default() },
        Rules { width: 32, height: 40, ..survey },
        Rules { width: 17, height: 9, ..leiden },
        Rules { width: 16, height: 28, top_out: TopOut::TopRow, ..Rules::default() },
    ]
}

/// What [`enumerate`] should return for one position, landing by landing.
fn one_by_one(rules: &Rules, position: &Position, set: &FeatureSet) -> Placements {
    let mut rows = Placements { row_offsets: vec![0], ..Placements::default() };
    let mut vector = vec![0.0; set.len()];
    for action in 0..rules.num_actions() {
        let Some(piece) = position.hand.map(|hand| hand.current) else { break };
        let placement = Placement::from_action(action, rules);
        let Some(shape) = placement.shape(rules, piece) else { continue };
        let landing = position.playfield.land(shape, placement.column, rules.top_out);
        rows.actions.push(action as i32);
        rows.rewards.push(rules.reward(landing.lines, landing.terminal.into()) as f32);
        rows.lines.push(landing.lines);
        rows.terminated.push(landing.terminal);
        set.evaluate(&Seen { piece, spin: placement.spin(), shape, landing: &landing }, &mut vector);
        rows.features.extend(vector.iter().map(|&value| value as f32));
        let bytes = if rules.width > 16 { 4 } else { 2 };
        for (row, locked) in landing.afterstate.rows().zip(landing.locked.rows()) {
            rows.afterstates.extend(&row.to_le_bytes()[..bytes]);
            rows.preclear_boards.extend(&locked.to_le_bytes()[..bytes]);
        }
        rows.anchors.push((landing.row + shape.anchor_row) as i8);
        rows.anchors.push((placement.column + shape.anchor_column) as i8);
        for row in 0..shape.height {
            let columns =
                (0..shape.width).filter(|column| shape.column_bits(usize::from(*column)) >> row & 1 == 1);
            rows.cells.extend(
                columns.flat_map(|column| [(landing.row + row) as i8, (placement.column + column) as i8]),
            );
        }
    }
    set.of_playfield(&position.playfield, &mut vector);
    rows.position_features.extend(vector.iter().map(|&value| value as f32));
    rows.placements = rows.actions.clone();
    rows.row_offsets.push(rows.actions.len() as u32);
    rows
}

#[test]
fn the_columns_are_the_landings_one_by_one() {
    for (i, rules) in all_rules().into_iter().enumerate() {
        let mut n = 0;
        let mut draws = || {
            n += 1;
            twin::word(i as u64, 0, n)
        };
        for named in FEATURE_SETS {
            let set = FeatureSet::named(named.name, rules.width).unwrap();
            let positions: Vec<Position> = (0..9)
                // Every eighth has nothing to place: its rows are missing, its neighbours' are not.
                .map(|k| {
                    Position::of(
                        random_playfield(&rules, &mut draws),
                        Tetromino::ALL.get(k % 8).copied().map(Hand::only),
                    )
                })
                .collect();
            let together = enumerate(&rules, &positions, Some(&set), EVERYTHING);
            let mut expected = Placements { row_offsets: vec![0], ..Placements::default() };
            for position in &positions {
                let one = one_by_one(&rules, position, &set);
                assert_eq!(one.actions.len() as u32, num_rows(&rules, position));
                expected.actions.extend(one.actions);
                expected.placements.extend(one.placements);
                expected.features.extend(one.features);
                expected.rewards.extend(one.rewards);
                expected.lines.extend(one.lines);
                expected.terminated.extend(one.terminated);
                expected.afterstates.extend(one.afterstates);
                expected.anchors.extend(one.anchors);
                expected.cells.extend(one.cells);
                expected.preclear_boards.extend(one.preclear_boards);
                expected.position_features.extend(one.position_features);
                expected.row_offsets.push(expected.actions.len() as u32);
            }
            assert_eq!(together, expected, "{} under {rules:?}", named.name);
        }
    }
}

#[test]
fn what_is_not_wanted_is_not_there() {
    let rules = Rules::default();
    let playfield = Playfield::empty(10, 20);
    let positions = Tetromino::ALL.map(|piece| Position::of(playfield, Some(Hand::only(piece))));
    let plain = enumerate(&rules, &positions, None, EVERYTHING);
    assert_eq!(plain.row_offsets, [0, 17, 26, 60, 77, 94, 128, 162], "17 I S Z, 9 O, 34 T J L");
    assert!(plain.features.is_empty() && plain.position_features.is_empty());
    assert_eq!(plain.afterstates.len(), 162 * 20 * 2);
    assert_eq!((plain.anchors.len(), plain.cells.len()), (162 * 2, 162 * 4 * 2));
    assert_eq!(plain.preclear_boards, plain.afterstates, "nothing clears on an empty playfield");
    let set = FeatureSet::named("bcts8", 10).unwrap();
    let features = enumerate(&rules, &positions, Some(&set), Options::default());
    assert_eq!(features.features.len(), 162 * 8);
    assert!(features.afterstates.is_empty() && features.position_features.is_empty());
    assert!(features.anchors.is_empty() && features.cells.is_empty() && features.preclear_boards.is_empty());
    let none = enumerate(&rules, &[], Some(&set), EVERYTHING);
    assert_eq!(none, Placements { row_offsets: vec![0], ..Placements::default() });
}

/// Pairs of numbers, from what they are written as.
fn pairs(numbers: &[i8]) -> Vec<(usize, usize)> {
    numbers.chunks(2).map(|pair| (pair[0] as usize, pair[1] as usize)).collect()
}

/// The drawing of a playfield up to 16 columns from its bytes.
fn drawing(rules: &Rules, bytes: &[u8]) -> String {
    let rows = bytes.chunks(2).map(|row| u16::from_le_bytes([row[0], row[1]]).into());
    Playfield::from_rows(rules.width, rules.height, rows).to_string()
}

#[test]
fn where_pieces_come_to_rest_is_where_the_twin_puts_them() {
    let rules = Rules::simplified(7, 9);
    let (mut overflowing, mut clearing) = (0, 0);
    for seed in 0..200 {
        let before = twin::random_playfield(7, 9, seed);
        let playfield = Playfield::from_drawing(7, 9, &before.to_string()).unwrap();
        for piece in Tetromino::ALL {
            let position = Position::of(playfield, Some(Hand::only(piece)));
            let all = enumerate(&rules, &[position], None, EVERYTHING);
            let expected = twin::placements(&before, piece.letter());
            assert_eq!(all.actions.len(), expected.len());
            for (row, placement) in expected.iter().enumerate() {
                let landing = twin::land(&before, placement);
                let mut cells = landing.cells.clone();
                cells.sort();
                assert_eq!(pairs(&all.cells[row * 8..][..8]), cells, "seed {seed}, {placement:?}");
                let anchor = (landing.anchor_row, placement.column + placement.shape().lab_anchor().1);
                assert_eq!(pairs(&all.anchors[row * 2..][..2]), [anchor], "seed {seed}, {placement:?}");
                let locked = drawing(&rules, &all.preclear_boards[row * 18..][..18]);
                assert_eq!(locked, landing.preclear.to_string(), "seed {seed}, {placement:?}");
                overflowing += u32::from(landing.terminal);
                clearing += u32::from(landing.lines > 0);
            }
        }
    }
    assert!(overflowing > 100 && clearing > 100, "{overflowing} overflow, {clearing} clear");
}

/// Lists that another program made of the notebook's moves.
#[test]
fn anchors_and_cells_are_those_of_the_notebook() {
    for LabPlacements { head, rules, playfield, piece, rows } in lab_placements() {
        let Rules { width, height, .. } = rules;
        let all = enumerate(&rules, &[Position::of(playfield, Some(Hand::only(piece)))], None, EVERYTHING);
        assert_eq!(all.placements.len(), rows.lines().count(), "{head}");
        for (n, row) in rows.lines().enumerate() {
            let mut cells: Vec<(usize, usize)> = pairs(&all.cells[n * 8..][..8])
                .into_iter()
                .map(|(row, column)| (column, usize::from(height) - 1 - row))
                .collect();
            cells.sort();
            let cells: Vec<String> = cells.iter().map(|(column, row)| format!("{column},{row}")).collect();
            let orientation = all.placements[n] / i32::from(width);
            let found = format!("{orientation} {} : {}", all.anchors[2 * n + 1], cells.join(" "));
            assert_eq!(found, row, "{head}");
        }
    }
}
