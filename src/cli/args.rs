//! Options from flags, the environment and a file.
//!
//! Every option can be a flag, an environment variable, or a key in a TOML file, in that order of precedence. The
//! struct of a subcommand defines its options, and one rule derives the names:
//!
//! ```text
//! tetrion serve --drain-timeout 5
//! TETRION_SERVE_DRAIN_TIMEOUT=5 tetrion serve
//! tetrion serve --config tetrion.toml           with   [serve]
//!                                                      drain-timeout = 5
//! ```
//!
//! All clients share the options of a connection: `TETRION_SERVER` and the table `[client]` apply to `train`,
//! `evaluate`, `watch` and `conformance`.
//!
//! The surprising decision: the file is read before the flags are parsed, and its values become the defaults of the
//! flags. So a value from the file passes the same checks as a flag, and `--help` shows it.

use std::ffi::OsString;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::builder::BoolishValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};

use super::connection::CLIENT_FLAGS;
use super::options::read_server_file;
use super::output::say;
use super::{
    catalog, completions, conformance, evaluate, export, health, help, man, matches, optimum, perft, play,
    replay, serve, tbp, train, verify, watch,
};
use crate::bench::FigureGroup;
use crate::input::UsageError;
use crate::text::escapes::visible;
use tetrion_core::agents::Search;
use tetrion_core::engine::RULES_FIELDS;
use tetrion_core::names::unknown;

/// The end of `--help`; `main.rs` has the same codes.
const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 something failed; 2 a flag, a value or a name is wrong;
130 interrupted; 141 the reader of stdout has left";

/// A Tetris environment server for reinforcement learning, with a gRPC API.
#[derive(Debug, Parser)]
#[command(name = "tetrion", version, max_term_width = 100, after_help = EXIT_CODES)]
struct Args {
    /// TOML file with options: one table per subcommand, one key per flag
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(subcommand)]
    command: Command,
}

/// The subcommands. Each keeps its options in a separate file.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve environments and evaluations over gRPC
    Serve(serve::ServeArgs),
    /// Train a controller; a run can be stopped and resumed at any time
    Train(Box<train::TrainArgs>), // twice as large as any other
    /// Measure controllers over many games, with confidence intervals
    Evaluate(evaluate::EvaluateArgs),
    /// Let players meet in matches, and say who is stronger
    Match(matches::MatchArgs),
    /// Play in the terminal, alone or against a controller
    Play(play::PlayArgs),
    /// Watch controllers, training runs or a server session play
    Watch(watch::WatchArgs),
    /// Run a controller as a Tetris Bot Protocol bot, or measure a bot
    Tbp(tbp::TbpArgs),
    /// Replay, check and show a recorded game
    Replay(replay::ReplayArgs),
    /// Check a result of tetrion-lab benchmark
    Verify(verify::VerifyArgs),
    /// Render a recorded game as GIF, SVG, PNG, MP4 or text
    Export(export::ExportArgs),
    /// Count all ways to place a sequence of pieces
    Perft(perft::PerftArgs),
    /// Compute the exact values of a small playfield
    Optimum(optimum::OptimumArgs),
    /// Measure the speed of this machine
    Bench(BenchArgs),
    /// Check a server's health: exit code 0 if it is serving, else 1
    Health(health::HealthArgs),
    /// Check a server against the conformance kit
    Conformance(conformance::ConformanceArgs),
    /// List presets, rules, agents, controllers and features
    Catalog(catalog::CatalogArgs),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
    /// Write the manual pages
    Man(man::ManArgs),
}

/// The options of `tetrion bench`.
#[derive(Debug, clap::Args)]
pub struct BenchArgs {
    /// Take a few seconds only; the figures are too rough to quote
    #[arg(long)]
    pub quick: bool,

    /// Only these groups of measurements
    #[arg(long, value_name = "GROUP", value_delimiter = ',')]
    pub only: Vec<FigureGroup>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// Print Markdown tables
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
}

/// Reads the arguments of this process, its environment and its file.
///
/// If a flag or a value is wrong, ends the process with code 2 and a message; after `--help`, with code 0.
///
/// # Errors
/// [`UsageError`] if the file cannot be read or has a key that matches no flag.
pub fn parse(args: Vec<OsString>) -> anyhow::Result<Command> {
    parse_as::<Args>(command(), args).map(|args| args.command)
}

