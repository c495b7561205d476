//! The seed function and the sequences that grow from it.

use std::collections::BTreeSet;

use tetrion_twins::{
    TETROMINOES, bag7_sequence, environment_seed, episode_seed, uniform_sequence, uniform_tetromino, word,
};

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

#[test]
fn seed_42_gives_the_promised_word_sequence_and_bags() {
    assert_eq!(word(42, 0, 0), 6332618229526065668);
    assert_eq!(uniform_sequence(42, 20), "TLZISIOJIJSOOOLJZZSI");
    assert_eq!(bag7_sequence(42, 2), "OZSILJTZJLTISO");
}

#[test]
fn the_next_tag_is_the_seed_one_golden_step_further_modulo_two_to_the_64() {
    for seed in [0, 42, u64::MAX - GOLDEN, u64::MAX] {
        for n in [0, 1, 1_000_000, u64::MAX] {
            assert_eq!(word(seed, 1, n), word(seed.wrapping_add(GOLDEN), 0, n), "seed {seed}, n {n}");
        }
    }
}

#[test]
fn a_session_seed_leads_to_environments_and_their_episodes() {
    let environment = environment_seed(42, 3);
    assert_eq!(environment, word(42, 1, 3));
    assert_eq!(episode_seed(environment, 0), environment);
    assert_eq!(episode_seed(environment, 5), word(environment, 2, 5));
}

#[test]
fn a_piece_can_be_computed_without_those_before_it() {
    assert_eq!(uniform_tetromino(42, 1), 'L');
    assert_eq!(uniform_tetromino(42, 19), 'I');
}

#[test]
fn each_bag_has_all_seven_and_bags_differ() {
    let sequence = bag7_sequence(7, 100);
    let bags: Vec<&str> = (0..100).map(|bag| &sequence[7 * bag..7 * bag + 7]).collect();
    for bag in &bags {
        assert!(TETROMINOES.chars().all(|letter| bag.contains(letter)), "{bag}");
    }
    // There are 5,040 orders; 100 fair draws repeat about one of them.
    let distinct = bags.iter().collect::<BTreeSet<_>>().len();
    assert!(distinct >= 95, "{distinct} different bags of 100");
}

#[test]
fn uniform_pieces_are_uniform() {
    let sequence = uniform_sequence(1, 70_000);
    for letter in TETROMINOES.chars() {
        let count = sequence.matches(letter).count();
        // A count of about 10,000 has the standard deviation 92.6.
        assert!(count.abs_diff(10_000) < 4 * 93, "{count} times {letter}");
    }
}
