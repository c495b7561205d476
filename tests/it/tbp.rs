//! Games of other programs: ours as a bot plays the games that it plays alone, and a faulty bot soon loses, with a reason.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use tetrion::agents::{Agent, AgentRng, Controller, Expectation, Kernel, Search};
use tetrion::engine::rng::{Tag, word};
use tetrion::engine::{Dealer, Rules};
use tetrion::recording::Replay;
use tetrion::rollout::{Bounds, Episode};
use tetrion::tbp::{BotCommand, BotFault, End, HostedGame, Hosting, play};

use crate::evaluate::tetrion;
use crate::support::Command;

fn guideline() -> Rules {
    Rules::preset("guideline").unwrap()
}

/// How long a bot may take for an answer that does not come: longer than a shell takes to start on a busy machine.
const SHORT: Duration = Duration::from_secs(2);
/// How long it may take for one that comes, and for all of its games.
const LONG: Duration = Duration::from_secs(60);

fn hosting(path: &str, args: &[&str]) -> Hosting {
    Hosting {
        program: BotCommand { path: path.into(), args: args.iter().map(Into::into).collect() },
        rules: guideline(),
        games: 3,
        seed: 7,
        max_pieces: 40,
        jobs: 3,
        think: Duration::ZERO,
        patience: LONG,
    }
}

fn all(hosting: &Hosting) -> Vec<HostedGame> {
    play(hosting, |_| true).unwrap()
}

#[test]
fn our_bot_plays_the_games_that_it_plays_alone() {
    #[track_caller]
    fn check(flags: &[&str], rules: Rules, agent: Agent) {
        let args = [&["tbp", "bot"], flags].concat();
        let hosting = Hosting { rules, ..hosting(env!("CARGO_BIN_EXE_tetrion"), &args) };
        for (n, hosted) in all(&hosting).iter().enumerate() {
            let seed = word(7, Tag::Game, n as u64);
            let dealer = Dealer::seeded(rules.randomizer, seed);
            let mut alone = Episode::new(&rules, dealer, AgentRng::new(1)).recorded(&rules);
            let bounds = Bounds::of_game(hosting.max_pieces, u64::MAX);
            alone.play(&rules, &agent, Kernel::best(), bounds);
            let actions: Vec<u16> = alone.take_record(&rules).unwrap().actions.iter().collect();
            assert_eq!(hosted.recording.actions, actions, "{flags:?}: game {n}");
            let expected = if alone.game.end.is_some() { End::ToppedOut } else { End::Complete };
            assert_eq!((&hosted.end, hosted.passed_over, hosted.seed), (&expected, 0, seed), "{flags:?}");
            assert_eq!(hosted.recording.outcome.lines, alone.game.lines);
            assert_eq!(Replay::new(hosted.recording.clone()).unwrap().difference(), None);
        }
    }
    let linear = |name: &str| Controller::named(name).unwrap().agent(10).unwrap();
    check(&["dt-10"], guideline(), Agent::Linear(linear("dt-10")));
    let low = Rules { height: 24, rows_above: 4, ..guideline() };
    check(
        &["bcts", "--search", "lookahead,pieces=1"],
        low,
        Agent::searching(linear("bcts"), Search::Lookahead { pieces: 1 }),
    );
    // One piece shown, so that the one after it is weighed by what is left in the bag.
    let short = Rules { preview: 1, ..guideline() };
    let expectation = Expectation { pieces: 2, placements: 3, ..Expectation::default() };
    let flags = ["dt-10", "--search", "expectation,pieces=2,placements=3", "--preview", "1"];
    check(&flags, short, Agent::searching(linear("dt-10"), Search::Expectation(expectation)));
    let uniform = Rules { randomizer: tetrion::engine::Randomizer::Uniform, ..short };
    check(&flags, uniform, Agent::searching(linear("dt-10"), Search::Expectation(expectation)));
    // The top of the playfield, where games end.
    check(&["dummy"], guideline(), Agent::Dummy);
    check(&["random"], Rules { preview: 3, ..guideline() }, Agent::Random);
}

