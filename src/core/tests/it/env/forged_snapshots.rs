//! Snapshots are outside input: damaged and forged ones are refused, or are states that can be played without harm.

use tetrion_core::engine::{RULES_VERSION, Randomizer, Rules, Scoring};
use tetrion_core::env::{
    AutoresetMode, EnvBatch, EnvConfig, EnvState, InvalidActionPolicy, Restored, Seeding, SnapshotError,
};
use tetrion_core::features::FeatureSet;
use tetrion_testing::with_checksum;

use super::model::sequence;
use super::snapshots::{bag_rules, batch_of, everything, play};
use super::{Dice, running};

/// Snapshots of all kinds: seeds and sequences, both sizes of playfield, before a landing, after one, after the end.
fn specimens() -> Vec<Vec<u8>> {
    let mut specimens = Vec::new();
    let balanced = Rules { randomizer: Randomizer::Balanced, preview: 6, ..Rules::simplified(17, 6) };
    let walking = Rules { height: 6, ..Rules::preset("genetic").unwrap() };
    let keys = Rules { height: 7, preview: 1, ..Rules::preset("lab").unwrap() };
    for rules in [bag_rules(), Rules::default(), balanced, walking, keys] {
        let config = EnvConfig { rules, ..EnvConfig::default() };
        for seeding in [Seeding::Seed(5), Seeding::from_pieces(vec![sequence("IIIOTZSJLLI")])] {
            let mut batch = running(config.clone(), &seeding);
            let mut dice = Dice::new(6);
            for length in [0, 4, 100] {
                while batch.statistics(0).steps < length && !batch.has_ended(0) {
                    play(&mut batch, 1, &mut dice);
                }
                specimens.push(batch.state(0).to_bytes());
            }
        }
    }
    let invalid_action_policy = InvalidActionPolicy::Ignore { reward: -1.0 };
    let config = EnvConfig { rules: bag_rules(), invalid_action_policy, ..EnvConfig::default() };
    let mut batch = running(config, &Seeding::Seed(5));
    for action in [0, 23, 23] {
        batch.step(&[action], None).unwrap();
    }
    specimens.push(batch.state(0).to_bytes());
    specimens
}

/// Plays a state that came through; returns whether it did.
fn harmless(bytes: &[u8]) -> bool {
    let Ok(state) = EnvState::from_bytes(bytes) else { return false };
    assert_eq!(EnvState::from_bytes(&state.to_bytes()).as_ref(), Ok(&state), "what was read can be written");
    let features = Some(FeatureSet::named("bcts8", state.rules().width).unwrap());
    let invalid_action_policy = InvalidActionPolicy::Terminate;
    let config = EnvConfig { rules: *state.rules(), invalid_action_policy, features, ..EnvConfig::default() };
    let mut batch = EnvBatch::new(config, &Seeding::Seed(1)).unwrap();
    batch.restore(None, Restored::States(&[state]), None).unwrap();
    let mut dice = Dice::new(1);
    for _ in 0..4 {
        everything(&batch);
        play(&mut batch, 1, &mut dice);
    }
    EnvState::from_bytes(&batch.state(0).to_bytes()).unwrap();
    true
}

#[test]
fn damage_is_found_by_the_checksum() {
    for snapshot in specimens() {
        let refused = |bytes: &[u8]| matches!(EnvState::from_bytes(bytes), Err(SnapshotError::Corrupt(_)));
        assert!((0..snapshot.len()).all(|length| refused(&snapshot[..length])), "cut off");
        assert!(refused(&[&snapshot[..], &[0]].concat()), "something behind it");
        for at in 0..snapshot.len() {
            let mut damaged = snapshot.clone();
            damaged[at] ^= 1 << (at % 8);
            assert!(refused(&damaged), "byte {at}");
        }
    }
}

#[test]
fn a_forged_byte_is_refused_or_harmless() {
    let (mut accepted, mut refused) = (0, 0);
    for snapshot in specimens() {
        let content = &snapshot[..snapshot.len() - 8];
        for at in 0..content.len() {
            for byte in [0, 1, 7, 32, 255, content[at] ^ 1] {
                let mut forged = content.to_vec();
                forged[at] = byte;
                *(if harmless(&with_checksum(forged)) { &mut accepted } else { &mut refused }) += 1;
            }
        }
        for length in 0..content.len() {
            assert!(!harmless(&with_checksum(content[..length].to_vec())), "cut off at {length}");
        }
        assert!(!harmless(&with_checksum([content, &[0]].concat())), "something behind it");
    }
    assert!(accepted > 1000 && refused > 1000, "both happen: {accepted} accepted, {refused} refused");
}

