//! Formulas: scores have the bits of a walker of trees, weighted sums play as weights, mistakes are shown, and
//! everything is bounded.

/// Mistakes, with their places.
mod mistakes;
/// Random formulas, written and evaluated without the library.
mod tree;

use std::sync::atomic::AtomicBool;

use tetrion_core::agents::{
    Agent, CONTROLLERS, Expectation, FormulaAgent, Kernel, LinearAgent, LookaheadAgent, Search, Sight,
    TerminalValue,
};
use tetrion_core::engine::{Piece, Placement, Playfield, Rules, Tetromino, is_blocked, land, placements};
use tetrion_core::features::{FEATURES, FeatureSet, Seen};
use tetrion_core::formula::{Formula, Program, compile};
use tetrion_core::rollout::{Deal, Evaluation};

use tetrion_testing::{Dice, playfield, weighted_sum};
use tree::{Number, Reads};

fn kernels() -> impl Iterator<Item = Kernel> {
    Kernel::ALL.into_iter().filter(|kernel| kernel.is_available())
}

#[track_caller]
fn program(text: &str, rules: &Rules) -> Program {
    match compile(text, rules) {
        Ok(Formula::Program(program)) => program,
        other => panic!("{text} is {other:?}"),
    }
}

/// Every feature at this width with its full name.
fn all_features(width: u8) -> Vec<String> {
    let names = FEATURES.iter().flat_map(|feature| match feature.family_size(width) {
        Some(size) => (0..size).map(|index| format!("{}[{index}]", feature.name)).collect(),
        None => vec![feature.name.to_owned()],
    });
    let mut names: Vec<String> = names.collect();
    names.extend(["holes_preclear", "max_height_preclear", "column_height_preclear[2]"].map(str::to_owned));
    names
}

/// Straight drops, hold, key presses with kicks, and sizes with each length of words.
fn rules(dice: &mut Dice) -> Rules {
    let guideline = Rules::preset("guideline").unwrap();
    let (width, height) = [(10, 20), (10, 12), (4, 8), (6, 24), (16, 28), (32, 40)][dice.below(6)];
    match dice.below(4) {
        0 => Rules { preview: 1, ..Rules::simplified(width, height) },
        1 => Rules::simplified(width, height),
        2 => Rules { width, height, hold: true, preview: 2, ..Rules::default() },
        _ => Rules { width, height: height.max(12), rows_above: 4, ..guideline },
    }
}

/// The scores that a tree gives to the placements of the hand.
fn walked(tree: &Number, names: &[String], sight: &Sight<'_>, avoids: bool) -> Vec<(Placement, u64)> {
    let Sight { rules, playfield, .. } = *sight;
    let letter = |piece: Option<Piece>| piece.map_or(' ', Tetromino::letter);
    let set = FeatureSet::custom(names, rules.width).unwrap();
    let mut scores = Vec::new();
    for (sight, hold) in [(Some(*sight), false), (sight.holding(), true)] {
        let Some(Sight { piece, next, held, lines, pieces, .. }) = sight else { continue };
        for placement in placements(rules, playfield, piece).iter() {
            let (shape, landing) = land(rules, playfield, piece, placement);
            if landing.terminal && avoids {
                continue;
            }
            let mut features = vec![0.0; set.len()];
            let seen = Seen { piece, spin: placement.spin(), shape, landing: &landing };
            set.evaluate(&seen, &mut features);
            let facts = [
                ("lines", lines as f64),
                ("pieces", pieces as f64),
                ("width", rules.width.into()),
                ("height", rules.height.into()),
            ];
            let pieces = [
                ("current", letter(Some(piece))),
                ("next", letter(next.first().copied())),
                ("held", letter(held)),
            ];
            let reads = Reads { names, features: &features, facts: &facts, pieces: &pieces };
            scores.push((placement.holding(hold), tree.score(&reads).to_bits()));
        }
    }
    scores
}

