//! The flags for the rules, shared by all subcommands that play games. The engine's table of fields defines them.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgGroup, ArgMatches, Args, Command, FromArgMatches};

use crate::trainer::rules::RulesNote;
use tetrion_client::RulesChoice;
use tetrion_core::engine::{Changes, ChoiceValue, FieldKind, FieldValue, RULES_FIELDS, Rules, RulesField};
use tetrion_protocol::rules;

/// The options for the rules: a preset and changes to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RulesArgs {
    /// Name of the preset; `None` for the command's default.
    pub rules: Option<String>,
    pub changes: Changes,
}

/// Name of the group of these flags.
const GROUP: &str = "RulesArgs";

/// Fields that `-h` shows; `--help` shows all.
const SHORT_HELP: [&str; 2] = ["width", "height"];

/// Id of a field's flag, such as `garbage_delay_pieces` for `garbage.delay_pieces`. The flag has hyphens:
/// `--garbage-delay-pieces`.
fn id(field: &RulesField) -> String {
    field.name.replace('.', "_")
}

impl Args for RulesArgs {
    fn group_id() -> Option<clap::Id> {
        Some(GROUP.into())
    }

    fn augment_args(command: Command) -> Command {
        let preset =
            Arg::new("rules").long("rules").value_name("PRESET").help("Rules preset [default: simplified]");
        let group = ArgGroup::new(GROUP).multiple(true).args(RulesArgs::ids());
        command.arg(preset).args(RULES_FIELDS.iter().map(arg)).group(group)
    }

    fn augment_args_for_update(command: Command) -> Command {
        RulesArgs::augment_args(command)
    }
}

impl FromArgMatches for RulesArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<RulesArgs, clap::Error> {
        let mut args = RulesArgs::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        if let Some(preset) = matches.get_one::<String>("rules") {
            self.rules = Some(preset.clone());
        }
        for field in &RULES_FIELDS {
            if let Some(&value) = matches.get_one::<FieldValue>(&id(field)) {
                self.changes.set(field.name, value).expect("it is a field of the rules");
            }
        }
        Ok(())
    }
}

/// The flag for a field.
fn arg(field: &'static RulesField) -> Arg {
    let value_name = match field.kind {
        FieldKind::Count { .. } => "N",
        FieldKind::Number { .. } => "NUMBER",
        FieldKind::Numbers { .. } => "NUMBERS",
        FieldKind::Flag { .. } => "BOOL",
        FieldKind::Choice { .. } => "NAME",
        FieldKind::Pieces { .. } => "SET",
    };
    let bounds = match field.kind {
        FieldKind::Count { .. } => format!(", {}", field.expects()),
        FieldKind::Number { bounds, .. } if bounds.most <= 100.0 => format!(", {}", field.expects()),
        FieldKind::Numbers { .. } => ", separated by commas".to_owned(),
        _ => String::new(),
    };
    Arg::new(id(field))
        .long(id(field).replace('_', "-"))
        .value_name(value_name)
        .value_parser(value_parser(field))
        .allow_hyphen_values(matches!(field.kind, FieldKind::Numbers { .. }))
        .hide_short_help(!SHORT_HELP.contains(&field.name))
        .help(format!("{}{bounds} [default: {}]", field.about, field.default))
}

/// The parser of a field's values. `--help` lists the values of a choice with their meanings.
fn value_parser(field: &'static RulesField) -> ValueParser {
    let parse = |text: &str| match field.kind {
        // The command line's error names the flag and the value.
        FieldKind::Numbers { .. } | FieldKind::Flag { .. } => {
            rules::parse(field, text).map_err(|_| format!("expected {}", field.expects()))
        }
        _ => rules::parse(field, text),
    };
    match field.kind {
        FieldKind::Count { least, most, .. } => {
            let range = i64::from(least)..=i64::from(most);
            clap::value_parser!(u32).range(range).map(FieldValue::Count).into()
        }
        FieldKind::Number { .. } => ValueParser::new(|text: &str| text.parse().map(FieldValue::Number)),
        FieldKind::Choice { values, .. } => {
            let about = |value: &ChoiceValue| value.meaning.trim_end_matches('.');
            let values = values.iter().map(|value| PossibleValue::new(value.name).help(about(value)));
            PossibleValuesParser::new(values).try_map(move |name| parse(&name)).into()
        }
        _ => ValueParser::new(parse),
    }
}

impl RulesArgs {
    /// Ids of all these flags.
    pub fn ids() -> impl Iterator<Item = clap::Id> {
        ["rules".to_owned()].into_iter().chain(RULES_FIELDS.iter().map(id)).map(clap::Id::from)
    }

    /// The rules as a request contains them. Fields without a flag come from `others`.
    pub fn choice(&self, others: RulesChoice) -> RulesChoice {
        RulesChoice {
            preset: self.rules.clone().unwrap_or(others.preset),
            changes: self.changes.clone().or(&others.changes),
        }
    }

    /// The rules from these flags. Fields without a flag come from `noted`, unless the flags name another preset.
    pub fn completed_by(&self, noted: &RulesNote) -> RulesChoice {
        let is_same = self.rules.as_ref().is_none_or(|preset| *preset == noted.preset);
        self.choice(if is_same { noted.choice() } else { RulesChoice::default() })
    }

    /// The rules as a request contains them, with at least this many next pieces shown, unless a flag sets their
    /// number.
    pub fn choice_that_shows(&self, least: u32, others: RulesChoice) -> RulesChoice {
        let mut choice = self.choice(others);
        if self.changes.get("preview").is_none() {
            let of_preset = Rules::preset(&choice.preset).unwrap_or_default().preview.into();
            if choice.changes.count("preview").unwrap_or(of_preset) < least {
                choice.changes.set("preview", least).expect("rules have a preview");
            }
        }
        choice
    }
}
