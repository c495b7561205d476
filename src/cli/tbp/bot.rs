//! One of our agents as a bot: lines from stdin, answers to stdout, complaints to stderr.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use super::args::TbpArgs;
use super::rules::rules;
use crate::agents::Agent;
use crate::cli::evaluate::Terminal;
use crate::cli::found::{self, Found};
use crate::cli::options::UsageError;
use crate::cli::output::{print, say};
use crate::client::{NamedPolicy, Policies};
use crate::engine::Rules;
use crate::tbp::lines::{Line, MAX_LINE_BYTES, read_line, skip_line};
use crate::tbp::messages::write;
use crate::tbp::{Bot, BotSetup, Heard};

/// Talks to a front end until it says quit, or its side of the pipe is closed.
///
/// # Errors
/// A player or rules that cannot be played, or a pipe that breaks.
pub fn run(args: &TbpArgs) -> anyhow::Result<ExitCode> {
    let mut bot = Bot::new(setup(args)?);
    let mut stdin = std::io::stdin().lock();
    print(&write(&bot.info()))?;
    let mut number = 0u64;
    while let Some(line) = read_line(&mut stdin).context("cannot read stdin")? {
        number += 1;
        let problem = match line {
            Line::Text(line) => {
                let Heard { answer, complaint, quits } = bot.hear(&line);
                if let Some(answer) = answer {
                    print(&write(&answer))?;
                }
                if quits {
                    break;
                }
                complaint
            }
            Line::NotText => Some("expected UTF-8; ignored".to_owned()),
            Line::TooLong => {
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

/// The player of the flags, and its rules.
fn setup(args: &TbpArgs) -> Result<BotSetup, UsageError> {
    let player = args.player.as_deref().expect("it is required");
    let (name, agent, rules) = if !found::is_place(player) {
        let rules = rules(args, None)?.rules;
        (player.to_owned(), named(args, player, &rules)?, rules)
    } else {
        let found = Found::read(Path::new(player))?;
        let rules = rules(args, Some(found.rules()))?.rules;
        let wanted = args.expectation.note().map(|note| note.expectation());
        let noted = found.expectation().filter(|_| args.lookahead.is_none());
        let lookahead = args.lookahead.unwrap_or(0);
        let agent = found.agent_that(&rules, avoid_terminal(args), lookahead, wanted.or(noted))?;
        (found.name().to_owned(), agent, rules)
    };
    let how = match &agent {
        Agent::Lookahead(agent) => format!(" + lookahead {}", agent.pieces()),
        Agent::Expectation(_) => " + expectation".to_owned(),
        _ => String::new(),
    };
    Ok(BotSetup::new(name + &how, agent, rules, args.seed))
}

fn named(args: &TbpArgs, name: &str, rules: &Rules) -> Result<Agent, UsageError> {
    let policy = NamedPolicy {
        name: name.to_owned(),
        playouts: None,
        lookahead: args.lookahead,
        expectation: args.expectation.note().map(|note| note.expectation()),
        avoid_terminal: avoid_terminal(args),
    };
    found::agent(Policies::Named(vec![policy]), rules)
}

fn avoid_terminal(args: &TbpArgs) -> Option<bool> {
    args.terminal.map(|terminal| terminal == Terminal::Avoid)
}
