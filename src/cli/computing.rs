//! The options for threads, vector instructions and computed values. They affect the speed of games, and no byte of a
//! result.

use std::fs::File;
use std::path::PathBuf;

use anyhow::Context;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::input::UsageError;
use tetrion_core::agents::Kernel;
use tetrion_core::pool::MAX_THREADS;
use tetrion_core::values::{self, Values};

/// The options for threads, vector instructions and computed values, for every subcommand that can play games in this process.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ComputingArgs {
    /// Threads that play games, at most 512; 0 for one per core. The number does not change results
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=MAX_THREADS as i64))]
    pub threads: u32,

    /// Vector instructions for features [default: the widest that this machine has]. The choice does not change results
    #[arg(long, value_name = "NAME", value_parser = kernel())]
    pub kernel: Option<Kernel>,

    /// File of `tetrion optimum` with the exact values of a playfield, for the agent optimal and the info regret; repeat
    /// it for several. It takes as much memory as the file, in addition to the limits
    #[arg(long, value_name = "FILE")]
    pub values: Vec<PathBuf>,
}

impl ComputingArgs {
    /// The chosen kernel, or the fastest.
    ///
    /// # Errors
    /// If this machine cannot run the chosen kernel.
    pub fn kernel(&self) -> Result<Kernel, UsageError> {
        let kernel = self.kernel.unwrap_or_default();
        if kernel.is_available() {
            return Ok(kernel);
        }
        let available = Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()).map(Kernel::name);
        let available = available.collect::<Vec<_>>().join(" or ");
        Err(UsageError(format!("--kernel: this machine cannot run {}, expected {available}", kernel.name())))
    }

    /// Loads the files of values.
    ///
    /// # Errors
    /// With the file's name, if it cannot be read or is no table of values.
    pub fn load_values(&self) -> anyhow::Result<()> {
        for path in &self.values {
            let loaded = File::open(path).and_then(Values::read);
            values::add(loaded.with_context(|| format!("cannot load {}", path.display()))?);
        }
        Ok(())
    }

    /// Refuses these options if other processes play the games.
    ///
    /// # Errors
    /// If one of the options is given.
    pub fn check_unused(&self) -> Result<(), UsageError> {
        let given = [
            ("--threads", self.threads > 0),
            ("--kernel", self.kernel.is_some()),
            ("--values", !self.values.is_empty()),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => Err(UsageError(format!(
                "{flag} is for games that this process plays: with --server, it is an option of `tetrion serve`"
            ))),
            None => Ok(()),
        }
    }
}

fn kernel() -> impl TypedValueParser<Value = Kernel> {
    let find = |name: String| Kernel::ALL.into_iter().find(|kernel| kernel.name() == name);
    PossibleValuesParser::new(Kernel::ALL.map(Kernel::name)).map(move |name| find(name).expect("one of them"))
}
