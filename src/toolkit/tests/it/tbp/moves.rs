//! Moves of the protocol and placements of ours, against drawings that were made from the words of the specification.

use tetrion_core::engine::{Hand, Placement, Playfield, Rules, Spin, Tetromino, comes_to_rest};
use tetrion_toolkit::tbp::messages::{Letter, Location, Move, Orientation};
use tetrion_toolkit::tbp::{check_rules, moves::IllegalMove};

use tetrion_testing::Dice;

/// North, east, south and west; `@` is the centre. L, J, T, S and Z turn around theirs; those of O and I are named one by one.
const DRAWINGS: [(char, [&str; 4]); 7] = [
    ('I', ["#@##", "#/@/#/#", "##@#", "#/#/@/#"]),
    ('O', ["##/@#", "@#/##", "#@/##", "##/#@"]),
    ('T', [".#./#@#", "#./@#/#.", "#@#/.#.", ".#/#@/.#"]),
    ('L', ["..#/#@#", "#./@./##", "#@#/#..", "##/.@/.#"]),
    ('J', ["#../#@#", "##/@./#.", "#@#/..#", ".#/.@/##"]),
    ('S', [".##/#@.", "#./@#/.#", ".@#/##.", "#./#@/.#"]),
    ('Z', ["##./.@#", ".#/@#/#.", "#@./.##", ".#/#@/#."]),
];

const ORIENTATIONS: [Orientation; 4] =
    [Orientation::North, Orientation::East, Orientation::South, Orientation::West];

pub fn guideline() -> Rules {
    Rules::preset("guideline").unwrap()
}

fn piece(letter: char) -> Tetromino {
    Tetromino::from_letter(letter).unwrap()
}

fn at(letter: char, orientation: Orientation, x: i64, y: i64, spin: Spin) -> Move {
    Move { location: Location { piece: Letter(piece(letter)), orientation, x, y }, spin }
}

/// The row and the column of every cell of a drawing whose centre is here, in ascending order.
fn drawn(drawing: &str, x: i64, y: i64) -> Vec<(i64, i64)> {
    let rows: Vec<&str> = drawing.split('/').collect();
    let cells = |letters: &str| -> Vec<(i64, i64)> {
        let of_row = |(from_top, row): (usize, &&str)| {
            let row_number = (rows.len() - 1 - from_top) as i64;
            let full = row.char_indices().filter(|(_, cell)| letters.contains(*cell));
            full.map(|(column, _)| (row_number, column as i64)).collect::<Vec<_>>()
        };
        rows.iter().enumerate().flat_map(of_row).collect()
    };
    let (row, column) = cells("@")[0];
    let mut all: Vec<_> = cells("#@").iter().map(|cell| (cell.0 - row + y, cell.1 - column + x)).collect();
    all.sort_unstable();
    all
}

fn covered(played: &Move) -> Vec<(i64, i64)> {
    let (shape, row, column) = played.corner(10, 40).unwrap();
    shape.cells_at(row, column).iter().map(|&(row, column)| (row.into(), column.into())).collect()
}

fn placed(rules: &Rules, playfield: &Playfield, piece: Tetromino, placement: Placement) -> Vec<(i64, i64)> {
    let (shape, row) = comes_to_rest(rules, playfield, piece, placement);
    shape.cells_at(row, placement.column).iter().map(|&(row, column)| (row.into(), column.into())).collect()
}

#[test]
fn every_pose_covers_what_is_drawn_and_is_the_placement_with_these_cells() {
    let (rules, playfield) = (guideline(), Playfield::empty(10, 40));
    for (letter, drawings) in DRAWINGS {
        let hand = Hand::only(piece(letter));
        let placements = hand.placements(&rules, &playfield);
        let mut met = vec![];
        for (orientation, drawing) in ORIENTATIONS.into_iter().zip(drawings) {
            for x in 0..10 {
                // With its lowest cells on the floor.
                let y = -drawn(drawing, 0, 0)[0].0;
                let (played, cells) = (at(letter, orientation, x, y, Spin::None), drawn(drawing, x, y));
                let is_inside = cells.iter().all(|(_, column)| (0..10).contains(column));
                let found = played.placement(&rules, &playfield, &hand, &placements);
                if !is_inside {
                    assert_eq!(found, Err(IllegalMove::Outside), "{played}");
                    continue;
                }
                assert_eq!(covered(&played), cells, "{played}");
                let placement = found.unwrap_or_else(|error| panic!("{played}: {error}"));
                assert_eq!(placed(&rules, &playfield, hand.current, placement), cells, "{played}");
                let back = Move::of(&rules, &playfield, hand.current, placement);
                assert_eq!(covered(&back), cells, "{played} is {back}");
                met.push(placement);
            }
        }
        assert!(placements.iter().all(|(_, placement)| met.contains(placement)), "{letter}");
    }
}

