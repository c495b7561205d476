//! Environments: episodes, seeds, modes, refusals, observations.

mod forged_snapshots;
mod garbage;
mod invalid_actions;
mod key_game;
mod key_promises;
mod keys;
mod matches;
mod model;
mod modern;
mod modern_game;
mod modern_keys;
mod playthroughs;
mod snapshots;
mod walks;
mod wander;

use std::path::Path;

use tetrion_core::engine::rng::{Tag, below, word};
use tetrion_core::engine::{Playfield, Rules, Scoring};
use tetrion_core::env::{
    ActionError, AutoresetMode, CreateError, DataType, EnvBatch, EnvConfig, EnvIdError, FIELDS, Field,
    NotReset, ReadError, RefusedAction, ResetError, Seeding, SeedingError, StepError, WrongLength,
};

use model::sequence;
use tetrion_twins::uniform_sequence;

/// Numbers for a test, the same on every run.
struct Dice {
    seed: u64,
    thrown: u64,
}

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice { seed, thrown: 0 }
    }

    fn word(&mut self) -> u64 {
        self.thrown += 1;
        word(self.seed, Tag::Agent, self.thrown)
    }

    fn below(&mut self, bound: usize) -> usize {
        below(self.word(), bound as u64) as usize
    }
}

fn see(batch: &EnvBatch, field: Field, env_ids: Option<&[u32]>) -> Vec<u8> {
    let mut bytes = Vec::new();
    batch.observe(field, env_ids, &mut bytes);
    bytes
}

/// A field of one number of 64 bits for each environment.
fn numbers(batch: &EnvBatch, field: Field) -> Vec<u64> {
    see(batch, field, None).chunks(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

fn letters(batch: &EnvBatch, env_id: u32) -> String {
    batch.pieces(env_id).iter().map(|piece| piece.letter()).collect()
}

/// A random placement for each environment; 0 for those that wait for a reset.
fn random_actions(batch: &EnvBatch, dice: &mut Dice) -> Vec<i32> {
    tetrion_testing::random_actions(batch, |bound| dice.below(bound))
}

/// Compares a text with a file of tests/data/playthroughs; `UPDATE_GOLDEN=1 cargo test` writes it anew.
#[track_caller]
fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/playthroughs").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert!(
        text == golden,
        "{} is not what was played; UPDATE_GOLDEN=1 writes it anew:\n{text}",
        path.display()
    );
}

fn running(config: EnvConfig, seeding: &Seeding) -> EnvBatch {
    let mut batch = EnvBatch::new(config, seeding).unwrap();
    batch.reset(None, None).unwrap();
    batch
}

fn config(num_envs: u32, autoreset_mode: AutoresetMode) -> EnvConfig {
    EnvConfig { num_envs, autoreset_mode, rules: Rules::simplified(6, 5), ..EnvConfig::default() }
}

#[test]
fn a_batch_is_refused_when_its_parts_do_not_fit() {
    #[track_caller]
    fn check(rules: Rules, num_envs: u32, seeding: Seeding, expected: CreateError) {
        let config = EnvConfig { rules, num_envs, ..EnvConfig::default() };
        assert_eq!(EnvBatch::new(config, &seeding).unwrap_err(), expected);
    }
    let wrong = |what, got| SeedingError::from(WrongLength { what, got, rows: 3 }).into();
    let ok = Rules::default();
    let too_wide = Rules::simplified(33, 20).check().unwrap_err().into();
    check(Rules::simplified(33, 20), 1, Seeding::Seed(1), too_wide);
    check(ok, 0, Seeding::Seed(1), CreateError::NoEnvironments);
    check(ok, 3, Seeding::Seeds(vec![1, 2]), wrong("seeds", 2));
    check(ok, 3, Seeding::Seeds(vec![1]), wrong("seeds", 1));
    check(ok, 3, Seeding::from_pieces(vec![sequence("I"); 2]), wrong("piece sequences", 2));
    check(ok, 3, Seeding::from_pieces(vec![]), wrong("piece sequences", 0));
    let sequences = vec![sequence("I"), sequence("OT"), sequence("")];
    check(ok, 3, Seeding::from_pieces(sequences), SeedingError::EmptySequence(2).into());
}

