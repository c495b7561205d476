//! The flags for the rules, shared by all subcommands that play games. The engine's table of fields defines them.

use std::fmt::Write;

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, FromArgMatches};

use tetrion_client::RulesChoice;
use tetrion_core::engine::{Changes, FieldKind, PRESETS, RULES_FIELDS, Rules, RulesField};

/// The options for the rules: a preset and changes to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RulesArgs {
    /// Name of the preset; `None` for the command's default.
    pub rules: Option<String>,
    pub changes: Changes,
}

/// Name of the group of these flags.
const GROUP: &str = "RulesArgs";

/// Fields that are flags too. A flag overrides a change in `--rules`.
const FLAGS: [&str; 3] = ["width", "height", "preview"];

impl Args for RulesArgs {
    fn group_id() -> Option<clap::Id> {
        Some(GROUP.into())
    }

    fn augment_args(command: Command) -> Command {
        let rules = Arg::new("rules")
            .long("rules")
            .value_name("PRESET[,FIELD=VALUE]...")
            .action(ArgAction::Append)
            .value_parser(str::parse::<RulesChoice>);
        let rules = rules_by_default(rules, "simplified");
        let group = ArgGroup::new(GROUP).multiple(true).args(RulesArgs::ids());
        command.arg(rules).args(FLAGS.iter().map(|name| flag(name))).group(group)
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
        for RulesChoice { preset, changes } in matches.get_many("rules").into_iter().flatten() {
            self.rules = Some(preset.clone()).filter(|preset| !preset.is_empty()).or(self.rules.take());
            self.changes = changes.clone().or(&self.changes);
        }
        for name in FLAGS {
            if let Some(&count) = matches.get_one::<u32>(name) {
                self.changes.set(name, count).expect("it is a field of the rules");
            }
        }
        Ok(())
    }
}

/// The flag `--rules`, whose help names this default. `--help` lists all presets and fields.
pub fn rules_by_default(arg: Arg, default: &str) -> Arg {
    let about = format!(
        "Rules: a preset, changes to it, or both, such as guideline,hold=false; repeat to add changes [default: {default}]"
    );
    let mut text = format!(
        "{about}\n\nPresets: {}\n\nFields, by default the preset's; `tetrion catalog` explains the names:",
        PRESETS.map(|preset| preset.name).join(", ")
    );
    for field in &RULES_FIELDS {
        let _ = write!(text, "\n- {}: {}; {}", field.name, field.about, field.expects());
        if field.default != "the preset's" {
            let _ = write!(text, " [default: {}]", field.default);
        }
    }
    arg.help(about).long_help(text)
}

/// The flag of a field that is a number.
fn flag(name: &'static str) -> Arg {
    let field = RulesField::named(name).expect("it is a field of the rules");
    let FieldKind::Count { least, most, .. } = field.kind else {
        unreachable!("the size and the preview are counts")
    };
    Arg::new(name)
        .long(name)
        .value_name("N")
        .value_parser(clap::value_parser!(u32).range(i64::from(least)..=i64::from(most)))
        .help(format!("{}, {} [default: {}]", field.about, field.expects(), field.default))
}

impl RulesArgs {
    /// Ids of all these flags.
    pub fn ids() -> impl Iterator<Item = clap::Id> {
        ["rules"].into_iter().chain(FLAGS).map(clap::Id::from)
    }

    /// The rules as a request contains them. Fields without a flag come from `others`.
    pub fn choice(&self, others: RulesChoice) -> RulesChoice {
        RulesChoice {
            preset: self.rules.clone().unwrap_or(others.preset),
            changes: self.changes.clone().or(&others.changes),
        }
    }

    /// The rules from these flags. Fields without a flag come from `noted`, unless the flags name another preset.
    pub fn completed_by(&self, noted: &RulesChoice) -> RulesChoice {
        let is_same = self.rules.as_ref().is_none_or(|preset| *preset == noted.preset);
        self.choice(if is_same { noted.clone() } else { RulesChoice::default() })
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
