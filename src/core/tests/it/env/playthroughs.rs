//! Whole episodes as text, in tests/data/playthroughs: other programs can replay them, and a person can check them.

use std::fmt::Write;

use tetrion_core::engine::{Randomizer, Rules, Scoring};
use tetrion_core::env::{AutoresetMode, EnvBatch, EnvConfig, Field, Seeding};
use tetrion_core::render::RenderFormat;

use super::{Dice, golden, letters, numbers, random_actions, running};

/// Plays random placements until `num_episodes` have ended, and writes down what happened.
fn transcript(head: &str, config: EnvConfig, seeding: &Seeding, num_episodes: usize) -> String {
    let mut text = format!(
        "{head}\n\n# pieces    action  reward  ended       lines  playfield from the top, empty rows left out, - for none\n"
    );
    let mut batch = running(config, seeding);
    let mut dice = Dice::new(1);
    let mut ended = 0;
    while ended < num_episodes {
        let action = random_actions(&batch, &mut dice);
        let pieces = letters(&batch, 0);
        let outcome = batch.step(&action, None).unwrap();
        let end = match (outcome.terminated[0], outcome.truncated[0]) {
            (true, _) => "terminated",
            (_, true) => "truncated",
            _ => "-",
        };
        ended += usize::from(end != "-");
        let lines = numbers(&batch, Field::Lines)[0];
        let reward = outcome.rewards[0];
        let playfield = drawing(&batch);
        writeln!(text, "{pieces:<10}  {:<6}  {reward:<6}  {end:<10}  {lines:<5}  {playfield}", action[0])
            .unwrap();
        if end != "-" {
            batch.reset(None, None).unwrap();
        }
    }
    text
}

fn drawing(batch: &EnvBatch) -> String {
    let drawing = batch.playfield(0).to_string();
    let rows: Vec<&str> = drawing.lines().skip_while(|row| !row.contains('#')).collect();
    if rows.is_empty() { "-".to_owned() } else { rows.join("/") }
}

#[test]
fn episodes_of_a_seed() {
    let rules = Rules { preview: 2, ..Rules::simplified(5, 6) };
    let config = EnvConfig { rules, autoreset_mode: AutoresetMode::Disabled, ..EnvConfig::default() };
    let head = "# simplified, width 5, height 6, preview 2, environment seed 42; reset after each end";
    golden("simplified_5x6.txt", &transcript(head, config, &Seeding::Seeds(vec![42]), 3));
}

#[test]
fn episodes_from_bags_with_points_and_a_limit() {
    let scoring = Scoring { piece: 0.5, lines: [1.0, 3.0, 6.0, 10.0], game_end: -4.0 };
    let rules = Rules { preview: 6, randomizer: Randomizer::Bag7, scoring, ..Rules::simplified(4, 8) };
    let max_episode_steps = 9;
    let autoreset_mode = AutoresetMode::Disabled;
    let config = EnvConfig { rules, max_episode_steps, autoreset_mode, ..EnvConfig::default() };
    let head = "# simplified, width 4, height 8, preview 6, bag7, environment seed 0, max_episode_steps 9; a piece 0.5, \
                lines 1 3 6 10, game_end -4; reset after each end";
    golden("bag7_4x8.txt", &transcript(head, config, &Seeding::Seeds(vec![0]), 4));
}

/// Presses random keys and writes down every frame.
#[test]
fn an_episode_by_keys() {
    let rules = Rules { width: 5, height: 7, ..Rules::preset("lab").unwrap() };
    let config = EnvConfig { rules, autoreset_mode: AutoresetMode::Disabled, ..EnvConfig::default() };
    let mut text = "# lab, width 5, height 7, environment seed 42; keys: 0 idle, 1 left, 2 right, 3 turn_left, \
                    4 turn_right, 5 hard_drop\n\n# key  reward  ended       lines  after the key: # landed, @ falling, \
                    from the top\n"
        .to_owned();
    let mut batch = running(config, &Seeding::Seeds(vec![42]));
    let mut dice = Dice::new(7);
    let frame = |batch: &EnvBatch| super::keys::frame(batch, RenderFormat::Ascii).replace('\n', "/");
    writeln!(text, "  -    -       -           0      {}", frame(&batch)).unwrap();
    while !batch.has_ended(0) {
        let key = random_actions(&batch, &mut dice);
        let outcome = batch.step(&key, None).unwrap();
        let end = if outcome.terminated[0] { "terminated" } else { "-" };
        let (reward, lines) = (outcome.rewards[0], numbers(&batch, Field::Lines)[0]);
        writeln!(text, "  {}    {reward:<6}  {end:<10}  {lines:<5}  {}", key[0], frame(&batch)).unwrap();
    }
    golden("lab_5x7.txt", &text);
}