#[test]
fn forged_bytes_are_refused_or_harmless() {
    let specimens = specimens();
    let mut accepted = 0;
    for seed in 0..10_000 {
        let mut dice = Dice::new(seed);
        let snapshot = &specimens[dice.below(specimens.len())];
        let mut content = snapshot[..snapshot.len() - 8].to_vec();
        // Behind the magic, the format and the version, so that most get past them.
        let first = 7 + RULES_VERSION.len();
        for _ in 0..1 + dice.below(4) {
            let at = first + dice.below(content.len() - first);
            match dice.below(4) {
                0 => content[at] = dice.word() as u8,
                1 => content[at] = dice.below(8) as u8,
                2 => content[at] ^= 1 << dice.below(8),
                _ => {
                    let length = dice.below(9).min(content.len() - at);
                    content[at..at + length].fill([0, 255][dice.below(2)]);
                }
            }
        }
        let outcome = std::panic::catch_unwind(|| harmless(&with_checksum(content)));
        accepted += u32::from(outcome.unwrap_or_else(|_| panic!("seed {seed}")));
    }
    assert!(accepted > 1000, "{accepted} accepted");
}

#[test]
fn what_a_snapshot_must_not_hold_is_named() {
    /// Where things stand in a snapshot of a 6 x 12 playfield after a landing, with a preview of 2.
    const RULES: usize = 7 + RULES_VERSION.len();
    /// The width, the height, the preview and the randomizer differ from the default: an index and a byte each.
    const ENDED: usize = RULES + 1 + 4 * 2;
    const PLAYFIELD: usize = ENDED + 2;
    const PIECE: usize = PLAYFIELD + 6 * 8;
    const VISIBLE: usize = PIECE + 3;
    const STATISTICS: usize = VISIBLE + 3 + 16;
    const DEALER: usize = STATISTICS + 32 + 16;
    let mut batch = batch_of(bag_rules(), 1);
    play(&mut batch, 2, &mut Dice::new(1));
    let snapshot = batch.state(0).to_bytes();
    assert_eq!(snapshot.len(), DEALER + 8 + 1 + 8 + 7 + 14 + 8);
    let check = |at: usize, bytes: &[u8], expected: SnapshotError| {
        let mut content = snapshot[..snapshot.len() - 8].to_vec();
        content[at..at + bytes.len()].copy_from_slice(bytes);
        assert_eq!(EnvState::from_bytes(&with_checksum(content)).unwrap_err(), expected, "{bytes:?} at {at}");
    };
    let corrupt = SnapshotError::Corrupt;
    check(0, b"TTRM", corrupt("it does not begin with the mark of a snapshot"));
    check(4, &[7, 0], SnapshotError::UnknownFormat(7));
    check(4, &[0, 0], SnapshotError::UnknownFormat(0));
    let found = RULES_VERSION.replace("tetrion", "textris");
    check(7, found.clone().as_bytes(), SnapshotError::OtherRulesVersion { found });
    check(RULES + 1, &[200], corrupt("its rules have an unknown field"));
    check(RULES + 2, &[3], corrupt("its rules are not playable"));
    check(RULES + 2, &[10], corrupt("its rules repeat a default"));
    check(RULES + 3, &[0], corrupt("its rules have an unknown field")); // the width again
    check(RULES + 8, &[9], corrupt("its rules have an unknown choice"));
    check(ENDED, &[1], corrupt("the end of its episode has an unknown number"));
    check(ENDED, &[7], corrupt("its end is that of a match, and its rules have one player"));
    check(ENDED, &[9], corrupt("the end of its episode has an unknown number"));
    check(ENDED + 1, &[2], corrupt("a flag is neither 0 nor 1"));
    check(PLAYFIELD + 1, &[0b1_0000], corrupt("a cell is full above the playfield"));
    check(PIECE, &[7], corrupt("a piece has an unknown number"));
    check(PIECE, &[0, 24], corrupt("the last landing is not possible"));
    check(VISIBLE, &[255, 255, 255], corrupt("the episode goes on without a current piece"));
    check(VISIBLE + 1, &[255, 0], corrupt("the preview has a piece after the end of its sequence"));
    check(VISIBLE + 2, &[255], corrupt("the preview is shorter than the rules say"));
    check(
        STATISTICS,
        &((1u64 << 53) + 1).to_le_bytes(),
        corrupt("a counter is larger than any game can reach"),
    );
    check(STATISTICS, &u64::MAX.to_le_bytes(), corrupt("a counter is larger than any game can reach"));
    check(STATISTICS + 24, &f64::INFINITY.to_le_bytes(), corrupt("the return of its episode is not finite"));
    check(DEALER + 17, &[0, 0], corrupt("a bag lacks one of the seven tetrominoes"));
    check(DEALER + 24, &[1; 14], corrupt("the counts of the balanced randomizer lack a 0"));
    // Read as a sequence, the seed is a length and letters.
    check(
        DEALER + 8,
        &[1, 4, 0, 0, 0, 0, 1, 2, 3],
        corrupt("it has dealt more pieces than its sequence has"),
    );
    check(DEALER + 8, &[1, 255, 255, 255, 255], corrupt("it is too short"));
}

