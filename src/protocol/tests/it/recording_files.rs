//! Recordings as files: either form comes back as it was, and what is wrong in one is named.

use prost::Message;
use tetrion_core::engine::{EpisodeEnd, Garbage, Rules, parse_sequence};
use tetrion_protocol::limits::{MAX_RECORDING_BYTES, MAX_RECORDING_TEXT};
use tetrion_protocol::pb;
use tetrion_protocol::recording::{decode, encode, read, to_bytes, to_json};
use tetrion_toolkit::recording::{Outcome, Pieces, Recorder, Recording, Replay, Setup};

use tetrion_toolkit_testing::{Dice, play, random_setup};

#[test]
fn either_form_comes_back_as_it_was() {
    let dice = &mut Dice(21, 0);
    for _ in 0..300 {
        let setup = random_setup(dice);
        let (mut recording, _) = play(&setup, dice, 60);
        recording.player = "Ada, \"bcts\" <&>".to_owned();
        let (json, bytes) = (to_json(&recording), to_bytes(&recording));
        assert_eq!(read(json.as_bytes()).unwrap(), recording);
        assert_eq!(read(&bytes).unwrap(), recording);
        assert_eq!(read(format!("\n  {json}").as_bytes()).unwrap(), recording);
    }
}

/// As a person could write it, and what follows from it: every number here was counted by hand.
#[test]
fn a_file_written_by_hand_is_replayed() {
    let file = r##"{
        "rulesVersion": "tetrion-rules-1",
        "rules": {"width": 4, "height": 6, "preview": 1},
        "pieceSequence": "OO I",
        "actions": [0, 2, 0],
        "landingLines": "AAIA",
        "outcome": {"pieces": "3", "lines": 2, "score": 2, "end": "EPISODE_END_OUT_OF_PIECES", "rows": ["#...", "#...", "#...", "#..."]},
        "player": "Ada"
    }"##;
    let recording = read(file.as_bytes()).unwrap();
    assert_eq!((&recording.actions[..], &recording.landing_lines[..]), (&[0, 2, 0][..], &[0, 2, 0][..]));
    assert_eq!(recording.setup.pieces, Pieces::Sequence(parse_sequence("OOI").unwrap().into()));
    assert_eq!(recording.outcome.end, Some(EpisodeEnd::OutOfPieces));
    assert_eq!(Replay::new(recording).unwrap().difference(), None);
}

/// Five pieces clear four rows on both sides, and the four lines that each sends rise below the sixth piece.
#[test]
fn a_match_with_its_holes_comes_back_as_it_was() {
    let tetrio = Rules::preset("tetrio").unwrap();
    let garbage = Garbage { delay_pieces: 0, meets_in_flight: false, ..tetrio.garbage.unwrap() };
    let attack_table = tetrio.attack_table;
    let rules = Rules { players: 2, garbage: Some(garbage), attack_table, ..Rules::simplified(4, 12) };
    let pieces = Pieces::Sequence(parse_sequence("OOOIIOO").unwrap().into());
    let hole_columns = [vec![3, 0, 1, 1], vec![2]];
    let mut recorder = Recorder::new(Setup { hole_columns, ..Setup::new(rules, pieces) }).unwrap();
    for action in [0, 0, 0, 2, 3, 0] {
        recorder.play_turn([action; 2]).unwrap();
    }
    let recording = recorder.recording("Ada", "a test");
    let risen =
        |outcome: &Outcome| outcome.playfield.to_string().lines().rev().take(4).collect::<Vec<_>>().join("/");
    assert_eq!(risen(&recording.outcome), "#.##/#.##/.###/###.");
    assert_eq!(risen(&recording.opponent.as_ref().unwrap().outcome), "##.#/##.#/##.#/##.#");
    assert_eq!(read(to_json(&recording).as_bytes()).unwrap(), recording);
    assert_eq!(read(&to_bytes(&recording)).unwrap(), recording);
    assert_eq!(Replay::new(recording.clone()).unwrap().difference(), None);
    let mut other = recording;
    other.setup.hole_columns[1] = vec![1];
    let difference = Replay::new(other).unwrap().difference().unwrap().to_string();
    assert_eq!(difference, "opponent: at the end: row 0 of the playfield is #.##, recorded ##.#");
}