#[test]
fn every_placement_comes_back_from_its_move() {
    let (rules, dice) = (guideline(), &mut Dice(33, 0));
    let (mut spins, mut held) = (0, 0);
    for board in 0..300 {
        let rows = 4 + dice.below(12);
        let row =
            |dice: &mut Dice| (0..10).fold(0u32, |row, column| row | u32::from(dice.below(3) > 0) << column);
        let rows: Vec<u32> = (0..rows).map(|_| row(dice)).collect();
        let playfield = Playfield::from_rows(10, 40, rows);
        let current = Tetromino::ALL[dice.below(7)];
        let other = Some(Tetromino::ALL[dice.below(7)]).filter(|other| *other != current);
        let hand = Hand { current, other };
        let placements = hand.placements(&rules, &playfield);
        for (piece, placement) in &placements {
            let played = Move::of(&rules, &playfield, *piece, *placement);
            let found = played.placement(&rules, &playfield, &hand, &placements);
            assert_eq!(found, Ok(*placement), "board {board}: {played}");
            spins += u32::from(placement.spin() != Spin::None);
            held += u32::from(placement.hold);
        }
    }
    assert!(spins > 20 && held > 1_000, "{spins} spins, {held} of the other piece");
}

#[test]
fn what_cannot_be_made_says_why() {
    let rules = guideline();
    let board = "#.########/#.########";
    let playfield = Playfield::from_drawing(10, 40, board).unwrap();
    let hand = Hand { current: piece('T'), other: Some(piece('I')) };
    let placements = hand.placements(&rules, &playfield);
    let check = |played: Move, expected: &str| {
        let found = played.placement(&rules, &playfield, &hand, &placements);
        let said = found.map_or_else(|error| error.to_string(), |placement| format!("{:?}", placement.hold));
        assert_eq!(said, expected, "{played}");
    };
    use Orientation::{East, North, South, West};
    check(at('T', South, 1, 1, Spin::Full), "its cells are taken");
    check(at('I', East, 1, 2, Spin::None), "true");
    check(at('I', East, 1, 3, Spin::None), "it does not come to rest there on any way");
    check(at('T', North, 5, 2, Spin::None), "false");
    check(at('T', North, 5, 2, Spin::Mini), "there it counts as none, not as mini");
    check(at('T', North, 5, 3, Spin::None), "it does not come to rest there on any way");
    check(at('T', North, 9, 2, Spin::None), "it leaves the board");
    check(at('T', North, -3, i64::MIN, Spin::None), "it leaves the board");
    check(at('T', West, 5, 60, Spin::None), "it leaves the board");
    check(at('S', North, 5, 2, Spin::None), "S is not there to be placed, expected T, or I from hold");
    check(at('I', North, 5, 2, Spin::None), "true");
    check(at('I', South, 6, 2, Spin::None), "true");
}

/// A T that stands in a slot turns under an overhang. Both corners on the side that it points to are full, and one behind it.
#[test]
fn a_spin_is_its_label() {
    let rules = guideline();
    let playfield = Playfield::from_drawing(10, 40, "####..####/###...####/####.#####").unwrap();
    let hand = Hand::only(piece('T'));
    let placements = hand.placements(&rules, &playfield);
    let slot =
        |spin| at('T', Orientation::South, 4, 1, spin).placement(&rules, &playfield, &hand, &placements);
    assert_eq!(slot(Spin::Full).map(Placement::spin), Ok(Spin::Full));
    assert_eq!(slot(Spin::None).unwrap_err().to_string(), "there it counts as full, not as none");
}

#[test]
fn rules_without_words_for_them_are_refused() {
    let check = |rules: Rules, problem: &str| {
        let error = check_rules(&rules).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    };
    assert_eq!(check_rules(&guideline()), Ok(()));
    assert_eq!(check_rules(&Rules { height: 24, rows_above: 4, ..guideline() }), Ok(()));
    check(Rules::default(), "expected --rules guideline");
    let keys = Rules { action_model: tetrion_core::engine::ActionModel::Keypress, ..guideline() };
    check(keys, "expected action_model placement");
    check(Rules { width: 9, ..guideline() }, "boards of 10 columns and 40 rows; the rules have 9 and 40");
    check(Rules { height: 30, ..guideline() }, "boards of 20 visible rows; the rules have 10");
    check(
        Rules { spin_rule: tetrion_core::engine::SpinRule::AllSpins, ..guideline() },
        "the rules have all_spins",
    );
    let garbage = Some(tetrion_core::engine::Garbage::DEFAULT);
    check(Rules { garbage, ..guideline() }, "remove the garbage");
    check(Rules { spawn_row: Some(19), ..guideline() }, "expected no spawn_row");
}
