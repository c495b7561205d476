//! `tetrion verify`: an honest result passes, and a forged one is refused with the file, the field and what was expected.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tetrion::benchmark::{
    BenchmarkPlayer, BenchmarkResult, CLASSES, Class, Folder, GameNumbers, NAME, RESULT, Source, Summary,
};
use tetrion::engine::{Playfield, Rules, Tetromino};
use tetrion::env::{InvalidActionPolicy, StartPosition};
use tetrion::pool::Pool;
use tetrion::protocol::recording::{read, to_bytes, to_json};
use tetrion::recording::{Pieces, Recording, Setup};

use crate::evaluate::tetrion;
use tetrion_toolkit_testing::{Dice, play};

fn class() -> &'static Class {
    Class::named("text").unwrap()
}

/// A game of the class, or of a class with other rules, played at random to its end.
fn random_game(number: u32, rules: Rules) -> Recording {
    let pieces = Pieces::Seed(class().seed(number));
    let setup = Setup { invalid_actions: InvalidActionPolicy::Terminate, ..Setup::new(rules, pieces) };
    play(&setup, &mut Dice(11, number.into()), 300).0
}

/// An honest result in an empty folder: twenty games at random.
fn honest(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("verify").join(test);
    let _ = fs::remove_dir_all(&path);
    let folder = Folder::new(&path);
    folder.create().unwrap();
    let recordings: Vec<Recording> = (0..20).map(|number| random_game(number, class().rules())).collect();
    for (number, recording) in (0..).zip(&recordings) {
        folder.write_recording(number, recording).unwrap();
    }
    let game =
        |Recording { outcome, .. }: &Recording| GameNumbers { lines: outcome.lines, pieces: outcome.pieces };
    let games = recordings.iter().map(game).collect();
    let player = BenchmarkPlayer::recorded("dice").unwrap();
    let result = BenchmarkResult::new(class(), player, "by hand".to_owned(), games);
    folder.write(RESULT, &result.to_json()).unwrap();
    path
}

/// Exit code and output of `tetrion verify`.
fn verify(folder: &Path, flags: &[&str]) -> (Option<i32>, String) {
    let output = tetrion(&["verify"]).arg(folder).args(flags).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

fn file(folder: &Path, game: u32) -> PathBuf {
    folder.join(format!("recordings/game-{game:05}.tetrion"))
}

/// Changes the recording of game 3.
fn forge(folder: &Path, change: impl FnOnce(&mut Recording)) {
    let path = file(folder, 3);
    let mut recording = read(&fs::read(&path).unwrap()).unwrap();
    change(&mut recording);
    fs::write(path, to_bytes(&recording)).unwrap();
}

/// Adds a field behind this text of the result, which has it already.
fn twice(folder: &Path, after: &str, field: &str) {
    let path = folder.join(RESULT);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(after), "{text}");
    fs::write(path, text.replacen(after, &format!("{after}{field}"), 1)).unwrap();
}

/// Writes the result again with a change, as a forger would.
fn forge_result(folder: &Path, change: impl FnOnce(&mut BenchmarkResult)) {
    let path = folder.join(RESULT);
    let mut result: BenchmarkResult = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut result);
    fs::write(path, result.to_json()).unwrap();
}

#[test]
fn an_honest_result_passes() {
    let folder = honest("honest");
    let (code, text) = verify(&folder, &[]);
    assert!(code == Some(0) && text.contains("20 recordings replayed: nothing is wrong"), "{text}");
    assert!(text.starts_with(&format!("{NAME}, class text, 10 x 10: dice clears ")), "{text}");
    let (code, text) = verify(&folder, &["--json", "--threads", "1"]);
    let verdict: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &verdict["valid"], &verdict["problems"]), (Some(0), &json!(true), &json!([])));
    assert_eq!(verdict["summary"]["num_games"], 20);
}

/// A change to a folder, which a check must find.
type Forgery = fn(&Path);

