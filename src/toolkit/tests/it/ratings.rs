//! Statistics of matches: figures published by others or computed by a separate program, simulated tests, and ratings next to
//! a slow twin.

use std::iter;

use tetrion_core::engine::rng::{Tag, below, word};
use tetrion_toolkit::ratings::{
    CrossTable, EloEstimate, MatchOutcome, Pentanomial, RatingError, Sprt, SprtError, SprtVerdict,
};

/// Normalized Elo of a score that deviates from 1/2 by one standard deviation per match.
const K: f64 = 800.0 / std::f64::consts::LN_10;

/// Rows of `src/toolkit/tests/data/match_statistics.txt` that begin with `name`: the numbers between bars.
fn rows(name: &str) -> Vec<Vec<Vec<f64>>> {
    let text = include_str!("../data/match_statistics.txt");
    let row = |line: &str| -> Option<Vec<Vec<f64>>> {
        let cells = line.strip_prefix(name)?.strip_prefix(' ')?.split('|');
        Some(
            cells
                .map(|cell| cell.split_whitespace().map(|number| number.parse().unwrap()).collect())
                .collect(),
        )
    };
    text.lines().filter_map(row).collect()
}

fn pentanomial(counts: &[f64]) -> Pentanomial {
    Pentanomial { counts: std::array::from_fn(|class| counts[class] as u64) }
}

/// Whole numbers from the promise's words: below each bound in turn.
fn draws(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut n = 0..;
    move |bound| below(word(seed, Tag::Trial, n.next().unwrap()), bound)
}

/// Counts of random sizes, of which about a third are 0.
fn random_counts(draw: &mut impl FnMut(u64) -> u64) -> Pentanomial {
    Pentanomial { counts: std::array::from_fn(|_| if draw(3) == 0 { 0 } else { 1 + draw(500) }) }
}

#[track_caller]
fn check(what: &str, actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{what}: {actual}, expected {expected}");
}

#[track_caller]
fn check_estimate(what: &str, actual: EloEstimate, expected: &[f64], tolerance: f64) {
    let actual = [actual.elo, actual.ci95.0, actual.ci95.1];
    for (actual, expected) in actual.into_iter().zip(expected) {
        check(what, actual, *expected, tolerance * expected.abs().max(1.0));
    }
}

#[test]
fn statistics_are_those_of_a_separate_program() {
    let (bounds, estimates, ratios) = (rows("bounds"), rows("estimate"), rows("ratio"));
    assert_eq!((bounds.len(), estimates.len(), ratios.len()), (2, 7, 21));
    for row in bounds {
        let (low, high) = Sprt::new(0.0, 5.0, row[0][0], row[0][1]).unwrap().bounds();
        check("lower bound", low, row[1][0], 1e-12);
        check("upper bound", high, row[1][1], 1e-12);
    }
    for row in estimates {
        let pairs = pentanomial(&row[0]);
        check("score", pairs.score().unwrap(), row[1][0], 1e-15);
        check_estimate("elo", pairs.elo().unwrap(), &row[2], 1e-11);
        check_estimate("normalized elo", pairs.normalized_elo().unwrap(), &row[3], 1e-11);
    }
    for row in ratios {
        let sprt = Sprt::new(row[1][0], row[1][1], 0.05, 0.05).unwrap();
        let ratio = sprt.log_likelihood_ratio(&pentanomial(&row[0]));
        check(&format!("{:?}", row[0]), ratio, row[2][0], 1e-11 * row[2][0].abs());
    }
}

