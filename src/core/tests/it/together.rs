//! Placements that are measured together have the features and the scores that the features' own functions give them one by one.

use tetrion_core::agents::{Kernel, LinearAgent, Sight, TerminalValue};
use tetrion_core::engine::{
    Column, Hand, NamedChoice, Placement, Playfield, Rules, SpinRule, Tetromino, TopOut, placements,
};
use tetrion_core::features::FeatureSet;
use tetrion_core::features::kernel::ScoredPlacement;
use tetrion_core::placements::{Options, Position, enumerate_plainly, enumerate_with};

use crate::kernel::all_known_together;
use tetrion_testing::{Dice, playfield};

/// Rules under which placements are no straight drops, or there are two pieces to choose from.
fn rules(dice: &mut Dice) -> Rules {
    let guideline = Rules::preset("guideline").unwrap();
    let (width, height) =
        [(10, 24), (10, 40), (10, 16), (4, 24), (6, 12), (16, 32), (17, 24), (32, 40)][dice.below(8)];
    match dice.below(4) {
        0 => Rules { width, height: height.min(40), hold: true, preview: 1, ..Rules::default() },
        1 => Rules { width, height, ..Rules::preset("genetic").unwrap() },
        2 => {
            let spin_rule = SpinRule::ALL[dice.below(SpinRule::ALL.len())];
            Rules { width, height, rows_above: 4, top_out: TopOut::TopRow, spin_rule, ..guideline }
        }
        _ => Rules { width, height, rows_above: 4, ..guideline },
    }
}

fn hand(rules: &Rules, dice: &mut Dice) -> Hand {
    let [piece, held] = [0; 2].map(|_| Tetromino::ALL[dice.below(7)]);
    Hand::new(rules, piece, Some(held), None)
}

fn weight(dice: &mut Dice) -> f64 {
    dice.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0
}

fn kernels() -> impl Iterator<Item = Kernel> {
    Kernel::ALL.into_iter().filter(|kernel| kernel.is_available())
}

/// Whether placements are measured together: no landing reaches the four upper rows.
fn is_low(rules: &Rules, playfield: &Playfield) -> bool {
    playfield.occupied_rows().top() + 8 <= u32::from(rules.height)
}

/// The scores by the features' own functions.
fn plain_scores(
    agent: &LinearAgent,
    rules: &Rules,
    playfield: &Playfield,
    hand: Hand,
) -> Vec<ScoredPlacement> {
    let mut scores = agent.scores(rules, playfield, hand.current);
    if let Some(other) = hand.other_on(rules, playfield) {
        let others = agent.scores(rules, playfield, other).into_iter();
        scores.extend(
            others.map(|choice| ScoredPlacement { placement: choice.placement.holding(true), ..choice }),
        );
    }
    scores
}

/// Sets with a name, all that is known at once, and some of it in any order.
fn set(width: u8, dice: &mut Dice) -> FeatureSet {
    let names = ["modern30", "thiery9", "surface27", "bdu", "height4", "lab4"];
    match dice.below(8) {
        n if n < names.len() => FeatureSet::named(names[n], width).unwrap(),
        6 => FeatureSet::custom(&all_known_together(width), width).unwrap(),
        _ => {
            let mut all = all_known_together(width);
            let some: Vec<_> =
                (0..1 + dice.below(6)).map(|_| all.swap_remove(dice.below(all.len()))).collect();
            FeatureSet::custom(&some, width).unwrap()
        }
    }
}

#[test]
fn scores_and_choices_have_the_bits_of_the_plain_ones() {
    let dice = &mut Dice(71, 0);
    let mut measured = 0;
    for _ in 0..3000 {
        let rules = rules(dice);
        rules.check().unwrap();
        let (playfield, hand) = (playfield(&rules, dice), hand(&rules, dice));
        let set = set(rules.width, dice);
        let weights = (0..set.len()).map(|_| weight(dice)).collect();
        let terminal = [TerminalValue::Avoid, TerminalValue::Score][dice.below(2)];
        let agent = LinearAgent::new(set, weights, terminal).unwrap();
        if placements(&rules, &playfield, hand.current).is_empty() {
            continue;
        }
        let plain = plain_scores(&agent, &rules, &playfield, hand);
        let bits = |scores: &[ScoredPlacement]| {
            scores.iter().map(|choice| (choice.placement, choice.score.to_bits())).collect::<Vec<_>>()
        };
        let best = plain.iter().fold(None::<ScoredPlacement>, |best, choice| match best {
            Some(best) if best.score >= choice.score => Some(best),
            _ => Some(*choice),
        });

        let sight = Sight { held: hand.other, ..Sight::of(&rules, &playfield, hand.current) };
        for kernel in kernels() {
            let what = format!("{}: {hand:?} under {rules:?} on\n{playfield}", kernel.name());
            let fast = agent.scores_of_hand(kernel, &rules, &playfield, hand);
            assert_eq!(bits(&fast), bits(&plain), "{what}");
            let choice = agent.choose_of_hand(kernel, &sight);
            match best {
                Some(best) => {
                    assert_eq!((choice.placement, choice.score), (best.placement, best.score), "{what}");
                }
                None => assert_eq!(choice.score, f64::NEG_INFINITY, "{what}"),
            }
        }
        measured += u32::from(is_low(&rules, &playfield));
    }
    assert!(measured > 1000, "{measured} playfields with a low stack");
}

#[test]
fn listed_placements_have_the_numbers_of_each_landing() {
    let dice = &mut Dice(72, 0);
    let mut cleared = [0; 5];
    for _ in 0..1500 {
        let rules = rules(dice);
        let (playfield, hand) = (playfield(&rules, dice), hand(&rules, dice));
        if !is_low(&rules, &playfield) {
            continue;
        }
        let set = set(rules.width, dice);
        let positions = [Position::of(playfield, Some(hand))];
        let plain = enumerate_plainly(&rules, &positions, Some(&set), Options::default());
        plain.lines.iter().for_each(|&lines| cleared[usize::from(lines.min(4))] += 1);
        for kernel in kernels() {
            let fast = enumerate_with(kernel, &rules, &positions, Some(&set), Options::default());
            assert_eq!(fast, plain, "{}: {:?} on\n{playfield}", kernel.name(), set.names());
        }
    }
    assert!(cleared.iter().all(|count| *count > 20), "{cleared:?} placements with 0 to 4 lines");
}

#[test]
fn a_placement_can_be_made_exactly_if_it_is_listed() {
    let dice = &mut Dice(73, 0);
    for _ in 0..300 {
        let rules = rules(dice);
        let (playfield, hand) = (playfield(&rules, dice), hand(&rules, dice));
        let listed: std::collections::HashMap<u32, Tetromino> = hand
            .placements(&rules, &playfield)
            .into_iter()
            .map(|(piece, placement)| (placement.action(&rules), piece))
            .collect();
        let exists = |action: u32| hand.can_place(&rules, &playfield, Placement::from_action(action, &rules));
        let actions = (0..rules.num_actions()).filter(|_| dice.below(4) == 0).collect::<Vec<_>>();
        for action in actions.into_iter().chain(listed.keys().copied()) {
            assert_eq!(exists(action), listed.get(&action).copied(), "{action} of {hand:?} on\n{playfield}");
        }
    }
}
