//! Snapshots and positions: what comes back, what is refused, and that a refusal changes nothing.

use tetrion_core::engine::rng::{Tag, word};
use tetrion_core::engine::{Playfield, RULES_VERSION, Randomizer, Rules, Tetromino};
use tetrion_core::env::{
    AutoresetMode, EnvBatch, EnvConfig, EnvIdError, EnvState, FIELDS, InvalidActionPolicy, PositionError,
    RestoreError, Restored, Seeding, SnapshotError, StartPosition, WrongLength,
};
use tetrion_core::features::FeatureSet;

use super::model::sequence;
use super::{Dice, Field, golden, letters, numbers, random_actions, running, see};
use tetrion_testing::with_checksum;
use tetrion_twins::bag7_sequence;

pub(super) fn bag_rules() -> Rules {
    Rules { randomizer: Randomizer::Bag7, preview: 2, ..Rules::simplified(6, 12) }
}

pub(super) fn batch_of(rules: Rules, num_envs: u32) -> EnvBatch {
    running(EnvConfig { rules, num_envs, ..EnvConfig::default() }, &Seeding::Seed(11))
}

pub(super) fn play(batch: &mut EnvBatch, num_steps: usize, dice: &mut Dice) {
    for _ in 0..num_steps {
        let actions = random_actions(batch, dice);
        batch.step(&actions, None).unwrap();
    }
}

pub(super) fn everything(batch: &EnvBatch) -> Vec<Vec<u8>> {
    FIELDS.iter().map(|info| see(batch, info.field, None)).collect()
}

#[test]
fn a_snapshot_replays_as_often_as_it_is_restored() {
    let features = Some(FeatureSet::named("bdu", 6).unwrap());
    let config = EnvConfig { rules: bag_rules(), features, ..EnvConfig::default() };
    let mut batch = running(config.clone(), &Seeding::Seed(1));
    play(&mut batch, 9, &mut Dice::new(1));
    let snapshot = batch.state(0).to_bytes();
    let then = everything(&batch);
    play(&mut batch, 100, &mut Dice::new(2));
    let later = everything(&batch);
    let mut elsewhere = EnvBatch::new(config, &Seeding::Seed(999)).unwrap();
    for _ in 0..3 {
        for batch in [&mut batch, &mut elsewhere] {
            let state = EnvState::from_bytes(&snapshot).unwrap();
            batch.restore(None, Restored::States(&[state]), None).unwrap();
            assert_eq!(batch.state(0).to_bytes(), snapshot);
            assert_eq!(everything(batch), then);
            play(batch, 100, &mut Dice::new(2));
            assert_eq!(everything(batch), later);
        }
    }
}

#[test]
fn pieces_go_on_where_a_state_was_taken_and_reseeding_keeps_the_open_bag() {
    for randomizer in [Randomizer::Uniform, Randomizer::Bag7, Randomizer::Balanced, Randomizer::Nes] {
        let rules = Rules { randomizer, preview: 0, height: 28, ..bag_rules() };
        let mut batch = batch_of(rules, 1);
        play(&mut batch, 9, &mut Dice::new(1));
        let states = [batch.state(0)];
        let before = states[0].deal(40);
        play(&mut batch, 1, &mut Dice::new(1));
        assert_eq!(batch.state(0).deal(39), before[1..], "{randomizer:?}");
        batch.restore(None, Restored::States(&states), Some(8)).unwrap();
        let after = batch.state(0).deal(40);
        assert_ne!(before, after, "{randomizer:?}");
        if randomizer == Randomizer::Bag7 {
            assert_eq!(before[..5], after[..5], "pieces 9..14 are in the open bag");
        }
        // An episode has forgotten the one before.
        batch.reset(None, Some(&Seeding::Seed(8))).unwrap();
        let mut new = EnvBatch::new(batch.config().clone(), &Seeding::Seed(8)).unwrap();
        new.reset(None, None).unwrap();
        assert_eq!(batch.state(0).deal(100), new.state(0).deal(100), "{randomizer:?}");
    }
}