/// The seats that a formula can name under these rules.
fn seats(rules: &Rules) -> Vec<(&'static str, char)> {
    let mut seats = vec![("current", ' ')];
    seats.extend((rules.preview > 0).then_some(("next", ' ')));
    seats.extend(rules.hold.then_some(("held", ' ')));
    seats
}

#[test]
fn scores_have_the_bits_of_a_walk_through_the_tree() {
    let dice = &mut Dice(37, 0);
    let (mut compared, mut weighted, mut not_finite) = (0, 0, 0);
    for seed in 0..4000 {
        let rules = rules(dice);
        rules.check().unwrap();
        let playfield = playfield(&rules, dice);
        let all = all_features(rules.width);
        let names: Vec<String> = if dice.below(2) == 0 {
            ["holes", "max_height", "landing_height", "eroded_piece_cells", "column_height[1]"]
                .map(str::to_owned)
                .into()
        } else {
            let mut all = all.clone();
            (0..3).map(|_| all.swap_remove(dice.below(all.len()))).collect()
        };
        let (facts, pieces) =
            ([("lines", 0.0), ("pieces", 0.0), ("width", 0.0), ("height", 0.0)], seats(&rules));
        let reads = Reads { names: &names, features: &[], facts: &facts, pieces: &pieces };
        let levels = 1 + dice.below(4) as u32;
        let tree = tree::number(dice, &reads, levels);
        let text = tree.text(&reads);
        let terminal_value = [TerminalValue::Avoid, TerminalValue::Score][dice.below(2)];
        let agent = match compile(&text, &rules) {
            Ok(Formula::Program(program)) => FormulaAgent::new(program, terminal_value),
            Ok(Formula::Weights(..)) => {
                weighted += 1;
                continue;
            }
            Err(error) => {
                let problem = error.to_string();
                let is_expected = problem.contains("takes too long") || problem.contains("no feature, so");
                assert!(is_expected, "seed {seed}: {text}\n{problem}");
                continue;
            }
        };
        let [piece, held, next] = [0; 3].map(|_| Tetromino::ALL[dice.below(7)]);
        if is_blocked(&rules, &playfield, piece) || placements(&rules, &playfield, piece).is_empty() {
            continue;
        }
        let shown = vec![next; rules.preview.into()];
        let sight = Sight {
            next: &shown,
            held: (rules.hold && dice.below(2) == 0).then_some(held),
            lines: dice.below(1000) as u64,
            pieces: dice.below(3000) as u64,
            ..Sight::of(&rules, &playfield, piece)
        };
        let expected = walked(&tree, &names, &sight, terminal_value == TerminalValue::Avoid);
        not_finite += u32::from(expected.iter().any(|(_, score)| f64::from_bits(*score) == -1e300));
        for kernel in kernels() {
            let scores = agent.scores_of_hand(kernel, &sight);
            let bits: Vec<_> =
                scores.iter().map(|choice| (choice.placement, choice.score.to_bits())).collect();
            assert_eq!(bits, expected, "seed {seed}, {}: {text}\n{playfield}", kernel.name());
        }
        compared += 1;
    }
    assert!(compared > 2500 && weighted > 50 && not_finite > 20, "{compared}, {weighted}, {not_finite}");
}

