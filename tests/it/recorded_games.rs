//! Games of evaluations are recorded: the recordings that the server sends lead to the results that it reported, and the
//! program writes, replays and exports them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use tetrion::engine::{ActionModel, AttackTable, Garbage, RULES_VERSION, Rules, Timing};
use tetrion::protocol::limits::{MAX_RECORDED_GAMES, MAX_RECORDED_STEPS};
use tetrion::protocol::pb::evaluate_policies_response::Event;
use tetrion::protocol::pb::policy::Kind;
use tetrion::protocol::rules::ResolvedRules;
use tetrion::protocol::search::{self, Expectation, Search};
use tetrion::protocol::{pb, recording, seeding};
use tetrion::recording::{Outcome, Pieces, Recorder, Recording, Replay, Setup};
use tonic::Code;

use crate::evaluate::tetrion;
use crate::terminal::{Terminal, afterwards};
use tetrion_service_testing::evaluations::{Client, named, request, rows, start};
use tetrion_service_testing::refused;

type Request = pb::EvaluatePoliciesRequest;

/// The games of a request, and their recordings.
async fn recorded(client: &mut Client, request: Request) -> Vec<(tetrion::rollout::PlayedGame, Recording)> {
    let mut stream = client.evaluate_policies(request).await.unwrap().into_inner();
    let (mut results, mut recordings) = (Vec::new(), Vec::new());
    while let Some(message) = stream.message().await.unwrap() {
        match message.event.unwrap() {
            Event::Results(columns) => results.extend(rows(&columns)),
            Event::Recording(game) => recordings.push(game),
            Event::Started(_) | Event::Estimates(_) | Event::Progress(_) | Event::Summary(_) => {}
        }
    }
    assert_eq!(results.len(), recordings.len());
    results.sort_by_key(|result| (result.policy, result.seed_index, result.episode));
    recordings.sort_by_key(|game| (game.policy_index, game.seed_index, game.episode_index));
    for (result, game) in results.iter().zip(&recordings) {
        let of_recording = (game.policy_index, game.seed_index, game.episode_index);
        assert_eq!((result.policy, result.seed_index, result.episode), of_recording);
    }
    let decode = |game: pb::EvaluationRecording| recording::decode(&game.recording.unwrap()).unwrap();
    results.into_iter().zip(recordings).map(|(result, game)| (result, decode(game))).collect()
}

fn policies(names: &[&str]) -> Vec<pb::Policy> {
    names.iter().map(|name| named(name)).collect()
}

fn looking(search: Search) -> Option<pb::Search> {
    Some(search::encode(search))
}