#[test]
fn one_state_for_all_is_a_fork() {
    let mut batch = batch_of(bag_rules(), 4);
    play(&mut batch, 5, &mut Dice::new(1));
    let state = batch.state(2);
    batch.restore(Some(&[0, 3]), Restored::States(std::slice::from_ref(&state)), None).unwrap();
    assert_eq!((batch.state(0), batch.state(3)), (state.clone(), state.clone()));
    assert_ne!(batch.state(1), state);
}

#[test]
fn reseeding_changes_what_is_not_to_be_seen_yet() {
    let rules = Rules { height: 28, ..bag_rules() };
    let mut batch = running(
        EnvConfig { rules, num_envs: 3, autoreset_mode: AutoresetMode::Disabled, ..EnvConfig::default() },
        &Seeding::Seeds(vec![42, 1, 2]),
    );
    // Environment 0 is in its second episode; of its first bag five pieces have been dealt, two of them landed.
    batch.reset(Some(&[0]), None).unwrap();
    let episode_seed = word(42, Tag::Episode, 1);
    let bag = &bag7_sequence(episode_seed, 1)[..7];
    for _ in 0..2 {
        let actions = random_actions(&batch, &mut Dice::new(3));
        batch.step(&actions[..1], Some(&[0])).unwrap();
    }
    assert_eq!(letters(&batch, 0), bag[2..5]);
    let state = batch.state(0);
    batch.restore(Some(&[2, 0]), Restored::States(&[state]), Some(77)).unwrap();
    for (row, env_id) in [(0, 2), (1, 0)] {
        let seed = word(77, Tag::Reseed, row);
        assert_eq!(numbers(&batch, Field::Seed)[env_id as usize], seed);
        assert_eq!(letters(&batch, env_id), bag[2..5], "what is visible stays");
        let mut dealt = letters(&batch, env_id);
        for _ in 0..4 {
            let actions = random_actions(&batch, &mut Dice::new(3));
            batch.step(&actions[env_id as usize..][..1], Some(&[env_id])).unwrap();
            dealt.extend(letters(&batch, env_id).chars().last());
        }
        // The open bag stays as well; the next one is bag 1 of the new seed.
        assert_eq!(dealt, format!("{}{}", &bag[2..], &bag7_sequence(seed, 2)[7..9]));
        batch.reset(Some(&[env_id]), None).unwrap();
        assert_eq!(numbers(&batch, Field::Seed)[env_id as usize], word(seed, Tag::Episode, 2));
    }
    batch.reset(Some(&[1]), Some(&Seeding::from_pieces(vec![sequence("IOTZ")]))).unwrap();
    let state = batch.state(1);
    batch.restore(Some(&[1]), Restored::States(std::slice::from_ref(&state)), Some(77)).unwrap();
    assert_eq!(batch.state(1), state, "a sequence has no seed");
}

#[test]
fn a_pending_reset_is_part_of_the_state() {
    let rules = Rules::simplified(6, 5);
    let with_mode = |autoreset_mode| EnvConfig { rules, autoreset_mode, ..EnvConfig::default() };
    let mut batch =
        running(with_mode(AutoresetMode::NextStep), &Seeding::from_pieces(vec![sequence("IIOT")]));
    batch.step(&[0], None).unwrap();
    assert!(batch.step(&[0], None).unwrap().terminated[0]);
    let state = EnvState::from_bytes(&batch.state(0).to_bytes()).unwrap();
    assert!(state.has_ended());
    for mode in [AutoresetMode::NextStep, AutoresetMode::SameStep, AutoresetMode::Disabled] {
        let mut other = EnvBatch::new(with_mode(mode), &Seeding::Seed(1)).unwrap();
        other.restore(None, Restored::States(std::slice::from_ref(&state)), None).unwrap();
        assert_eq!(everything(&other), everything(&batch));
        let outcome = other.step(&[-1], None);
        if mode == AutoresetMode::Disabled {
            assert!(outcome.is_err());
        } else {
            let outcome = outcome.unwrap();
            assert_eq!((outcome.rewards, outcome.terminated), (vec![0.0], vec![false]), "{mode:?}");
            assert_eq!((other.playfield(0), letters(&other, 0)), (Playfield::empty(6, 5), "I".to_owned()));
        }
    }
}