/// Each refused call, and then the proof that it changed nothing: the batch goes on exactly as one that never received it.
#[test]
fn a_refused_call_changes_nothing() {
    let unseen_by = |call: &dyn Fn(&mut EnvBatch)| {
        let play = |call: &dyn Fn(&mut EnvBatch)| {
            let mut batch = running(config(4, AutoresetMode::Disabled), &Seeding::Seed(5));
            let mut dice = Dice::new(1);
            while !batch.has_ended(0) {
                batch.step(&random_actions(&batch, &mut dice)[..1], Some(&[0])).unwrap();
            }
            call(&mut batch);
            let mut story: Vec<Vec<u8>> = FIELDS.iter().map(|info| see(&batch, info.field, None)).collect();
            batch.step(&random_actions(&batch, &mut dice)[1..], Some(&[1, 2, 3])).unwrap();
            batch.reset(None, None).unwrap();
            story.extend(FIELDS.iter().map(|info| see(&batch, info.field, None)));
            story
        };
        assert_eq!(play(call), play(&|_| {}));
    };
    let step = |actions: &'static [i32], env_ids: Option<&'static [u32]>, expected: StepError| {
        unseen_by(&|batch| assert_eq!(batch.step(actions, env_ids).unwrap_err(), expected));
    };
    let refused = |row, action| RefusedAction { row, action };
    let none = EnvIdError::Unknown { row: 1, env_id: 4, num_envs: 4 };
    let twice = EnvIdError::Repeated { row: 2, env_id: 1 };
    step(&[0, 0], Some(&[1, 4]), none.into());
    step(&[0, 0, 0], Some(&[1, 3, 1]), twice.into());
    step(&[0, 0, 0], None, WrongLength { what: "actions", got: 3, rows: 4 }.into());
    step(&[0], Some(&[]), WrongLength { what: "actions", got: 1, rows: 0 }.into());
    step(&[0, 0, 0, 0], None, StepError::Action(ActionError::EpisodeEnded { env_ids: vec![0] }));
    step(&[0, 0], Some(&[2, 0]), StepError::Action(ActionError::EpisodeEnded { env_ids: vec![0] }));
    let actions = vec![refused(1, 24), refused(2, -1)];
    step(
        &[0, 24, -1],
        Some(&[1, 2, 3]),
        StepError::Action(ActionError::OutOfRange { actions, num_actions: 24 }),
    );
    // No piece has an orientation 1 at the rightmost column: every one of them is two columns wide or more.
    let actions = vec![refused(0, 11), refused(2, 11)];
    step(&[11, 0, 11], Some(&[1, 2, 3]), StepError::Action(ActionError::Illegal { actions }));

    let reset = |env_ids: Option<&'static [u32]>, seeding: Option<Seeding>, expected: ResetError| {
        unseen_by(&|batch| assert_eq!(batch.reset(env_ids, seeding.as_ref()).unwrap_err(), expected));
    };
    let wrong = |what, got, rows| SeedingError::from(WrongLength { what, got, rows }).into();
    let seeds = |seeds: &[u64]| Some(Seeding::Seeds(seeds.to_vec()));
    reset(Some(&[1, 4]), None, none.into());
    reset(Some(&[1, 3, 1]), None, twice.into());
    reset(Some(&[1]), seeds(&[]), wrong("seeds", 0, 1));
    reset(None, seeds(&[9]), wrong("seeds", 1, 4));
    reset(None, Some(Seeding::from_pieces(vec![])), wrong("piece sequences", 0, 4));
}

#[test]
fn nothing_can_be_done_before_the_first_reset() {
    let mut batch = EnvBatch::new(config(3, AutoresetMode::NextStep), &Seeding::Seed(1)).unwrap();
    let not_reset = |env_ids: &[u32]| NotReset { env_ids: env_ids.into() };
    assert_eq!(batch.check(None), Err(ReadError::NotReset(not_reset(&[0, 1, 2]))));
    assert_eq!(batch.step(&[0, 0, 0], None).unwrap_err(), not_reset(&[0, 1, 2]).into());
    assert_eq!(see(&batch, Field::ActionMask, None), vec![0; 72]);
    batch.reset(Some(&[1]), None).unwrap();
    assert_eq!(batch.check(Some(&[1])), Ok(()));
    assert_eq!(batch.step(&[0, 0, 0], None).unwrap_err(), not_reset(&[0, 2]).into());
    assert!(batch.step(&[0], Some(&[1])).is_ok());
    // The others have lost no episode by it: their first one is episode 0.
    batch.reset(Some(&[0, 2]), None).unwrap();
    assert_eq!(
        numbers(&batch, Field::Seed),
        (0..3).map(|i| word(1, Tag::Environment, i)).collect::<Vec<_>>()
    );
}

