//! The tasks of the suite: every oracle and every floor again on the twin's playfields, the splits, and what a session plays.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use tetrion_core::agents::AgentRng;
use tetrion_core::engine::Rules;
use tetrion_core::engine::rng::{Tag, word};
use tetrion_core::env::{EnvBatch, EnvConfig, EnvState, Restored, Seeding};
use tetrion_core::formula::compile;
use tetrion_toolkit::optimum;
use tetrion_toolkit::tasks::{
    Content, Goal, Group, NUM_TASKS, PlayError, PlayTask, Split, Task, TaskCourse, TaskError,
};

use crate::values::values_of_placements;
use tetrion_twins::{self as twin, TwinPlacement, TwinPlayfield};

/// Tasks per split that are played: every group at every difficulty, some of them twice.
const PLAYED: u32 = 42;

fn task(split: Split, index: u32) -> Task {
    Task::new(split, index).unwrap()
}

fn played() -> impl Iterator<Item = (Task, PlayTask)> {
    let all = Split::ALL.into_iter().flat_map(|split| (0..PLAYED).map(move |index| task(split, index)));
    all.filter_map(|task| match task.content.clone() {
        Content::Play(play) => Some((task, *play)),
        Content::Formula(_) => None,
    })
}

/// The score of a player, from the rules of the suite alone.
fn score(task: &PlayTask, mut choose: impl FnMut(&[TwinPlacement]) -> usize) -> f64 {
    let height = task.rules.height.into();
    let mut playfield = TwinPlayfield::drawn(&task.start.playfield.to_string(), height);
    let (mut lines, mut qualities) = (0, 0.0);
    let mut garbage = if let Goal::Dig(rows) = task.goal { rows as usize } else { 0 };
    for (number, piece) in task.start.pieces.iter().enumerate() {
        let piece = task.rules.pieces.letter(*piece);
        let all = twin::placements(&playfield, piece);
        let chosen = choose(&all);
        if task.goal == Goal::Value {
            let values = values_of_placements(optimum::values(&task.rules).unwrap(), &playfield, piece);
            let best = values.iter().copied().fold(f64::MIN, f64::max);
            let worst = values.iter().copied().fold(f64::MAX, f64::min);
            // Rounding of the values costs nothing.
            let is_best = best - values[chosen] < 1e-9;
            qualities += if is_best { 1.0 } else { (values[chosen] - worst) / (best - worst) };
        }
        let landing = twin::land(&playfield, &all[chosen]);
        if landing.terminal {
            break;
        }
        // Which rows are full, with the piece's cells in them.
        let full = landing.preclear.full_rows();
        garbage -= full.iter().filter(|row| **row < garbage).count();
        lines += landing.lines;
        playfield = landing.afterstate;
        let is_reached = match task.goal {
            Goal::Value => false,
            Goal::Lines(wanted) => lines >= wanted as usize,
            Goal::Survive => number + 1 == task.start.pieces.len(),
            Goal::Dig(_) => garbage == 0,
            Goal::PerfectClear => playfield.rows.iter().flatten().all(|full| !full),
        };
        if is_reached {
            return 1.0;
        }
    }
    if task.goal == Goal::Value { qualities / task.start.pieces.len() as f64 } else { 0.0 }
}

#[test]
fn every_oracle_and_every_floor_is_what_a_plain_player_finds() {
    for (task, play) in played() {
        let what = format!("{} {} ({})", task.split.name(), task.index, task.group.name());
        let mut actions = play.oracle.iter().map(|placement| placement.action(&play.rules) as usize);
        let width = play.rules.width.into();
        let by_oracle = score(&play, |all| {
            let action = actions.next().expect("a placement for every piece");
            all.iter().position(|placement| placement.action(width) == action).expect("a legal placement")
        });
        assert_eq!(by_oracle, 1.0, "{what}");
        assert_eq!(actions.next(), None, "{what}: the oracle stops when the goal is reached");
        assert_eq!(score(&play, |_| 0), play.floor_first, "{what}");
        assert!(play.floor_first < 1.0, "{what}: no gift");
        // Another hundred random games.
        let mut rng = AgentRng::new(word(task.index.into(), Tag::Game, 99));
        let games = 100;
        let random = (0..games).map(|_| score(&play, |all| rng.below(all.len() as u32) as usize));
        let mean = random.sum::<f64>() / f64::from(games);
        assert!((mean - play.floor_random).abs() < 0.25, "{what}: {mean}, {}", play.floor_random);
    }
}

#[test]
fn a_task_follows_from_its_number() {
    for split in Split::ALL {
        for index in 0..21 {
            let known = task(split, index);
            assert_eq!(task(split, index), known);
            assert_eq!(known.group, Group::ALL[index as usize % 7]);
            assert_eq!(u32::from(known.difficulty), index / 7 % 3 + 1);
        }
    }
    assert_eq!(Task::new(Split::Test, NUM_TASKS), Err(TaskError::Index { index: NUM_TASKS }));
    assert!(Task::new(Split::Test, NUM_TASKS - 1).is_ok());
}