#[test]
fn an_episode_can_begin_from_a_drawing() {
    let rules = Rules { preview: 3, ..Rules::simplified(5, 6) };
    let config = EnvConfig { rules, num_envs: 2, ..EnvConfig::default() };
    let mut batch = EnvBatch::new(config, &Seeding::Seeds(vec![42, 7])).unwrap();
    let playfield = Playfield::from_drawing(5, 6, "#####\n.####").unwrap();
    let position = StartPosition { playfield, piece: Tetromino::I, queue: vec![Tetromino::O], held: None };
    batch.restore(Some(&[0]), Restored::Positions(std::slice::from_ref(&position)), None).unwrap();
    assert_eq!(batch.playfield(0), playfield, "full rows stay until a landing clears them");
    // 42 deals TLZISIO...: the two pieces given stand for the first two.
    assert_eq!(letters(&batch, 0), "IOZI");
    assert_eq!(numbers(&batch, Field::Seed)[0], 42, "the episode that a reset would begin");
    assert!(batch.check(Some(&[1])).is_err(), "the other one has not begun");
    // On top of the full row: one row is cleared, and then the next step has nothing drawn left to clear.
    batch.step(&[0], Some(&[0])).unwrap();
    assert_eq!(batch.statistics(0).lines, 1);
    assert_eq!(batch.playfield(0).to_string(), ".....\n#....\n#....\n#....\n#....\n.####");
    assert_eq!(letters(&batch, 0), "OZIS");
    batch.restore(Some(&[0]), Restored::Positions(&[position]), None).unwrap();
    assert_eq!(numbers(&batch, Field::Seed)[0], word(42, Tag::Episode, 1));
}

#[test]
fn a_refused_restore_changes_nothing() {
    let batch = batch_of(bag_rules(), 3);
    let state = batch.state(1);
    let other = batch_of(Rules { preview: 3, ..bag_rules() }, 1).state(0);
    let position = |width, queue: &str| {
        let queue = sequence(queue).to_vec();
        StartPosition { playfield: Playfield::empty(width, 12), piece: Tetromino::T, queue, held: None }
    };
    #[track_caller]
    fn check(env_ids: Option<&[u32]>, restored: Restored<'_>, expected: RestoreError) {
        let mut batch = batch_of(bag_rules(), 3);
        play(&mut batch, 3, &mut Dice::new(1));
        let before: Vec<EnvState> = (0..3).map(|env_id| batch.state(env_id)).collect();
        assert_eq!(batch.restore(env_ids, restored, Some(5)).unwrap_err(), expected);
        assert_eq!((0..3).map(|env_id| batch.state(env_id)).collect::<Vec<_>>(), before);
    }
    let one = [state.clone()];
    let unknown = EnvIdError::Unknown { row: 1, env_id: 3, num_envs: 3 };
    check(Some(&[0, 3]), Restored::States(&one), unknown.into());
    check(Some(&[2, 2]), Restored::States(&one), EnvIdError::Repeated { row: 1, env_id: 2 }.into());
    let two = [state.clone(), other];
    check(None, Restored::States(&two), WrongLength { what: "states", got: 2, rows: 3 }.into());
    check(None, Restored::States(&[]), WrongLength { what: "states", got: 0, rows: 3 }.into());
    check(Some(&[0, 1]), Restored::States(&two), RestoreError::OtherRules { row: 1 });
    let two = [position(6, "OI"), position(5, "")];
    let error = PositionError::Size { got: (5, 12), expected: (6, 12) };
    check(Some(&[0, 1]), Restored::Positions(&two), RestoreError::Position { row: 1, error });
    let error = PositionError::Queue { got: 3, preview: 2 };
    check(None, Restored::Positions(&[position(6, "OIT")]), RestoreError::Position { row: 0, error });
    check(None, Restored::Positions(&[]), WrongLength { what: "positions", got: 0, rows: 3 }.into());
}