#[tokio::test]
async fn recordings_are_of_the_games_that_were_played() {
    let (mut client, _guard) = start(2).await;
    let ruled = |rules: Rules, names: &[&str]| Request {
        rules: Some((&ResolvedRules::from(rules)).into()),
        policies: policies(names),
        seeding: Some(seeding::from_seeds(vec![3, 9])),
        include_results: true,
        include_recordings: true,
        ..Default::default()
    };
    let placements = ["bcts", "random", "bcts", "dellacherie", "dummy"];
    let mut requests = vec![];
    for preset in ["simplified", "survey", "genetic", "leiden"] {
        let rules = Rules { width: 7, height: 8, preview: 1, ..Rules::preset(preset).unwrap() };
        let mut request = ruled(rules, &placements);
        request.policies[2].search = looking(Search::Expectation(Expectation::DEFAULT));
        requests.push((rules, Request { max_pieces: 500, ..request }));
    }
    let keys = Rules { width: 7, height: 9, ..Rules::preset("lab").unwrap() };
    requests.push((keys, Request { max_steps: 900, ..ruled(keys, &["random_keys", "bcts", "random"]) }));
    // Modern Tetris, with a controller that holds pieces, one that looks ahead and one that weighs what is hidden.
    let modern =
        Rules { width: 6, height: 14, rows_above: 4, preview: 2, ..Rules::preset("guideline").unwrap() };
    let mut request = ruled(modern, &["bcts", "random", "dellacherie", "bcts", "bcts"]);
    request.policies[3].search = looking(Search::Lookahead { pieces: 1 });
    let four = Expectation { placements: 4, ..Expectation::DEFAULT };
    request.policies[4].search = looking(Search::Expectation(four));
    requests.push((modern, Request { max_pieces: 40, ..request }));
    // Large enough for the widest words, and low enough for the shortest ones.
    let wide = Rules::simplified(20, 32);
    requests.push((wide, Request { max_pieces: 300, ..ruled(wide, &["bcts", "random"]) }));
    // Rows that rise, for agents of every kind and on all ways of playing.
    let garbage = |delay_pieces| {
        Some(Garbage { lines_per_piece: 0.3, hole_move_chance: 0.2, delay_pieces, ..Garbage::DEFAULT })
    };
    for preset in ["survey", "genetic"] {
        let rules = Rules { preview: 1, garbage: garbage(1), ..Rules::preset(preset).unwrap() };
        let mut request = ruled(rules, &["bcts", "random", "bcts", "bcts", "monte_carlo", "dellacherie"]);
        request.policies[2].search = looking(Search::Lookahead { pieces: 1 });
        request.policies[3].search = looking(Search::Expectation(Expectation::DEFAULT));
        let twice = pb::MonteCarlo { playouts: 2, as_coded: false };
        request.policies[4].kind = Some(Kind::MonteCarlo(twice));
        requests.push((rules, Request { max_pieces: 60, ..request }));
    }
    let rules = Rules { garbage: garbage(0), attack_table: AttackTable::Jstris, ..Rules::simplified(6, 12) };
    requests.push((rules, Request { max_pieces: 500, ..ruled(rules, &["bcts", "random"]) }));
    let rules = Rules { garbage: garbage(7), ..keys };
    requests.push((rules, Request { max_steps: 900, ..ruled(rules, &["random_keys", "bcts"]) }));
    let rules = Rules { garbage: garbage(2), ..modern };
    let mut request = ruled(rules, &["bcts", "random", "tetrion-guideline", "bcts"]);
    request.policies[3].search = looking(Search::Lookahead { pieces: 1 });
    requests.push((rules, Request { max_pieces: 60, ..request }));
    let rules = Rules {
        action_model: ActionModel::Keypress,
        timing: Some(Timing { fall_delay: 2, lock_delay: 3, lock_resets: 2 }),
        ..rules
    };
    requests.push((rules, Request { max_steps: 600, ..ruled(rules, &["random_keys", "bcts"]) }));
    let mut pieces = 0;
    for (rules, request) in requests {
        let unrecorded = tetrion_service_testing::evaluations::ask(
            &mut client,
            Request { include_recordings: false, ..request.clone() },
        );
        let unrecorded = unrecorded.await.unwrap().results;
        for (n, (result, recording)) in recorded(&mut client, request).await.into_iter().enumerate() {
            assert_eq!(result, tetrion::rollout::PlayedGame { game: result.game, ..unrecorded[n] });
            let setup = Setup::new(rules, Pieces::Seed(result.seed));
            let mut recorder = Recorder::new(setup).unwrap();
            recording.actions.iter().for_each(|&action| assert!(recorder.play(action).is_ok(), "{result:?}"));
            assert_eq!(recording, recorder.recording("", ""), "{result:?}");
            let Outcome { lines, score, end, .. } = recorder.course().outcome();
            assert_eq!(
                (lines, recorder.course().outcome().pieces, recording.actions.len() as u64),
                (result.lines, result.pieces, result.steps)
            );
            assert_eq!((score, end.is_none()), (result.score, result.is_truncated()), "{result:?}");
            pieces += result.pieces;
        }
    }
    assert!(pieces > 2_000, "{pieces} pieces");
}