/// docs/tasks.md has these numbers. `dig` with the highest difficulty is the slowest to draw, so a part must do.
#[test]
fn the_tasks_of_a_kind_show_different_starts() {
    let mut kinds = BTreeMap::<_, [Vec<PlayTask>; 2]>::new();
    let mut longest = 0;
    for split in Split::ALL {
        for index in (0..NUM_TASKS).filter(|index| index % 21 != 18 || *index < 1050) {
            let task = task(split, index);
            if let Content::Play(play) = &task.content {
                longest = longest.max(task.prompt().len());
                let kind = kinds.entry((index % 7, task.difficulty)).or_default();
                kind[split as usize].push((**play).clone());
            }
        }
    }
    let mut found = String::new();
    for ((group, difficulty), splits) in kinds {
        let seen = splits.each_ref().map(|tasks| {
            let shown = |play: &PlayTask| (play.start.playfield, play.start.shown(&play.rules).to_vec());
            tasks.iter().map(shown).collect::<HashSet<_>>()
        });
        assert!(seen[0].is_disjoint(&seen[1]), "{group} {difficulty}");
        let mean = |floor: fn(&PlayTask) -> f64| {
            let tasks = || splits.iter().flatten();
            tasks().map(floor).sum::<f64>() / tasks().count() as f64
        };
        let (random, first) = (mean(|play| play.floor_random), mean(|play| play.floor_first));
        let [train, test] = seen.map(|starts| starts.len());
        writeln!(found, "{group} {difficulty} {train:3} {test:3} {random:.2} {first:.2}").unwrap();
    }
    assert_eq!(found, FOUND);
    assert_eq!(longest, 889);
}

/// Group, difficulty, different starts in each split; floors of random play and of first placements.
const FOUND: &str = "\
0 1 500 500 0.22 0.09
0 2 500 500 0.27 0.17
0 3 500 500 0.21 0.15
1 1 500 500 0.17 0.17
1 2 500 500 0.10 0.09
1 3 500 500 0.04 0.04
2 1 500 500 0.06 0.00
2 2 500 500 0.05 0.00
2 3 500 500 0.01 0.00
3 1 500 500 0.00 0.00
3 2 500 500 0.00 0.00
3 3 500 500 0.00 0.00
4 1 480 480 0.15 0.00
4 2 499 495 0.02 0.00
4 3  50  50 0.00 0.00
5 1 500 500 0.04 0.00
5 2 500 500 0.03 0.00
5 3 500 500 0.02 0.00
";

#[test]
fn a_session_plays_what_a_course_scores() {
    for (task, play) in played() {
        let state = EnvState::from_bytes(&play.start.state(&play.rules).to_bytes()).unwrap();
        let config = EnvConfig { rules: play.rules, ..EnvConfig::default() };
        let mut batch = EnvBatch::new(config, &Seeding::Seed(0)).unwrap();
        batch.restore(None, Restored::States(&[state]), None).unwrap();
        let mut course = TaskCourse::new(&play);
        let mut last = course.score();
        for placement in &play.oracle {
            let actions: Vec<u32> =
                course.placements().iter().map(|placement| placement.action(&play.rules)).collect();
            let mut mask = Vec::new();
            batch.observe(tetrion_core::env::Field::ActionMask, None, &mut mask);
            let allowed: Vec<u32> =
                (0..mask.len() as u32).filter(|action| mask[*action as usize] == 1).collect();
            assert_eq!(actions, allowed);
            let action = placement.action(&play.rules) as i32;
            batch.step(&[action], None).unwrap();
            course.act(action).unwrap();
            assert_eq!(batch.playfield(0), course.playfield().resized());
            assert_eq!(batch.statistics(0).lines, u64::from(course.lines()));
            assert!(course.score() >= last, "a score never falls");
            last = course.score();
        }
        assert_eq!((course.score(), course.is_over()), (1.0, true), "{} {}", task.split.name(), task.index);
        assert_eq!(course.act(0), Err(PlayError::Over));
        let all_placed = play.oracle.len() == play.start.pieces.len();
        assert_eq!(batch.has_ended(0), all_placed);
    }
}

#[test]
fn an_action_that_is_no_placement_changes_nothing() {
    let (_, play) = played().next().unwrap();
    let mut course = TaskCourse::new(&play);
    for action in [-1, 16, i32::MAX, i32::MIN] {
        assert_eq!(course.act(action), Err(PlayError::Illegal(action)));
    }
    assert_eq!((course.num_placed(), course.score()), (0, 0.0));
}

#[test]
fn a_prompt_has_the_position_and_the_goal() {
    let prompt = task(Split::Train, 4).prompt();
    assert!(prompt.starts_with("You play Tetris on a playfield of 6 columns and 10 rows."), "{prompt}");
    assert!(prompt.contains("Goal: clear the lowest row within 4 pieces."), "{prompt}");
    assert!(prompt.contains("\n\ntext-1: # full") && prompt.contains("\ncolumns 012345\n"), "{prompt}");
    let wanted = task(Split::Train, 6).prompt();
    let features = wanted.split_once("Some features: ").unwrap().1.split_once(". An example: ").unwrap();
    let example = features.1.split_once(".\n").unwrap().0;
    let sum = features.0.replace(", ", " + ");
    for formula in [example, &sum] {
        assert!(compile(formula, &Rules::simplified(10, 10)).is_ok(), "{formula}");
    }
    assert!(prompt.is_ascii() && task(Split::Train, 6).prompt().is_ascii());
}