/// Like [`parse`], for another program whose command line is `program`.
///
/// Ends the process in the same cases.
///
/// # Errors
/// [`UsageError`] if the file cannot be read or has a key that matches no flag.
pub fn parse_as<P: FromArgMatches>(program: clap::Command, args: Vec<OsString>) -> anyhow::Result<P> {
    let has_file = program.get_arguments().any(|arg| arg.get_id() == CONFIG);
    let file = has_file.then(|| config_path(&args)).flatten();
    let text = file.as_deref().map(read_server_file).transpose().map_err(usage)?;
    let with_file = |command| match (&file, &text) {
        (Some(path), Some(text)) => {
            with_file(command, text).with_context(|| format!("in {}", path.display())).map_err(usage)
        }
        _ => Ok(command),
    };
    let mut command = with_file(program)?;
    let matches = matches(&command, &args);
    if is_token_visible(&matches) {
        say(
            "warning: other users of this machine can see a --token; --token-file and the environment hide it",
        );
    }
    Ok(P::from_arg_matches(&matches).unwrap_or_else(|error| end(&error.format(&mut command))))
}

/// Parses the flags, or ends the process.
fn matches(command: &clap::Command, args: &[OsString]) -> clap::ArgMatches {
    command.clone().try_get_matches_from(args).unwrap_or_else(|error| end(&with_tip(error, args)))
}

/// Flags of other servers, and the flag of `serve` that replaces them.
const ELSEWHERE: ([&str; 4], &str) = (["--port", "--host", "--bind", "--address"], "--listen");

/// Adds a tip for a flag that other programs have, such as `serve --port`, and for a flag with the name of a field of the
/// rules or of a method of search.
fn with_tip(mut error: clap::Error, args: &[OsString]) -> clap::Error {
    let (others, own) = ELSEWHERE;
    let Some(flag) = error.get(ContextKind::InvalidArg).map(ToString::to_string) else { return error };
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let name = flag.trim_start_matches('-').replace('-', "_");
    let field = RULES_FIELDS.iter().find(|field| field.name.replace('.', "_") == name);
    let tip = if others.contains(&flag.as_str()) && args.iter().any(|arg| arg == "serve") {
        own.to_owned()
    } else if let Some(field) = field {
        format!("--rules {}=VALUE", field.name)
    } else if Search::METHODS.contains(&name.as_str()) {
        format!("--search {name}")
    } else {
        return error;
    };
    error.insert(ContextKind::SuggestedArg, ContextValue::String(tip));
    error
}

/// Prints the error or the help and ends the process. Error texts may quote a file, so they go through [`say`].
fn end(error: &clap::Error) -> ! {
    if !error.use_stderr() {
        error.exit(); // the help, or the version
    }
    match wrong_number(error) {
        Some(problem) => say(format_args!("error: {problem}\n\nFor more information, try '--help'.")),
        None => say(error.render().to_string().trim_end()),
    }
    std::process::exit(error.exit_code())
}

/// An understandable message for a value that is not a number or is out of range.
///
/// clap's own message is `invalid digit found in string`, or a range in Rust syntax.
fn wrong_number(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    if error.kind() != ErrorKind::ValueValidation {
        return None;
    }
    let (flag, value) = (text(ContextKind::InvalidArg)?, text(ContextKind::InvalidValue)?);
    let source = std::error::Error::source(error)?;
    let expected = if let Some(problem) = source.downcast_ref::<ParseIntError>() {
        match problem.kind() {
            IntErrorKind::PosOverflow => "a smaller number".to_owned(),
            _ if value.parse::<f64>().is_ok_and(|number| number < 0.0) => {
                "a whole number, 0 or more".to_owned()
            }
            _ => "a whole number".to_owned(),
        }
    } else if source.is::<ParseFloatError>() {
        "a number".to_owned()
    } else {
        let problem = source.to_string();
        let (low, high) = problem.split_once(" is not in ")?.1.split_once("..")?;
        format!("{low} to {}", high.trim_start_matches('='))
    };
    Some(format!("invalid value '{value}' for '{flag}': expected {expected}"))
}

