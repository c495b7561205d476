//! The program as a person starts it: what it prints, and the code it ends with.

use std::process::Output;

use tetrion::engine::RULES_FIELDS;

use crate::support::Command;

fn tetrion(args: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetrion"));
    command.args(args).envs(environment.iter().copied()).output().unwrap()
}

#[track_caller]
fn stdout(output: &Output) -> &str {
    assert!(output.status.success(), "{output:?}");
    std::str::from_utf8(&output.stdout).unwrap()
}

/// The first columns of a table, without its head.
fn rows(table: &str, columns: usize) -> Vec<Vec<&str>> {
    let lines = table.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    lines.map(|line| line.split_whitespace().take(columns).collect()).collect()
}

#[test]
fn perft_prints_the_counts_that_others_made() {
    let known = include_str!("../../src/core/tests/data/standard.perft");
    let expected: Vec<Vec<&str>> = rows(known, 6).into_iter().filter(|row| row[0] == "10x20").collect();
    assert!(expected.len() >= 6);
    let sequences = expected.iter().map(|row| row[1]);
    let args: Vec<&str> = ["perft"].into_iter().chain(sequences).collect();
    let output = tetrion(&args, &[]);
    assert_eq!(rows(stdout(&output), 6), expected);
}

#[test]
fn perft_prints_json() {
    let output = tetrion(&["perft", "--width", "4", "--height", "6", "--json", "OOOOOO", "O"], &[]);
    let json: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
    let counts =
        |i: usize| ["leaves", "distinct", "lines", "holes"].map(|key| json[i][key].as_u64().unwrap());
    assert_eq!(counts(0), [158, 8, 672, 164]);
    assert_eq!(counts(1), [3, 3, 0, 0]);
    assert_eq!((json[0]["width"].as_u64(), json[0]["sequence"].as_str()), (Some(4), Some("OOOOOO")));
}

#[test]
fn perft_counts_placements_with_kicks() {
    let known = include_str!("../../src/core/tests/data/guideline.perft");
    let row_of = |sequence: &str| -> Vec<&str> {
        known.lines().find(|line| line.starts_with(sequence)).unwrap().split(' ').collect()
    };
    // Spins of the T are not told apart, unless they are asked for.
    let args = ["perft", "--rules", "guideline", "ZTIO"];
    assert_eq!(rows(stdout(&tetrion(&args, &[])), 3), [["10x20", "ZTIO", row_of("ZTIOLJS ")[4]]]);
    let with_spins = tetrion(&[&args[..], &["--rules", "spin_rule=t_spins"]].concat(), &[]);
    assert_eq!(rows(stdout(&with_spins), 3), [["10x20", "ZTIO", "100733"]]);

    let row = row_of("IOLJSZT ");
    let args = ["perft", "--rules", "guideline", "--depth", "4", "IOLJSZT", "IOLJ"];
    let counted = ["10x20", "IOLJ", row[4]].map(str::to_owned).to_vec();
    assert_eq!(rows(stdout(&tetrion(&args, &[])), 3), [&counted[..], &counted[..]]);

    let output = tetrion(&["perft", "--rules", "guideline", "--json", "IOL"], &[]);
    let json: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!((json[0]["leaves"].to_string(), &json[0]["sequence"]), (row[3].to_owned(), &"IOL".into()));
    assert_eq!(json[0]["positions"], 1 + 17 + 153);
}

/// There is no chance in a count. A row to appear in is a choice like others: with a low one there are fewer placements.
#[test]
fn perft_takes_a_spawn_row_and_no_garbage() {
    let output = tetrion(&["perft", "--rules", "garbage.lines_per_piece=0.5", "IO"], &[]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        error.contains(
            "perft cannot count games with random garbage; remove garbage.lines_per_piece from --rules"
        ),
        "{error}"
    );
    // The count of cobra-movegen where pieces appear in row 5.
    let rules = "guideline,rotation_system=srs_plus,half_turns=cobra,spawn_row=5";
    let args = ["perft", "--rules", rules, "IOL", "IOLJ"];
    let counted = [["10x20", "IOL", "4922"], ["10x20", "IOLJ", "162035"]];
    assert_eq!(rows(stdout(&tetrion(&args, &[])), 3), counted);
}