#[test]
fn the_kth_episode_has_the_kth_seed() {
    let mut batch = EnvBatch::new(EnvConfig::default(), &Seeding::Seed(42)).unwrap();
    batch.reset(None, None).unwrap();
    assert_eq!(numbers(&batch, Field::Seed), [18201609923829866926]);
    assert_eq!(letters(&batch, 0), "I");
    batch.reset(None, None).unwrap();
    assert_eq!(numbers(&batch, Field::Seed), [895781483804002453]);
    assert_eq!(letters(&batch, 0), "J");
    batch.reset(None, None).unwrap();
    assert_eq!(numbers(&batch, Field::Seed), [word(18201609923829866926, Tag::Episode, 2)]);
    // A seed starts the count again, and the seed that the infos reported replays its episode.
    batch.reset(None, Some(&Seeding::Seeds(vec![895781483804002453]))).unwrap();
    assert_eq!(
        (numbers(&batch, Field::Seed), letters(&batch, 0)),
        (vec![895781483804002453], "J".to_owned())
    );
    batch.reset(None, None).unwrap();
    assert_eq!(numbers(&batch, Field::Seed), [word(895781483804002453, Tag::Episode, 1)]);
}

#[test]
fn seed_zero_is_a_seed_like_any_other() {
    let rules = Rules { preview: 6, ..Rules::default() };
    let config = EnvConfig { rules, ..EnvConfig::default() };
    let mut batch = running(config.clone(), &Seeding::Seeds(vec![0]));
    assert_eq!(letters(&batch, 0), "SSTSJOJ");
    batch.step(&[0], None).unwrap();
    batch.reset(None, Some(&Seeding::Seeds(vec![0]))).unwrap();
    assert_eq!((numbers(&batch, Field::Seed), letters(&batch, 0)), (vec![0], "SSTSJOJ".to_owned()));
    let of_session = running(config, &Seeding::Seed(0));
    assert_eq!(letters(&of_session, 0), uniform_sequence(word(0, Tag::Environment, 0), 7));
}

#[test]
fn an_environment_does_not_feel_the_others() {
    let rules = Rules { preview: 2, ..Rules::simplified(8, 9) };
    let config = |num_envs| EnvConfig {
        rules,
        num_envs,
        autoreset_mode: AutoresetMode::SameStep,
        ..EnvConfig::default()
    };
    let mut alone = running(config(1), &Seeding::Seed(3));
    let mut among = running(config(1000), &Seeding::Seed(3));
    let (mut dice, mut others) = (Dice::new(1), Dice::new(2));
    for _ in 0..100 {
        let mine = random_actions(&alone, &mut dice);
        let mut actions = random_actions(&among, &mut others);
        actions[0] = mine[0];
        let (a, b) = (alone.step(&mine, None).unwrap(), among.step(&actions, None).unwrap());
        assert_eq!((a.rewards[0], a.terminated[0]), (b.rewards[0], b.terminated[0]));
        for info in &FIELDS {
            assert_eq!(see(&alone, info.field, None), see(&among, info.field, Some(&[0])), "{}", info.name);
        }
    }
}

/// One column of upright I pieces: with a height of 5 the second one ends the game.
fn lose(batch: &mut EnvBatch) -> tetrion_core::env::StepOutcome {
    batch.step(&[0], None).unwrap();
    batch.step(&[0], None).unwrap()
}

#[test]
fn next_step_begins_a_new_episode_in_the_step_after_the_end() {
    let mut batch =
        running(config(1, AutoresetMode::NextStep), &Seeding::from_pieces(vec![sequence("IIOT")]));
    let end = lose(&mut batch);
    assert_eq!((end.terminated, end.truncated, end.finals.rows()), (vec![true], vec![false], &[][..]));
    assert_eq!(
        batch.playfield(0),
        Playfield::from_drawing(6, 5, "#...../#...../#...../#...../#.....").unwrap()
    );
    assert_eq!(letters(&batch, 0), "O");
    assert_eq!(see(&batch, Field::ActionMask, None)[..2], [1, 0], "action 0 and no other");
    assert_eq!(numbers(&batch, Field::Pieces), [2]);
    // The step ignores the action, even its range.
    let begun = batch.step(&[i32::MIN], None).unwrap();
    assert_eq!((begun.rewards, begun.terminated, begun.truncated), (vec![0.0], vec![false], vec![false]));
    assert_eq!((batch.playfield(0), letters(&batch, 0)), (Playfield::empty(6, 5), "I".to_owned()));
    assert_eq!((numbers(&batch, Field::Pieces), numbers(&batch, Field::Steps)), (vec![0], vec![0]));
}

