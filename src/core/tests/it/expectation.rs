//! The exact mean over hidden pieces: against its definition on cells, and the kernels' whole games against choices one by
//! one.

use tetrion_core::agents::{
    Agent, AgentRng, Controller, Decision, Expectation, Kernel, LinearAgent, Search, Sight, TerminalValue,
    Terms,
};
use tetrion_core::engine::{
    Dealer, Game, Odds, Placement, Playfield, Randomizer, Reach, Rules, Tetromino, TopOut,
};
use tetrion_core::features::FeatureSet;
use tetrion_core::rollout::{Bounds, Episode};

use tetrion_testing::Plain;
use tetrion_twins::{self as twin, bag7_sequence, random_playfield, word};

/// The whole choice of an agent.
fn choose(agent: &Agent, kernel: Kernel, sight: &Sight<'_>) -> Placement {
    match agent.decide(kernel, sight, &mut AgentRng::new(0)) {
        Decision::Place(placement) => placement,
        Decision::Press(agent) => panic!("{agent:?} presses keys"),
    }
}

/// Settings that together use every field and every kind of term.
fn expectations() -> Vec<Expectation> {
    let default = Expectation::default();
    vec![
        default,
        Expectation { placements: 3, discount: 0.75, ..default },
        Expectation { placements: 128, terms: Terms::All, ..default },
        Expectation { placements: 1, terms: Terms::None, lost_piece: 0.0, ..default },
        Expectation { pieces: 2, placements: 4, ..default },
        Expectation { pieces: 2, placements: 2, discount: 0.5, terms: Terms::All, ..default },
        Expectation { caution: 0.5, ..default },
        Expectation { placements: 5, lost_piece: -3.0, caution: 2.0, ..default },
        Expectation { pieces: 2, placements: 3, caution: 1.0, ..default },
    ]
}

#[test]
fn a_choice_is_what_the_definition_says() {
    let features = ["landing_height", "eroded_piece_cells", "row_transitions", "holes", "bumpiness"];
    // Whole numbers and a few halves, so that sums are exact in any order.
    let weights = [-1.5, 3.0, -2.0, -5.0, -1.0];
    let mut choices = 0;
    for (width, height) in [(5, 6), (10, 10), (10, 20), (6, 30)] {
        for expectation in expectations() {
            for (policy, preview) in [(TerminalValue::Avoid, 0), (TerminalValue::Score, 1)] {
                if expectation.pieces > preview + 1 {
                    continue;
                }
                let rules = Rules { preview, ..Rules::simplified(width, height) };
                let set = FeatureSet::custom(&features, width).unwrap();
                let linear = LinearAgent::new(set, weights.into(), policy).unwrap();
                let agent = Agent::searching(linear, Search::Expectation(expectation));
                let avoids_the_end = policy == TerminalValue::Avoid;
                let plain = Plain {
                    features: &features,
                    weights: &weights,
                    model: None,
                    avoids_the_end,
                    expectation,
                };
                for seed in 0..6 {
                    let cells = random_playfield(width.into(), height.into(), seed);
                    let playfield = Playfield::from_drawing(width, height, &cells.to_string()).unwrap();
                    let letter = |n| twin::uniform_tetromino(seed, n);
                    let (piece, shown) = (letter(0), [letter(1)]);
                    let shown = &shown[..preview.into()];
                    let next: Vec<_> =
                        shown.iter().filter_map(|next| Tetromino::from_letter(*next)).collect();
                    let sight = Sight {
                        next: &next,
                        ..Sight::of(&rules, &playfield, Tetromino::from_letter(piece).unwrap())
                    };
                    let odds: Vec<_> = twin::TETROMINOES.chars().map(|piece| (piece, 1.0)).collect();
                    let expected = plain.choose(&cells, piece, shown, &odds);
                    let chosen = choose(&agent, Kernel::best(), &sight);
                    assert_eq!(chosen, expected, "{expectation:?}, {piece} then {shown:?} on\n{playfield}");
                    choices += 1;
                }
            }
        }
    }
    assert!(choices > 200, "{choices}");
}

