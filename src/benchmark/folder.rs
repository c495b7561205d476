//! The folder of a result: `result.json`, the recordings, and the player's weights or formula.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::class::Class;
use super::entrant::Entrant;
use super::recorded::{GameNumbers, check_all, check_recording, read_recording};
use super::result::BenchmarkResult;
use crate::input::UsageError;
use tetrion_client::Evaluated;
use tetrion_core::pool::Pool;
use tetrion_protocol::recording::to_bytes;
use tetrion_toolkit::files;
use tetrion_toolkit::recording::Recording;

/// Name of the file with the result.
pub const RESULT: &str = "result.json";
/// Name of the folder with the recordings.
const RECORDINGS: &str = "recordings";
/// Recordings that are checked between two reports of progress.
const CHUNK: usize = 64;

/// Something wrong in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, inside the folder.
    pub file: String,
    /// The field, its value and what was expected.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.what)
    }
}

/// The folder of a result.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A folder that may or may not exist.
    pub fn new(path: &Path) -> Folder {
        Folder(path.to_owned())
    }

    /// Makes an empty folder for a new result.
    ///
    /// # Errors
    /// [`UsageError`] if it cannot be made, or is not empty.
    pub fn create(&self) -> Result<(), UsageError> {
        let wrong =
            |error: io::Error| UsageError(format!("cannot make the folder {}: {error}", self.0.display()));
        fs::create_dir_all(&self.0).map_err(wrong)?;
        match fs::read_dir(&self.0).map_err(wrong)?.next() {
            None => Ok(()),
            Some(_) => {
                Err(UsageError(format!("{}: it is not empty, expected a new folder", self.0.display())))
            }
        }
    }

    /// Writes a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, file: &str, text: &str) -> io::Result<()> {
        files::write(&self.0.join(file), text.as_bytes())
    }

    /// Writes the recording of a game.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_recording(&self, game: u32, recording: &Recording) -> io::Result<()> {
        fs::create_dir_all(self.0.join(RECORDINGS))?;
        files::write(&self.0.join(file_name(game)), &to_bytes(recording))
    }

    /// The result, and its class.
    ///
    /// # Errors
    /// [`UsageError`] for a file that cannot be read, or holds no result of this benchmark.
    pub fn result(&self) -> Result<(BenchmarkResult, &'static Class), UsageError> {
        BenchmarkResult::read(&self.0.join(RESULT))
    }

    /// The player of the result; `None` for a player outside this program.
    ///
    /// # Errors
    /// If the player cannot be read, or does not belong to the class.
    pub fn entrant(&self, result: &BenchmarkResult, class: &Class) -> Result<Option<Entrant>, Problem> {
        let wrong = |what| Problem { file: RESULT.to_owned(), what: format!("player: {what}") };
        Entrant::of_result(class, &result.player, &self.0).map_err(wrong)
    }

    /// Checks the numbers of the result and replays all recordings on the pool's threads. Calls `progress` with the
    /// number of recordings replayed so far.
    pub fn check(
        &self,
        result: &BenchmarkResult,
        class: &Class,
        pool: &Pool,
        mut progress: impl FnMut(usize),
    ) -> Vec<Problem> {
        let of_result = |what| Problem { file: RESULT.to_owned(), what };
        let mut problems: Vec<Problem> = result.problem(class).map(of_result).into_iter().collect();
        let num_recordings = result.num_recordings(class);
        let by_seed = class.games_by_seed();
        let numbers: Vec<u32> = (0..num_recordings).collect();
        for numbers in numbers.chunks(CHUNK) {
            progress(numbers[0] as usize);
            let check = |&number: &u32| {
                let recording = read_recording(&self.0.join(file_name(number)))?;
                check_recording(class, &by_seed, Some(number), recording)
            };
            for (&number, checked) in check_all(pool, numbers, check) {
                match (checked, result.games.get(number as usize)) {
                    (Err(what), _) => problems.push(Problem { file: file_name(number), what }),
                    (Ok((_, played)), Some(game)) => {
                        problems
                            .extend(game_problem(number, game, &played, "in its recording").map(of_result));
                    }
                    (Ok(_), None) => {}
                }
            }
        }
        problems.extend(self.unexpected_file(num_recordings));
        problems
    }

    /// The first file that is the recording of no game. A folder that cannot be read lacks recordings, which are named.
    fn unexpected_file(&self, num_recordings: u32) -> Option<Problem> {
        let entries = fs::read_dir(self.0.join(RECORDINGS)).into_iter().flatten().flatten();
        let files = entries.map(|entry| format!("{RECORDINGS}/{}", entry.file_name().to_string_lossy()));
        let is_expected = |file: &String| {
            let number =
                file.get(RECORDINGS.len() + "/game-".len()..).and_then(|rest| rest.get(..5)?.parse().ok());
            number.is_some_and(|number| number < num_recordings && *file == file_name(number))
        };
        let file = files.filter(|file| !is_expected(file)).min()?;
        Some(Problem {
            file,
            what: format!("is no recording of the result, expected {num_recordings} files"),
        })
    }

    /// Compares recordings with the player's own games: `played` has recordings of the first ones.
    pub fn compare_choices(&self, name: &str, played: &[Recording]) -> Vec<Problem> {
        let problem = |(number, played): (usize, &Recording)| {
            let file = file_name(number as u32);
            // A file that cannot be read has a problem already.
            let recorded = read_recording(&self.0.join(&file)).ok()?;
            let step = first_difference(&recorded.actions, &played.actions)?;
            let action = |actions: &[u16]| actions.get(step).map_or("none".to_owned(), u16::to_string);
            let (found, expected) = (action(&recorded.actions), action(&played.actions));
            let what = format!("actions[{step}] is {found}, expected {expected}, the choice of {name}");
            Some(Problem { file, what })
        };
        played.iter().enumerate().filter_map(problem).collect()
    }
}

/// Compares all games of a result with those that its player has played again. Returns the first problem.
pub fn compare_games(result: &BenchmarkResult, evaluated: &Evaluated) -> Option<Problem> {
    let found = result.games.iter().zip(evaluated.games(0)).zip(0..);
    let what = found.map(|((game, played), number)| {
        game_problem(
            number,
            game,
            &GameNumbers::from(played),
            &format!("when {} plays it again", result.player.name),
        )
    });
    what.flatten().next().map(|what| Problem { file: RESULT.to_owned(), what })
}

/// The difference between a game of a result and the game that was played.
fn game_problem(number: u32, game: &GameNumbers, played: &GameNumbers, place: &str) -> Option<String> {
    let fields = [("lines", game.lines, played.lines), ("pieces", game.pieces, played.pieces)];
    let (field, found, expected) = fields.into_iter().find(|(_, found, expected)| found != expected)?;
    Some(format!("games[{number}].{field} is {found}, expected {expected}, as {place}"))
}

/// The first index at which two lists differ.
fn first_difference(one: &[u16], other: &[u16]) -> Option<usize> {
    if one == other {
        return None;
    }
    let common = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    Some(common)
}

/// The file with the recording of a game, inside the folder.
fn file_name(game: u32) -> String {
    format!("{RECORDINGS}/game-{game:05}.tetrion")
}
