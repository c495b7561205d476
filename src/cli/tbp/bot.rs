//! Runs an agent as a bot: reads lines from stdin, answers on stdout, and reports problems on stderr.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use super::args::BotArgs;
use super::rules::rules;
use crate::cli::output::{print, say};
use crate::input::UsageError;
use crate::players::{agent, title, title_of_weights};
use crate::trainer::trained_weights::{self, TrainedWeights};
use tetrion_toolkit::tbp::lines::{InputLine, MAX_LINE_BYTES, read_line, skip_line};
use tetrion_toolkit::tbp::messages::write;
use tetrion_toolkit::tbp::{Bot, BotSetup, Reply};

/// Serves a front end until it sends `quit` or closes its pipe.
///
/// # Errors
/// If the player or the rules cannot be played, or a pipe breaks.
pub fn run(args: &BotArgs) -> anyhow::Result<ExitCode> {
    let mut bot = Bot::new(setup(args)?);
    let mut stdin = std::io::stdin().lock();
    print(&write(&bot.info()))?;
    let mut number = 0u64;
    while let Some(line) = read_line(&mut stdin).context("cannot read stdin")? {
        number += 1;
        let problem = match line {
            InputLine::Text(line) => {
                let Reply { answer, complaint, quits } = bot.hear(&line);
                if let Some(answer) = answer {
                    print(&write(&answer))?;
                }
                if quits {
                    break;
                }
                complaint
            }
            InputLine::NotText => Some("expected UTF-8; ignored".to_owned()),
            InputLine::TooLong => {
                skip_line(&mut stdin).context("cannot read stdin")?;
                Some(format!("expected a line of at most {MAX_LINE_BYTES} bytes; ignored"))
            }
        };
        if let Some(problem) = problem {
            say(format_args!("line {number}: {problem}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The player that the flags select, and its rules.
fn setup(args: &BotArgs) -> Result<BotSetup, UsageError> {
    let player = args.player.as_str();
    let choice = args.search.choice();
    let (name, agent, rules) = if !trained_weights::is_place(player) {
        let rules = rules(&args.rules, None)?.rules;
        (title(player, choice), agent(player, choice, &rules)?, rules)
    } else {
        let weights = TrainedWeights::read(Path::new(player))?;
        let rules = rules(&args.rules, Some(weights.rules()))?.rules;
        let name = title_of_weights(weights.name(), choice, weights.play());
        (name, weights.agent(&rules, choice)?, rules)
    };
    Ok(BotSetup::new(name, agent, rules, args.seed))
}
