//! `tetrion completions`: a script that completes subcommands, flags, values and file names in a shell.

use std::process::ExitCode;

use clap_complete::Shell;

use super::output::print;

/// The options of `tetrion completions`.
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// Shell to complete commands in
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Prints the script for this program.
///
/// # Errors
/// If stdout cannot be written.
pub fn run(args: &CompletionsArgs, mut program: clap::Command) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "tetrion", &mut script);
    print(&String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}
