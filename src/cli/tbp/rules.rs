//! The rules of a game with a bot: those of the flags, if the protocol has words for them.

use super::args::GuidelineArgs;
use crate::client::RulesChoice;
use crate::input::UsageError;
use crate::tbp::check_rules;
use crate::trainer::rules::RulesNote;
use crate::wire::rules::ResolvedRules;

/// The preset that bots know.
const PRESET: &str = "guideline";

/// The rules of the flags. What they leave open is that of a run under the same preset, if there is one, else the preset's.
///
/// # Errors
/// [`UsageError`] for rules that cannot be played, or that the protocol has no words for.
pub fn rules(args: &GuidelineArgs, noted: Option<&RulesNote>) -> Result<ResolvedRules, UsageError> {
    let wrong = |error: String| UsageError(format!("rules: {error}"));
    let choice = match noted.filter(|noted| noted.preset == PRESET) {
        Some(noted) => args.rules.completed_by(noted),
        None => args.rules.choice(RulesChoice::preset(PRESET)),
    };
    let resolved = ResolvedRules::try_from(&choice).map_err(|error| wrong(error.to_string()))?;
    check_rules(&resolved.rules).map_err(|error| wrong(error.to_string()))?;
    Ok(resolved)
}