/// Every state that is accepted and played on can be saved and accepted again, at the ends of every number too.
#[test]
fn snapshots_at_the_ends_of_their_numbers_go_on_as_snapshots() {
    let numbers: Vec<u64> = [0, 1 << 32, 1 << 53, 1 << 63, u64::MAX]
        .into_iter()
        .flat_map(|number| (0..6).map(move |more| number.wrapping_add(more).wrapping_sub(3)))
        .collect();
    let returns = [f64::MAX, f64::MIN, f64::MIN_POSITIVE, -0.0];
    let (mut accepted, mut refused) = (0, 0);
    for randomizer in [Randomizer::Uniform, Randomizer::Bag7, Randomizer::Balanced, Randomizer::Nes] {
        let points = Scoring { piece: 1e15, lines: [1e15; 4], game_end: -1e15 };
        let mut batch = batch_of(Rules { randomizer, scoring: points, ..bag_rules() }, 1);
        play(&mut batch, 2, &mut Dice::new(1));
        let snapshot = batch.state(0).to_bytes();
        // From behind: the checksum, the counts, the bag, the seed, what kind it is, what was dealt, two counts of actions that did
        // not exist, and the statistics.
        let dealt = snapshot.len() - 8 - 14 - 7 - 8 - 1 - 8;
        let [episode_return, length, pieces, lines, index] = [3, 4, 5, 6, 7].map(|back| dealt - 8 * back);
        let integers = [dealt, length, pieces, lines, index].map(|at| (at, numbers.clone()));
        let floats = (episode_return, returns.map(f64::to_bits).to_vec());
        let counts = (dealt + 8 + 1 + 8 + 7, vec![u64::from_le_bytes([255, 255, 255, 255, 255, 255, 0, 0])]);
        for (at, numbers) in integers.into_iter().chain([floats, counts]) {
            for number in numbers {
                let mut content = snapshot[..snapshot.len() - 8].to_vec();
                content[at..at + 8].copy_from_slice(&number.to_le_bytes());
                let is_harmless = harmless(&with_checksum(content));
                let may_be_any = ![length, pieces, lines].contains(&at);
                assert_eq!(is_harmless, may_be_any || number <= 1 << 53, "{number} at {at}");
                *(if is_harmless { &mut accepted } else { &mut refused }) += 1;
            }
        }
    }
    assert!(accepted > 200 && refused > 100, "{accepted} accepted, {refused} refused");
}

#[test]
fn what_a_snapshot_of_key_presses_must_not_hold_is_named() {
    /// Where things stand in a snapshot of a 5 x 7 playfield after a landing.
    const PLAYFIELD: usize = 7 + RULES_VERSION.len() + 1 + 6 * 2 + 2;
    const PIECE: usize = PLAYFIELD + 5 * 8;
    const FALLING: usize = PIECE + 4 + 1;
    let rules = Rules { width: 5, height: 7, ..Rules::preset("lab").unwrap() };
    let mut batch = running(
        EnvConfig { rules, autoreset_mode: AutoresetMode::Disabled, ..EnvConfig::default() },
        &Seeding::from_pieces(vec![sequence("OTO")]),
    );
    for key in [5, 0, 4] {
        batch.step(&[key], None).unwrap();
    }
    // An O lies in columns 1 and 2. A T with its flat side to the left is on its way down above it.
    let snapshot = batch.state(0).to_bytes();
    assert_eq!(snapshot[PIECE..][..4], [1, 0, 2, 0], "the O, as created, its anchor in column 2 of row 0");
    assert_eq!(snapshot[FALLING..][..3], [1, 2, 4], "a turn to the right, its anchor in column 2 of row 4");
    let forged = |at: usize, bytes: &[u8]| {
        let mut content = snapshot[..snapshot.len() - 8].to_vec();
        content[at..at + bytes.len()].copy_from_slice(bytes);
        EnvState::from_bytes(&with_checksum(content))
    };
    let check = |at: usize, bytes: &[u8], problem: &'static str| {
        assert_eq!(forged(at, bytes).unwrap_err(), SnapshotError::Corrupt(problem), "{bytes:?} at {at}");
    };
    let nowhere = "the last landing is not possible";
    check(PIECE + 3, &[1], nowhere); // it could have fallen further
    check(PIECE + 2, &[0], nowhere); // outside of the left wall
    check(PIECE + 2, &[5], nowhere);
    check(PIECE + 1, &[2], nowhere); // its other cells would be below the floor
    check(PIECE + 1, &[4], "an orientation is larger than 3");
    let nowhere = "the position of the falling piece is not possible";
    check(FALLING + 2, &[2], nowhere); // it overlaps the O
    check(FALLING + 2, &[7], nowhere); // above the top row
    check(FALLING + 1, &[4], nowhere); // outside of the right wall
    check(FALLING, &[0, 2, 2], nowhere); // it rests, and would have been locked
    check(FALLING, &[7], "an orientation is larger than 3");
    // Somewhere else in the air, or where it appears, is as good as where it was.
    assert!(forged(FALLING, &[3, 3, 3]).is_ok() && forged(FALLING, &[0, 2, 6]).is_ok());
}