#[tokio::test]
async fn more_than_can_be_kept_is_refused() {
    let (mut client, _guard) = start(1).await;
    let recording = |count| Request {
        policies: policies(&["random"]),
        seeding: Some(seeding::from_drawn(1, count)),
        episodes_per_seed: 1,
        include_recordings: true,
        ..request()
    };
    assert_eq!(recorded(&mut client, recording(MAX_RECORDED_GAMES)).await.len(), MAX_RECORDED_GAMES as usize);
    let longest = Request { max_steps: MAX_RECORDED_STEPS, ..recording(1) };
    assert_eq!(recorded(&mut client, longest.clone()).await.len(), 1);
    for (request, field) in [
        (recording(MAX_RECORDED_GAMES + 1), "seeding"),
        (Request { max_steps: MAX_RECORDED_STEPS + 1, ..recording(1) }, "max_steps"),
        (Request { max_response_bytes: 1 << 20, ..longest }, "max_steps"),
        (Request { include_results: false, ..recording(1) }, "include_recordings"),
    ] {
        let error = refused(client.evaluate_policies(request).await, Code::InvalidArgument, "INVALID_FIELD");
        assert_eq!(error.fields(), [field]);
    }
}

/// A folder of its own for each test, empty at first.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recorded").join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[track_caller]
fn run(args: &[&str]) -> Output {
    let output = tetrion(args).env_remove("NO_COLOR").output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Games on 10 x 6, recorded into a folder.
fn evaluate(folder: &Path, which: &str) -> Output {
    let folder = folder.to_str().unwrap();
    let args = ["evaluate", "bcts", "random", "--games", "9", "--height", "6", "--json"];
    run(&[
        &args[..],
        &["--games-csv", &format!("{folder}/games.csv"), "--record", which, "--record-dir", folder],
    ]
    .concat())
}

/// Players whose names are equal, or equal as file names: each has its own name, and as many files as announced.
#[test]
fn players_of_one_name_are_told_apart() {
    let folder = folder("one_name");
    for (path, formula) in [("a/x.formula", "-holes"), ("b/x.formula", "-max_height"), ("X.formula", "holes")]
    {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, formula).unwrap();
    }
    let numbers =
        |weight: u32| format!("-holes - row_transitions - {weight}*max_height - column_transitions");
    let cases: [(&[&str], &[&str], &[&str]); 6] = [
        (
            &["--formula=-holes+max_height", "--formula=-holes-max_height"],
            &["-holes+max_height", "-holes-max_height"],
            &["holes-max_height", "holes-max_height-2"],
        ),
        (
            &["--formula", "holes*2", "--formula", "holes/2"],
            &["holes*2", "holes/2"],
            &["holes-2", "holes-2-2"],
        ),
        (
            &["a/x.formula", "b/x.formula", "X.formula"],
            &["a/x.formula", "b/x.formula", "X"],
            &["a-x.formula", "b-x.formula", "X"],
        ),
        (
            &["X.formula", "a/x.formula", "dt-10", "dt-10", "dt-10"],
            &["X", "x", "dt-10", "dt-10 (2)", "dt-10 (3)"],
            &["X", "x-2", "dt-10", "dt-10-2", "dt-10-3"],
        ),
        // The formulas differ where a name has no room.
        (
            &["--formula", &numbers(1), "--formula", &numbers(2)],
            &["... row_transitions - 1*max_height ...", "... row_transitions - 2*max_height ..."],
            &["row_transitions-1-max_height", "row_transitions-2-max_height"],
        ),
        (&["--formula=0-holes", "--formula=0 - holes"], &["0-holes", "0 - holes"], &["0-holes", "0-holes-2"]),
    ];
    let evaluate = |players: &[&str], flags: &[&str]| {
        let limits = ["--height", "6", "--games", "3", "--max-pieces", "20"];
        let mut command = tetrion(&["evaluate"]);
        let output = command.args(players).args(limits).args(flags).current_dir(&folder).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{players:?}: {stderr}");
        (String::from_utf8(output.stdout).unwrap(), stderr)
    };
    for (players, names, stems) in cases {
        let _ = fs::remove_dir_all(folder.join("games"));
        let record = ["--record", "best,best,all=2", "--record-dir", "games"];
        let (json, said) =
            evaluate(players, &[&["--json", "--games-csv", "games.csv"][..], &record].concat());
        let json: Value = serde_json::from_str(&json).unwrap();
        let results = json["results"].as_array().unwrap().iter();
        assert_eq!(results.map(|result| result["name"].as_str().unwrap()).collect::<Vec<_>>(), names);
        let differences = json["paired_differences"].as_array().unwrap().iter();
        assert_eq!(
            differences.map(|result| result["name"].as_str().unwrap()).collect::<Vec<_>>(),
            names[1..]
        );
        let csv = fs::read_to_string(folder.join("games.csv")).unwrap();
        let (table, _) = evaluate(players, &[]);
        for name in names {
            assert!(table.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}: {table}");
            assert_eq!(csv.lines().filter(|line| line.starts_with(&format!("{name},"))).count(), 3, "{csv}");
            assert!(said.contains(&format!("{name}: 3 recordings in games\n")), "{said}");
        }
        let mut expected = Vec::new();
        for (name, stem) in names.iter().zip(stems) {
            for word in ["best", "game-0", "game-1"] {
                let file = format!("{stem}-{word}.json");
                let recording = fs::read(folder.join("games").join(&file)).unwrap();
                assert_eq!(tetrion::protocol::recording::read(&recording).unwrap().player, *name, "{file}");
                expected.push(file);
            }
        }
        let found = fs::read_dir(folder.join("games")).unwrap();
        let mut found: Vec<_> =
            found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
    }
}