#[test]
fn a_match_comes_back_as_it_was() {
    let rules = Rules { players: 2, ..Rules::preset("tetrio").unwrap() };
    let mut recorder = Recorder::new(Setup::new(rules, Pieces::Seed(3))).unwrap();
    let action = |number: usize| recorder.course().placements()[number].1.action(&rules) as u16;
    let (action, other) = (action(0), action(1));
    recorder.play_turn([action, other]).unwrap();
    let recording = recorder.recording("Ada", "a test");
    assert_eq!(read(to_json(&recording).as_bytes()).unwrap(), recording);
    assert_eq!(read(&to_bytes(&recording)).unwrap(), recording);
    assert_eq!(Replay::new(recording.clone()).unwrap().difference(), None);
    let mut message = encode(&recording);
    message.opponent.as_mut().unwrap().outcome = None;
    assert_eq!(decode(&message).unwrap_err().to_string(), "opponent.outcome: is required");
    let mut message = encode(&recording);
    message.opponent.as_mut().unwrap().actions[0] = 70_000;
    assert_eq!(
        decode(&message).unwrap_err().to_string(),
        "opponent.actions[0]: is 70000, expected at most 65535"
    );
}

#[test]
fn a_thousand_pieces_take_two_kilobytes() {
    let pieces = Pieces::Sequence(parse_sequence(&"O".repeat(1001)).unwrap().into());
    let mut recorder = Recorder::new(Setup::new(Rules::simplified(4, 4), pieces)).unwrap();
    (0..1000).for_each(|n| assert!(recorder.play([0, 2][n % 2]).is_ok()));
    let recording = Recording {
        // A seed in place of the letters: the game is another one, its size is what counts.
        setup: Setup::new(Rules::simplified(4, 4), Pieces::Seed(1)),
        ..recorder.recording("", "")
    };
    let bytes = to_bytes(&recording).len();
    assert!((2000..2200).contains(&bytes), "{bytes} bytes");
}

fn small() -> Recording {
    let pieces = Pieces::Sequence(parse_sequence("OOI").unwrap().into());
    let mut recorder = Recorder::new(Setup::new(Rules::simplified(4, 6), pieces)).unwrap();
    recorder.play(0).unwrap();
    recorder.recording("Ada", "a test")
}

#[test]
fn what_is_wrong_in_a_message_is_named() {
    #[track_caller]
    fn check(spoil: impl FnOnce(&mut pb::Recording), expected: &str) {
        let mut message = encode(&small());
        spoil(&mut message);
        let json = serde_json::to_string(&message).unwrap();
        let found = [read(json.as_bytes()), read(&message.encode_to_vec())];
        for found in found.map(|read| read.unwrap_err().to_string()) {
            assert_eq!(found, expected);
        }
    }
    use pb::recording::Pieces as Message;
    check(|message| message.rules_version.clear(), "rules_version: is required");
    check(
        |message| message.rules_version = "other".to_owned(),
        "rules_version: is \"other\", expected \"tetrion-rules-1\": other rules may make another game",
    );
    check(|message| message.rules = None, "rules: is required");
    let width = |message: &mut pb::Recording| message.rules.as_mut().unwrap().width = 40;
    check(width, "rules.width: width is 40, expected 4 to 32");
    check(|message| message.pieces = None, "pieces: is required");
    check(
        |message| message.pieces = Some(Message::PieceSequence(" ".to_owned())),
        "piece_sequence: has no letters, expected at least one",
    );
    check(
        |message| message.pieces = Some(Message::PieceSequence("OX".to_owned())),
        "piece_sequence: 'X' at position 1 names no tetromino, expected one of I O T Z S J L",
    );
    check(
        |message| message.invalid_action_reward = 1.0,
        "invalid_action_reward: is 1, expected 0 unless the invalid-action policy is IGNORE",
    );
    check(
        |message| message.start = Some(pb::Drawing::default()),
        "start.piece: is not one of the letters I O T Z S J L",
    );
    check(|message| message.actions = vec![0, 70_000], "actions[1]: is 70000, expected at most 65535");
    check(|message| message.hole_columns = vec![3, 4], "hole_columns[1]: is 4, expected 0 to 3");
    let opponent = pb::RecordedOpponent { hole_columns: vec![300], ..Default::default() };
    check(
        move |message| message.opponent = Some(opponent),
        "opponent.hole_columns[0]: is 300, expected 0 to 3",
    );
    check(|message| message.outcome = None, "outcome: is required");
    let end = |end: pb::EpisodeEnd| {
        move |message: &mut pb::Recording| message.outcome.as_mut().unwrap().end = end.into()
    };
    check(end(pb::EpisodeEnd::Unspecified), "outcome.end: is required");
    check(
        end(pb::EpisodeEnd::StepLimit),
        "outcome.end: is EPISODE_END_STEP_LIMIT, expected EPISODE_END_NOT_ENDED: a replay knows no limits",
    );
    check(
        |message| message.outcome.as_mut().unwrap().rows = vec!["#".to_owned()],
        "outcome.rows: row 0 from the top of the drawing is 1 cells wide, expected 4",
    );
    // JSON has no such number.
    let mut message = encode(&small());
    message.outcome.as_mut().unwrap().score = f64::INFINITY;
    let found = read(&message.encode_to_vec()).unwrap_err().to_string();
    assert_eq!(found, "outcome.score: is inf, expected a finite number");
    check(
        |message| message.player = "x".repeat(MAX_RECORDING_TEXT + 1),
        "player: has 201 bytes, expected at most 200",
    );
    check(|message| message.origin = "\x1b[2J".to_owned(), "origin: has the control character '\\u{1b}'");
}