#[test]
fn options_come_from_flags_then_the_environment_then_a_file() {
    let file = std::env::temp_dir().join(format!("tetrion-{}.toml", std::process::id()));
    std::fs::write(&file, "[perft]\nwidth = 4\nheight = 4\njson = true\n").unwrap();
    let file_name = file.to_str().unwrap();
    let width = |flags: &[&str], environment: &[(&str, &str)]| {
        let args: Vec<&str> =
            ["perft", "O", "--config", file_name].into_iter().chain(flags.iter().copied()).collect();
        let output = tetrion(&args, environment);
        let json: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
        json[0]["width"].as_u64().unwrap()
    };
    let environment = [("TETRION_PERFT_WIDTH", "5")];
    assert_eq!(width(&[], &[]), 4);
    assert_eq!(width(&[], &environment), 5);
    assert_eq!(width(&["--width", "6"], &environment), 6);
    let by_environment = tetrion(&["perft", "O"], &[("TETRION_CONFIG", file_name)]);
    assert!(stdout(&by_environment).starts_with('['), "{by_environment:?}");
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn the_definition_is_sound() {
    tetrion::cli::args::command().debug_assert();
}

#[test]
fn every_command_that_plays_explains_every_field_of_the_rules() {
    for path in
        ["evaluate", "train", "train genetic", "train td", "perft", "play", "watch", "tbp bot", "tbp host"]
    {
        let command = tetrion::cli::args::command();
        let subcommand =
            path.split(' ').fold(&command, |command, name| command.find_subcommand(name).unwrap());
        let flag = |name: &str| subcommand.get_arguments().find(|arg| arg.get_id() == name);
        let help = flag("rules").unwrap().get_long_help().unwrap().to_string();
        for field in &RULES_FIELDS {
            let line = format!("- {}: {}; {}", field.name, field.about, field.expects());
            assert!(help.contains(&line), "{path}: {line} is not in {help}");
        }
        for name in ["width", "height", "preview"] {
            assert!(flag(name).is_some(), "{path} has no --{name}");
        }
    }
}

#[test]
fn perft_counts_under_the_rules_of_its_flags() {
    let leaves = |flags: &[&str]| {
        let output = tetrion(&[&["perft", "OO", "--json", "--height", "4"], flags].concat(), &[]);
        let json: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
        json[0]["leaves"].as_u64().unwrap()
    };
    assert_eq!(leaves(&["--width", "4"]), 9);
    assert_eq!(leaves(&["--width", "5"]), 16);
    // A second square on the first one touches the top row: of 9 pairs only those side by side go on.
    assert_eq!(leaves(&["--width", "4", "--rules", "top_out=top_row"]), 2);
}

#[test]
fn what_a_file_says_is_checked() {
    #[track_caller]
    fn refused(text: &str, why: &str) {
        let file = std::env::temp_dir().join(format!("tetrion-wrong-{}.toml", std::process::id()));
        std::fs::write(&file, text).unwrap();
        let output = tetrion(&["serve", "--config", file.to_str().unwrap()], &[]);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(why), "{stderr}");
    }
    refused(
        "[srve]\nlisten = 'x'",
        "no subcommand is called \"srve\", did you mean \"serve\"? expected one of serve, ",
    );
    refused(
        "[serve]\nlistn = 'x'",
        "[serve]: no option is called \"listn\", did you mean \"listen\"? expected one of ",
    );
    refused("serve = 3", "serve is a value");
    refused("[serve]\nlisten = {a = 1}", "[serve] listen is not a plain value");
    refused("[serve]\nlisten = 'nowhere'", "'nowhere' for '--listen");
    refused("[serve]\ndrain-timeout = 'soon'", "'soon' for '--drain-timeout");
}

