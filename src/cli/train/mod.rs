//! `tetrion train`: the search for a good controller, for the person who waits: flags, a display, a result that can be believed.
//!
//! The [`trainer`](crate::trainer) trains.

mod args;
mod display;
mod features;
mod lessons;
mod searches;
mod settings;
mod training;

pub use args::{Method, TrainArgs};

use std::process::ExitCode;

use self::training::follow;
use super::connection::Connection;
use crate::client::Client;
use crate::trainer::learning::Learning;
use crate::trainer::run::create;
use crate::trainer::search::Search;

/// Trains to the end, or until it is interrupted.
///
/// # Errors
/// Options that do not go together, what a server refuses, or a folder that cannot be opened. What stops a search under
/// way is said here, with the way to go on.
pub fn run(args: TrainArgs) -> anyhow::Result<ExitCode> {
    if args.resume.is_none() {
        searches::check_options(&args)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        let connection = Connection::open(&args.connection, &args.computing).await?.with_page().await?;
        let learns = match &args.resume {
            Some(folder) => crate::trainer::lessons::is_learning(folder),
            None => args.optimizer == Method::Td,
        };
        if learns {
            follow(learning(&args, &connection.client).await?, &args, &connection).await
        } else {
            follow(search(&args, &connection.client).await?, &args, &connection).await
        }
    });
    runtime.shutdown_background();
    code
}

/// Begins or opens a search. Before anything is made or changed, the server is asked whether it would play the games.
async fn search(args: &TrainArgs, client: &Client) -> anyhow::Result<Search> {
    if let Some(folder) = &args.resume {
        return Ok(Search::resume(folder, args.generations, client).await?);
    }
    let settings = settings::of_search(args, client).await?;
    settings.check(client).await?;
    let run = create(args.out.as_deref(), &settings)?;
    Ok(Search::begin(settings, client, run)?)
}

/// Begins or opens a run that learns from every step, like [`search`].
async fn learning(args: &TrainArgs, client: &Client) -> anyhow::Result<Learning> {
    if let Some(folder) = &args.resume {
        return Ok(Learning::resume(folder, args.generations, client).await?);
    }
    let settings = lessons::new_settings(args, client).await?;
    crate::trainer::lessons::check(&settings, client).await?;
    let run = create(args.out.as_deref(), &settings)?;
    Ok(Learning::begin(settings, client, run)?)
}