/// A newer program may write more, in either form, at every depth.
#[test]
fn fields_that_are_unknown_are_passed_over() {
    let recording = small();
    let mut json: serde_json::Value = serde_json::from_str(&to_json(&recording)).unwrap();
    for at in ["", "/rules", "/rules/scoring", "/outcome"] {
        let message = json.pointer_mut(at).unwrap_or_else(|| panic!("no {at}")).as_object_mut().unwrap();
        message.insert("newField".to_owned(), serde_json::json!([{"deep": [1, 2.5, null]}, "text"]));
    }
    assert_eq!(read(json.to_string().as_bytes()).unwrap(), recording);
    // Field 1000, four bytes.
    let binary = [&to_bytes(&recording)[..], &[0xc2, 0x3e, 4], b"more"].concat();
    assert_eq!(read(&binary).unwrap(), recording);
}

#[test]
fn what_is_no_recording_is_refused() {
    #[track_caller]
    fn check(file: &[u8], expected: &str) {
        let error = read(file).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    check(b"", "the file is empty, expected a recording");
    check(b"{}", "rules_version: is required");
    check(b"{\"actions\": true}", "it is not a recording in JSON: ");
    check(b"{\"actions\": \"A", "it is not a recording in JSON: ");
    check(b"GIF89a", "it is neither a recording in JSON, which begins with {, nor one in binary form: ");
    let bytes = vec![b' '; MAX_RECORDING_BYTES as usize + 1];
    check(&bytes, "it has 33554433 bytes, expected at most 33554432");
    // Texts of nothing: two bytes each in the file, and in memory two dozen and as many for what an allocator adds.
    let outcome = pb::RecordedOutcome { rows: vec![String::new(); 8 << 20], ..Default::default() };
    let message = pb::Recording { outcome: Some(outcome), ..Default::default() };
    check(&message.encode_to_vec(), "it would take 402653184 bytes of memory, expected at most 134217728");
}

/// Files with a few wrong bytes are refused, or replayed as far as they go; those that are read can be written again.
#[test]
fn damaged_files_do_no_harm() {
    let dice = &mut Dice(22, 0);
    let (mut read_again, mut differ) = (0, 0);
    for _ in 0..60 {
        let setup = random_setup(dice);
        let (recording, _) = play(&setup, dice, 40);
        for file in [to_json(&recording).into_bytes(), to_bytes(&recording)] {
            for _ in 0..40 {
                let mut damaged = file.clone();
                for _ in 0..1 + dice.below(3) {
                    let at = dice.below(damaged.len());
                    damaged[at] = dice.below(256) as u8;
                }
                damaged.truncate(1 + dice.below(2 * damaged.len()));
                let Ok(found) = read(&damaged) else { continue };
                assert_eq!(read(&to_bytes(&found)).unwrap(), found);
                assert_eq!(read(to_json(&found).as_bytes()).unwrap(), found);
                read_again += 1;
                differ += usize::from(Replay::new(found).unwrap().difference().is_some());
            }
        }
    }
    assert!(read_again > 200 && differ > 100, "{read_again} were read, {differ} differ");
}