/// The definition of the command line, without the defaults from this process's file.
pub fn command() -> clap::Command {
    help::with_groups(arranged(Args::command()))
}

/// Adds environment variables and help headings to the flags of a command line.
pub fn arranged(program: clap::Command) -> clap::Command {
    help::arranged(with_environment(program))
}

fn usage(error: anyhow::Error) -> UsageError {
    UsageError(format!("{error:#}"))
}

/// Id of the flag for the options file, which a program may lack.
const CONFIG: &str = "config";

/// The table of the options that all clients share.
const CLIENT_TABLE: &str = "client";

/// Options whose values are never shown.
const SECRETS: [&str; 1] = ["token"];

/// Whether the command line contains a token, which the list of processes then shows.
fn is_token_visible(matches: &clap::ArgMatches) -> bool {
    let Some((_, options)) = matches.subcommand() else { return false };
    let is_typed = |id| options.value_source(id) == Some(ValueSource::CommandLine);
    SECRETS.iter().any(|id| options.try_contains_id(id).is_ok() && is_typed(id)) || is_token_visible(options)
}

/// Finds the path of the options file, which must be read before the flags are parsed.
fn config_path(args: &[OsString]) -> Option<PathBuf> {
    let mut args = args.iter().skip(1).take_while(|arg| *arg != "--");
    while let Some(arg) = args.next() {
        if arg == "--config" {
            return args.next().map(PathBuf::from);
        }
        if let Some(path) = arg.to_str().and_then(|arg| arg.strip_prefix("--config=")) {
            return Some(PathBuf::from(path));
        }
    }
    std::env::var_os("TETRION_CONFIG").map(PathBuf::from)
}

/// Gives each flag of each subcommand its environment variable. Also reads `-1` after a flag as the flag's value.
fn with_environment(command: clap::Command) -> clap::Command {
    let is_file = |arg: &clap::Arg| arg.get_id() == CONFIG;
    let with_variable = |arg: clap::Arg| arg.env("TETRION_CONFIG").hide_env(true);
    command.mut_args(|arg| if is_file(&arg) { with_variable(arg) } else { arg }).mut_subcommands(
        |subcommand| {
            let name = subcommand.get_name().to_uppercase().replace('-', "_");
            with_sentence(with_variables(subcommand, &format!("TETRION_{name}_")))
        },
    )
}

/// Whether a subcommand connects to servers.
fn is_client(subcommand: &clap::Command) -> bool {
    let ids: Vec<&str> = subcommand.get_arguments().map(|arg| arg.get_id().as_str()).collect();
    CLIENT_FLAGS.iter().all(|flag| ids.contains(flag))
}

/// Gives each flag of a subcommand its variable. Methods such as `train td` share the variables of their subcommand.
fn with_variables(subcommand: clap::Command, prefix: &str) -> clap::Command {
    let is_client = is_client(&subcommand);
    let subcommand = subcommand.mut_args(|arg| {
        if arg.is_positional() {
            return arg;
        }
        let id = arg.get_id().as_str().to_uppercase();
        let is_shared = is_client && CLIENT_FLAGS.contains(&arg.get_id().as_str());
        let name = format!("{}{id}", if is_shared { "TETRION_" } else { prefix });
        let arg = match arg.get_action() {
            // The environment may also say `1` or `yes`.
            ArgAction::SetTrue => arg.value_parser(BoolishValueParser::new()),
            // A flag's error about `-1` as a value is clearer than "there is no flag `-1`".
            _ => arg.allow_negative_numbers(true),
        };
        arg.env(name).hide_env(true) // a sentence says it of all of them
    });
    subcommand.mut_subcommands(|form| with_variables(form, prefix))
}