/// What programs for matches between chess engines print or expect in their tests, to its last digit.
#[test]
fn published_figures() {
    use SprtVerdict::*;
    // Classes; Elo, lower and upper end; normalized Elo likewise.
    let estimates = [
        ([485, 1923, 2942, 1937, 594], [5.11, 1.21, 9.02], [7.10, 1.68, 12.53]),
        ([261, 739, 2683, 737, 253], [-0.67, -5.00, 3.66], [-1.09, -8.13, 5.96]),
        ([63, 252, 385, 250, 74], [3.39, -7.38, 14.17], [4.74, -10.31, 19.79]),
        ([527, 1007, 1932, 933, 511], [-3.75, -9.16, 1.66], [-4.76, -11.63, 2.11]),
        ([175, 305, 694, 291, 157], [-5.36, -14.57, 3.85], [-6.96, -18.91, 5.00]),
    ];
    for (counts, elo, normalized) in estimates {
        let pairs = Pentanomial { counts };
        for (what, actual, expected) in [
            ("elo", pairs.elo().unwrap(), elo),
            ("normalized elo", pairs.normalized_elo().unwrap(), normalized),
        ] {
            check(what, actual.elo, expected[0], 0.005);
            check(what, actual.ci95.0, expected[1], 0.005);
            check(what, actual.ci95.1, expected[2], 0.005);
        }
    }
    // fastchess prints a margin of "nan" here, because scores above 1 lie within the interval.
    let pairs = Pentanomial { counts: [0, 0, 2, 0, 37] };
    let (elo, normalized) = (pairs.elo().unwrap(), pairs.normalized_elo().unwrap());
    check("elo", elo.elo, 631.91, 0.005);
    assert_eq!(elo.ci95.1, f64::INFINITY);
    check("normalized elo", normalized.elo, 1056.68, 0.005);
    check("margin", normalized.ci95.1 - normalized.elo, 77.10, 0.005);

    // Classes; hypotheses; beta, with alpha 0.05; logarithm of the likelihood ratio; verdict.
    let tests = [
        ([0, 0, 2, 0, 37], [0.0, 20.0], 0.05, 2.96, AcceptsHigher),
        ([485, 1923, 2942, 1937, 594], [0.0, 5.0], 0.10, 3.006, AcceptsHigher),
        ([261, 739, 2683, 737, 253], [-10.0, 0.0], 0.10, 3.030, AcceptsHigher),
        ([63, 252, 385, 250, 74], [0.0, 10.0], 0.10, -0.044, GoesOn),
        ([527, 1007, 1932, 933, 511], [0.0, 5.0], 0.10, -2.953, AcceptsLower),
        ([175, 305, 694, 291, 157], [0.0, 10.0], 0.10, -3.212, AcceptsLower),
        ([440, 2910, 5170, 2888, 455], [0.0, 5.0], 0.10, -2.27, AcceptsLower),
        ([142, 620, 1122, 699, 188], [0.0, 5.0], 0.10, 2.99, AcceptsHigher),
        ([349, 1561, 3340, 1604, 359], [-5.0, 0.0], 0.10, 2.90, AcceptsHigher),
        ([98, 382, 674, 369, 71], [-5.0, 0.0], 0.10, -1.11, GoesOn),
    ];
    for (counts, [lower, higher], beta, ratio, verdict) in tests {
        let (sprt, pairs) = (Sprt::new(lower, higher, 0.05, beta).unwrap(), Pentanomial { counts });
        check(&format!("{counts:?}"), sprt.log_likelihood_ratio(&pairs), ratio, 0.005);
        assert_eq!(sprt.verdict(&pairs), verdict, "{counts:?}");
    }
}

#[test]
fn swapped_players_have_negated_statistics() {
    let mut draw = draws(1);
    for case in 0..300 {
        let pairs = random_counts(&mut draw);
        let mut swapped = pairs;
        swapped.counts.reverse();
        let what = format!("case {case}, {:?}", pairs.counts);
        assert_eq!(pairs.elo().is_some(), pairs.num_pairs() > 0, "{what}");
        for (estimate, other) in
            [(pairs.elo(), swapped.elo()), (pairs.normalized_elo(), swapped.normalized_elo())]
        {
            let (Some(estimate), Some(other)) = (estimate, other) else { continue };
            let ends =
                [(estimate.elo, other.elo), (estimate.ci95.0, other.ci95.1), (estimate.ci95.1, other.ci95.0)];
            for (number, other) in ends.into_iter().filter(|(number, _)| number.is_finite()) {
                check(&what, number, -other, 1e-9 * number.abs().max(1.0));
            }
        }
        let [lower, higher] = [draw(60) as f64 - 40.0, draw(60) as f64 + 21.0];
        let ratio = Sprt::new(lower, higher, 0.05, 0.1).unwrap().log_likelihood_ratio(&pairs);
        let other = Sprt::new(-higher, -lower, 0.05, 0.1).unwrap().log_likelihood_ratio(&swapped);
        check(&what, ratio, -other, 1e-9 * ratio.abs().max(1.0));
    }
}