/// Plays a game one choice after the other, by the agent's own plain way, as far as this many pieces.
fn one_by_one(rules: &Rules, agent: &Agent, seed: u64, pieces: u64) -> Game<u64, 32> {
    let mut game = Game::new(rules);
    let mut dealer = Dealer::seeded(rules.randomizer, seed);
    while game.pieces < pieces {
        let Some(piece) = game.deal(rules, &mut dealer) else { break };
        let mut ahead = dealer.clone();
        let next: Vec<_> = (0..rules.preview).filter_map(|_| ahead.deal()).collect();
        let (playfield, odds) = (&game.playfield, ahead.odds());
        let sight = Sight {
            next: &next,
            odds,
            lines: game.lines,
            pieces: game.pieces,
            ..Sight::of(rules, playfield, piece)
        };
        let placement = choose(agent, Kernel::Portable, &sight);
        game.place(rules, piece, placement);
        if game.end.is_some() {
            break;
        }
    }
    game
}

/// A game on a kernel, in uneven slices: where they end must not matter.
fn in_slices(rules: &Rules, agent: &Agent, kernel: Kernel, seed: u64, pieces: u64) -> Game<u64, 32> {
    let mut episode = Episode::new(rules, Dealer::seeded(rules.randomizer, seed), AgentRng::new(seed));
    let bounds = Bounds::of_game(pieces, u64::MAX);
    let mut slice = 1;
    while !episode.is_over(bounds) {
        episode.advance(rules, agent, kernel, bounds, 97 * slice);
        slice = slice % 5 + 1;
    }
    episode.game
}

#[test]
fn every_kernel_plays_the_games_of_choices_one_by_one() {
    let controllers = ["dt-10", "bcts", "rv-ce", "el-tetris"];
    let (mut pieces, mut ended) = (0, 0);
    // Sizes of each kind of word, and those that are lowered to shorter ones as long as the stack is low.
    for (case, (width, height)) in
        [(10, 10), (4, 5), (6, 12), (10, 20), (16, 16), (7, 40), (18, 8)].into_iter().enumerate()
    {
        for (number, expectation) in expectations().into_iter().enumerate() {
            let seed = word(case as u64, 9, number as u64);
            let rules = Rules {
                preview: expectation.pieces - 1 + u8::from(seed.is_multiple_of(3)),
                randomizer: [Randomizer::Uniform, Randomizer::Bag7, Randomizer::Balanced, Randomizer::Nes]
                    [number % 4],
                top_out: [TopOut::Overflow, TopOut::SpawnBlocked, TopOut::TopRow, TopOut::AboveField]
                    [(case + number) % 4],
                ..Rules::simplified(width, height)
            };
            let linear = Controller::named(controllers[(case + number) % 4]).unwrap().agent(width).unwrap();
            let terminal_value = if number % 4 == 3 { TerminalValue::Score } else { TerminalValue::Avoid };
            let linear =
                LinearAgent::new(linear.set().clone(), linear.weights().into(), terminal_value).unwrap();
            assert!(linear.is_fast(), "a controller that the kernels know");
            let agent = Agent::searching(linear, Search::Expectation(expectation));
            let expected = one_by_one(&rules, &agent, seed, 150);
            for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
                let game = in_slices(&rules, &agent, kernel, seed, 150);
                assert_eq!(game, expected, "{kernel:?}, {rules:?}, {expectation:?}, seed {seed}");
            }
            pieces += expected.pieces;
            ended += u32::from(expected.end.is_some());
        }
    }
    assert!(pieces > 3_000 && ended > 5, "{pieces} pieces, {ended} games that ended");
}

