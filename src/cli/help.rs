//! The order of `--help`: subcommands in groups, and a subcommand's flags under headings.
//!
//! clap cannot group subcommands, so this file fills in a help template. Both tables list names; a test finds missing
//! subcommands and flags.

use std::fmt::Write;

use clap::Command;

/// Headings in the list of subcommands, and the subcommands below each.
pub const GROUPS: [(&str, &[&str]); 5] = [
    ("Play", &["play", "watch"]),
    ("Train and evaluate", &["train", "evaluate", "match", "tbp"]),
    ("Serve", &["serve", "health", "conformance"]),
    ("Recordings", &["replay", "export", "verify"]),
    ("Inspect and install", &["catalog", "perft", "optimum", "bench", "completions", "man", "help"]),
];

/// Some flags under a heading.
struct Heading {
    title: &'static str,
    /// The only subcommand to which this row applies; `None` for all.
    subcommand: Option<&'static str>,
    /// Ids of the flags, with underscores as in the code.
    flags: &'static [&'static str],
}

impl Heading {
    const fn new(title: &'static str, flags: &'static [&'static str]) -> Heading {
        Heading { title, subcommand: None, flags }
    }

    const fn only(self, subcommand: &'static str) -> Heading {
        Heading { subcommand: Some(subcommand), ..self }
    }
}

/// Heading of the flags for the rules, which the engine's table of fields defines.
const RULES: &str = "Rules";

/// Subcommands with fewer flags list them without headings.
const FEW: usize = 12;

/// The headings. For each flag, the first row that contains it applies.
const HEADINGS: [Heading; 23] = [
    Heading::new("Run", &["resume", "out", "seed", "json"]).only("train"),
    Heading::new("Training", &["settings", "features", "generations", "start", "population"]).only("train"),
    Heading::new(
        "Games and scores",
        &[
            "games",
            "game_seeds",
            "score_by",
            "check_games",
            "final_games",
            "max_pieces",
            "max_steps",
            "loss_trials",
        ],
    )
    .only("train"),
    Heading::new("Cross-entropy method", &["initial_std", "noise", "covariance", "elites", "second_look"]),
    Heading::new(
        "Genetic algorithm",
        &["tournament", "crossover", "blend", "mutation", "mutation_std", "keep"],
    ),
    Heading::new(
        "Temporal differences",
        &[
            "parallel_games",
            "rounds",
            "stretch",
            "exploration",
            "gamma",
            "feature_rate",
            "table_rate",
            "rate_half_life",
        ],
    ),
    Heading::new(
        "Tables and network",
        &["slope_tuple", "slope_clip", "height_tuple", "hidden_units", "rate_ratio", "start_scale"],
    ),
    Heading::new("Result", &["folder", "all", "json"]).only("verify"),
    Heading::new("Bot", &["program", "think", "timeout"]).only("tbp"),
    Heading::new("Games", &["games", "pieces", "jobs", "seed"]).only("tbp"),
    Heading::new("Bots", &["think", "jobs"]).only("match"),
    Heading::new(
        "Players",
        &["players", "player", "weights", "formula", "features", "playouts", "sweep", "against", "hint"],
    ),
    Heading::new("Search", &["search", "terminal_value"]),
    Heading::new("Session", &["session", "envs"]),
    Heading::new(RULES, &["size", "rules"]),
    Heading::new(
        "Games",
        &[
            "games",
            "first_game",
            "pairs",
            "sprt",
            "seed",
            "max_pieces",
            "max_steps",
            "loss_trials",
            "rows_per_second",
            "steps_per_second",
        ],
    ),
    Heading::new("Counting", &["sequences", "depth", "memory", "no_distinct", "json"]).only("perft"),
    Heading::new(
        "Output",
        &["games_csv", "chart", "record", "record_dir", "palette", "paused", "out", "json"],
    ),
    Heading::new(
        "Access",
        &[
            "tokens",
            "token_file",
            "token",
            "tls_cert",
            "tls_key",
            "tls_client_ca",
            "insecure",
            "allow_origin",
            "allow_host",
        ],
    )
    .only("serve"),
    Heading::new("Server", &["listen", "state", "no_page", "exit_on_stdin_eof", "drain_timeout"])
        .only("serve"),
    Heading::new(
        "Connection",
        &["server", "token_file", "token", "ca_cert", "client_cert", "client_key", "patience"],
    ),
    Heading::new("Computation", &["threads", "kernel", "values"]),
    Heading::new("Logs and traces", &["log", "log_format", "otlp"]),
];

/// Groups the subcommands, and puts their flags under headings.
pub fn arranged(command: Command) -> Command {
    command.mut_subcommands(|subcommand| {
        let name = subcommand.get_name().to_owned();
        with_headings(subcommand, &name)
    })
}

/// Lists the subcommands in groups. Call this once their help is final.
pub fn with_groups(command: Command) -> Command {
    let mut groups = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(groups, "{title}:");
        for name in names {
            let about = match command.find_subcommand(name) {
                Some(subcommand) => subcommand.get_about().map(ToString::to_string).unwrap_or_default(),
                None => "Print the help of a subcommand".to_owned(), // `help` itself, which clap adds
            };
            let _ = writeln!(groups, "  {name:11}  {about}");
        }
        groups.push('\n');
    }
    command.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    ))
}

/// Puts the flags of a subcommand and of its own subcommands, such as `train td`, under headings.
fn with_headings(command: Command, subcommand: &str) -> Command {
    let command = command.mut_subcommands(|form| with_headings(form, subcommand));
    if command.get_arguments().count() < FEW {
        return command;
    }
    command.mut_args(|arg| match heading(subcommand, arg.get_id().as_str()) {
        Some(title) => arg.help_heading(title),
        None => arg,
    })
}

/// The heading of a flag of a subcommand.
fn heading(subcommand: &str, flag: &str) -> Option<&'static str> {
    let has_flag = |heading: &&Heading| {
        heading.subcommand.is_none_or(|only| only == subcommand) && heading.flags.contains(&flag)
    };
    HEADINGS
        .iter()
        .find(has_flag)
        .map(|heading| heading.title)
        .or_else(|| super::rules::RulesArgs::ids().any(|id| id == flag).then_some(RULES))
}
