//! `tetrion match`, as a person starts it: its matches are those of the engine, in pairs, and its verdict is that of the pairs
//! in the order of their seeds.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tetrion::engine::rng::{Tag, word};
use tetrion::protocol::recording::read;
use tetrion::recording::{Outcome, Pieces, Replay};

use crate::evaluate::tetrion;

fn run(args: &[&str]) -> Output {
    tetrion(&["match"]).args(["--max-pieces", "60"]).args(args).output().unwrap()
}

#[track_caller]
fn printed(args: &[&str]) -> String {
    let output = run(args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn json(args: &[&str]) -> Value {
    serde_json::from_str(&printed(&[args, &["--json"]].concat())).unwrap()
}

#[test]
fn the_pairs_of_the_file_are_those_of_the_table() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pairs_of_matches.jsonl");
    let out = file.to_str().unwrap();
    let flags = ["dt-10", "random", "--pairs", "5", "--seed", "3", "--rules", "botris"];
    let meeting = json(&[&flags[..], &["--out", out]].concat())["meetings"][0].clone();
    let text = fs::read_to_string(&file).unwrap();
    let pairs: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(pairs.len(), 5);
    let (mut counts, mut results) = ([0; 5], [0; 3]);
    for (number, pair) in (0..).zip(&pairs) {
        assert_eq!((&pair["first"], &pair["second"]), (&"dt-10".into(), &"random".into()));
        assert_eq!(pair["seed"], word(3, Tag::Game, number).to_string(), "in the order of the seeds");
        let points = pair["matches"].as_array().unwrap().iter().zip(0..).map(|(of_pair, side)| {
            assert_eq!(of_pair["side"], side);
            match of_pair["end"].as_str().unwrap() {
                "won" => 2,
                "topped_out" => 0,
                "drawn" | "piece_limit" => 1,
                other => panic!("{other}"),
            }
        });
        let points: Vec<usize> = points.collect();
        counts[points[0] + points[1]] += 1;
        points.iter().for_each(|points| results[2 - points] += 1);
    }
    assert_eq!(meeting["pentanomial"], serde_json::json!(counts));
    let told: Vec<&Value> = ["won", "drawn", "lost"].iter().map(|name| &meeting[*name]).collect();
    assert_eq!(serde_json::json!(told), serde_json::json!(results));
    assert!(results[0] > results[2], "a controller beats chance: {results:?}");
    fs::remove_file(&file).unwrap();
}

/// Every match comes out as it was played: read from its file, played again, and as a picture.
#[test]
fn recorded_matches_are_those_of_the_pairs() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recorded_matches");
    let _ = fs::remove_dir_all(&folder);
    let (dir, file) = (folder.to_str().unwrap(), folder.join("pairs.jsonl"));
    fs::create_dir_all(&folder).unwrap();
    let flags = ["dt-10", "random", "--pairs", "3", "--rules", "tetrio", "--record-dir", dir];
    printed(&[&flags[..], &["--out", file.to_str().unwrap()]].concat());
    let text = fs::read_to_string(&file).unwrap();
    for (number, pair) in text.lines().enumerate() {
        let pair: Value = serde_json::from_str(pair).unwrap();
        for side in [0, 1] {
            let path = folder.join(format!("dt-10-vs-random-{number}-{}.json", side + 1));
            let recording = read(&fs::read(&path).unwrap()).unwrap();
            let mut players = [&recording.player, &recording.opponent.as_ref().unwrap().player];
            let mut outcomes = [&recording.outcome, &recording.opponent.as_ref().unwrap().outcome];
            players.rotate_left(side);
            outcomes.rotate_left(side);
            assert_eq!(players, ["dt-10", "random"]);
            let told = &pair["matches"][side];
            let Outcome { pieces, lines, score, .. } = *outcomes[0];
            assert_eq!(
                serde_json::json!([pieces, lines, score]),
                serde_json::json!([told["pieces"], told["lines"], told["score"]])
            );
            assert_eq!(recording.setup.pieces, Pieces::Seed(pair["seed"].as_str().unwrap().parse().unwrap()));
            assert_eq!(Replay::new(recording).unwrap().difference(), None);
        }
    }
    let recorded = folder.join("dt-10-vs-random-0-2.json");
    let shown = tetrion(&["replay"]).arg(&recorded).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("player: random\nopponent: dt-10\n") && shown.contains("as recorded"), "{shown}");
    let picture = folder.join("match.gif");
    let exported = tetrion(&["export"]).arg(&recorded).arg("--out").arg(&picture).output().unwrap();
    assert!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));
    assert!(fs::read(&picture).unwrap().starts_with(b"GIF89a"));
    fs::remove_dir_all(&folder).unwrap();
}

