//! The rules of a game with a bot, if the protocol can express them.

use super::args::GuidelineArgs;
use crate::input::UsageError;
use tetrion_client::RulesChoice;
use tetrion_protocol::rules::ResolvedRules;
use tetrion_toolkit::tbp::check_rules;

/// The only preset that bots support.
const PRESET: &str = "guideline";

/// The rules from the flags. Fields without a flag come from the training run if it has the same preset, otherwise from
/// the preset.
///
/// # Errors
/// [`UsageError`] for rules that cannot be played, or that the protocol cannot express.
pub fn rules(args: &GuidelineArgs, noted: Option<&RulesChoice>) -> Result<ResolvedRules, UsageError> {
    let wrong = |error: String| UsageError(format!("rules: {error}"));
    let choice = match noted.filter(|noted| noted.preset == PRESET) {
        Some(noted) => args.rules.completed_by(noted),
        None => args.rules.choice(RulesChoice::preset(PRESET)),
    };
    let resolved = ResolvedRules::try_from(&choice).map_err(|error| wrong(error.to_string()))?;
    check_rules(&resolved.rules).map_err(|error| wrong(error.to_string()))?;
    Ok(resolved)
}
