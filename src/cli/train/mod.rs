//! `tetrion train`: a training run with flags, a display, and a result with its interval.
//!
//! The [`trainer`](crate::trainer) does the training. Each method has a file with its flags.

mod args;
mod cem;
mod display;
mod features;
mod genetic;
mod run;
mod settings;
mod start;
mod td;
mod training;

pub use args::{Method, TrainArgs};

use std::path::Path;
use std::process::ExitCode;

use self::run::RunArgs;
use self::training::follow;
use super::connection::TrainingPage;
use crate::trainer::learning::Learning;
use crate::trainer::lessons;
use crate::trainer::run::create;
use crate::trainer::search::SearchRun;
use crate::trainer::settings::Settings;
use tetrion_client::Client;

/// Trains to the end, or until an interrupt.
///
/// # Errors
/// If options exclude each other, a server refuses them, or a folder cannot be opened. An error during a run comes with
/// the command that resumes it.
pub fn run(args: TrainArgs) -> anyhow::Result<ExitCode> {
    let method = args.method.unwrap_or(Method::Cem(Box::new(args.cem)));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        let run = method.run();
        let client = &run.playing.connect().await?;
        let page = TrainingPage::open().await?;
        match (&args.resume, &method) {
            (Some(folder), _) => resume(folder, run, client, &page).await,
            (None, Method::Cem(cem)) => search(cem.settings(client).await?, run, client, &page).await,
            (None, Method::Genetic(genetic)) => {
                search(genetic.settings(client).await?, run, client, &page).await
            }
            (None, Method::Td(td)) => {
                let settings = td.settings(client).await?;
                // Ask the server before creating the folder.
                lessons::check(&settings, client).await?;
                let folder = create(run.out.as_deref(), &settings)?;
                follow(Learning::begin(settings, client, folder)?, false, run, client, &page).await
            }
        }
    });
    runtime.shutdown_background();
    code
}

/// Starts a search. Before creating the folder, it asks the server whether it would play the games.
async fn search(
    settings: Settings,
    run: &RunArgs,
    client: &Client,
    page: &TrainingPage,
) -> anyhow::Result<ExitCode> {
    settings.check(client).await?;
    let folder = create(run.out.as_deref(), &settings)?;
    follow(SearchRun::begin(settings, client, folder)?, false, run, client, page).await
}

/// Resumes the run in a folder, for any method.
async fn resume(
    folder: &Path,
    run: &RunArgs,
    client: &Client,
    page: &TrainingPage,
) -> anyhow::Result<ExitCode> {
    if lessons::is_learning(folder) {
        let learning = Learning::resume(folder, run.generations, client).await?;
        follow(learning, true, run, client, page).await
    } else {
        follow(SearchRun::resume(folder, run.generations, client).await?, true, run, client, page).await
    }
}