/// Placements that clear lines are measured together, by separate code for every feature.
#[test]
fn every_feature_of_what_clears_lines_counts_as_it_does_alone() {
    // The weights of `dt-10`, for games that clear lines; the others are small.
    let thiery = Controller::named("dt-10").unwrap();
    let set = FeatureSet::named(thiery.feature_set, 10).unwrap();
    let mut cells: Vec<(String, f64)> = set.names().into_iter().zip(thiery.weights.iter().copied()).collect();
    let others = ["lines_cleared", "total_height", "max_height", "bumpiness"];
    cells.extend(others.map(|name| (name.to_owned(), -0.25)));
    let preclear = cells.iter().filter(|(name, _)| {
        !["landing_height", "eroded_piece_cells", "lines_cleared"].contains(&name.as_str())
    });
    let preclear: Vec<_> = preclear.map(|(name, _)| (format!("{name}_preclear"), 0.0)).collect();
    cells.extend(preclear);
    let mut columns = cells.clone();
    for name in [
        "column_height[0]",
        "column_height_preclear[2]",
        "height_difference[1]",
        "height_difference_preclear[3]",
        "accommodated",
        "readiness[2]",
        "readiness_preclear[4]",
        "fits",
        "fits_of[5]",
        "fits_of_preclear[0]",
        "steps[3]",
        "weighted_holes",
        "deep_wells_preclear",
        "deep_wells",
        "surface_parity",
    ] {
        columns.push((name.to_owned(), 0.0));
    }
    let mut lines = 0;
    for (case, features) in [cells, columns].into_iter().enumerate() {
        for (number, (width, height)) in
            [(5, 6), (10, 10), (16, 12), (10, 20), (18, 8)].into_iter().enumerate()
        {
            let seed = word(case as u64, 11, number as u64);
            let rules = Rules::simplified(width, height);
            let (names, weights): (Vec<String>, Vec<f64>) = features.iter().cloned().unzip();
            let noise = |n: usize| word(seed, 12, n as u64) as f64 / 2f64.powi(64) - 0.5;
            let weights = weights.iter().enumerate().map(|(n, weight)| weight + 0.5 * noise(n)).collect();
            let set = FeatureSet::custom(&names, width).unwrap();
            let policy = if number == 2 { TerminalValue::Score } else { TerminalValue::Avoid };
            let linear = LinearAgent::new(set, weights, policy).unwrap();
            assert!(linear.is_fast(), "features that the kernels know");
            let expectation = Expectation { placements: 12, ..Expectation::default() };
            let agent = Agent::searching(linear, Search::Expectation(expectation));
            let expected = one_by_one(&rules, &agent, seed, 150);
            for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
                let game = in_slices(&rules, &agent, kernel, seed, 150);
                assert_eq!(game, expected, "{kernel:?}, {width} x {height}, case {case}");
            }
            lines += expected.lines;
        }
    }
    assert!(lines > 200, "{lines} lines");
}

#[test]
fn what_shapes_cannot_reach_does_not_count() {
    // Where pieces walk along the top, the kernels do not know what is in their way: every choice is made one by one.
    let rules = Rules { width: 7, height: 8, reach: Reach::SidewaysWalk, ..Rules::simplified(7, 8) };
    let agent = |placements| {
        let linear = Controller::named("dt-10").unwrap().agent(7).unwrap();
        let expectation = Expectation { placements, ..Expectation::default() };
        Agent::searching(linear, Search::Expectation(expectation))
    };
    for seed in 0..10 {
        let game = one_by_one(&rules, &agent(8), seed, 300);
        let mut episode = Episode::new(&rules, Dealer::seeded(rules.randomizer, seed), AgentRng::new(seed));
        episode.play(&rules, &agent(8), Kernel::best(), Bounds::of_game(300, u64::MAX));
        assert_eq!(episode.game, game, "seed {seed}");
    }
}