/// Forged folders, the file with the problem, and a part of its sentence.
const FORGERIES: [(&str, Forgery, &str, &str); 22] = [
    (
        "damaged",
        |folder| {
            let bytes = fs::read(file(folder, 3)).unwrap();
            fs::write(file(folder, 3), &bytes[..bytes.len() / 2]).unwrap();
        },
        "recordings/game-00003.tetrion",
        "it is neither a recording in JSON",
    ),
    (
        "empty",
        |folder| fs::write(file(folder, 3), "").unwrap(),
        "recordings/game-00003.tetrion",
        "the file is empty",
    ),
    (
        "more lines",
        |folder| forge(folder, |game| game.outcome.lines += 7),
        "recordings/game-00003.tetrion",
        "the replay differs from the recording: at the end: 0 lines, recorded 7",
    ),
    (
        "more points",
        |folder| forge(folder, |game| game.outcome.score += 5.0),
        "recordings/game-00003.tetrion",
        "at the end: 0 points, recorded 5",
    ),
    (
        "more pieces",
        |folder| forge(folder, |game| game.outcome.pieces += 100),
        "recordings/game-00003.tetrion",
        "pieces, recorded 1",
    ),
    (
        "another playfield",
        |folder| forge(folder, |game| game.outcome.playfield = Playfield::empty(10, 10)),
        "recordings/game-00003.tetrion",
        "at the end: row 0 of the playfield is ",
    ),
    (
        "cut short",
        // The first two actions of the game, as an honest recording of a game that goes on.
        |folder| forge(folder, |game| *game = play(&game.setup, &mut Dice(11, 3), 2).0),
        "recordings/game-00003.tetrion",
        "outcome.end is not_ended after 2 pieces, expected an end, or 200 pieces",
    ),
    (
        "continued",
        |folder| forge(folder, |game| game.actions.push(0)),
        "recordings/game-00003.tetrion",
        "the game is over",
    ),
    (
        "other rules",
        |folder| {
            forge(folder, |game| *game = random_game(3, Rules { preview: 1, ..Rules::simplified(10, 20) }))
        },
        "recordings/game-00003.tetrion",
        "rules.height is 20, expected 10",
    ),
    (
        "saw more",
        |folder| forge(folder, |game| *game = random_game(3, Rules { preview: 5, ..class().rules() })),
        "recordings/game-00003.tetrion",
        "rules.preview is 5, expected 1",
    ),
    (
        "another version of the rules",
        |folder| {
            let recording = read(&fs::read(file(folder, 3)).unwrap()).unwrap();
            let text = to_json(&recording).replace("tetrion-rules-1", "tetrion-rules-0");
            fs::write(file(folder, 3), text).unwrap();
        },
        "recordings/game-00003.tetrion",
        "rules_version: is \"tetrion-rules-0\", expected \"tetrion-rules-1\"",
    ),
    (
        "another seed",
        |folder| forge(folder, |game| game.setup.pieces = Pieces::Seed(42)),
        "recordings/game-00003.tetrion",
        "seed is 42, expected ",
    ),
    (
        "chosen pieces",
        |folder| {
            forge(folder, |game| {
                let letters = "I".repeat(300);
                game.setup.pieces =
                    Pieces::Sequence(tetrion::engine::parse_sequence(&letters).unwrap().into());
            });
        },
        "recordings/game-00003.tetrion",
        "piece_sequence is given instead of seed, expected ",
    ),
    (
        "a start position",
        |folder| {
            forge(folder, |game| {
                let playfield = Playfield::empty(10, 10);
                let (piece, queue) = (Tetromino::I, Vec::new());
                game.setup.start = Some(StartPosition { playfield, piece, queue, held: None });
            });
        },
        "recordings/game-00003.tetrion",
        "start is a position, expected none",
    ),
    (
        "actions that may be tried again",
        |folder| {
            forge(folder, |game| game.setup.invalid_actions = InvalidActionPolicy::Ignore { reward: 0.0 })
        },
        "recordings/game-00003.tetrion",
        "invalid_action_policy is ignore, expected terminate",
    ),
    (
        "a game is missing",
        |folder| fs::remove_file(file(folder, 3)).unwrap(),
        "recordings/game-00003.tetrion",
        "cannot be read: ",
    ),
    (
        "one game twice",
        |folder| assert!(fs::copy(file(folder, 0), file(folder, 3)).is_ok()),
        "recordings/game-00003.tetrion",
        ", that of game 0, expected ",
    ),
    (
        "a file too many",
        |folder| assert!(fs::copy(file(folder, 0), file(folder, 20)).is_ok()),
        "recordings/game-00020.tetrion",
        "is no recording of the result, expected 20 files",
    ),
    (
        "another mean",
        |folder| forge_result(folder, |result| result.summary["lines"]["mean"] = json!(9.5)),
        "result.json",
        "summary.lines.mean is 9.5, expected ",
    ),
    (
        "other numbers of a game",
        |folder| {
            forge_result(folder, |result| {
                result.games[3] = GameNumbers { lines: 80, pieces: 200 };
                result.summary = Summary::of(class(), &result.games).to_json();
            });
        },
        "result.json",
        "games[3].lines is 80, expected 0, as in its recording",
    ),
    (
        "fewer games",
        |folder| {
            forge_result(folder, |result| {
                result.games.truncate(10);
                result.summary = Summary::of(class(), &result.games).to_json();
            });
        },
        "result.json",
        "games has 10 entries, expected 20",
    ),
    (
        "another cut",
        |folder| forge_result(folder, |result| result.protocol["max_pieces"] = json!(100)),
        "result.json",
        "protocol.max_pieces is 100, expected 200",
    ),
];

