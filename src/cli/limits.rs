//! The flags for the limits of a server, one per row of the services' table.
//!
//! Their defaults are in the help only, and clap knows none: a limit without a value follows from `--memory`.

use std::time::Duration;

use clap::builder::{TypedValueParser, ValueParser};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};

use tetrion_service::ServerLimits;
use tetrion_service::limits::{DEFAULT_MEMORY, LIMITS, LimitKind, ServerLimit};

/// The options that limit what clients can make a server hold.
#[derive(Clone, Copy, Debug)]
pub struct LimitArgs(pub ServerLimits);

impl Args for LimitArgs {
    fn augment_args(command: Command) -> Command {
        command.args(LIMITS.iter().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        LimitArgs::augment_args(command)
    }
}

impl FromArgMatches for LimitArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<LimitArgs, clap::Error> {
        let mut limits = ServerLimits::for_memory(*matches.get_one("memory").unwrap_or(&DEFAULT_MEMORY));
        for limit in &LIMITS {
            set(limit, &mut limits, matches);
        }
        Ok(LimitArgs(limits))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = LimitArgs::from_arg_matches(matches)?;
        Ok(())
    }
}

fn flag(limit: &'static ServerLimit) -> Arg {
    /// 1 TiB.
    const MOST_MIB: u64 = 1 << 20;
    let (value_name, parser): (_, ValueParser) = match limit.kind {
        LimitKind::Memory(_, least) => {
            ("MIB", value_parser!(u64).range(least >> 20..=MOST_MIB).map(|mib| mib << 20).into())
        }
        LimitKind::Count(_, least) => ("N", count(least)),
        LimitKind::Half(..) => ("N", count(1)),
        LimitKind::Time(_, least) => ("SECONDS", ValueParser::new(move |text: &str| time(text, least))),
    };
    let (about, default) = (limit.about, limit.value(ServerLimits::DEFAULT));
    Arg::new(limit.name)
        .long(limit.flag())
        .value_name(value_name)
        .value_parser(parser)
        .help_heading(limit.heading)
        .help(format!("{about} [default: {default}]"))
        .long_help(format!("{about}\n\n[default: {default}]"))
}

fn count(least: u32) -> ValueParser {
    value_parser!(u32).range(i64::from(least)..=i64::from(u32::MAX)).into()
}

/// Parses a number of seconds.
pub fn time(text: &str, least: Duration) -> Result<Duration, String> {
    const MOST: Duration = Duration::from_secs(1_000_000);
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|time| (least..=MOST).contains(time))
        .ok_or_else(|| format!("expected {} to a million seconds", least.as_secs_f64()))
}

/// Sets a limit to the value of its flag, if given.
fn set(limit: &ServerLimit, limits: &mut ServerLimits, matches: &ArgMatches) {
    let name = limit.name;
    match limit.kind {
        LimitKind::Memory(field, _) => replace(field(limits), matches.get_one(name).copied()),
        LimitKind::Count(field, _) => replace(field(limits), matches.get_one(name).copied()),
        LimitKind::Half(field, _) => replace(field(limits), matches.get_one(name).copied().map(Some)),
        LimitKind::Time(field, _) => replace(field(limits), matches.get_one(name).copied()),
    }
}

fn replace<T: Copy>(old: &mut T, new: Option<T>) {
    *old = new.unwrap_or(*old);
}
