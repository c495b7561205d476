//! Recorded games of the benchmark: whether a recording is a game of its class, played to its end.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::class::{Class, invalid_actions_name};
use crate::input::{UsageError, read_open};
use tetrion_client::PlayedGame;
use tetrion_core::engine::EpisodeEnd;
use tetrion_core::pool::Pool;
use tetrion_protocol::limits::MAX_RECORDING_BYTES;
use tetrion_protocol::recording::read;
use tetrion_toolkit::files;
use tetrion_toolkit::recording::{Outcome, Pieces, Recording, Replay, Setup};

/// Files that are checked at once, between two reports of progress.
const CHUNK: usize = 64;

/// Lines and pieces of a game, as a result records them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameNumbers {
    pub lines: u64,
    /// Pieces landed. A game with fewer than the class's `max_pieces` was lost, any other was cut.
    pub pieces: u64,
}

impl From<&PlayedGame> for GameNumbers {
    fn from(game: &PlayedGame) -> GameNumbers {
        GameNumbers { lines: game.lines, pieces: game.pieces }
    }
}

/// Reads a recording file.
///
/// # Errors
/// The problem of a file that cannot be read or is no recording.
pub(super) fn read_recording(path: &Path) -> Result<Recording, String> {
    let bytes = files::open(path).and_then(|file| read_open(file, MAX_RECORDING_BYTES.into()));
    let bytes = bytes.map_err(|error| format!("cannot be read: {error}"))?;
    read(&bytes).map_err(|error| error.to_string())
}

/// Replays a recording and checks that it is a whole game of the class: game `expected` if given, else any. Returns the
/// number of the game.
///
/// # Errors
/// The first problem, with the field, its value and what was expected.
pub fn check_recording(
    class: &Class,
    games: &HashMap<u64, u32>,
    expected: Option<u32>,
    recording: Recording,
) -> Result<(u32, GameNumbers), String> {
    let game = check_setup(class, games, expected, &recording.setup)?;
    let replay = Replay::new(recording).map_err(|error| error.to_string())?;
    if let Some(difference) = replay.difference() {
        return Err(format!("the replay differs from the recording: {difference}"));
    }
    let Outcome { pieces, lines, end, .. } = replay.recording().outcome;
    let cut = class.max_pieces;
    if pieces > cut {
        return Err(format!("outcome.pieces is {pieces}, expected at most {cut}, where games are cut"));
    }
    if pieces < cut && end.is_none() {
        let end = EpisodeEnd::name(end);
        return Err(format!("outcome.end is {end} after {pieces} pieces, expected an end, or {cut} pieces"));
    }
    Ok((game, GameNumbers { lines, pieces }))
}

/// Checks the rules and the seed of a recording. Returns the number of the game.
fn check_setup(
    class: &Class,
    games: &HashMap<u64, u32>,
    expected: Option<u32>,
    setup: &Setup,
) -> Result<u32, String> {
    let rules = class.rules();
    if setup.rules != rules {
        // A field that applies to one of the rules only is a change to it.
        let (changed, fields) = (setup.rules.changes_from(&rules), rules.fields());
        let first = changed.iter().next().map(|(field, value)| (field.name, value.to_string()));
        let (name, value) = first.unwrap_or_else(|| ("fields", "fewer".to_owned()));
        let expected = fields.get(name).map_or_else(|| "none".to_owned(), |value| value.to_string());
        return Err(format!("rules.{name} is {value}, expected {expected}"));
    }
    let (found, wanted) = (invalid_actions_name(setup.invalid_actions), class.invalid_actions_name());
    if found != wanted {
        return Err(format!("invalid_action_policy is {found}, expected {wanted}"));
    }
    if setup.start.is_some() {
        return Err("start is a position, expected none: games begin with an empty playfield".to_owned());
    }
    let wanted = match expected {
        Some(game) => format!("expected {}, the seed of game {game}", class.seed(game)),
        None => format!("expected a seed of the {} games", class.games),
    };
    let Pieces::Seed(seed) = setup.pieces else {
        return Err(format!("piece_sequence is given instead of seed, {wanted}"));
    };
    match games.get(&seed).copied() {
        Some(game) if expected.is_none_or(|expected| expected == game) => Ok(game),
        Some(game) => Err(format!("seed is {seed}, that of game {game}, {wanted}")),
        None => Err(format!("seed is {seed}, {wanted}")),
    }
}