#[test]
fn the_likelihood_is_highest_at_the_measured_strength_and_falls_as_its_approximation() {
    let mut draw = draws(2);
    for case in 0..300 {
        let pairs = Pentanomial { counts: std::array::from_fn(|_| 100 + draw(100)) };
        let (measured, what) =
            (pairs.normalized_elo().unwrap().elo, format!("case {case}, {:?}", pairs.counts));
        let ratio =
            |lower, higher| Sprt::new(lower, higher, 0.05, 0.05).unwrap().log_likelihood_ratio(&pairs);
        assert!(ratio(measured - 10.0, measured) > 0.0 && ratio(measured, measured + 10.0) < 0.0, "{what}");
        // Van den Bergh's approximation, whose error is of third order in strengths.
        let distance = |elo: f64| 1.0 + ((measured - elo) / K).powi(2);
        let approximation = pairs.num_pairs() as f64 * (distance(0.0) / distance(20.0)).ln();
        let tolerance = pairs.num_pairs() as f64 * ((measured.abs() + 20.0) / K).powi(3);
        check(&what, ratio(0.0, 20.0), approximation, tolerance);
    }
}

#[test]
fn merged_counts_are_counts_of_all_pairs() {
    use MatchOutcome::*;
    let (mut draw, mut all, mut parts) = (draws(3), Pentanomial::default(), [Pentanomial::default(); 2]);
    for (pair, class) in [
        ([Loss, Loss], 0),
        ([Draw, Loss], 1),
        ([Loss, Win], 2),
        ([Draw, Draw], 2),
        ([Win, Draw], 3),
        ([Win, Win], 4),
    ] {
        for _ in 0..draw(50) {
            let before = all;
            all.add(pair);
            assert_eq!(all.counts[class], before.counts[class] + 1);
            assert_eq!(all.num_pairs(), before.num_pairs() + 1);
            parts[draw(2) as usize].add(pair);
        }
    }
    let [mut merged, other] = parts;
    merged.merge(&other);
    assert_eq!((merged, merged.elo()), (all, all.elo()));

    let (mut whole, mut halves) = (CrossTable::new(2), CrossTable::new(2));
    whole.add(0, 1, &all);
    for mut part in parts {
        part.counts.reverse();
        halves.add(1, 0, &part);
    }
    assert_eq!(whole, halves);
}

#[test]
fn statistics_of_no_pairs_and_of_too_many() {
    let none = Pentanomial::default();
    assert_eq!((none.score(), none.elo(), none.normalized_elo()), (None, None, None));
    let sprt = Sprt::new(-200.0, 200.0, 0.05, 0.05).unwrap();
    assert_eq!((sprt.log_likelihood_ratio(&none), sprt.verdict(&none)), (0.0, SprtVerdict::GoesOn));
    for class in 0..5 {
        for count in [1, 1 << 20, u64::MAX] {
            let mut pairs = none;
            pairs.counts[class] = count;
            pairs.merge(&pairs.clone());
            let ratio = sprt.log_likelihood_ratio(&pairs);
            assert!(!ratio.is_nan() && (class == 2 || (ratio > 0.0) == (class > 2)), "{pairs:?}: {ratio}");
            let mut table = CrossTable::new(2);
            table.add(0, 1, &pairs);
            assert_eq!(table.ratings(0).is_ok(), (1..4).contains(&class), "{pairs:?}");
        }
    }
}

