//! Actions that do not exist: they end an episode or are ignored for a reward, and the infos say which steps had one.

use tetrion_core::engine::{Playfield, Rules, Scoring};
use tetrion_core::env::{
    ActionError, AutoresetMode, EnvBatch, EnvConfig, Field, InvalidActionPolicy, RefusedAction, Seeding,
    StepError,
};

use super::model::sequence;
use super::{config, letters, numbers, running, see};

#[test]
fn an_action_that_does_not_exist_can_end_the_episode_instead() {
    let scoring = Scoring { piece: 1.0, game_end: -7.25, ..Scoring::LINES };
    let rules = Rules { scoring, ..Rules::simplified(6, 5) };
    let invalid_action_policy = InvalidActionPolicy::Terminate;
    let config = EnvConfig { rules, invalid_action_policy, ..config(2, AutoresetMode::Disabled) };
    let mut batch = running(config, &Seeding::from_pieces(vec![sequence("OIT")]));
    let outcome = batch.step(&[5, 4], None).unwrap();
    assert_eq!((outcome.rewards, outcome.terminated), (vec![-7.25, 1.0], vec![true, false]));
    assert_eq!(batch.playfield(0), Playfield::empty(6, 5));
    assert_eq!((letters(&batch, 0), letters(&batch, 1)), ("O".to_owned(), "I".to_owned()));
    assert_eq!((numbers(&batch, Field::Pieces), numbers(&batch, Field::Steps)), (vec![0, 1], vec![1, 1]));
    let beyond = StepError::Action(ActionError::OutOfRange {
        actions: vec![RefusedAction { row: 0, action: 24 }],
        num_actions: 24,
    });
    assert_eq!(batch.step(&[24], Some(&[1])).unwrap_err(), beyond);
}

#[test]
fn an_action_that_does_not_exist_can_be_ignored_for_a_reward_of_its_own() {
    let scoring = Scoring { piece: 1.0, game_end: -7.25, ..Scoring::LINES };
    let rules = Rules { scoring, ..Rules::simplified(6, 5) };
    let invalid_action_policy = InvalidActionPolicy::Ignore { reward: -0.1 };
    let config = EnvConfig { rules, invalid_action_policy, ..config(2, AutoresetMode::Disabled) };
    let mut batch = running(config, &Seeding::from_pieces(vec![sequence("OIT")]));
    let mask = see(&batch, Field::ActionMask, None);
    let outcome = batch.step(&[5, 4], None).unwrap();
    assert_eq!((outcome.rewards, outcome.terminated), (vec![-0.1, 1.0], vec![false, false]));
    assert_eq!(batch.playfield(0), Playfield::empty(6, 5));
    assert_eq!((letters(&batch, 0), letters(&batch, 1)), ("O".to_owned(), "I".to_owned()));
    assert_eq!((numbers(&batch, Field::Pieces), numbers(&batch, Field::Steps)), (vec![0, 1], vec![1, 1]));
    assert_eq!(see(&batch, Field::ActionMask, None)[..24], mask[..24], "what could be done still can");
    // The return adds up the unrounded rewards, and the next step is one like any other.
    assert_eq!(batch.step(&[11, 0], None).unwrap().rewards, [-0.1, 1.0]);
    assert_eq!(batch.statistics(0).episode_return, -0.1 - 0.1);
    assert_eq!(batch.step(&[0], Some(&[0])).unwrap().rewards, [1.0]);
    assert_eq!(letters(&batch, 0), "I");
    let beyond = StepError::Action(ActionError::OutOfRange {
        actions: vec![RefusedAction { row: 0, action: 24 }],
        num_actions: 24,
    });
    assert_eq!(batch.step(&[24], Some(&[0])).unwrap_err(), beyond);
}

#[test]
fn ignored_actions_use_up_the_steps_of_an_episode() {
    let invalid_action_policy = InvalidActionPolicy::Ignore { reward: 0.0 };
    let config =
        EnvConfig { invalid_action_policy, max_episode_steps: 3, ..config(1, AutoresetMode::Disabled) };
    let mut batch = running(config, &Seeding::from_pieces(vec![sequence("OIT")]));
    for truncated in [false, false, true] {
        let outcome = batch.step(&[5], None).unwrap();
        assert_eq!((outcome.terminated[0], outcome.truncated[0]), (false, truncated));
    }
    assert_eq!((numbers(&batch, Field::InvalidActions), letters(&batch, 0)), (vec![3], "O".to_owned()));
}

#[test]
fn the_infos_say_which_steps_had_an_action_that_did_not_exist() {
    let reported = |batch: &EnvBatch| {
        (see(batch, Field::InvalidAction, None)[0], numbers(batch, Field::InvalidActions)[0])
    };
    let ignore = InvalidActionPolicy::Ignore { reward: -1.0 };
    for mode in [AutoresetMode::NextStep, AutoresetMode::SameStep, AutoresetMode::Disabled] {
        let config = EnvConfig { invalid_action_policy: ignore, ..config(1, mode) };
        let mut batch = running(config, &Seeding::from_pieces(vec![sequence("OIT")]));
        assert_eq!(reported(&batch), (0, 0));
        for (action, expected) in [(5, (1, 1)), (5, (1, 2)), (0, (0, 2)), (5, (0, 2)), (6, (0, 2))] {
            if batch.has_ended(0) {
                break;
            }
            batch.step(&[action], None).unwrap();
            // The third piece is the last one; the step that lands it ends the episode.
            if batch.statistics(0).steps > 0 {
                assert_eq!(reported(&batch), expected, "{mode:?}");
            }
        }
    }
    for mode in [AutoresetMode::NextStep, AutoresetMode::SameStep, AutoresetMode::Disabled] {
        let invalid_action_policy = InvalidActionPolicy::Terminate;
        let config = EnvConfig { invalid_action_policy, ..config(1, mode) };
        let mut batch = running(config, &Seeding::from_pieces(vec![sequence("OIT")]));
        batch.step(&[0], None).unwrap();
        // An upright I stands in every column, and a lying one does not in column 5.
        let end = batch.step(&[11], None).unwrap();
        assert!(end.terminated[0]);
        if mode == AutoresetMode::SameStep {
            let mut last = Vec::new();
            batch.observe_finals(Field::InvalidAction, &end.finals, &mut last);
            batch.observe_finals(Field::InvalidActions, &end.finals, &mut last);
            assert_eq!(last, [1, 1, 0, 0, 0, 0, 0, 0, 0], "in the last state of the old episode");
        } else {
            assert_eq!(reported(&batch), (1, 1), "{mode:?}");
            batch.reset(None, None).unwrap();
        }
        assert_eq!(reported(&batch), (0, 0), "a new episode");
    }
}

#[test]
fn the_reward_of_ignored_actions_is_a_finite_number() {
    for reward in [f64::NAN, f64::NEG_INFINITY, 1.1e15] {
        let invalid_action_policy = InvalidActionPolicy::Ignore { reward };
        let config = EnvConfig { invalid_action_policy, ..EnvConfig::default() };
        let error = EnvBatch::new(config, &Seeding::Seed(1)).unwrap_err();
        let expected = "expected a finite number of at most 1e15 in size";
        assert_eq!(error.to_string(), format!("invalid_action_reward is {reward}, {expected}"));
    }
}