#[test]
fn evaluate_records_the_games_that_it_is_asked_for() {
    let folder = folder("evaluate");
    evaluate(&folder, "best,worst,median,all=2");
    let csv = fs::read_to_string(folder.join("games.csv")).unwrap();
    for name in ["bcts", "random"] {
        let games: Vec<Vec<u64>> = csv
            .lines()
            .filter_map(|line| line.strip_prefix(&format!("{name},")))
            .map(|line| line.split(',').take(4).map(|number| number.parse().unwrap()).collect())
            .collect();
        assert_eq!(games.len(), 9);
        let mut lines: Vec<u64> = games.iter().map(|game| game[2]).collect();
        let first = [lines[0], lines[1]];
        lines.sort_unstable();
        let expected = [
            ("best", lines[8]),
            ("worst", lines[0]),
            ("median", lines[4]),
            ("game-0", first[0]),
            ("game-1", first[1]),
        ];
        for (word, lines) in expected {
            let file = fs::read(folder.join(format!("{name}-{word}.json"))).unwrap();
            let recording = tetrion::protocol::recording::read(&file).unwrap();
            assert_eq!((recording.outcome.lines, &recording.player[..]), (lines, name), "{word}");
            assert!(recording.origin.starts_with("game ") && recording.origin.contains(" of 9 with seed "));
            assert_eq!(Replay::new(recording).unwrap().difference(), None);
        }
    }
    let refused = tetrion(&["evaluate", "bcts", "--record", "bset", "--record-dir", "x"]).output().unwrap();
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("\"bset\", expected best, worst, median or all=N"), "{stderr}");
}

#[test]
fn what_is_recorded_can_stand_in_the_file_or_in_the_environment() {
    let folder = folder("by_file");
    let config = folder.join("tetrion.toml");
    let directory = folder.to_str().unwrap();
    fs::write(
        &config,
        format!("[evaluate]\nrecord = \"worst\"\nrecord-dir = '{directory}'\nheight = 6\ngames = 2\n"),
    )
    .unwrap();
    let output = tetrion(&["evaluate", "bcts", "--config"])
        .arg(&config)
        .env("TETRION_EVALUATE_RECORD", "best")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(folder.join("bcts-best.json").exists() && !folder.join("bcts-worst.json").exists());
    let half = tetrion(&["evaluate", "bcts", "--record", "best"]).output().unwrap();
    assert_eq!(half.status.code(), Some(2), "{half:?}");
    assert!(
        String::from_utf8_lossy(&half.stderr).contains("--record and --record-dir go together"),
        "{half:?}"
    );
}

