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
use crate::cli::connection::connect;
use crate::cli::output::print;
use crate::cli::terminal;
use crate::input::UsageError;
use crate::text::numbers::count;
use crate::viewers::{FrameHistory, LinkState, SessionViewer};
use tetrion_client::{Client, ClientError, ListedSession, WatchedSession, Watching};

/// Most sessions that an error lists.
const MOST_LISTED: usize = 20;
/// Shortest and longest time before the next call to the server.
const REST: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));

const PREFIX: &str = "sessions/";

/// Shows a session, by its name or its label, until the viewer leaves, then prints its state. If the text is empty, shows
/// the only learner's session.
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
        let client = connect(&args.connection, &ComputingArgs::default()).await?;
        let session = match session {
            name if name.starts_with(PREFIX) => name.to_owned(),
            label => chosen(&client.sessions().await?, label)?,
        };
        let env_ids = Some(args.envs.as_slice()).filter(|env_ids| !env_ids.is_empty());
        let mut watching = client.watch_session(&session, env_ids).await?;
        let first = watching.next().await?;
        anyhow::Ok((client, watching, Arc::new(Mutex::new(FrameHistory::new(first)))))
    });
    let (client, watching, kept) = begun?;
    let watched = watching.session().clone();
    runtime.spawn(read(client, watching, kept.clone(), patience));
    let mut viewer = SessionViewer::new(watched, kept, palette, args.paused);
    let left = terminal::run(&mut viewer);
    runtime.shutdown_background();
    left?.exit_code(print(&viewer.report()))
}

/// The name of the only session with this label, or of the only learner's session if the label is empty.
///
/// # Errors
/// If there is no such session, or several; the error lists them.
fn chosen(sessions: &[ListedSession], label: &str) -> anyhow::Result<String> {
    if sessions.is_empty() {
        bail!("the server has no session of this caller");
    }
    let is_meant = |session: &&ListedSession| {
        if label.is_empty() { !session.interactive } else { session.label == label }
    };
    let meant: Vec<&ListedSession> = sessions.iter().filter(is_meant).collect();
    let problem = match (&meant[..], label) {
        ([only], _) => return Ok(only.name.clone()),
        ([], "") => "the server has no learner's session, choose one of the others".to_owned(),
        ([], label) => format!("no session has the label {label:?}, choose one"),
        (_, "") => format!("the server has {} learners' sessions, choose one", meant.len()),
        (_, label) => format!("{} sessions have the label {label:?}, choose one by its name", meant.len()),
    };
    let meant = if meant.is_empty() { sessions.iter().collect() } else { meant };
    // The newest first, because it is the most likely one; sessions of people last.
    let mut listed: Vec<&ListedSession> = meant.into_iter().rev().collect();
    listed.sort_by_key(|session| session.interactive);
    let lines: String = listed.into_iter().take(MOST_LISTED).map(line).collect();
    Err(UsageError(format!("--session: {problem}:{lines}")).into())
}

/// A session in a list.
fn line(session: &ListedSession) -> String {
    let ListedSession { name, label, interactive, num_envs, preset, width, height, sequence_number, .. } =
        session;
    let label = if label.is_empty() { String::new() } else { format!(" ({label})") };
    let envs = count(u64::from(*num_envs), "environment");
    let calls = count(*sequence_number, "call");
    let person = if *interactive { ", a person's" } else { "" };
    format!("\n  {name}{label}: {envs}, {preset} {width} x {height}, {calls}{person}")
}

/// Stores frames as they arrive, until the session ends or the server remains lost.
async fn read(client: Client, mut watching: Watching, kept: Arc<Mutex<FrameHistory>>, patience: Duration) {
    let start = Instant::now();
    let set = |link| kept.lock().expect("a lock that is not poisoned").link = link;
    loop {
        match watching.next().await {
            Ok(frame) => kept.lock().expect("a lock that is not poisoned").push(start.elapsed(), frame),
            Err(error) => {
                match find(&client, watching.session(), error, patience, |why| set(LinkState::Down(why)))
                    .await
                {
                    Ok(found) => watching = found,
                    Err(error) => return set(LinkState::Over(why(&error))),
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