/// All clients share the options of a connection; a server has separate ones.
#[test]
fn clients_share_variables_and_a_table() {
    let file = std::env::temp_dir().join(format!("tetrion-client-{}.toml", std::process::id()));
    let said = |args: &[&str], environment: &[(&str, &str)], text: &str| {
        std::fs::write(&file, text).unwrap();
        let output = tetrion(&[&["--config", file.to_str().unwrap()], args].concat(), environment);
        assert_ne!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let nowhere = [("TETRION_SERVER", "127.0.0.1:1"), ("TETRION_PATIENCE", "0.1")];
    let table = "[client]\nserver = '127.0.0.1:1'\npatience = 0.1\n";
    for args in [&["evaluate", "bcts"][..], &["train"], &["train", "td"]] {
        for error in [said(args, &nowhere, ""), said(args, &[], table)] {
            assert!(error.contains("127.0.0.1:1"), "{args:?}: {error}");
        }
    }
    let elsewhere = said(&["evaluate", "bcts", "--server", "127.0.0.1:2"], &nowhere, "");
    assert!(elsewhere.contains("127.0.0.1:2"), "a flag comes first: {elsewhere}");
    let error = said(&["evaluate", "bcts"], &[], "[client]\ngames = 3\n");
    assert!(error.contains("[client]: no option is called \"games\""), "{error}");
    std::fs::remove_file(&file).unwrap();
}

/// The forms of a subcommand, such as `train genetic`, share its variables and its table.
#[test]
fn a_form_of_a_subcommand_reads_the_variables_and_the_table_of_the_subcommand() {
    let file = std::env::temp_dir().join(format!("tetrion-forms-{}.toml", std::process::id()));
    let check = |args: &[&str], environment: &[(&str, &str)], text: &str, why: &str| {
        std::fs::write(&file, text).unwrap();
        let output = tetrion(&[&["--config", file.to_str().unwrap()], args].concat(), environment);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(why), "{stderr}");
    };
    let crossover = "crossover_probability is 2";
    check(&["train", "genetic"], &[("TETRION_TRAIN_CROSSOVER", "2")], "", crossover);
    check(&["train", "genetic"], &[], "[train]\ncrossover = 2", crossover);
    check(&["train", "genetic", "--crossover", "3"], &[], "[train]\ncrossover = 2", "probability is 3");
    check(&["train"], &[("TETRION_TRAIN_ELITES", "2")], "[train]\ncrossover = 2", "elite_fraction is 2");
    check(&["train", "cem"], &[], "[train]\nelites = 2", "elite_fraction is 2");
    check(&["train"], &[], "[train]\ncorssover = 2", "called \"corssover\", did you mean \"crossover\"?");
    check(&["tbp", "host", "--", "sh"], &[("TETRION_TBP_GAMES", "0")], "", "expected 1 to 1048576");
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn the_fields_of_rules_and_searches_are_in_the_long_help_only() {
    let help = |flag| stdout(&tetrion(&["train", "td", flag], &[])).to_owned();
    let (short, long) = (help("-h"), help("--help"));
    assert!(long.contains("- spawn_row: Row in which") && !short.contains("spawn_row"), "{short}");
    assert!(long.contains("- placements=1 to 128: ") && !short.contains("1 to 128"), "{short}");
    assert!(short.contains("--height <N>") && short.contains("--hidden-units <N>"), "{short}");
}

#[test]
fn what_makes_no_sense_ends_with_code_2_and_what_fails_with_code_1() {
    #[track_caller]
    fn check(args: &[&str], environment: &[(&str, &str)], code: i32, why: &str) {
        let output = tetrion(args, environment);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(why), "{stderr}");
    }
    check(&["perft"], &[], 2, "SEQUENCE");
    check(&["perft", "O"], &[("TETRION_PERFT_WIDTH", "ten")], 2, "'--width <N>': expected a whole number");
    check(&["perft", "O"], &[("TETRION_CONFIG", "/nowhere.toml")], 2, "cannot read /nowhere.toml");
    check(&["paint"], &[], 2, "unrecognized subcommand");
    check(&["perft", "OX"], &[], 2, "'X' at position 1 names no tetromino");
    check(&["perft", "O", "--width", "3"], &[], 2, "'3' for '--width <N>': expected 4 to 32");
    check(&["perft", "O", "--rules", "chess"], &[], 2, "no preset is called \"chess\"");
    check(&["perft", "O", "--height", "41"], &[], 2, "'41' for '--height <N>': expected 4 to 40");
    check(&["perft", "O", "--rules", "scoring.lines=1,2"], &[], 2, "expected four numbers");
    check(
        &["perft", "O", "--rules", "action_model=keypress"],
        &[],
        2,
        "error: the keypress action model needs",
    );
    check(&["perft", "O", "--rules", "top_out=roof"], &[], 2, "above_field");
    check(&["perft", &"O".repeat(65)], &[], 2, "65 pieces, expected at most 64");
    check(&["perft", "IOL", "--depth", "4"], &[], 2, "--depth 4: \"IOL\" has 3 pieces");
    check(&["perft", "IOL", "--rules", "guideline", "--height", "9"], &[], 2, "lock_out needs rows_above");
    check(&["serve", "--log", "tetrion=loud"], &[], 2, "--log");
    check(&["serve", "--log", "inof"], &[], 2, "--log: \"inof\" is not a level, expected off, error");
    check(
        &["serve", "--threads", "513"],
        &[],
        2,
        "invalid value '513' for '--threads <N>': expected 0 to 512",
    );
    check(&["serve", "--memory", "255"], &[], 2, "expected 256 to 1048576");
    let token = "/nowhere.pem";
    check(&["serve", "--tls-cert", token, "--tls-key", token], &[], 1, "cannot read /nowhere.pem");
}

