//! `tetrion watch --session`: shows a learner's session on a server while it runs.
//!
//! A task reads frames as they arrive, so the viewer can pause and step back without delaying the server. After losing
//! the connection, it retries for the time of `--patience`: a server that keeps sessions across a restart still has
//! this one.

use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::bail;

use super::args::WatchArgs;
use crate::cli::computing::ComputingArgs;
use crate::cli::connection::Connection;
use crate::cli::output::print;
use crate::cli::terminal;
use crate::client::{Client, ClientError, ListedSession, WatchedSession, Watching};
use crate::input::UsageError;
use crate::text::numbers::count;
use crate::viewers::{FrameHistory, Link, SessionViewer};

/// Most sessions that an error lists.
const MOST_LISTED: usize = 20;
/// Shortest and longest time before the next call to the server.
const REST: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));

/// Shows a session until the viewer leaves, then prints its state. Without a name, shows the only session.
///
/// # Errors
/// If the server or the session is unknown, or there is no terminal.
pub fn run(args: &WatchArgs, session: &str) -> anyhow::Result<ExitCode> {
    if args.connection.server.len() != 1 {
        let problem = format!(
            "--session lives on one server: --server has {} addresses, expected one",
            args.connection.server.len()
        );
        return Err(UsageError(problem).into());
    }
    terminal::check()?;
    let palette = args.shown.palette();
    let patience = Duration::from_secs_f64(args.connection.patience);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let begun = runtime.block_on(async {
        let connection = Connection::open(&args.connection, &ComputingArgs::default()).await?;
        let session = match session {
            "" => the_only(connection.client.sessions().await?)?,
            name => name.to_owned(),
        };
        let env_ids = Some(args.envs.as_slice()).filter(|env_ids| !env_ids.is_empty());
        let mut watching = connection.client.watch_session(&session, env_ids).await?;
        let first = watching.next().await?;
        anyhow::Ok((connection.client, watching, Arc::new(Mutex::new(FrameHistory::new(first)))))
    });
    let (client, watching, kept) = begun?;
    let watched = watching.session().clone();
    runtime.spawn(read(client, watching, kept.clone(), patience));
    let mut viewer = SessionViewer::new(watched, kept, palette, args.paused);
    let left = terminal::run(&mut viewer);
    runtime.shutdown_background();
    left?.exit_code(print(&viewer.report()))
}

/// The name of the only session.
///
/// # Errors
/// If there are no sessions, or several; the error lists them.
fn the_only(sessions: Vec<ListedSession>) -> anyhow::Result<String> {
    match &sessions[..] {
        [] => bail!("the server has no session of this caller"),
        [only] => Ok(only.name.clone()),
        _ => {
            let line = |session: &ListedSession| {
                let ListedSession { name, num_envs, preset, width, height, sequence_number } = session;
                let envs = count(u64::from(*num_envs), "environment");
                let calls = count(*sequence_number, "call");
                format!("\n  {name}: {envs}, {preset} {width} x {height}, {calls}")
            };
            // The newest first, because it is the most likely one.
            let lines: String = sessions.iter().rev().take(MOST_LISTED).map(line).collect();
            let known = sessions.len();
            Err(UsageError(format!("--session: the server has {known} sessions, name one:{lines}")).into())
        }
    }
}

/// Stores frames as they arrive, until the session ends or the server remains lost.
async fn read(client: Client, mut watching: Watching, kept: Arc<Mutex<FrameHistory>>, patience: Duration) {
    let start = Instant::now();
    let set = |link| kept.lock().expect("a lock that is not poisoned").link = link;
    loop {
        match watching.next().await {
            Ok(frame) => kept.lock().expect("a lock that is not poisoned").push(start.elapsed(), frame),
            Err(error) => {
                match find(&client, watching.session(), error, patience, |why| set(Link::Down(why))).await {
                    Ok(found) => watching = found,
                    Err(error) => return set(Link::Over(why(&error))),
                }
            }
        }
    }
}

/// The reason why no more frames arrive.
fn why(error: &ClientError) -> String {
    let reason = match error {
        ClientError::Refused { reason, .. } => reason.as_str(),
        _ => "",
    };
    match reason {
        "SESSION_NOT_FOUND" => "the session has ended: the server no longer has it".to_owned(),
        "SESSION_EXPIRED" => "the session has ended: its lease ran out".to_owned(),
        _ => error.to_string(),
    }
}

/// Watches a session again once the lost server answers. Passes each reason for the delay to `say`.
async fn find(
    client: &Client,
    session: &WatchedSession,
    mut error: ClientError,
    patience: Duration,
    say: impl Fn(String),
) -> Result<Watching, ClientError> {
    let (start, mut rest) = (Instant::now(), REST.0);
    while matches!(error, ClientError::Lost { .. }) && start.elapsed() + rest <= patience {
        say(error.to_string());
        tokio::time::sleep(rest).await;
        rest = (2 * rest).min(REST.1);
        error = match client.watch_session(&session.name, Some(&session.env_ids)).await {
            Ok(watching) if watching.session() == session => return Ok(watching),
            Ok(_) => ClientError::Answer(format!("{} is another session now", session.name)),
            Err(error) => error,
        };
    }
    Err(error)
}