#[test]
fn tests_that_cannot_be_run() {
    let nan = f64::NAN;
    for (lower, higher) in [(0.0, 0.0), (5.0, 0.0), (-200.1, 0.0), (0.0, 200.1), (nan, 0.0), (0.0, nan)] {
        let error = Sprt::new(lower, higher, 0.05, 0.05).unwrap_err();
        assert!(matches!(error, SprtError::Hypotheses { .. }), "{error}");
    }
    for (alpha, beta) in [(0.0, 0.05), (0.05, 0.0), (0.5, 0.5), (nan, 0.05), (0.05, nan), (-0.1, 0.1)] {
        let error = Sprt::new(0.0, 5.0, alpha, beta).unwrap_err();
        assert!(matches!(error, SprtError::ErrorRates { .. }), "{error}");
    }
}

/// Pairs of two players of which 68 % are split, in the order of seeds; the first player wins both matches of a pair more
/// often than none by `lead`.
fn played_pairs(seed: u64, lead: f64) -> impl Iterator<Item = [MatchOutcome; 2]> {
    use MatchOutcome::*;
    (0..).map(move |n| match below(word(seed, Tag::Trial, n), 1_000_000) as f64 / 1e6 {
        draw if draw < 0.68 => [Win, Loss],
        draw if draw < 0.84 + lead / 2.0 => [Win, Win],
        _ => [Loss, Loss],
    })
}

#[test]
fn simulated_tests_err_as_rarely_as_they_promise() {
    const TESTS: u64 = 1_000;
    let sprt = Sprt::new(0.0, 20.0, 0.05, 0.05).unwrap();
    // A test stops after about 812 pairs: with steps of standard deviation s and mean s^2 / 2 the ratio gets to 2.944,
    // which it oversteps by 0.58 s (Siegmund 1985), or with probability 0.05 to the opposite.
    let step = 20.0 * 2f64.sqrt() / K;
    let num_pairs = 0.9 * (19f64.ln() + 0.583 * step) / (step * step / 2.0);
    for strength in [0.0, 20.0] {
        let distance = strength * 2f64.sqrt() / K;
        let lead = 2.0 * distance * (0.08 / (1.0 + distance * distance)).sqrt(); // 0.08 is the variance without a lead
        let (mut wrong, mut taken) = (0.0, 0.0);
        for seed in 0..TESTS {
            let (pairs, verdict) = sprt.decide(played_pairs(seed, lead));
            let expected =
                if strength == 0.0 { SprtVerdict::AcceptsLower } else { SprtVerdict::AcceptsHigher };
            assert_ne!(verdict, SprtVerdict::GoesOn);
            wrong += f64::from(verdict != expected);
            taken += pairs.num_pairs() as f64;
        }
        let (wrong, mean) = (wrong / TESTS as f64, taken / TESTS as f64);
        let half = 1.96 * (wrong * (1.0 - wrong) / TESTS as f64).sqrt();
        assert!(wrong - half <= 0.05, "{wrong} of the tests at {strength} were wrong");
        check("mean number of pairs", mean, num_pairs, 0.06 * num_pairs); // the standard error is 2 %
    }
}

#[test]
fn a_test_takes_no_pair_after_its_verdict() {
    let sprt = Sprt::new(0.0, 20.0, 0.05, 0.05).unwrap();
    let (mut pairs, mut before) = (played_pairs(5, 0.0), Pentanomial::default());
    let (taken, verdict) = sprt.decide(pairs.by_ref());
    for pair in played_pairs(5, 0.0).take(taken.num_pairs() as usize) {
        assert_eq!(sprt.verdict(&before), SprtVerdict::GoesOn);
        before.add(pair);
    }
    assert_eq!((before, sprt.verdict(&before)), (taken, verdict));
    assert_eq!(pairs.next(), played_pairs(5, 0.0).nth(taken.num_pairs() as usize));
    // The pairs end before the test does.
    assert_eq!(sprt.decide(played_pairs(5, 0.0).take(1)).1, SprtVerdict::GoesOn);
    assert_eq!(sprt.decide(iter::empty()), (Pentanomial::default(), SprtVerdict::GoesOn));
}