#[test]
fn odds_follow_from_all_pieces_dealt_so_far() {
    for seed in 0..50 {
        // Under bag7, exactly what is left of the bag.
        let pieces: Vec<char> = bag7_sequence(seed, 3).chars().collect();
        let mut dealer = Dealer::seeded(Randomizer::Bag7, seed);
        for (n, piece) in pieces.iter().enumerate() {
            let left: Vec<char> = pieces[n..n / 7 * 7 + 7].to_vec();
            for letter in twin::TETROMINOES.chars() {
                let odds = dealer.odds().of(Tetromino::from_letter(letter).unwrap());
                assert_eq!(odds, u32::from(left.contains(&letter)), "piece {n} of seed {seed}, {letter}");
            }
            assert_eq!(dealer.deal(), Tetromino::from_letter(*piece));
        }
        // Under balanced, 5 and one more for each time that it came less often than the most frequent one.
        let mut dealer = Dealer::seeded(Randomizer::Balanced, seed);
        let mut came = [0; 7];
        for n in 0..60 {
            let most = came.into_iter().max().unwrap();
            for piece in Tetromino::ALL {
                let expected = 5 + most - came[piece.index()];
                assert_eq!(dealer.odds().of(piece), expected, "piece {n} of seed {seed}, {piece}");
            }
            came[dealer.deal().unwrap().index()] += 1;
        }
        // Under nes, of the 56 outcomes of a draw of eight and another of seven, those that end with the piece.
        let mut dealer = Dealer::seeded(Randomizer::Nes, seed);
        let mut last = None;
        for n in 0..60 {
            let ends_with = |piece: Tetromino| {
                let outcomes = (0..8).flat_map(|first| (0..7).map(move |second| (first, second)));
                let again = |first: usize| first == 7 || Some(Tetromino::ALL[first]) == last;
                let dealt = outcomes.map(|(first, second)| if again(first) { second } else { first });
                dealt.filter(|dealt| Tetromino::ALL[*dealt] == piece).count() as u32
            };
            for piece in Tetromino::ALL {
                let (odds, first) = (dealer.odds(), Tetromino::I);
                // Only their proportions count.
                assert_eq!(
                    odds.of(piece) * ends_with(first),
                    odds.of(first) * ends_with(piece),
                    "piece {n} of seed {seed}, {piece}"
                );
            }
            last = dealer.deal();
        }
        assert_eq!(Dealer::seeded(Randomizer::Uniform, seed).odds(), Odds::EVEN);
    }
    assert_eq!(Dealer::sequence(vec![Tetromino::I].into()).odds(), Odds::EVEN, "what follows is not known");
}

#[test]
fn a_mean_is_added_up_in_order_and_then_divided() {
    let numbers = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7];
    let sum = numbers.iter().fold(0.0, |sum, number| sum + number);
    assert_eq!(Odds::EVEN.cautious_mean(&numbers, 0.0), sum / 7.0);
    assert_eq!(Odds::certain(Tetromino::Z).cautious_mean(&numbers, 0.0), 0.4);
    // A piece that cannot come is skipped, whatever it would score.
    let numbers = [0.1, f64::NAN, f64::NAN, 1.0, 1.0, 1.0, 1.0];
    assert_eq!(Odds::certain(Tetromino::I).cautious_mean(&numbers, 0.0), 0.1);
}

#[test]
fn caution_takes_standard_deviations_off_a_mean() {
    // Odds times squared differences from 4: 9 + 27 + 18 + 1 + 1 + 1 + 1 = 58, divided by 10.
    let numbers = [1.0, 7.0, 1.0, 3.0, 5.0, 5.0, 3.0];
    let odds = Odds::of_counts([1, 3, 2, 1, 1, 1, 1]);
    let deviation = (58.0f64 / 10.0).sqrt();
    for (caution, expected) in [(0.0, 4.0), (0.5, 4.0 - 0.5 * deviation), (2.0, 4.0 - 2.0 * deviation)] {
        assert_eq!(odds.cautious_mean(&numbers, caution), expected, "caution {caution}");
    }
    // What is certain has no deviation.
    assert_eq!(Odds::certain(Tetromino::Z).cautious_mean(&numbers, 3.0), 3.0);
    assert_eq!(Odds::EVEN.cautious_mean(&[-100.0; 7], 3.0), -100.0);
}

#[test]
fn it_clears_several_times_the_lines_of_the_greedy_controller() {
    let rules = Rules::simplified(10, 8);
    let linear = Controller::named("dt-10").unwrap().agent(10).unwrap();
    let lines = |agent: &Agent| -> u64 {
        (0..16)
            .map(|seed| {
                let mut episode =
                    Episode::new(&rules, Dealer::seeded(rules.randomizer, seed), AgentRng::new(seed));
                episode.play(&rules, agent, Kernel::best(), Bounds::of_game(u64::MAX, u64::MAX));
                episode.game.lines
            })
            .sum()
    };
    let greedy = lines(&Agent::Linear(linear.clone()));
    let weighing = lines(&Agent::searching(linear, Search::Expectation(Expectation::default())));
    assert!(weighing > 2 * greedy, "{weighing} lines against {greedy}");
}