#[test]
fn same_step_shows_the_new_episode_and_keeps_the_end_of_the_old_one() {
    let mut batch =
        running(config(1, AutoresetMode::SameStep), &Seeding::from_pieces(vec![sequence("IIOT")]));
    let end = lose(&mut batch);
    assert_eq!((end.terminated, end.finals.rows()), (vec![true], &[0][..]));
    assert_eq!((batch.playfield(0), letters(&batch, 0)), (Playfield::empty(6, 5), "I".to_owned()));
    assert_eq!(numbers(&batch, Field::Pieces), [0]);
    let mut last = Vec::new();
    batch.observe_finals(Field::Heights, &end.finals, &mut last);
    batch.observe_finals(Field::Pieces, &end.finals, &mut last);
    assert_eq!(last, [5, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    assert!(batch.step(&[6], None).is_ok(), "the new episode's first action counts");
}

#[test]
fn without_autoreset_the_caller_resets() {
    let mut batch =
        running(config(1, AutoresetMode::Disabled), &Seeding::from_pieces(vec![sequence("IIOT")]));
    lose(&mut batch);
    assert_eq!(
        batch.step(&[0], None).unwrap_err(),
        StepError::Action(ActionError::EpisodeEnded { env_ids: vec![0] })
    );
    batch.reset(Some(&[0]), None).unwrap();
    assert!(batch.step(&[0], None).is_ok());
}

#[test]
fn a_reset_clears_a_pending_autoreset() {
    let mut batch =
        running(config(1, AutoresetMode::NextStep), &Seeding::from_pieces(vec![sequence("IIOT")]));
    lose(&mut batch);
    batch.reset(None, None).unwrap();
    batch.step(&[5], None).unwrap();
    assert_eq!(see(&batch, Field::Heights, None), [0, 0, 0, 0, 0, 4], "an action, not a second reset");
}

#[test]
fn an_episode_is_cut_by_its_limits_and_losing_wins() {
    #[track_caller]
    fn check(pieces: &str, max_episode_steps: u64, actions: &[i32], terminated: bool, truncated: bool) {
        let config = EnvConfig { max_episode_steps, ..config(1, AutoresetMode::Disabled) };
        let mut batch = running(config, &Seeding::from_pieces(vec![sequence(pieces)]));
        let (last, first) = actions.split_last().unwrap();
        for action in first {
            let outcome = batch.step(&[*action], None).unwrap();
            assert!(!outcome.terminated[0] && !outcome.truncated[0], "too early");
        }
        let outcome = batch.step(&[*last], None).unwrap();
        assert_eq!((outcome.terminated[0], outcome.truncated[0]), (terminated, truncated));
    }
    check("IIII", 3, &[0, 1, 2], false, true);
    check("IIII", 2, &[0, 0], true, false);
    check("III", 0, &[0, 1, 2], false, true);
    check("II", 0, &[0, 0], true, false);
    check("III", 3, &[0, 1, 2], false, true);
    check("I", 1, &[0], false, true);
}

#[test]
fn past_the_end_of_a_sequence_there_are_no_pieces() {
    let rules = Rules { preview: 2, ..Rules::simplified(6, 5) };
    let config = EnvConfig { rules, ..config(1, AutoresetMode::Disabled) };
    let mut batch = running(config, &Seeding::from_pieces(vec![sequence("OI")]));
    let pieces = |batch: &EnvBatch| {
        let bytes = [see(batch, Field::Current, None), see(batch, Field::Queue, None)].concat();
        bytes.iter().map(|&byte| byte as i8).collect::<Vec<_>>()
    };
    assert_eq!(pieces(&batch), [1, 0, -1]);
    batch.step(&[0], None).unwrap();
    assert_eq!(pieces(&batch), [0, -1, -1]);
    batch.step(&[5], None).unwrap();
    assert_eq!(pieces(&batch), [-1, -1, -1]);
    batch.reset(None, None).unwrap();
    assert_eq!(pieces(&batch), [1, 0, -1], "every episode deals it from the start");
    assert_eq!(numbers(&batch, Field::Seed), [0]);
    batch.reset(None, Some(&Seeding::Seeds(vec![7]))).unwrap();
    assert_eq!(letters(&batch, 0), uniform_sequence(7, 3), "a seed ends a sequence");
}

#[test]
fn the_infos_say_in_which_row_the_last_piece_came_to_rest() {
    let row = |batch: &EnvBatch| see(batch, Field::LandingRow, None)[0] as i8;
    let rules = Rules::simplified(4, 4);
    let config = EnvConfig { rules, ..config(1, AutoresetMode::Disabled) };
    let mut batch = running(config, &Seeding::from_pieces(vec![sequence("IOOIIT")]));
    assert_eq!(row(&batch), -1, "none has landed");
    // A lying I clears the floor row; an O in it, one on that; an upright I stands on the floor, another above the playfield.
    for (action, expected) in [(4, 0), (0, 0), (0, 2), (3, 0), (3, 4)] {
        batch.step(&[action], None).unwrap();
        assert_eq!(row(&batch), expected);
    }
    assert!(batch.has_ended(0));
    assert_eq!(batch.spec(Field::LandingRow).high, Some(4.0));
    batch.reset(None, None).unwrap();
    assert_eq!(row(&batch), -1, "a new episode");
}

#[test]
fn rewards_are_rounded_only_when_they_are_told() {
    let rules = Rules { scoring: Scoring { piece: 0.1, ..Scoring::LINES }, ..Rules::default() };
    let mut batch =
        running(EnvConfig { rules, ..EnvConfig::default() }, &Seeding::from_pieces(vec![sequence("OOOO")]));
    for column in [0, 2, 4] {
        assert_eq!(batch.step(&[column], None).unwrap().rewards, [0.1f32]);
    }
    assert_eq!(batch.statistics(0).episode_return, 0.1 + 0.1 + 0.1);
}

#[test]
fn what_is_seen_has_the_shape_and_bounds_that_were_told() {
    fn elements(dtype: DataType, bytes: &[u8]) -> Vec<f64> {
        fn read<const S: usize>(bytes: &[u8], number: impl Fn([u8; S]) -> f64) -> Vec<f64> {
            assert_eq!(bytes.len() % S, 0);
            bytes.chunks(S).map(|chunk| number(chunk.try_into().unwrap())).collect()
        }
        match dtype {
            DataType::Uint8 | DataType::Bool => read(bytes, |b| u8::from_le_bytes(b).into()),
            DataType::Int8 => read(bytes, |b| i8::from_le_bytes(b).into()),
            DataType::Uint16 => read(bytes, |b| u16::from_le_bytes(b).into()),
            DataType::Int32 => read(bytes, |b| i32::from_le_bytes(b).into()),
            DataType::Uint32 => read(bytes, |b| u32::from_le_bytes(b).into()),
            DataType::Int64 => read(bytes, |b| i64::from_le_bytes(b) as f64),
            DataType::Uint64 => read(bytes, |b| u64::from_le_bytes(b) as f64),
            DataType::Float32 => read(bytes, |b| f32::from_le_bytes(b).into()),
            DataType::Float64 => read(bytes, f64::from_le_bytes),
        }
    }
    let sizes = [(10, 20), (16, 28), (17, 28), (32, 40), (4, 4)];
    let placed = sizes.map(|(width, height)| Rules { preview: 3, ..Rules::simplified(width, height) });
    let lab = Rules::preset("lab").unwrap();
    let pressed = sizes.map(|(width, height)| Rules { preview: 3, width, height, ..lab });
    for rules in placed.into_iter().chain(pressed) {
        let config = EnvConfig { rules, num_envs: 3, ..EnvConfig::default() };
        let mut batch = running(config, &Seeding::Seed(8));
        let mut dice = Dice::new(8);
        for _ in 0..60 {
            for info in &FIELDS {
                let spec = batch.spec(info.field);
                let seen = elements(spec.dtype, &see(&batch, info.field, None));
                assert_eq!(seen.len(), 3 * spec.shape.iter().product::<u32>() as usize, "{}", spec.name);
                assert!(seen.iter().all(|&number| spec.low.is_none_or(|low| number >= low)), "{}", spec.name);
                assert!(
                    seen.iter().all(|&number| spec.high.is_none_or(|high| number <= high)),
                    "{}",
                    spec.name
                );
            }
            let actions = random_actions(&batch, &mut dice);
            batch.step(&actions, None).unwrap();
        }
    }
}

#[test]
fn every_field_has_one_row_in_the_table() {
    for (i, info) in FIELDS.iter().enumerate() {
        assert!(std::ptr::eq(info.field.info(), info), "{}", info.name);
        for before in &FIELDS[..i] {
            assert!(before.name != info.name, "{}", info.name);
        }
    }
}

#[test]
fn an_environment_of_the_usual_size_takes_at_most_256_bytes() {
    let per_env = |rules| {
        let batch =
            EnvBatch::new(EnvConfig { rules, num_envs: 1000, ..EnvConfig::default() }, &Seeding::Seed(1));
        batch.unwrap().memory_bytes() / 1000
    };
    let compact = per_env(Rules::default());
    assert!(compact <= 256, "{compact} bytes");
    let general = per_env(Rules::simplified(32, 40));
    assert!(general <= 1024, "{general} bytes");
}