/// Points of the player of a row against the player of a column.
type Points<'a> = &'a [&'a [u64]];

/// A table with these points, in pairs that one player won or that were split.
fn table(points: Points<'_>) -> CrossTable {
    let mut table = CrossTable::new(points.len() as u32);
    for (first, second) in meetings(points.len()) {
        let (won, lost) = (points[first][second], points[second][first]);
        assert_eq!((won + lost) % 2, 0, "whole pairs");
        let pairs = Pentanomial { counts: [lost / 2, 0, won % 2, 0, won / 2] };
        table.add(first as u32, second as u32, &pairs);
    }
    table
}

/// All pairs of players, the one with the lower number first.
fn meetings(num_players: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..num_players).flat_map(move |first| (first + 1..num_players).map(move |second| (first, second)))
}

#[test]
fn ratings_are_those_of_a_separate_program() {
    // Points; Elo and standard error.
    let tables: [(Points<'_>, &[(f64, f64)]); 2] = [
        (
            &[&[0, 60, 80], &[40, 0, 70], &[20, 30, 0]],
            &[(0.0, 0.0), (-76.84674516674525, 30.244090770683837), (-231.39863435864513, 33.07944583595145)],
        ),
        (&[&[0, 75], &[25, 0]], &[(0.0, 0.0), (-190.848501887865, 40.118405765505834)]),
    ];
    for (points, expected) in tables {
        let ratings = table(points).ratings(0).unwrap();
        assert_eq!(ratings.len(), expected.len());
        for (rating, (elo, error)) in ratings.iter().zip(expected) {
            check("elo", rating.elo, *elo, 1e-10);
            check("standard error", rating.standard_error, *error, 1e-10);
            check("interval", rating.ci95().0, elo - 1.959963984540054 * error, 1e-9);
            check("interval", rating.ci95().1, elo + 1.959963984540054 * error, 1e-9);
        }
    }
    // Both with the odds of the score.
    let pairs = Pentanomial { counts: [3, 14, 15, 9, 2] };
    let mut two = CrossTable::new(2);
    two.add(1, 0, &pairs);
    check("elo", two.ratings(0).unwrap()[1].elo, pairs.elo().unwrap().elo, 1e-10);
}

/// Zermelo's iteration of 1929: a player's worth is the wins, divided by the sum of matches over sums of worths.
fn slow_ratings(points: &[Vec<f64>], fixed: usize) -> Vec<f64> {
    let players = 0..points.len();
    let mut worths = vec![1.0; points.len()];
    for _ in 0..50_000 {
        for player in players.clone() {
            let others = players.clone().filter(|other| *other != player);
            let wins: f64 = points[player].iter().sum();
            let matches = |other: usize| points[player][other] + points[other][player];
            let sum: f64 = others.map(|other| matches(other) / (worths[player] + worths[other])).sum();
            worths[player] = wins / sum;
        }
    }
    worths.iter().map(|worth| 400.0 * (worth / worths[fixed]).log10()).collect()
}

#[test]
fn ratings_agree_with_a_slow_twin_and_with_each_other() {
    let (mut draw, mut infinite) = (draws(7), 0);
    for case in 0..60 {
        let players = 2 + draw(5) as usize;
        let mut table = CrossTable::new(players as u32);
        let mut points = vec![vec![0.0; players]; players];
        for (first, second) in meetings(players) {
            if draw(4) == 0 {
                continue;
            }
            let pairs = random_counts(&mut draw);
            table.add(first as u32, second as u32, &pairs);
            let (score, num_matches) = (pairs.score().unwrap_or(0.0), 2.0 * pairs.num_pairs() as f64);
            points[first][second] = score * num_matches;
            points[second][first] = (1.0 - score) * num_matches;
        }
        let fixed = draw(players as u64) as u32;
        let Ok(ratings) = table.ratings(fixed) else {
            infinite += 1;
            continue;
        };
        for (rating, expected) in iter::zip(&ratings, slow_ratings(&points, fixed as usize)) {
            check(&format!("case {case}, {points:?}"), rating.elo, expected, 1e-6);
        }
        let others = table.ratings(0).unwrap();
        check("difference", others[fixed as usize].elo, -ratings[0].elo, 1e-8);
        check("its error", others[fixed as usize].standard_error, ratings[0].standard_error, 1e-8);
    }
    assert!(infinite < 30, "{infinite} tables without ratings");
}

#[test]
fn players_without_a_finite_rating_are_named() {
    use RatingError::*;
    let tables: [(Points<'_>, u32, RatingError); 6] = [
        // Nobody beat player 1.
        (&[&[0, 0, 5], &[4, 0, 8], &[5, 0, 0]], 0, Unbeaten { player: 1, fixed: 0 }),
        // Player 2 beat nobody.
        (&[&[0, 3, 4], &[5, 0, 2], &[0, 0, 0]], 0, Scoreless { player: 2, fixed: 0 }),
        // A group that won all against the other one, seen from either side.
        (&[&[0, 3, 4, 2], &[5, 0, 2, 0], &[0, 0, 0, 1], &[0, 0, 1, 0]], 1, Scoreless { player: 2, fixed: 1 }),
        (&[&[0, 3, 4, 2], &[5, 0, 2, 0], &[0, 0, 0, 1], &[0, 0, 1, 0]], 3, Unbeaten { player: 0, fixed: 3 }),
        // Groups that never met.
        (&[&[0, 3, 0, 0], &[5, 0, 0, 0], &[0, 0, 0, 1], &[0, 0, 1, 0]], 0, Unbeaten { player: 2, fixed: 0 }),
        (&[&[0, 0], &[0, 0]], 1, Unbeaten { player: 0, fixed: 1 }),
    ];
    for (points, fixed, error) in tables {
        assert_eq!(table(points).ratings(fixed), Err(error), "{points:?}");
    }
    assert_eq!(
        Scoreless { player: 2, fixed: 0 }.to_string(),
        "player 2 scored no point against player 0, directly or through others: its rating has no lower bound"
    );
    // A circle is enough: 0 beat 1, 1 beat 2, and 2 beat 0.
    let circle = table(&[&[0, 6, 0], &[0, 0, 6], &[6, 0, 0]]).ratings(0).unwrap();
    assert!(circle.iter().all(|rating| rating.elo.abs() < 1e-9 && rating.standard_error.is_finite()));
    // A player alone.
    assert_eq!(CrossTable::new(1).ratings(0).unwrap()[0].ci95(), (0.0, 0.0));
}

/// Newton's method must not leave the ratings behind where they lie far apart, and matches far from equal say little.
#[test]
fn ratings_far_apart_are_found() {
    const PLAYERS: usize = 12;
    let mut points = vec![vec![0; PLAYERS]; PLAYERS];
    for player in 1..PLAYERS {
        (points[player - 1][player], points[player][player - 1]) = (999_999, 1);
    }
    (points[0][PLAYERS - 1], points[PLAYERS - 1][0]) = (100_000_000, 0);
    let rows: Vec<&[u64]> = points.iter().map(Vec::as_slice).collect();
    let ratings = table(&rows).ratings(0).unwrap();
    let step = 400.0 * 999_999f64.log10();
    for (player, rating) in ratings.iter().enumerate() {
        check(&format!("player {player}"), rating.elo, -step * player as f64, 1e-3);
    }
}

#[test]
#[should_panic(expected = "against itself")]
fn no_player_meets_itself() {
    CrossTable::new(2).add(1, 1, &Pentanomial::default());
}
