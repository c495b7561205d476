//! Environments in which the playfield decides which actions exist: pieces that walk to their column, spawns that are
//! blocked.

use tetrion_core::engine::{
    Landed, Placement, Playfield, Reach, Rules, Scoring, Tetromino, TopOut, is_blocked, placements,
};
use tetrion_core::env::{
    ActionError, AutoresetMode, EnvBatch, EnvConfig, Field, InvalidActionPolicy, PositionError, RestoreError,
    Restored, Seeding, StartPosition, StepError,
};

use super::{Dice, random_actions, see};

fn rule_sets() -> Vec<Rules> {
    let scoring = Scoring { piece: 0.25, lines: [1.0, 2.0, 4.0, 8.0], game_end: -3.0 };
    let genetic = Rules { width: 6, height: 7, scoring, ..Rules::preset("genetic").unwrap() };
    let blocked = Rules { top_out: TopOut::SpawnBlocked, scoring, ..Rules::simplified(7, 6) };
    vec![
        genetic,
        Rules { top_out: TopOut::SpawnBlocked, ..genetic },
        Rules { top_out: TopOut::Overflow, ..genetic },
        Rules { width: 18, top_out: TopOut::AboveField, ..genetic },
        blocked,
        Rules { reach: Reach::SidewaysWalk, preview: 2, ..blocked },
    ]
}

/// Random games, each step of which is repeated with the engine alone.
#[test]
fn masks_steps_and_ends_are_those_of_the_engine() {
    let (mut hidden, mut blocked_ends, mut steps) = (0, 0, 0);
    for rules in rule_sets() {
        let config = EnvConfig { rules, autoreset_mode: AutoresetMode::Disabled, ..EnvConfig::default() };
        let mut batch = EnvBatch::new(config, &Seeding::Seed(4)).unwrap();
        let mut dice = Dice::new(9);
        for _ in 0..150 {
            batch.reset(None, None).unwrap();
            let mut playfield = Playfield::empty(rules.width, rules.height);
            while !batch.has_ended(0) {
                let piece = batch.pieces(0)[0];
                let all = placements(&rules, &playfield, piece);
                let mask: Vec<u8> = (0..rules.num_actions())
                    .map(|action| all.contains(Placement::from_action(action, &rules)).into())
                    .collect();
                assert_eq!(see(&batch, Field::ActionMask, None), mask, "{piece} on\n{playfield}");
                let on_an_empty_one = Playfield::empty(rules.width, rules.height);
                hidden += placements(&rules, &on_an_empty_one, piece).len() - all.len();

                let action = random_actions(&batch, &mut dice)[0];
                let outcome = batch.step(&[action], None).unwrap();
                let placement = Placement::from_action(action as u32, &rules);
                let shape = placement.shape(&rules, piece).unwrap();
                let Landed { lines, terminal: topped_out, .. } =
                    playfield.drop(shape, placement.column, rules.top_out);
                assert_eq!(batch.playfield(0), playfield);
                let blocked = is_blocked(&rules, &playfield, batch.pieces(0)[0]);
                let over = topped_out || blocked;
                blocked_ends += u32::from(blocked && !topped_out);
                let reward = rules.reward(lines, over.into()) as f32;
                assert_eq!((outcome.rewards[0], outcome.terminated[0]), (reward, over));
                steps += 1;
            }
        }
    }
    assert!(hidden > 1000 && blocked_ends > 100, "{hidden} hidden, {blocked_ends} blocked, {steps} steps");
}

#[test]
fn what_the_playfield_hides_is_no_action() {
    let rules = rule_sets()[0];
    // Only its right side is open to an upright I, which appears in column 3.
    let playfield =
        Playfield::from_drawing(6, 7, "..#.../..#.../..#.../..#.../..#.../..#.../..#...").unwrap();
    let rules = Rules { top_out: TopOut::Overflow, ..rules };
    let config = EnvConfig { rules, ..EnvConfig::default() };
    let mut batch = EnvBatch::new(config.clone(), &Seeding::Seed(1)).unwrap();
    batch.reset(None, None).unwrap();
    let position = StartPosition { playfield, piece: Tetromino::I, queue: Vec::new(), held: None };
    batch.restore(None, Restored::Positions(std::slice::from_ref(&position)), None).unwrap();
    assert_eq!(see(&batch, Field::ActionMask, None)[..6], [0, 0, 0, 1, 1, 1]);
    assert!(matches!(batch.step(&[1], None), Err(StepError::Action(ActionError::Illegal { .. }))));
    assert_eq!(batch.playfield(0), playfield, "nothing has happened");

    let terminate = EnvConfig { invalid_action_policy: InvalidActionPolicy::Terminate, ..config };
    let mut batch = EnvBatch::new(terminate, &Seeding::Seed(1)).unwrap();
    batch.reset(None, None).unwrap();
    batch.restore(None, Restored::Positions(&[position]), None).unwrap();
    let outcome = batch.step(&[1], None).unwrap();
    assert_eq!((outcome.rewards[0], outcome.terminated[0]), (-3.0, true));
    assert_eq!((batch.playfield(0), batch.statistics(0).pieces), (playfield, 0));
}

#[test]
fn a_position_whose_piece_cannot_come_into_play_is_refused() {
    for rules in rule_sets().into_iter().filter(|rules| rules.top_out == TopOut::SpawnBlocked) {
        let config = EnvConfig { rules, ..EnvConfig::default() };
        let mut batch = EnvBatch::new(config, &Seeding::Seed(1)).unwrap();
        batch.reset(None, None).unwrap();
        let mut columns = vec![0; rules.width.into()];
        columns[usize::from(rules.width / 2)] = (1 << rules.height) - 1;
        let playfield = Playfield::from_columns(rules.width, rules.height, &columns);
        let position = StartPosition { playfield, piece: Tetromino::T, queue: Vec::new(), held: None };
        let refused = batch.restore(None, Restored::Positions(&[position]), None);
        assert_eq!(refused, Err(RestoreError::Position { row: 0, error: PositionError::GameOver }));
    }
}
