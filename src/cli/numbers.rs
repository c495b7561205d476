//! The flags for players that are plain numbers in a file, such as the `weights.txt` of a course.

use std::path::PathBuf;

use super::output::say;
use crate::input::UsageError;
use crate::players::Contender;
use tetrion_protocol::policies::WeightRows;

/// Files of weights, and their features.
#[derive(Debug, clap::Args)]
pub struct NumbersArgs {
    /// File of plain numbers, one weight per feature of --features
    #[arg(long, value_name = "FILE")]
    pub weights: Vec<PathBuf>,

    /// Features for a file of plain numbers: a feature set, or features separated by commas
    #[arg(long, value_name = "SET|LIST")]
    pub features: Option<String>,
}

impl NumbersArgs {
    /// The players. A note explains weights that are all positive: nothing counts against a placement then.
    ///
    /// # Errors
    /// [`UsageError`] if one of the flags is missing, or a file holds no numbers.
    pub fn contenders(&self) -> Result<Vec<Contender>, UsageError> {
        let Some(features) = &self.features else {
            if self.weights.is_empty() {
                return Ok(Vec::new());
            }
            let problem = "--weights holds plain numbers: name their features with --features";
            return Err(UsageError(format!("{problem}, such as --features bcts8")));
        };
        if self.weights.is_empty() {
            return Err(UsageError("--features is for the plain numbers of --weights".to_owned()));
        }
        let contenders = self.weights.iter().map(|path| {
            let contender = Contender::from_numbers(path, features)?;
            if let Contender::Numbers { name, weights: WeightRows { rows, .. } } = &contender
                && rows.iter().all(|row| row.len() > 1 && row.iter().all(|&weight| weight > 0.0))
            {
                say(format_args!(
                    "{name}: every weight is positive, so nothing counts against a placement, not even holes. A feature that a \
                     formula subtracts needs a minus: the weights 1 1 1 1 of a course are -1 1 -1 -1 of lab4"
                ));
            }
            Ok(contender)
        });
        contenders.collect()
    }
}
