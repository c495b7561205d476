//! `tetrion man`: manual pages for the program and for each subcommand and method, such as `train td`, generated from
//! the definitions of `--help`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap_mangen::Man;

use tetrion_toolkit::files;

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
    write_pages(&program, dir)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the pages of a command and its subcommands.
fn write_pages(command: &clap::Command, dir: &Path) -> anyhow::Result<()> {
    let page = Man::new(with_variables(command.clone()))
        .source(concat!("tetrion ", env!("CARGO_PKG_VERSION")))
        .manual("Tetrion");
    let path = dir.join(page.get_filename());
    let mut text = Vec::new();
    page.render(&mut text)
        .and_then(|()| files::write(&path, &text))
        .with_context(|| format!("cannot write {}", path.display()))?;
    command.get_subcommands().try_for_each(|subcommand| write_pages(subcommand, dir))
}

/// Adds the environment variable of each option to its help, as `--help` does; clap_mangen omits them.
fn with_variables(command: clap::Command) -> clap::Command {
    command.mut_args(|arg| match (arg.get_env(), arg.get_help()) {
        (Some(variable), Some(help)) => {
            let help = format!("{help} [env: {}]", variable.display());
            arg.help(help)
        }
        _ => arg,
    })
}