#[test]
fn actions_that_did_not_exist_are_in_a_snapshot() {
    /// Where things stand in a snapshot of a 6 x 12 playfield before the first landing, with a preview of 2.
    const STATISTICS: usize = 7 + RULES_VERSION.len() + 1 + 4 * 2 + 2 + 6 * 8 + 3 + 16;
    const INVALID: usize = STATISTICS + 32;
    let with_policy = |invalid_action_policy| EnvConfig {
        rules: bag_rules(),
        invalid_action_policy,
        ..EnvConfig::default()
    };
    let mut batch = running(with_policy(InvalidActionPolicy::Ignore { reward: -0.5 }), &Seeding::Seed(11));
    for action in [23, 17] {
        batch.step(&[action], None).unwrap();
    }
    let snapshot = batch.state(0).to_bytes();
    assert_eq!(numbers(&batch, Field::InvalidActions), [2]);
    let then = everything(&batch);

    // Sessions of every policy accept it, and show the same.
    let policies = [InvalidActionPolicy::Reject, InvalidActionPolicy::Ignore { reward: 3.0 }];
    for policy in policies.into_iter().chain([InvalidActionPolicy::Terminate]) {
        let mut other = running(with_policy(policy), &Seeding::Seed(1));
        let state = EnvState::from_bytes(&snapshot).unwrap();
        other.restore(None, Restored::States(&[state]), None).unwrap();
        assert_eq!(everything(&other), then, "{policy:?}");
        assert_eq!(other.state(0).to_bytes(), snapshot);
        play(&mut other, 1, &mut Dice::new(1));
        assert_eq!(
            (see(&other, Field::InvalidAction, None), numbers(&other, Field::InvalidActions)),
            (vec![0], vec![2])
        );
    }

    let forged = |at: usize, bytes: &[u8]| {
        let mut content = snapshot[..snapshot.len() - 8].to_vec();
        content[at..at + bytes.len()].copy_from_slice(bytes);
        EnvState::from_bytes(&with_checksum(content))
    };
    let refused =
        Err(SnapshotError::Corrupt("the number of invalid actions does not fit the number of steps"));
    assert_eq!(forged(INVALID, &[0]), refused, "none, and yet a last one");
    assert_eq!(forged(INVALID, &[3]), refused, "more than steps up to the last one");
    assert_eq!(forged(INVALID + 8, &[3]), refused, "one after the last step");
    assert_eq!(forged(INVALID, &[255; 16]), refused);
    assert!(forged(INVALID, &[1]).is_ok());
}

#[test]
fn counters_at_their_end_stay_there() {
    let invalid_action_policy = InvalidActionPolicy::Ignore { reward: 0.0 };
    let config = EnvConfig { rules: bag_rules(), invalid_action_policy, ..EnvConfig::default() };
    let mut batch = running(config, &Seeding::Seed(1));
    let mask = see(&batch, Field::ActionMask, None);
    let [ignored, taken] =
        [0, 1].map(|exists| mask.iter().position(|&known| known == exists).unwrap() as i32);
    batch.step(&[ignored], None).unwrap();
    let mut content = batch.state(0).to_bytes();
    content.truncate(content.len() - 8);
    // From behind: the counts, the bag, the seed, what kind it is, what was dealt; then the last such step, their number, the
    // return, and the three counters.
    let dealt = content.len() - 14 - 7 - 8 - 1 - 8;
    for back in [1, 2, 4, 5, 6] {
        let at = dealt - 8 * back;
        content[at..at + 8].copy_from_slice(&(1u64 << 53).to_le_bytes());
    }
    let state = EnvState::from_bytes(&with_checksum(content)).unwrap();
    batch.restore(None, Restored::States(&[state]), None).unwrap();
    for action in [ignored, taken] {
        batch.step(&[action], None).unwrap();
        assert_eq!(numbers(&batch, Field::InvalidActions)[0], 1 << 53);
        assert_eq!(EnvState::from_bytes(&batch.state(0).to_bytes()), Ok(batch.state(0)));
    }
}

/// A snapshot of long ago must still be read: the bytes are part of the promise.
#[test]
fn snapshots_stay_what_they_are() {
    let mut batch = batch_of(bag_rules(), 1);
    play(&mut batch, 6, &mut Dice::new(1));
    let bytes = batch.state(0).to_bytes();
    let hex: Vec<String> =
        bytes.chunks(32).map(|line| line.iter().map(|byte| format!("{byte:02x}")).collect()).collect();
    golden("snapshot_bag7_6x12.txt", &format!("{}\n", hex.join("\n")));
}