/// The recordings that a player outside this program brings: a file for each game, in the order of the games.
#[derive(Clone, Debug)]
pub struct OutsideGames {
    files: Vec<PathBuf>,
    /// The game of each file, in the order of the files.
    pub games: Vec<GameNumbers>,
}

impl OutsideGames {
    /// Checks all recordings in a folder. Calls `progress` with the number of recordings checked so far.
    ///
    /// # Errors
    /// [`UsageError`] with the first file that is no game of the class, or a game that is missing or comes twice.
    pub fn read(
        class: &Class,
        folder: &Path,
        pool: &Pool,
        mut progress: impl FnMut(usize),
    ) -> Result<OutsideGames, UsageError> {
        let paths = list(class, folder)?;
        let games = class.games_by_seed();
        let mut found: Vec<Option<(PathBuf, GameNumbers)>> = vec![None; class.games as usize];
        for (chunk, paths) in paths.chunks(CHUNK).enumerate() {
            progress(chunk * CHUNK);
            for (path, checked) in
                check_all(pool, paths, |path| check_recording(class, &games, None, read_recording(path)?))
            {
                let (number, game) =
                    checked.map_err(|problem| UsageError(format!("{}: {problem}", path.display())))?;
                let place = &mut found[number as usize];
                if let Some((first, _)) = place {
                    return Err(UsageError(format!(
                        "{}: it is game {number}, as {}, expected each game once",
                        path.display(),
                        first.display()
                    )));
                }
                *place = Some((path.clone(), game));
            }
        }
        let missing = found.iter().position(Option::is_none);
        if let Some(number) = missing {
            let (seed, folder) = (class.seed(number as u32), folder.display());
            return Err(UsageError(format!(
                "{folder}: has no recording of game {number}, expected seed {seed}"
            )));
        }
        let (files, games) = found.into_iter().flatten().unzip();
        Ok(OutsideGames { files, games })
    }

    /// The recording of a game.
    ///
    /// # Errors
    /// If its file has changed and is no recording any more.
    pub fn recording(&self, game: u32) -> Result<Recording, UsageError> {
        let path = &self.files[game as usize];
        read_recording(path).map_err(|problem| UsageError(format!("{}: {problem}", path.display())))
    }
}

/// Checks each item on all threads. Returns the items with their results, in order.
pub(super) fn check_all<'a, I: Sync, T: Send>(
    pool: &Pool,
    items: &'a [I],
    check: impl Fn(&I) -> Result<T, String> + Sync,
) -> Vec<(&'a I, Result<T, String>)> {
    let mut slots: Vec<(&I, Option<Result<T, String>>)> = items.iter().map(|item| (item, None)).collect();
    pool.for_each(&mut slots, |_, (item, slot)| *slot = Some(check(item)));
    slots.into_iter().map(|(item, slot)| (item, slot.expect("the pool checks every item"))).collect()
}

/// The files of a folder by name, at most one per game.
fn list(class: &Class, folder: &Path) -> Result<Vec<PathBuf>, UsageError> {
    let wrong = |error: std::io::Error| UsageError(format!("cannot read {}: {error}", folder.display()));
    let most = class.games as usize;
    let entries = std::fs::read_dir(folder).map_err(wrong)?.take(most + 1);
    let mut paths =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    if paths.len() > most {
        let folder = folder.display();
        return Err(UsageError(format!("{folder}: has more than {most} files, expected one per game")));
    }
    paths.sort_unstable();
    Ok(paths)
}