/// Says below the help of a subcommand and of its forms how the variables of their flags are named.
fn with_sentence(subcommand: clap::Command) -> clap::Command {
    let subcommand = subcommand.mut_subcommands(with_sentence);
    let flags: Vec<(&str, String)> = subcommand
        .get_arguments()
        .filter_map(|arg| Some((arg.get_long()?, arg.get_env()?.to_string_lossy().into_owned())))
        .collect();
    let is_shared = |flag: &&(&str, String)| CLIENT_FLAGS.iter().any(|id| flag.0 == id.replace('_', "-"));
    // One with a hyphen, which becomes an underscore.
    let own = flags.iter().filter(|flag| !is_shared(flag)).max_by_key(|flag| flag.0.matches('-').count());
    let examples: Vec<String> = own
        .into_iter()
        .chain(flags.iter().find(is_shared))
        .map(|(flag, variable)| format!("{variable} for --{flag}"))
        .collect();
    if examples.is_empty() {
        return subcommand;
    }
    let sentence = format!("Environment variables set flags too: {}", examples.join(", "));
    let others = subcommand.get_after_help().map(|text| format!("{text}\n\n")).unwrap_or_default();
    subcommand.after_help(format!("{others}{sentence}"))
}

/// Makes the values in a TOML text the defaults of the flags.
fn with_file(mut command: clap::Command, text: &str) -> anyhow::Result<clap::Command> {
    let file: toml::Table = text.parse().map_err(|error| without_its_lines(&error, text))?;
    for (name, options) in file {
        let is_shared = name == CLIENT_TABLE;
        let reads = |subcommand: &clap::Command| {
            if is_shared { is_client(subcommand) } else { subcommand.get_name() == name }
        };
        let readers: Vec<&clap::Command> = command.get_subcommands().filter(|one| reads(one)).collect();
        if readers.is_empty() {
            let tables = command.get_subcommands().map(clap::Command::get_name).chain([CLIENT_TABLE]);
            bail!(unknown("subcommand", &name, tables));
        }
        let Some(options) = options.as_table() else {
            bail!("{name} is a value, expected the table [{name}]");
        };
        let known: Vec<&clap::Arg> = readers.into_iter().flat_map(with_forms).collect();
        let mut defaults = Vec::new();
        for (key, value) in options {
            let id = key.replace('-', "_");
            let is_known = |arg: &&clap::Arg| !is_shared || CLIENT_FLAGS.contains(&arg.get_id().as_str());
            let mut known = known.iter().copied().filter(is_known);
            if !known.clone().any(|arg| arg.get_id().as_str() == id) {
                bail!("[{name}]: {}", unknown("option", key, known.by_ref().filter_map(clap::Arg::get_long)));
            }
            let values = match value {
                toml::Value::Array(values) => values.iter().map(plain).collect(),
                value => plain(value).map(|value| vec![value]),
            };
            defaults.push((id, values.with_context(|| format!("[{name}] {key} is not a plain value"))?));
        }
        let with = |subcommand: clap::Command| {
            if reads(&subcommand) { with_defaults(subcommand, &defaults) } else { subcommand }
        };
        command = command.mut_subcommands(with);
    }
    Ok(command)
}

/// The flags of a subcommand and of its own subcommands, such as `train td`.
fn with_forms(subcommand: &clap::Command) -> impl Iterator<Item = &clap::Arg> {
    std::iter::once(subcommand).chain(subcommand.get_subcommands()).flat_map(clap::Command::get_arguments)
}

/// Sets these defaults in a subcommand and in its own subcommands, for the flags that they have.
fn with_defaults(mut subcommand: clap::Command, defaults: &[(String, Vec<String>)]) -> clap::Command {
    for (id, values) in defaults {
        if !subcommand.get_arguments().any(|arg| arg.get_id().as_str() == id) {
            continue;
        }
        // The help shows all other values.
        let is_hidden = SECRETS.contains(&id.as_str())
            || values.iter().any(|value: &String| visible(value) != value.as_str());
        subcommand = subcommand
            .mut_arg(id, |arg| arg.required(false).default_values(values).hide_default_value(is_hidden));
    }
    subcommand.mut_subcommands(|form| with_defaults(form, defaults))
}

/// The line and the reason of a TOML error. The error's full text would quote the line, which may contain a token.
fn without_its_lines(error: &toml::de::Error, text: &str) -> anyhow::Error {
    let at = error.span().map_or(0, |span| span.start);
    let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    anyhow::anyhow!("line {line}: {}", error.message())
}

/// The value in the form that a user would type after a flag.
fn plain(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_) => Some(value.to_string()),
        _ => None,
    }
}