#[test]
fn every_forgery_is_named() {
    let folder = honest("forged");
    for (name, forgery, file, part) in FORGERIES {
        let folder = copy(&folder, &format!("forged-{}", name.replace(' ', "-")));
        forgery(&folder);
        let (code, text) = verify(&folder, &["--json"]);
        assert_eq!(code, Some(1), "{name}: {text}");
        let verdict: Value = serde_json::from_str(&text).unwrap();
        let problems = verdict["problems"].as_array().unwrap();
        // One problem has one sentence.
        assert_eq!((problems.len(), &verdict["valid"]), (1, &json!(false)), "{name}: {text}");
        assert_eq!(problems[0]["file"], file, "{name}");
        let problem = problems[0]["problem"].as_str().unwrap();
        assert!(problem.contains(part), "{name}: {problem}, expected {part}");
        // The text for people has the same sentence, and no score.
        let (_, text) = verify(&folder, &[]);
        assert!(text.starts_with(&format!("{file}: {problem}\n")), "{name}: {text}");
        assert!(text.ends_with("1 problem found\n") && !text.contains("clears"), "{name}: {text}");
    }
}

/// A copy of a folder with recordings.
fn copy(folder: &Path, name: &str) -> PathBuf {
    let copy = folder.with_file_name(name);
    let _ = fs::remove_dir_all(&copy);
    fs::create_dir_all(copy.join("recordings")).unwrap();
    fs::copy(folder.join(RESULT), copy.join(RESULT)).unwrap();
    for entry in fs::read_dir(folder.join("recordings")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), copy.join("recordings").join(entry.file_name())).unwrap();
    }
    copy
}

