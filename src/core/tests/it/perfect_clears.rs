//! Perfect clears that a given stack and the next pieces allow: fractions that the community has counted, each of which
//! depends on every kick, every slide under an overhang and every spawn.
//!
//! The figures are those of solution-finder's own tests and of the Hard Drop wiki. Pieces stay within the rows that are
//! still to be cleared.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use tetrion_core::engine::{Playfield, Rules, SpinRule, Tetromino, land, placements};

/// Rows that a perfect clear may use.
const ROWS: u8 = 4;

/// One way to go on: a stack, and the piece that is held.
type State = (Stack, Option<Tetromino>);

/// The cells of a stack by rows, and how many rows are still to be cleared.
type Stack = (Vec<u32>, u8);

struct Search {
    rules: Rules,
    /// Where the placements of a piece lead, as far as they have been found: queues meet the same stacks again and again.
    ways: RefCell<Ways>,
}

type Ways = HashMap<(Stack, Tetromino), Rc<Vec<Stack>>>;

impl Search {
    /// Every way to place a piece within the rows that are left.
    fn place(&self, stack: &Stack, piece: Tetromino) -> Rc<Vec<Stack>> {
        let key = (stack.clone(), piece);
        let known = self.ways.borrow().get(&key).cloned();
        known.unwrap_or_else(|| {
            let found = Rc::new(self.find(stack, piece));
            self.ways.borrow_mut().insert(key, Rc::clone(&found));
            found
        })
    }

    fn find(&self, (cells, rows): &Stack, piece: Tetromino) -> Vec<Stack> {
        let Rules { width, height, .. } = self.rules;
        let mut drawn: Vec<String> = cells.iter().rev().map(|row| drawing(*row, width)).collect();
        drawn.retain(|row| row.contains('#'));
        let playfield = Playfield::from_drawn_rows(width, height, &drawn).unwrap();
        let mut found = Vec::new();
        for placement in placements(&self.rules, &playfield, piece).iter() {
            let (shape, landing) = land(&self.rules, &playfield, piece, placement);
            if landing.row + shape.height <= *rows {
                found.push((landing.afterstate.rows().collect(), rows - landing.lines));
            }
        }
        found
    }

    /// How many of the queues clear everything: all orders of `queue` pieces out of those in `bag`, each of which places one.
    fn solved(&self, states: &HashSet<State>, bag: &[Tetromino], queue: usize) -> usize {
        if queue == 0 {
            return usize::from(states.iter().any(|((cells, _), _)| cells.iter().all(|row| *row == 0)));
        }
        let mut solved = 0;
        for (i, &piece) in bag.iter().enumerate() {
            let mut next = HashSet::new();
            for (stack, held) in states {
                // Either piece is placed, and the other one is held; without hold there is no other one.
                for (placed, kept) in [(Some(piece), *held), (*held, Some(piece))] {
                    let Some(placed) = placed else { continue };
                    next.extend(self.place(stack, placed).iter().map(|stack| (stack.clone(), kept)));
                }
            }
            let rest: Vec<Tetromino> =
                bag.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, piece)| *piece).collect();
            solved += self.solved(&next, &rest, queue - 1);
        }
        solved
    }
}

fn drawing(row: u32, width: u8) -> String {
    (0..width).map(|column| if row >> column & 1 == 1 { '#' } else { '.' }).collect()
}

/// The solvable ones among the queues of so many pieces out of some, with a piece held at first, or none and no hold at all.
fn solvable(stack: &str, held: Option<Tetromino>, bag: &[Tetromino], pieces: usize) -> usize {
    let rules =
        Rules { height: 24, rows_above: 4, spin_rule: SpinRule::None, ..Rules::preset("guideline").unwrap() };
    let rows: Vec<&str> = stack.split('/').collect();
    let playfield = Playfield::from_drawn_rows(rules.width, rules.height, &rows).unwrap();
    let first = ((playfield.rows().collect(), ROWS), held);
    Search { rules, ways: RefCell::default() }.solved(&HashSet::from([first]), bag, pieces)
}

#[test]
fn perfect_clears_are_as_many_as_others_counted() {
    let held = [
        ("#####...../######..../#######.../######....", Tetromino::I, 711),
        ("######..../######..../######..../######....", Tetromino::T, 744),
    ];
    for (stack, held, expected) in held {
        let found = solvable(stack, Some(held), &Tetromino::ALL, 4);
        assert_eq!(found, expected, "of 840 with {held} held on {stack}");
    }
    // Nothing is held at first: the first of four pieces is, or is placed, and three are placed in all.
    let stack = "#####....#/######...#/#######..#/######...#";
    let with_first = |first: Tetromino| {
        let others: Vec<Tetromino> = Tetromino::ALL.into_iter().filter(|piece| *piece != first).collect();
        solvable(stack, Some(first), &others, 3)
    };
    assert_eq!(Tetromino::ALL.map(with_first).iter().sum::<usize>(), 514, "of 840 on {stack}");
}

#[test]
fn perfect_clears_of_six_pieces_without_hold_are_as_many_as_others_counted() {
    let stack = "#........./#...#...../#######.../######....";
    // The seventh piece of a bag follows from the six before it.
    assert_eq!(solvable(stack, None, &Tetromino::ALL, 6), 727, "of 5,040 on {stack}");
}