#[test]
fn numbers_that_are_none_are_refused_in_words() {
    #[track_caller]
    fn check(args: &[&str], why: &str) {
        let output = tetrion(args, &[]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(stderr, format!("error: invalid value {why}\n\nFor more information, try '--help'.\n"));
    }
    let evaluate = ["evaluate", "dt-10"];
    let check_flag =
        |flag: &str, value: &str, why: &str| check(&[&evaluate[..], &[flag, value]].concat(), why);
    check_flag("--seed", "-1", "'-1' for '--seed <SEED>': expected a whole number, 0 or more");
    check_flag(
        "--seed",
        "99999999999999999999",
        "'99999999999999999999' for '--seed <SEED>': expected a smaller number",
    );
    check_flag("--games", "ten", "'ten' for '--games <N>': expected a whole number");
    check_flag("--games", "1.5", "'1.5' for '--games <N>': expected a whole number");
    check_flag("--games", "-1", "'-1' for '--games <N>': expected 1 to 1048576");
    check_flag("--width", "5000000000", "'5000000000' for '--width <N>': expected 4 to 32");
    check_flag("--preview", "-1", "'-1' for '--preview <N>': expected 0 to 6");
    let check_rules = |rules: &str, why: &str| {
        check_flag("--rules", rules, &format!("'{rules}' for '--rules <PRESET[,FIELD=VALUE]...>': {why}"));
    };
    check_rules("garbage.lines_per_piece=much", r#"garbage.lines_per_piece: is "much", expected 0 to 4"#);
    check_rules("lab,hold=maybe", r#"hold: is "maybe", expected true or false"#);
    check_rules(
        "scoring.lines=1,2",
        r#"scoring.lines: is "1,2", expected four numbers, each a finite number of at most 1e15 in size"#,
    );
    check_rules("hold=true,lab", r#""lab" is no change of the rules, expected FIELD=VALUE"#);
    let search = "lookahead,pieces=9";
    check_flag(
        "--search",
        search,
        &format!("'{search}' for '--search <METHOD[,SETTING=VALUE]...>': pieces: is 9, expected 1 to 6"),
    );
    let listen = "expected IP:PORT, such as 127.0.0.1:50451, [::1]:50451, or 0.0.0.0:50451 for all addresses of the machine";
    for address in ["example.org:50451", "localhost", "50451", "localhost:x"] {
        check(&["serve", "--listen", address], &format!("'{address}' for '--listen <ADDRESS>': {listen}"));
    }
}

/// Values of a file, names of files and texts of recordings: what a terminal would obey is written out.
#[test]
fn what_a_terminal_would_obey_is_written_out() {
    const TITLE: &str = "\u{1b}]0;mine\u{7}\u{9b}2J\u{202e}evil";
    const WRITTEN: &str = r"\u001b]0;mine\u0007\u009b2J\u202eevil";
    #[track_caller]
    fn check(output: &Output, shown: &str) {
        let said = [&output.stdout[..], &output.stderr[..]].concat();
        let said = String::from_utf8(said).unwrap();
        assert!(said.contains(shown), "{said:?}");
        let obeyed = said.chars().find(|letter| tetrion::text::escapes::is_obeyed(*letter));
        assert_eq!(obeyed, None, "{said:?}");
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("obeyed");
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    check(&tetrion(&["evaluate", "--features", "bcts8", "--weights", &path(TITLE)], &[]), WRITTEN);
    check(&tetrion(&["replay", &path(TITLE)], &[]), WRITTEN);
    // The parser of flags leaves whole escape sequences out.
    check(&tetrion(&["serve", "--listen", TITLE], &[]), "2J\\u202eevil");

    let config = path("config.toml");
    let quoted = TITLE.replace('\u{1b}', "\\u001b").replace('\u{7}', "\\u0007").replace('\u{9b}', "\\u009b");
    std::fs::write(&config, format!("[serve]\nlisten = \"{quoted}\"\n")).unwrap();
    check(&tetrion(&["serve", "--config", &config], &[]), "2J\\u202eevil");
    let help = stdout(&tetrion(&["serve", "--help", "--config", &config], &[])).to_owned();
    assert!(help.contains("--listen") && !help.contains('\u{1b}'), "{help:?}");

    let recording = path("recording.json");
    let small = [
        "--width",
        "4",
        "--height",
        "4",
        "--games",
        "1",
        "--record",
        "best",
        "--record-dir",
        folder.to_str().unwrap(),
    ];
    let played = tetrion(&[&["evaluate", "bcts"], &small[..]].concat(), &[]);
    assert!(played.status.success(), "{played:?}");
    let game = std::fs::read_to_string(path("bcts-best.json")).unwrap();
    let mut game: serde_json::Value = serde_json::from_str(&game).unwrap();
    // A recording with control characters is refused.
    game["player"] = "mine\u{202e}evil".into();
    std::fs::write(&recording, game.to_string()).unwrap();
    check(&tetrion(&["replay", &recording], &[]), "player: mine\\u202eevil");
    let json = tetrion(&["replay", "--json", &recording], &[]);
    check(&json, "mine\\u202eevil");
    let json: serde_json::Value = serde_json::from_str(stdout(&json)).unwrap();
    assert_eq!(json["player"], "mine\u{202e}evil", "it says the same in JSON");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn files_larger_than_any_of_their_kind_are_not_read() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("huge");
    std::fs::create_dir_all(folder.join("run")).unwrap();
    let sparse = |name: &str| {
        let path = folder.join(name);
        std::fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
        path.to_str().unwrap().to_owned()
    };
    #[track_caller]
    fn check(args: &[&str]) {
        let output = tetrion(args, &[]);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(matches!(output.status.code(), Some(1 | 2)), "{stderr}");
        assert!(stderr.contains("it has more than "), "{stderr}");
        assert_eq!(stderr.matches("huge/").count(), 1, "the file is named once: {stderr}");
    }
    let file = sparse("file");
    check(&["evaluate", &file]);
    check(&["evaluate", "--features", "bcts8", "--weights", &file]);
    check(&["train", "--start", &file]);
    check(&["watch", &file]);
    check(&["replay", &file]);
    check(&["export", &file, "--out", "picture.png"]);
    check(&["serve", "--config", &file]);
    check(&["serve", "--tls-cert", &file, "--tls-key", &file]);
    sparse("run/config.toml");
    check(&["train", "--resume", folder.join("run").to_str().unwrap()]);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_word_of_megabytes_is_shortened() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("word.txt");
    let path = path.to_str().unwrap();
    std::fs::write(path, "x".repeat(5_000_000)).unwrap();
    let output = tetrion(&["evaluate", "--weights", path, "--features", "bcts8"], &[]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.len() < 2_000, "{} bytes", stderr.len());
    assert!(stderr.contains("xxx... 4999950 characters ...xxx"), "{stderr}");
    assert!(stderr.ends_with("expected a weights.json of `tetrion train`, or plain numbers\n"), "{stderr}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_file_that_holds_no_weights_is_named_once_with_what_was_expected() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("program.py");
    std::fs::write(&path, "import sys\n").unwrap();
    let stderr = |path: &str| {
        String::from_utf8(tetrion(&["evaluate", "--features", "bcts8", "--weights", path], &[]).stderr)
            .unwrap()
    };
    let expected = "it holds \"import\", which is no finite number: expected a weights.json of `tetrion train`, or plain numbers";
    assert_eq!(stderr(path.to_str().unwrap()), format!("error: {}: {expected}\n", path.display()));
    assert_eq!(
        stderr("none.json"),
        "error: none.json: cannot read it: No such file or directory (os error 2)\n"
    );
    std::fs::remove_file(path).unwrap();
}

#[test]
fn perft_counts_the_same_in_little_memory() {
    let count = |flags: &[&str]| {
        let output = tetrion(&[&["perft", "--json", "IOTS"], flags].concat(), &[]);
        let json: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
        let counts = ["leaves", "lines", "holes"].map(|key| json[0][key].as_u64().unwrap());
        (counts, json[0]["distinct"].as_u64(), json[0]["passes"].as_u64().unwrap())
    };
    let counts = [88434, 12, 486761];
    assert_eq!(count(&[]), (counts, Some(88434), 1));
    assert_eq!(count(&["--no-distinct"]), (counts, None, 1));
    let (same, distinct, passes) = count(&["--memory", "1"]);
    assert_eq!((same, distinct), (counts, Some(88434)));
    assert!(passes > 1, "88,434 playfields of 32 bytes are more than a mebibyte");
}

/// Starts a command and presses Ctrl-C when `ready` has seen enough of its output.
#[cfg(unix)]
fn interrupted(args: &[&str], ready: impl FnOnce(&mut std::process::Child)) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetrion"));
    let piped = std::process::Stdio::piped;
    let mut child = command.args(args).stdout(piped()).stderr(piped()).spawn().unwrap();
    ready(&mut child);
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    child.wait_with_output().unwrap()
}

#[test]
#[cfg(unix)]
fn an_interrupted_perft_says_what_it_has_counted() {
    let output = interrupted(&["perft", "IO", "IOTSZJLIOT"], |child| {
        // The head and the first row: the second sequence is under way, for days.
        let stdout = child.stdout.as_mut().unwrap();
        let newlines = std::io::Read::bytes(stdout).filter(|byte| *byte.as_ref().unwrap() == b'\n');
        assert_eq!(newlines.take(2).count(), 2);
    });
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("% of IOTSZJLIOT: so far") && stderr.contains(" leaves, "), "{stderr}");
}

#[test]
#[cfg(unix)]
fn an_interrupted_perft_with_kicks_says_what_it_has_counted() {
    let output = interrupted(&["perft", "--rules", "guideline", "IO", "IOTSZJLIOT"], |child| {
        let stdout = child.stdout.as_mut().unwrap();
        let newlines = std::io::Read::bytes(stdout).filter(|byte| *byte.as_ref().unwrap() == b'\n');
        assert_eq!(newlines.take(2).count(), 2);
    });
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("% of IOTSZJLIOT: so far") && stderr.contains(" leaves"), "{stderr}");
}

#[test]
#[cfg(unix)]
fn an_interrupted_bench_prints_what_it_has_measured() {
    let output = interrupted(&["bench", "--quick", "--only", "startup,rollouts"], |child| {
        let stderr = child.stderr.as_mut().unwrap();
        let newlines = std::io::Read::bytes(stderr).filter(|byte| *byte.as_ref().unwrap() == b'\n');
        assert_eq!(newlines.take(2).count(), 2, "the second group has begun");
    });
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("1 of 2 groups were measured before"), "{stderr}");
    assert!(stdout.contains("Linear controller, one core") && !stdout.contains("\nStart\n"), "{stdout}");
}

#[test]
fn no_help_and_no_error_shows_a_token() {
    let file = std::env::temp_dir().join(format!("tetrion-token-{}.toml", std::process::id()));
    let path = file.to_str().unwrap();
    let shown = |text: &str, args: &[&str]| {
        std::fs::write(&file, text).unwrap();
        let output =
            tetrion(&[args, &["--config", path]].concat(), &[("TETRION_SERVE_TOKEN", "open sesame")]);
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    for command in ["serve", "train", "evaluate"] {
        let text = format!("[{command}]\ntoken = 'open sesame'\npatience = 7\nlisten = '127.0.0.1:7'\n");
        let without = if command == "serve" { "patience" } else { "listen" };
        let text: String = text
            .lines()
            .filter(|line| !line.starts_with(without))
            .map(|line| line.to_owned() + "\n")
            .collect();
        let help = shown(&text, &[command, "--help"]);
        assert!(help.contains("--token") && help.contains('7'), "{help}");
        assert!(!help.contains("sesame"), "{help}");
    }
    let broken = shown("[serve]\ntoken = 'open sesame\n", &["serve"]);
    assert!(broken.contains("line 2") && !broken.contains("sesame"), "{broken}");
    std::fs::remove_file(&file).unwrap();
}