/// On a terminal the recording is a screen with the keys of `watch`, and what is printed follows it.
#[test]
fn a_recording_is_stepped_through_on_a_terminal() {
    let folder = folder("replay_on_a_terminal");
    evaluate(&folder, "best");
    let file = folder.join("bcts-best.json");
    let recording = recording::read(&fs::read(&file).unwrap()).unwrap();
    let steps = recording.actions.len();
    let open = || Terminal::open((80, 24), &format!("replay '{}'", file.display()), &[]);
    let mut terminal = open();
    let (left, right, home, end) = ("\x1b[D", "\x1b[C", "\x1b[H", "\x1b[F");
    let (up, page_down) = ("\x1b[A", "\x1b[6~");
    terminal.wait_to_see("as recorded, game ");
    for (keys, seen) in [
        (home, format!("step 0 of {steps}, paused")),
        (right, format!("step 1 of {steps}, paused")),
        (end, format!("step {steps} of {steps}, over")),
        (left, format!("step {} of {steps}, paused", steps - 1)),
        (home, format!("step 0 of {steps}, paused")),
        (page_down, format!("step {} of {steps}", steps.min(100))),
        (&format!("{home} {up}"), "8 steps/s".to_owned()),
        (end, format!("step {steps} of {steps}, over")),
        (" ", format!("of {steps}, 8 steps/s")),
    ] {
        terminal.press(keys);
        terminal.wait_to_see(&seen);
    }
    terminal.press("q");
    let (written, code) = terminal.end();
    let after = afterwards(&written);
    assert!(after.ends_with("the replay is as recorded\r\n"), "{after:?}");
    assert_eq!(code, Some(0), "{after:?}");

    let lines = recording.outcome.lines;
    let falsified = Recording { outcome: Outcome { lines: lines + 1, ..recording.outcome }, ..recording };
    fs::write(&file, recording::to_json(&falsified)).unwrap();
    let mut terminal = open();
    terminal.wait_to_see("not as recorded: at the end: ");
    terminal.press("q");
    let (written, code) = terminal.end();
    let difference = format!("at the end: {lines} lines, recorded {}\r\n", lines + 1);
    assert!(afterwards(&written).ends_with(&difference), "{written:?}");
    assert_eq!(code, Some(1));
}

#[test]
fn replay_says_whether_a_recording_is_true() {
    let folder = folder("replay");
    evaluate(&folder, "best");
    let file = folder.join("bcts-best.json");
    let path = file.to_str().unwrap();
    let shown = String::from_utf8(run(&["replay", path]).stdout).unwrap();
    assert!(shown.contains("player: bcts\n") && shown.ends_with("the replay is as recorded\n"), "{shown}");
    assert!(!shown.contains('\x1b'), "no colours where there is no terminal");
    let json = |path: &str| {
        let output = tetrion(&["replay", path, "--json"]).output().unwrap();
        (output.status.code(), serde_json::from_slice::<Value>(&output.stdout).unwrap())
    };
    let (code, report) = json(path);
    assert_eq!(
        (code, &report["same"], &report["player"]),
        (Some(0), &Value::from(true), &Value::from("bcts"))
    );
    let at = String::from_utf8(run(&["replay", path, "--at", "0"]).stdout).unwrap();
    assert_eq!(at.lines().filter(|line| line.starts_with('|')).count(), 6);
    let steps = String::from_utf8(run(&["replay", path, "--step"]).stdout).unwrap();
    let heads = steps.lines().filter(|line| line.starts_with("step ")).count() as u64;
    assert_eq!(heads, report["steps"].as_u64().unwrap() + 1);
    // Falsified by hand.
    let text = fs::read_to_string(&file).unwrap();
    let lines = report["lines"].as_u64().unwrap();
    let falsified = text.replace(&format!("\"lines\":\"{lines}\""), "\"lines\":\"1000000\"");
    assert_ne!(text, falsified);
    fs::write(&file, falsified).unwrap();
    assert_eq!(report["end"], "topped_out");
    let (code, report) = json(path);
    let difference = format!("at the end: {lines} lines, recorded 1000000");
    assert_eq!((code, &report["difference"]), (Some(1), &Value::from(difference)));
    for (args, problem) in [
        (vec!["replay", path, "--at", "99999"], "--at is 99999, expected a step from 0 to"),
        (vec!["replay", "Cargo.toml"], "it is neither a recording in JSON"),
        (vec!["replay", "/nowhere.json"], "cannot read /nowhere.json"),
        (vec!["replay", "src"], "cannot read src"),
    ] {
        let refused = tetrion(&args).output().unwrap();
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(problem), "{stderr}");
    }
}