/// A bot in the language of the shell: what it says first, to the rules, and when it is asked.
fn script(info: &str, ready: &str, suggestion: &str) -> String {
    format!(
        r#"say() {{ printf '%s\n' "$1"; }}
{info}
while read -r line; do case $line in
    *'"type":"rules"'*) {ready};;
    *'"type":"suggest"'*) {suggestion};;
    *'"type":"quit"'*) exit 0;;
esac; done"#
    )
}

const INFO: &str = r#"say '{"type":"info","name":"Shell","version":"1","author":"tests","features":[]}'"#;
const READY: &str = r#"say '{"type":"ready"}'"#;

/// A suggestion of these moves: piece, orientation, x and y.
fn moves(moves: &[(char, &str, i32, i32)]) -> String {
    let one = |(piece, orientation, x, y): &(char, &str, i32, i32)| {
        let location = format!(r#"{{"type":"{piece}","orientation":"{orientation}","x":{x},"y":{y}}}"#);
        format!(r#"{{"location":{location},"spin":"none"}}"#)
    };
    let all: Vec<String> = moves.iter().map(one).collect();
    format!(r#"say '{{"type":"suggestion","moves":[{}]}}'"#, all.join(","))
}

fn played_by_shell(script: &str, patience: Duration) -> Vec<HostedGame> {
    let hosting = Hosting { patience, games: 2, jobs: 2, ..hosting("sh", &["-c", script]) };
    let start = Instant::now();
    let games = all(&hosting);
    assert!(start.elapsed() < LONG, "{script}: {:?}", start.elapsed());
    assert_eq!(games.len(), 2);
    games
}

/// Both games are lost at their first piece, in this way.
#[track_caller]
fn lost(script: &str, name: &str, why: &str) {
    let patience = if name == "silent" { SHORT } else { LONG };
    for HostedGame { game, end, recording, .. } in played_by_shell(script, patience) {
        assert!(matches!(end, End::Lost(_)) && end.name() == name, "{script}: game {game}: {end:?}");
        assert!(end.to_string().contains(why), "{script}: {end}");
        assert_eq!(recording.outcome.pieces, 0, "{script}: {end}");
        assert_eq!(Replay::new(recording).unwrap().difference(), None);
    }
}

#[test]
fn a_bot_that_is_none_loses() {
    let refuses = r#"say '{"type":"error","reason":"unsupported_rules"}'"#;
    let hovering: Vec<_> = "IOTLJSZ".chars().map(|piece| (piece, "north", 4, 30)).collect();
    let answers = |suggestion: &str| script(INFO, READY, suggestion);
    let cases = [
        ("sleep 1000".to_owned(), "silent", "it said nothing for 2 s, expected info"),
        ("exit 3".to_owned(), "left", "it ended with exit status: 3, expected info"),
        ("echo out of ideas >&2; exit 1".to_owned(), "left", "; its last words: out of ideas"),
        ("exec >&-; sleep 1000".to_owned(), "left", "or its output did"),
        ("echo hello".to_owned(), "no message", r#"it said "hello", which is no message: it is not JSON"#),
        ("echo '{}'".to_owned(), "no message", r#"expected an object whose "type" is one of info, ready"#),
        ("printf '\\377\\n'".to_owned(), "no message", "it is no UTF-8"),
        ("cat /dev/zero".to_owned(), "no message", "it has more than 1048576 bytes"),
        ("yes '{\"type\":\"chatter\"}'".to_owned(), "silent", "expected info"),
        ("yes error >&2".to_owned(), "silent", "expected info"),
        (r#"echo '{"type":"info","name":7}'"#.to_owned(), "no message", "info: invalid type: integer `7`"),
        (script(READY, READY, ""), "out of turn", "it said ready, expected info"),
        (script(INFO, INFO, ""), "out of turn", "it said info, expected ready"),
        (script(INFO, refuses, ""), "cannot play", "it cannot play: unsupported_rules"),
        (answers("sleep 1000"), "silent", "expected suggestion"),
        (answers("exit 0"), "left", "it ended without an error, expected suggestion"),
        (answers(&moves(&[])), "gave up", "it suggested no move"),
        (answers(&moves(&hovering)), "illegal move", "; nor can 6 others"),
    ];
    std::thread::scope(|scope| {
        for (script, name, why) in &cases {
            scope.spawn(move || lost(script, name, why));
        }
    });
}

/// The control characters of a name would move the cursor of a terminal.
#[test]
fn what_a_bot_says_can_be_shown() {
    let info = r#"say '{"type":"info","name":"\u001b[2JBot","version":"\n","author":"","features":[]}'"#;
    let games = played_by_shell(&script(info, READY, "echo '\"\\u001b[2J'; exit 0"), LONG);
    assert_eq!(
        games[0].bot.as_ref().map(|info| (info.name.as_str(), info.version.as_str())),
        Some(("[2JBot", ""))
    );
    assert_eq!(games[0].recording.player, "[2JBot");
    assert!(!games[0].end.to_string().contains('\u{1b}'), "{}", games[0].end);
}

#[test]
fn the_first_move_that_can_be_made_is_made() {
    // Every piece, flat on the floor: one of them is the current one, another the next one, by way of hold.
    let flat: Vec<_> = "IOTLJSZ".chars().map(|piece| (piece, "north", 4, 0)).collect();
    for HostedGame { end, passed_over, recording, .. } in
        played_by_shell(&script(INFO, READY, &moves(&flat)), LONG)
    {
        let Some(first) = recording.actions.first() else { panic!("{end}") };
        let course = Replay::new(recording.clone()).unwrap();
        let hand = course.course().hand().unwrap();
        let place = |piece: char| "IOTLJSZ".find(piece).unwrap() as u64;
        let (current, other) = (place(hand.current.letter()), place(hand.other.unwrap().letter()));
        assert_eq!(u32::from(*first) >= guideline().num_placements(), other < current);
        assert!(passed_over >= current.min(other), "{passed_over}");
        // The same cells again are taken.
        assert_eq!((end.name(), recording.outcome.pieces), ("illegal move", 1), "{end}");
    }
}

#[test]
fn a_bot_that_reads_nothing_does_not_hold_up_the_game() {
    // It answers before it is asked, and never reads.
    let answer = moves(&[('I', "north", 4, 0)]);
    let deaf = format!(r#"say() {{ printf '%s\n' "$1"; }}; {INFO}; {READY}; while :; do {answer}; done"#);
    let games = played_by_shell(&deaf, LONG);
    assert!(games.iter().all(|game| matches!(game.end, End::Lost(_))), "{:?}", games[0].end);
    // It goes on and on after it has lost.
    let suggestion = format!("while :; do {}; done", moves(&[]));
    lost(&script(INFO, READY, &suggestion), "gave up", "it suggested no move");
}

/// A process that leaves the session of its bot, and then its parents, is no child of anything of the game.
#[test]
#[cfg(target_os = "linux")]
fn what_a_bot_started_elsewhere_ends_with_it() {
    let folder = folder("elsewhere");
    let file = folder.join("numbers");
    let (info, there) = (INFO.replace("say ", "echo "), file.display());
    let away = format!("setsid sh -c 'echo $$ >> {there}; sleep 1000 & echo $! >> {there}' & wait; {info}");
    // What was left behind holds the pipes open.
    lost(&away, "silent", "expected ready");
    let numbers = fs::read_to_string(&file).unwrap();
    assert_eq!(numbers.lines().count(), 4, "two of each game: {numbers}");
    for number in numbers.lines() {
        let deadline = Instant::now() + LONG;
        while is_alive(number) {
            assert!(Instant::now() < deadline, "process {number} goes on");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn what_a_bot_started_ends_with_it() {
    let folder = folder("processes");
    let file = folder.join("numbers");
    // It ignores what it is told, and so does a process that holds its pipes open.
    let stubborn = format!("trap '' TERM INT; sleep 1000 & echo $$ $! >> '{}'; {INFO}; wait", file.display());
    lost(&format!(r#"say() {{ printf '%s\n' "$1"; }}; {stubborn}"#), "silent", "expected ready");
    let numbers = fs::read_to_string(&file).unwrap();
    let numbers: Vec<&str> = numbers.split_whitespace().collect();
    assert_eq!(numbers.len(), 4);
    let deadline = Instant::now() + LONG;
    for number in numbers {
        while is_alive(number) {
            assert!(Instant::now() < deadline, "process {number} goes on");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Whether a process runs. One that has ended may keep its number where the first process of the system waits for none.
fn is_alive(number: &str) -> bool {
    if let Ok(stat) = fs::read_to_string(format!("/proc/{number}/stat")) {
        return !stat.contains(") Z");
    }
    let probe = format!("kill -0 {number}");
    Command::new("sh").args(["-c", &probe]).stderr(Stdio::null()).status().unwrap().success()
}

#[test]
fn games_stop_when_they_are_to() {
    let hosting = Hosting { games: 1000, ..hosting("sh", &["-c", "sleep 1000"]) };
    let (start, mut asked) = (Instant::now(), 0);
    let games = play(&hosting, |_| {
        asked += 1;
        asked < 3
    });
    assert_eq!(games.unwrap(), []);
    assert!(start.elapsed() < LONG);
    let error = play(
        &Hosting { program: BotCommand { path: "/nowhere/bot".into(), args: vec![] }, ..hosting },
        |_| true,
    );
    assert!(error.unwrap_err().to_string().starts_with("cannot start \"/nowhere/bot\": "));
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("tbp").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn the_report_is_the_same_however_many_play_at_a_time() {
    let folder = folder("report");
    let program = env!("CARGO_BIN_EXE_tetrion");
    let host = |more: &[&str], bot: &[&str]| {
        let args = [&["tbp", "host", "--games", "4", "--pieces", "30", "--seed", "5"], more].concat();
        let output = tetrion(&args).arg("--").args(bot).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let bot = [program, "tbp", "bot", "dt-10"];
    let record = ["--record", folder.to_str().unwrap()];
    let (code, text) = host(&record, &bot);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(host(&["--jobs", "4"], &bot), (code, text.clone()));
    let (_, json) = host(&["--jobs", "2", "--json"], &bot);
    assert_eq!(host(&["--json"], &bot).1, json);

    let report: Value = serde_json::from_str(&json).unwrap();
    let files: Vec<_> = (0..4).map(|game| folder.join(format!("game-{game}.json"))).collect();
    let mut lines = 0;
    for (game, file) in files.iter().enumerate() {
        let output = tetrion(&["replay", "--json"]).arg(file).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let replayed: Value = serde_json::from_slice(&output.stdout).unwrap();
        let result = &report["results"][game];
        assert_eq!((&replayed["pieces"], &replayed["lines"]), (&result["pieces"], &result["lines"]));
        lines += result["lines"].as_u64().unwrap();
    }
    let per_piece = lines as f64 / 120.0;
    assert_eq!(report["lines_per_piece"].as_f64(), Some(per_piece));
    assert_eq!(report["ends"], serde_json::json!({"complete": 4}));
    let head = "Tetrion dt-10 (0.1.0): 4 games of at most 30 pieces, guideline, seed 5\n";
    assert!(text.starts_with(head), "{text}");
    let row = text.lines().find(|line| line.starts_with("lines cleared per piece")).unwrap();
    assert_eq!(row.split_whitespace().nth(4), Some(format!("{per_piece:.3}").as_str()));
    assert!(text.ends_with("ends: 4 complete\n"), "{text}");

    let (code, text) = host(&[], &["sh", "-c", "exit 7"]);
    let reason = "game 0 was lost at piece 1, as were 3 more: it ended with exit status: 7, expected info\n";
    assert!(code == Some(1) && text.starts_with("sh: ") && text.ends_with(reason), "{code:?} {text}");
    assert!(text.contains("ends: 4 left\n"), "{text}");
}

#[test]
fn flags_that_make_no_sense_are_refused() {
    for (args, problem) in [
        (vec![], "Usage: tetrion tbp"),
        (vec!["dt-10"], "unrecognized subcommand 'dt-10'"),
        (vec!["bot"], "<NAME>"),
        (vec!["bot", "dt-10", "--games", "3"], "unexpected argument '--games'"),
        (vec!["bot", "dt-11"], "error: no policy is called \"dt-11\", did you mean \"dt-10\"?"),
        (
            vec!["bot", "dt-10", "--search", "lookahead,pieces=3"],
            "error: dt-10: search.lookahead.pieces: is 3, expected 1 to 2",
        ),
        (
            vec!["bot", "dt-10", "--rules", "simplified"],
            "rules: the protocol is for pieces that turn on their way",
        ),
        (vec!["bot", "dt-10", "--width", "9"], "boards of 10 columns and 40 rows; the rules have 9"),
        (vec!["host"], "<PROGRAM>"),
        (vec!["host", "dt-10", "--", "sh"], "unexpected argument 'dt-10'"),
        (vec!["host", "--search", "expectation", "--", "sh"], "unexpected argument '--search'"),
        (vec!["host", "--timeout", "0", "--", "sh"], "expected a number from 0.01 to 3600"),
        (vec!["host", "--games", "0", "--", "sh"], "expected 1 to 1048576"),
        (vec!["host", "--rules", "spin_rule=none", "--", "sh"], "the rules have none"),
    ] {
        let output = tetrion(&["tbp"]).args(&args).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && stderr.contains(problem), "{args:?}: {stderr}");
    }
    let output = tetrion(&["tbp", "host", "--", "/nowhere/bot"]).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && stderr.contains("cannot start \"/nowhere/bot\""), "{stderr}");
    assert_eq!(BotFault::Deaf.to_string(), "it leaves unread what it is told");
}

/// Lines to the program's stdin: long ones, ones that are no text, and the end of the pipe in the middle of one.
#[test]
fn the_program_answers_lines_of_any_kind() {
    let mut command = tetrion(&["tbp", "bot", "dt-10"]);
    let mut bot =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = bot.stdin.take().unwrap();
    let said = [
        vec![b'['; (1 << 20) + 1],
        b"\n\xff\n\n".to_vec(),
        vec![b'['; 1 << 20],
        b"\n{\"type\":\"rules\"}\n{\"type\":\"suggest\"}".to_vec(),
    ];
    stdin.write_all(&said.concat()).unwrap();
    drop(stdin);
    let output = bot.wait_with_output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let answers: Vec<&str> = stdout.lines().collect();
    assert!(answers[0].starts_with("{\"type\":\"info\",\"name\":\"Tetrion dt-10\""), "{stdout}");
    assert_eq!(answers[1..], ["{\"type\":\"ready\"}", "{\"type\":\"suggestion\",\"moves\":[]}"]);
    let problems: Vec<&str> = stderr.lines().collect();
    assert_eq!(problems[0], "line 1: expected a line of at most 1048576 bytes; ignored");
    assert_eq!(problems[1], "line 2: expected UTF-8; ignored");
    assert!(problems[2].starts_with("line 4: it is not JSON: recursion limit exceeded"), "{stderr}");
    assert_eq!(problems[3], "line 6: suggest: there is no position, expected start before");
    assert_eq!((output.status.code(), problems.len()), (Some(0), 4), "{stderr}");
}
