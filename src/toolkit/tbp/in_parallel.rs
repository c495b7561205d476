//! Numbered games on several threads: a bot has most of its time to itself, in its own process.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How often the caller gets a progress report.
const REPORT: Duration = Duration::from_millis(100);

/// Plays the games `0..count`, `jobs` at a time, and returns them in order; only the finished ones once `is_stopped`. `play`
/// returns `None` for a game that was stopped. `report` gets the number of finished games, several times per second.
///
/// # Errors
/// The first error of a game, which stops all others.
pub fn in_parallel<T: Send, E: Send>(
    count: u32,
    jobs: u32,
    is_stopped: &AtomicBool,
    play: impl Fn(u32) -> Result<Option<T>, E> + Sync,
    mut report: impl FnMut(usize),
) -> Result<Vec<T>, E> {
    let (next, mut games, mut failure) = (AtomicU32::new(0), Vec::new(), None);
    thread::scope(|scope| {
        let (ended, endings) = channel();
        for _ in 0..jobs.clamp(1, count.max(1)) {
            let (ended, next, play) = (ended.clone(), &next, &play);
            scope.spawn(move || {
                while !is_stopped.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    if let Some(played) = play(number).transpose()
                        && ended.send(played.map(|game| (number, game))).is_err()
                    {
                        return;
                    }
                }
            });
        }
        drop(ended);
        loop {
            match endings.recv_timeout(REPORT) {
                Ok(Ok(game)) => games.push(game),
                Ok(Err(error)) => {
                    is_stopped.store(true, Ordering::Relaxed);
                    failure = failure.take().or(Some(error));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            report(games.len());
        }
    });
    if let Some(error) = failure {
        return Err(error);
    }
    games.sort_by_key(|(number, _)| *number);
    Ok(games.into_iter().map(|(_, game)| game).collect())
}