#[test]
fn export_writes_every_form() {
    let folder = folder("export");
    evaluate(&folder, "median");
    let file = folder.join("random-median.json");
    let steps = Replay::new(tetrion::protocol::recording::read(&fs::read(&file).unwrap()).unwrap())
        .unwrap()
        .num_steps();
    let export = |out: &str, more: &[&str]| {
        let out = folder.join(out);
        run(&[&["export", file.to_str().unwrap(), "-o", out.to_str().unwrap()], more].concat());
        out
    };
    let read = |out: PathBuf| fs::read(out).unwrap();
    assert!(read(export("a.gif", &[])).starts_with(b"GIF89a"));
    assert!(read(export("a.png", &["--at", "1", "--cell", "9"])).starts_with(b"\x89PNG"));
    let svg = String::from_utf8(read(export("a.svg", &["--palette", "color-blind"]))).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains("<animate ") && svg.ends_with("</svg>\n"));
    let text = String::from_utf8(read(export("a.txt", &["--from", "1", "--to", "3"]))).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("step ")).count(), 3);
    let stills = fs::read_dir(export("stills/", &["--last", "2"])).unwrap().count();
    assert_eq!(stills, 3, "the step before the two, and what each of them made");
    for (args, problem) in [
        (vec!["a.bmp"], "expected a name that ends in .gif, .svg, .mp4, .png or .txt"),
        (vec!["a.gif", "--to", "999999"], "--to is 999999, expected a step from 0 to"),
        (vec!["a.gif", "--from", "2", "--to", "1"], "--from is 2, expected at most 1"),
        (vec!["a.gif", "--pieces-per-second", "51"], "--pieces-per-second is 51, expected 0.1 to 50"),
    ] {
        let refused = tetrion(&["export", file.to_str().unwrap(), "-o"]).args(args).output().unwrap();
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(problem), "{stderr}");
    }
    assert!(steps > 3);
}

/// A million pictures would be a slip of the keyboard.
#[test]
fn export_refuses_more_pictures_than_a_file_can_hold() {
    let folder = folder("too_many");
    let letters = "O".repeat(5_000);
    let actions = tetrion::protocol::recording::to_json(&{
        let pieces = Pieces::Sequence(tetrion::engine::parse_sequence(&letters).unwrap().into());
        let mut recorder = Recorder::new(Setup::new(Rules::simplified(4, 4), pieces)).unwrap();
        (0..4_500).for_each(|n| assert!(recorder.play([0, 2][n % 2]).is_ok()));
        recorder.recording("", "")
    });
    assert!(actions.contains(RULES_VERSION));
    let file = folder.join("long.json");
    fs::write(&file, actions).unwrap();
    let out = folder.join("long.gif");
    let args = ["export", file.to_str().unwrap(), "-o", out.to_str().unwrap()];
    let refused = tetrion(&args).output().unwrap();
    let stderr = String::from_utf8(refused.stderr).unwrap();
    let problem = "4501 steps give one picture each, expected at most 4000: choose with --from and --to, or with --last";
    assert!(stderr.contains(problem) && refused.status.code() == Some(2) && !out.exists(), "{stderr}");
    run(&[&args[..], &["--last", "100", "--cell", "4"]].concat());
}

/// The picture at the top of the README is made by the commands in docs/watching.md, to the byte.
#[test]
fn the_picture_of_the_readme_is_what_its_commands_make() {
    let folder = folder("readme");
    fs::create_dir(folder.join("docs")).unwrap();
    let watching = include_str!("../../docs/watching.md");
    let commands: Vec<&str> = watching
        .lines()
        .filter_map(|line| line.strip_prefix("tetrion "))
        .filter(|line| {
            line.contains("tetrion-10x10-best.json") || line.contains("--record best --record-dir games")
        })
        .collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        let output = tetrion(&words).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let made = fs::read(folder.join("docs/game.gif")).unwrap();
    let kept = include_bytes!("../../docs/game.gif");
    assert!(made == kept, "docs/game.gif is not what the commands of docs/watching.md make");
    assert!(kept.len() < 300_000, "{} bytes are much for a page", kept.len());
}