#[test]
fn a_folder_without_a_result_is_trouble() {
    let folder = honest("trouble");
    for (forgery, part) in [
        ((|folder| fs::write(folder.join(RESULT), "{\"benchmark\"").unwrap()) as Forgery, "is no result of"),
        (
            |folder| forge_result(folder, |result| "tetrion-benchmark-0".clone_into(&mut result.benchmark)),
            "benchmark is \"tetrion-benchmark-0\", expected \"tetrion-benchmark-2\"",
        ),
        (
            |folder| forge_result(folder, |result| "gready".clone_into(&mut result.class)),
            "no class is called \"gready\", did you mean \"greedy\"? expected one of greedy, ",
        ),
        (
            |folder| fs::write(folder.join(RESULT), vec![b' '; 9 << 20]).unwrap(),
            "it has more than 8388608 bytes",
        ),
        (
            |folder| twice(folder, "\"summary\":{", "\"num_cut\":7,"),
            "is no result of tetrion-benchmark-2: the key \"num_cut\" comes twice",
        ),
        (|folder| twice(folder, "\"lines\":{", "\"mean\":7,"), "the key \"mean\" comes twice"),
        (|folder| twice(folder, "\"protocol\":{", "\"seed\":\"7\","), "the key \"seed\" comes twice"),
        (|folder| twice(folder, "\"rules\":{", "\"width\":7,"), "the key \"width\" comes twice"),
        (|folder| twice(folder, "\"player\":{", "\"name\":\"a\","), "the key \"name\" comes twice"),
        (|folder| twice(folder, "{", "\"class\":\"mean\","), "the key \"class\" comes twice"),
        (|folder| fs::remove_file(folder.join(RESULT)).unwrap(), "result.json: cannot be read: "),
        (|folder| fs::remove_dir_all(folder).unwrap(), "result.json: cannot be read: "),
    ] {
        let folder = copy(&folder, "trouble-now");
        forgery(&folder);
        let (code, text) = verify(&folder, &["--json"]);
        assert!(code == Some(2) && text.contains(part), "{part}: {text}");
    }
}

/// Reading a pipe or a device may never end.
#[cfg(target_os = "linux")]
#[test]
fn pipes_and_devices_in_a_folder_are_refused() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let make_pipe = |path: &Path| mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let link_zeros = |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).unwrap();
    let kinds: [&dyn Fn(&Path); 2] = [&make_pipe, &link_zeros];
    let honest = honest("pipes");
    let with_formula = |folder: &Path| {
        forge_result(folder, |result| result.player.source = Source::Formula);
        folder.join("player.formula")
    };
    let with_weights = |folder: &Path| {
        forge_result(folder, |result| result.player.source = Source::Weights);
        folder.join("weights.json")
    };
    type FileOf<'a> = &'a dyn Fn(&Path) -> PathBuf;
    let files: [(FileOf, i32, &str); 4] = [
        (&|folder| folder.join(RESULT), 2, "result.json: cannot be read: it is not a regular file"),
        (&|folder| file(folder, 3), 1, "game-00003.tetrion: cannot be read: it is not a regular file"),
        (&with_formula, 1, "player.formula cannot be read: it is not a regular file"),
        (&with_weights, 1, "weights.json cannot be read: it is not a regular file"),
    ];
    for make in kinds {
        for (path, code, part) in files {
            let folder = copy(&honest, "pipes-now");
            let path = path(&folder);
            let _ = fs::remove_file(&path);
            make(&path);
            let (found, text) = verify(&folder, &[]);
            assert!(found == Some(code) && text.contains(part), "{part}: {text}");
        }
    }
}

/// Bytes of a folder may come from anybody: none of them makes the program panic.
#[test]
fn no_byte_of_a_recording_makes_it_panic() {
    let path = honest("bytes");
    let folder = Folder::new(&path);
    let (result, class) = folder.result().unwrap();
    let pool = Pool::new(2).unwrap();
    let bytes = fs::read(file(&path, 3)).unwrap();
    let dice = &mut Dice(5, 0);
    for _ in 0..400 {
        let mut damaged = bytes.clone();
        let at = dice.below(damaged.len());
        damaged[at] ^= 1 << dice.below(8);
        fs::write(file(&path, 3), damaged).unwrap();
        let problems = folder.check(&result, class, &pool, |_| ());
        // A changed name of the player changes no game.
        assert!(problems.iter().all(|problem| problem.file.ends_with("game-00003.tetrion")), "{problems:?}");
    }
}

/// The seed belongs to no training that a document describes, and every game has its own pieces.
#[test]
fn the_classes_are_consistent() {
    for class in &CLASSES {
        assert!(class.rules().check().is_ok() && class.recordings <= class.games, "{class:?}");
        assert_eq!(class.games_by_seed().len() as u32, class.games, "{}", class.name);
        assert_eq!(Class::named(class.name).unwrap(), class);
        // Steps of placements are pieces, and a recording can hold them.
        assert!(class.max_pieces <= tetrion::protocol::limits::MAX_RECORDED_STEPS, "{}", class.name);
    }
}