/// However many threads play, and however many pairs are played at once, a verdict comes after the same pair.
#[test]
fn a_verdict_is_that_of_the_pairs_in_order() {
    let flags = ["dt-10", "random", "--pairs", "200", "--sprt", "0,40"];
    let one = json(&[&flags[..], &["--threads", "1"]].concat());
    assert_eq!(json(&[&flags[..], &["--threads", "2"]].concat()), one);
    let test = &one["meetings"][0]["sprt"];
    let ratio = test["log_likelihood_ratio"].as_f64().unwrap();
    assert_eq!(test["verdict"], "accepts_higher");
    assert!(ratio >= test["bounds"][1].as_f64().unwrap());
    let pairs = one["meetings"][0]["pairs"].as_u64().unwrap();
    assert!(pairs < 200, "{pairs} pairs");
    // A player against itself splits every pair.
    let itself = json(&["dt-10", "dt-10", "--pairs", "6"]);
    assert_eq!(itself["meetings"][0]["pentanomial"], serde_json::json!([0, 0, 6, 0, 0]));
}

/// A bot plays here, in a process of its own, and rows that rise under it do not confuse it.
#[test]
fn bots_meet_players() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("matches_of_bots");
    let _ = fs::remove_dir_all(&folder);
    let program = env!("CARGO_BIN_EXE_tetrion");
    let bot = format!("tbp:{program} tbp bot random --seed 4");
    let flags = [&bot, "tetrion-guideline", "--think", "0", "--pairs", "3", "--rules", "botris"];
    let one = json(&[&flags[..], &["--record-dir", folder.to_str().unwrap()]].concat());
    assert_eq!(json(&[&flags[..], &["--jobs", "2"]].concat()), one, "whatever is played at a time");
    let meeting = &one["meetings"][0];
    assert_eq!(meeting["first"], "tetrion tbp bot random --seed 4");
    assert_eq!(meeting["pentanomial"], serde_json::json!([3, 0, 0, 0, 0]), "chance loses");
    let mut risen = 0;
    for file in fs::read_dir(&folder).unwrap() {
        let recording = read(&fs::read(file.unwrap().path()).unwrap()).unwrap();
        let replay = Replay::new(recording).unwrap();
        assert_eq!(replay.difference(), None);
        let mut replay = replay;
        replay.seek(usize::MAX);
        let sides = [replay.course(), replay.course().opponent().unwrap()];
        risen += sides.iter().map(|side| side.incoming().exchanged.received).sum::<u64>();
    }
    assert!(risen > 0, "nothing was sent: a bad test");
    fs::remove_dir_all(&folder).unwrap();
    // A bot that leaves loses, and the others go on.
    let output = run(&["tbp:false", "dt-10", "--pairs", "1", "--json"]);
    let lost: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(lost["meetings"][0]["lost"], 2);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("false loses the match with seed") && said.contains("expected info"), "{said}");
}

/// The bots of a command end with it, however it is stopped.
#[test]
fn a_command_that_is_stopped_leaves_no_bot() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stopped_match");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    // A bot that writes down its number and says nothing.
    let script = folder.join("bot.sh");
    let number = folder.join("number");
    fs::write(&script, format!("echo $$ > {}\nexec sleep 60\n", number.display())).unwrap();
    let bot = format!("tbp:sh {}", script.display());
    let child = tetrion(&["match", &bot, "dt-10", "--pairs", "1"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let began = std::time::Instant::now();
    let bot = loop {
        assert!(began.elapsed().as_secs() < 60, "the bot does not start");
        match fs::read_to_string(&number).ok().and_then(|text| text.trim().parse::<i32>().ok()) {
            Some(number) => break rustix::process::Pid::from_raw(number).unwrap(),
            None => std::thread::sleep(std::time::Duration::from_millis(10)),
        }
    };
    let program = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(program, rustix::process::Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(143), "{said}");
    assert!(said.contains("stopped; nothing has been written"), "{said}");
    assert!(rustix::process::test_kill_process(bot).is_err(), "the bot goes on");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn several_players_get_ratings() {
    let text = printed(&["dt-10", "bcts", "yiyuan-lee", "--pairs", "4", "--rules", "versus_simple"]);
    assert_eq!(text.matches(": 4 pairs").count(), 3, "everyone meets everyone: {text}");
    assert!(
        text.contains("Ratings in Elo, with dt-10 at 0:") || text.contains("No ratings: player"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_played_is_refused() {
    for (args, code, words) in [
        (&["dt-10"][..], 2, "2"),
        (&["dt-10", "bctz"], 2, "did you mean \"bcts\"?"),
        (&["dt-10", "bcts", "--sprt", "20,0"], 2, "ascending"),
        (&["dt-10", "bcts", "--rules", "guideline"], 2, "players 2 needs garbage"),
        (&["dt-10", "bcts", "--rules", "lab"], 2, "players 2 needs"),
    ] {
        let output = run(args);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
        assert!(stderr.contains(words), "{args:?}: {stderr}");
    }
    // Rules for two are for matches.
    let alone =
        tetrion(&["evaluate", "bcts", "--rules", "tetrio,players=2", "--games", "1"]).output().unwrap();
    assert!(String::from_utf8_lossy(&alone.stderr).contains("opponent"), "{alone:?}");
}