#[test]
fn weighted_sums_become_the_weights() {
    for controller in CONTROLLERS {
        let width = controller.width;
        let set = controller.features(width).unwrap();
        let rules = Rules::simplified(width, 20);
        let Formula::Weights(features, weights) =
            compile(&weighted_sum(&set, controller.weights), &rules).unwrap()
        else {
            panic!("{} is a weighted sum", controller.name)
        };
        let bits = |weights: &[f64]| weights.iter().map(|weight| weight.to_bits()).collect::<Vec<_>>();
        assert_eq!((features.names(), bits(&weights)), (set.names(), bits(controller.weights)));
    }
    let rules = Rules::simplified(10, 20);
    for (text, expected) in [
        ("holes", Some(vec![1.0])),
        ("-holes - (1 + 1) * max_height", Some(vec![-1.0, -2.0])),
        ("let w = 2^3; # heavy\n w * holes + bumpiness * -0.5", Some(vec![8.0, -0.5])),
        ("(if 1 < 2 then 3 else 4) * holes", Some(vec![3.0])),
        // The same numbers in another order, or with another rounding.
        ("holes + holes", None),
        ("holes + (max_height + bumpiness)", None),
        ("2 * (holes + max_height)", None),
        ("holes / 3", None),
        ("holes + 1", None),
        ("1e300 * holes", None),
        ("holes * max_height", None),
        ("lines * holes", None),
    ] {
        match (compile(text, &rules).unwrap(), expected) {
            (Formula::Weights(_, weights), Some(expected)) => assert_eq!(weights, expected, "{text}"),
            (Formula::Program(_), None) => {}
            (other, _) => panic!("{text}: {other:?}"),
        }
    }
}

/// Games of one agent on many seeds.
fn games(agent: Agent, rules: &Rules, kernel: Kernel) -> Vec<(u64, u64, u64)> {
    let evaluation = Evaluation {
        rules: *rules,
        policies: vec![agent],
        deal: Deal::Common((0..4).collect()),
        episodes_per_seed: 1,
        pairs: None,
        max_pieces: 150,
        max_steps: 20_000,
        loss_trials: 0,
        opponent: None,
        kernel,
    };
    let play = |game| evaluation.play(game, &AtomicBool::new(false)).unwrap();
    (0..4).map(play).map(|result| (result.lines, result.pieces, result.steps)).collect()
}

#[test]
fn a_program_with_the_bits_of_weights_plays_their_games_with_every_search() {
    let expectation = |pieces, terms| {
        Search::Expectation(Expectation { pieces, placements: 3, terms, ..Expectation::default() })
    };
    let terms = tetrion_core::agents::Terms::All;
    let searches = [
        Search::Greedy,
        Search::Lookahead { pieces: 1 },
        expectation(1, tetrion_core::agents::Terms::Landing),
        expectation(2, terms),
    ];
    let all_rules = [
        Rules { preview: 1, ..Rules::simplified(8, 10) },
        Rules { preview: 1, ..Rules::simplified(10, 30) },
        Rules { hold: true, preview: 1, ..Rules::simplified(8, 12) },
        Rules { preview: 1, ..Rules::preset("lab").unwrap() },
        Rules { width: 7, height: 16, rows_above: 4, ..Rules::preset("guideline").unwrap() },
    ];
    for rules in all_rules {
        for (set, weights) in [
            ("height4", vec![-0.5, 0.8, -0.4, -0.2]),
            ("bcts8", vec![-12.6, 6.6, -9.2, -19.7, -13.1, -10.5, -1.6, -24.0]),
        ] {
            let set = FeatureSet::named(set, rules.width).unwrap();
            let program = program(&format!("0 + {}", weighted_sum(&set, &weights)), &rules);
            // Smaller numbers count as 1.
            if program.largest_number()
                != weights.iter().fold(0.0, |largest: f64, weight| largest.max(weight.abs()))
            {
                assert_eq!(program.largest_number(), 1.0);
            }
            for search in searches {
                if matches!(search, Search::Expectation(_)) && program.largest_number() == 1.0 {
                    continue;
                }
                let linear = LinearAgent::new(set.clone(), weights.clone(), TerminalValue::Avoid).unwrap();
                let formula = FormulaAgent::new(program.clone(), TerminalValue::Avoid);
                let expected = games(Agent::searching(linear, search), &rules, Kernel::best());
                for kernel in kernels() {
                    let played = games(Agent::searching(formula.clone(), search), &rules, kernel);
                    assert_eq!(played, expected, "{search:?}, {}, {rules:?}", kernel.name());
                }
            }
        }
    }
}

