//! `tetrion man`: the manual, a page for the program and one for each subcommand, from the same definition as `--help`.

use std::fs;
use std::iter::once;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap_mangen::Man;

/// The options of `tetrion man`.
#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Folder for the pages, such as ~/.local/share/man/man1; created if missing
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}

/// Writes the pages of this program.
///
/// # Errors
/// If the folder or a page cannot be written.
pub fn run(args: &ManArgs, program: clap::Command) -> anyhow::Result<ExitCode> {
    let dir = &args.dir;
    fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    let mut program = program.disable_help_subcommand(true);
    program.build(); // names the subcommands `tetrion-serve` and so on
    for command in once(&program).chain(program.get_subcommands()) {
        let page = Man::new(with_variables(command.clone()))
            .source(concat!("tetrion ", env!("CARGO_PKG_VERSION")))
            .manual("Tetrion");
        let path = dir.join(page.get_filename());
        page.generate_to(dir).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Names the environment variable of each option in its help, as `--help` does; clap_mangen leaves them out.
fn with_variables(command: clap::Command) -> clap::Command {
    command.mut_args(|arg| match (arg.get_env(), arg.get_help()) {
        (Some(variable), Some(help)) => {
            let help = format!("{help} [env: {}]", variable.display());
            arg.help(help)
        }
        _ => arg,
    })
}