#[test]
fn facts_are_those_of_the_game() {
    // The first 20 pieces go to the left, those after them to the right; every I goes back to the left.
    let rules = Rules { preview: 1, ..Rules::simplified(10, 20) };
    let left = "sum(column_height) * 0 - column_height[9]";
    let text = format!("if pieces < 20 or current == I then {left} else {left} * -1");
    let agent = Agent::Formula(FormulaAgent::new(program(&text, &rules), TerminalValue::Avoid));
    let mut all = Vec::new();
    for kernel in kernels() {
        all.push(games(agent.clone(), &rules, kernel));
    }
    assert!(all.iter().all(|games| *games == all[0]), "{all:?}");

    let values = |text: &str, sight: &Sight<'_>| -> Vec<f64> {
        let agent = FormulaAgent::new(program(text, sight.rules), TerminalValue::Score);
        let scores = agent.scores_of_hand(Kernel::best(), sight);
        let mut values: Vec<f64> = scores.into_iter().map(|choice| choice.score).collect();
        values.dedup();
        values
    };
    let rules = Rules { hold: true, preview: 1, ..Rules::simplified(10, 20) };
    let playfield = Playfield::empty(10, 20);
    let next = [Tetromino::T];
    let sight = Sight {
        next: &next,
        held: Some(Tetromino::O),
        lines: 40,
        pieces: 102,
        ..Sight::of(&rules, &playfield, Tetromino::I)
    };
    let same = "holes * 0 +";
    assert_eq!(values(&format!("{same} lines + pieces / 1000"), &sight), [40.102]);
    assert_eq!(values(&format!("{same} width * 100 + height"), &sight), [1020.0]);
    // The I is placed, then the O with the I held.
    let piece = |seat: &str| {
        let branches: String = "IOTZSJL"
            .chars()
            .zip(1..)
            .map(|(letter, number)| format!("if {seat} == {letter} then {number} else "))
            .collect();
        format!("{same} {branches} 0")
    };
    assert_eq!(values(&piece("current"), &sight), [1.0, 2.0]);
    assert_eq!(values(&piece("held"), &sight), [2.0, 1.0]);
    assert_eq!(values(&piece("next"), &sight), [3.0]);
    // With nothing held, the piece that follows is placed, and the one after it is unknown.
    let sight = Sight { held: None, ..sight };
    assert_eq!(values(&piece("current"), &sight), [1.0, 3.0]);
    assert_eq!(values(&piece("held"), &sight), [0.0, 1.0]);
    assert_eq!(values(&piece("next"), &sight), [3.0, 0.0]);
}

#[test]
fn facts_go_on_along_a_lookahead() {
    let rules = Rules { preview: 2, ..Rules::simplified(10, 20) };
    // An I on its side completes the only row.
    let playfield = Playfield::from_rows(10, 20, [0b11_1111_0000]);
    let sight = Sight {
        next: &[Tetromino::O, Tetromino::S],
        lines: 40,
        pieces: 102,
        ..Sight::of(&rules, &playfield, Tetromino::I)
    };
    let flat = placements(&rules, &playfield, Tetromino::I)
        .iter()
        .find(|placement| land(&rules, &playfield, Tetromino::I, *placement).1.lines == 1);
    for (fact, expected) in [
        ("lines", 40.0 + 41.0 + 41.0),
        ("pieces", 102.0 + 103.0 + 104.0),
        ("(if current == I then 1 else if current == O then 20 else 300)", 321.0),
        ("(if next == O then 1 else if next == S then 20 else 300)", 321.0),
    ] {
        let program = program(&format!("holes * 0 + {fact}"), &rules);
        let agent = LookaheadAgent::new(FormulaAgent::new(program, TerminalValue::Avoid), 2);
        for kernel in kernels() {
            assert_eq!(agent.value(kernel, &sight, flat.unwrap()).value, expected, "{fact}");
        }
    }
}
