//! Matches of two players against games that two other engines played, field by field.

use serde_json::Value;
use tetrion_core::engine::{
    Attack, AttackTable, Chain, Clear, Dealer, EpisodeEnd, Garbage, HalfTurns, Live, Match, MatchResult,
    MatchTurn, Movement, PieceSequence, Placement, Playfield, RotationSystem, Rules, Spin, SpinRule,
    TurnRefused, parse_sequence,
};

fn lines(text: &'static str) -> impl Iterator<Item = Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is no whole number"))
}

fn numbers(value: &Value) -> Vec<i64> {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list")).iter().map(number).collect()
}

fn spin_rule(name: &Value) -> SpinRule {
    match text(name) {
        "T-spins" => SpinRule::TSpinsStrict,
        "all" => SpinRule::AllSpins,
        "all-mini" => SpinRule::AllMini,
        "all-mini+" => SpinRule::AllMiniPlus,
        other => panic!("{other}"),
    }
}

fn rotation_system(name: &Value) -> RotationSystem {
    match text(name) {
        "SRS" => RotationSystem::Srs,
        "SRS+" => RotationSystem::SrsPlus,
        other => panic!("{other}"),
    }
}

/// A playfield of rows as three hexadecimal digits each, from the bottom; bit x is column x.
fn playfield(rows: &str, height: u8) -> Playfield {
    let mut columns = [0u64; 32];
    for (row, digits) in rows.as_bytes().chunks(3).enumerate() {
        let bits = u64::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
        (0..10).for_each(|column| columns[column] |= (bits >> column & 1) << row);
    }
    Playfield::from_columns(10, height, &columns)
}

fn drawn(playfield: &Playfield) -> String {
    let rows: Vec<String> = playfield.rows().map(|row| format!("{row:03x}")).collect();
    rows.concat().trim_end_matches("000").to_owned()
}

/// Rows with garbage, as one digit each from the bottom.
fn gray(text: &str) -> u64 {
    text.bytes().enumerate().map(|(row, digit)| u64::from(digit == b'1') << row).sum()
}

/// Cells as the other engines number them: column + 10 * row, ascending.
fn cells(live: &Live, placement: Placement) -> Vec<i64> {
    let cells = live.resting_cells(placement).unwrap();
    let mut cells: Vec<i64> =
        cells.iter().map(|(row, column)| i64::from(*column) + 10 * i64::from(*row)).collect();
    cells.sort_unstable();
    cells
}

#[test]
fn all_placements_have_the_labels_of_another_engine() {
    let mut boards = 0;
    for case in lines(include_str!("../data/versus/spins.jsonl")) {
        let movement = Movement {
            rotation_system: rotation_system(&case["kicks"]),
            half_turns: HalfTurns::Tetrio,
            spin_rule: spin_rule(&case["spins"]),
            spawn_row: 21,
            spawn_lift: 0,
        };
        let playfield = playfield(text(&case["rows"]), 40);
        let piece = parse_sequence(text(&case["piece"])).unwrap()[0];
        let placement = |resting: &tetrion_core::engine::Resting| {
            let cells = resting.shape(piece).cells_at(resting.row, resting.column);
            let mut cells: Vec<u32> =
                cells.iter().map(|(row, column)| u32::from(*column) + 10 * u32::from(*row)).collect();
            cells.sort_unstable();
            let cells: Vec<String> = cells.iter().map(u32::to_string).collect();
            format!("{}:{}", cells.join(","), resting.spin as u8)
        };
        let mut listed: Vec<String> = movement.list(&playfield, piece).iter().map(placement).collect();
        let mut expected: Vec<String> =
            case["list"].as_array().unwrap().iter().map(|placement| text(placement).to_owned()).collect();
        listed.sort();
        expected.sort();
        assert_eq!(listed, expected, "board {} under {}", case["n"], case["spins"]);
        boards += 1;
    }
    assert_eq!(boards, 160);
}

#[test]
fn attacks_have_the_lines_of_another_engine() {
    let file: Value = serde_json::from_str(include_str!("../data/versus/attack.json")).unwrap();
    let tables = [
        ("tetrio", AttackTable::Tetrio),
        ("tetrio_season_1", AttackTable::TetrioSeason1),
        ("classic", AttackTable::TetrioClassic),
        ("modern", AttackTable::TetrioModern),
    ];
    for (name, table) in tables {
        for (label, spin) in [("plain", Spin::None), ("mini", Spin::Mini), ("full", Spin::Full)] {
            for (n, by_chain) in file["tables"][name][label].as_array().unwrap().iter().enumerate() {
                for (back_to_back, by_combo) in by_chain.as_array().unwrap().iter().enumerate() {
                    for (combo, expected) in by_combo.as_array().unwrap().iter().enumerate() {
                        let clear = Clear { lines: n as u8 + 1, spin, ..Clear::default() };
                        let is_difficult = spin != Spin::None || n == 3;
                        if back_to_back > 0 && !is_difficult {
                            continue; // such a clear breaks the chain
                        }
                        let before = Chain { clears: combo as u16, back_to_back: back_to_back as u16 };
                        // A large factor shows what is rounded down.
                        let sent = before.then(table, 1000.0, clear).1.attack.lines();
                        let expected = expected.as_f64().unwrap() * 1000.0;
                        let said = format!("{name}, {label} {}, {back_to_back}, {combo}", n + 1);
                        assert!((f64::from(sent) - expected).abs() <= 1.0, "{said}: {sent}, not {expected}");
                    }
                }
            }
        }
    }
}

/// The rules of a match, and whether its players take turns.
fn rules(match_rules: &Value) -> (Rules, bool) {
    let count = |name: &str| number(&match_rules[name]) as u8;
    let flag = |name: &str| match_rules[name].as_bool().unwrap();
    let real = |name: &str| match_rules[name].as_f64().unwrap();
    let takes_turns = text(&match_rules["clock"]) == "alternate";
    let attack_table = match text(&match_rules["combo"]) {
        "multiplier" if flag("chaining") => AttackTable::TetrioSeason1,
        "multiplier" => AttackTable::Tetrio,
        "classic guideline" => AttackTable::TetrioClassic,
        "modern guideline" => AttackTable::TetrioModern,
        "none" => AttackTable::TetrioPlain,
        other => panic!("{other}"),
    };
    let tetrio = Rules::preset("tetrio").unwrap();
    let garbage = Garbage {
        hole_move_chance: real("within"),
        hole_change_chance: real("change"),
        hole_other_column: flag("nosame"),
        hole_margin: if flag("center") { 2 } else { 0 },
        delay_pieces: count("speed").div_ceil(count("frames")) - 1 + u8::from(takes_turns),
        rows_per_piece: count("cap"),
        most_waiting: if count("absolute") == 0 { 255 } else { count("absolute") },
        opening_pieces: count("opener"),
        multiplier: real("mult"),
        multiplier_growth: real("multInc"),
        multiplier_after: (number(&match_rules["multMargin"]) / 60) as u8,
        frames_per_piece: count("frames"),
        meets_in_flight: text(&match_rules["pass"]) == "zero",
        ..tetrio.garbage.unwrap()
    };
    let rules = Rules {
        players: 2,
        rotation_system: rotation_system(&match_rules["kicks"]),
        spin_rule: spin_rule(&match_rules["spins"]),
        attack_table,
        garbage: Some(garbage),
        clutch: flag("clutch"),
        ..tetrio
    };
    (rules, takes_turns)
}

/// A match from its file, with the columns in which its holes were.
fn begun(rules: &Rules, case: &Value, holes: &str) -> Match {
    rules.check().unwrap();
    let side = |side: usize| {
        // In one file the holes stand where lines are sent, in the other one where they rise.
        let named = if holes == "ho" { 1 - side } else { side };
        let of_side = case["turns"].as_array().unwrap().iter().filter(|turn| turn["pl"] == named);
        let columns = of_side.flat_map(|turn| numbers(&turn[holes])).map(|column| column as u8).collect();
        let pieces = parse_sequence(text(&case["queue"])).unwrap();
        let sequence = PieceSequence { pieces: pieces.into(), holes: columns };
        let dealer = Dealer::sequence_with_holes(sequence.into());
        let start = &case["starts"][side];
        let playfield = playfield(text(&start["rows"]), rules.height);
        let back_to_back = start["b2b"].as_i64().map_or(0, |chain| (chain + 1) as u16);
        Live::starting_from(rules, dealer, playfield, [], None)
            .on_side(side as u8)
            .continuing(Chain { clears: 0, back_to_back }, gray(text(&start["gray"])))
    };
    Match::between([side(0), side(1)])
}

/// The placement of a turn.
fn placement(live: &Live, turn: &Value, said: &str) -> Placement {
    let (piece, hold) = (text(&turn["p"]), number(&turn["h"]) == 1);
    let expected = (piece.chars().next().unwrap(), hold, number(&turn["s"]), numbers(&turn["c"]));
    let found = live.placements().into_iter().find(|&(piece, placement)| {
        let spin = placement.spin() as i64;
        expected == (piece.letter(), placement.hold, spin, cells(live, placement))
    });
    found.unwrap_or_else(|| panic!("{said}: no {expected:?} on\n{}", live.playfield())).1
}

fn events(attack: Attack) -> Vec<i64> {
    attack.events().map(i64::from).collect()
}

/// Whether this side has topped out, alone or with the other one.
fn is_topped_out(live: &Live) -> bool {
    matches!(live.end(), Some(EpisodeEnd::ToppedOut | EpisodeEnd::Drawn))
}

/// Plays a match, and lets `check` see each placement of it.
fn replay(
    case: &Value,
    rules: &Rules,
    holes: &str,
    takes_turns: bool,
    mut check: impl FnMut(&Match, &Match, &MatchTurn, usize, &Value, &str),
) {
    let mut versus = begun(rules, case, holes);
    let turns = case["turns"].as_array().unwrap();
    let mut rest = turns.as_slice();
    while !rest.is_empty() {
        let now = if takes_turns { 1 } else { 2 };
        let (of_turn, others) = rest.split_at(now.min(rest.len()));
        rest = others;
        let said = format!("match {}, turn {}", case["match"], of_turn[0]["t"]);
        let before = versus.clone();
        let chosen: Vec<Placement> = of_turn
            .iter()
            .map(|turn| placement(&versus.sides()[number(&turn["pl"]) as usize], turn, &said))
            .collect();
        let happened = match chosen[..] {
            [one] => versus.place_one(number(&of_turn[0]["pl"]) as usize, one).unwrap(),
            [first, second] => versus.place([first, second]).unwrap(),
            _ => panic!("{said} has no placement"),
        };
        for turn in of_turn {
            let side = number(&turn["pl"]) as usize;
            check(&before, &versus, &happened, side, turn, &format!("{said}, side {side}"));
        }
    }
    let expected = match &case["winner"] {
        Value::String(text) if text == "limit" => None,
        Value::String(text) if text == "draw" => Some(MatchResult::Draw),
        winner => Some(MatchResult::Won(number(winner) as usize)),
    };
    assert_eq!(versus.result(), expected, "match {}", case["match"]);
    if expected.is_some() {
        let any = Placement::straight(0, 0);
        assert_eq!(versus.clone().place([any, any]), Err(TurnRefused::Over));
    }
}

#[test]
fn matches_are_those_of_another_engine() {
    let mut placements = 0;
    for case in lines(include_str!("../data/versus/matches.jsonl")) {
        let (rules, takes_turns) = rules(&case["rules"]);
        replay(&case, &rules, "g", takes_turns, |before, after, turn, side, expected, said| {
            let happened = turn.happened[side].unwrap();
            let (was, is) = (&before.sides()[side], &after.sides()[side]);
            let (old, new) = (was.incoming(), is.incoming());
            let landed = happened.landed.unwrap();
            let chain = is.chain();
            let gone = (landed.cleared_rows & old.garbage_rows).count_ones();
            assert_eq!(old.multiplier, expected["m"].as_f64().unwrap(), "{said}: m");
            assert_eq!(i64::from(happened.lines), number(&expected["n"]), "{said}: n");
            assert_eq!(i64::from(gone), number(&expected["ng"]), "{said}: ng");
            assert_eq!(events(happened.attack), numbers(&expected["a"]), "{said}: a");
            let surged = new.exchanged.surged - old.exchanged.surged;
            assert_eq!(surged as i64, number(&expected["su"]), "{said}: su");
            let cancelled = new.exchanged.cancelled - old.exchanged.cancelled;
            assert_eq!(cancelled as i64, number(&expected["x"]), "{said}: x");
            assert_eq!(events(happened.left), numbers(&expected["o"]), "{said}: o");
            assert_eq!(i64::from(chain.clears) - 1, number(&expected["cb"]), "{said}: cb");
            assert_eq!(i64::from(chain.back_to_back) - 1, number(&expected["b"]), "{said}: b");
            assert_eq!(old.passed as i64, number(&expected["sb"]), "{said}: sb");
            assert_eq!(i64::from(happened.risen), numbers(&expected["g"]).len() as i64, "{said}: g");
            assert_eq!(drawn(is.playfield()), text(&expected["bd"]), "{said}: bd");
            assert_eq!(new.garbage_rows, gray(text(&expected["gr"])), "{said}: gr");
            assert_eq!(is_topped_out(is), number(&expected["z"]) == 1, "{said}: z");
            // What arrives is written with the placement that sent it.
            assert_eq!(events(turn.arrived[1 - side]), numbers(&expected["ar"]), "{said}: ar");
            let waiting = |live: &Live| -> Vec<(i64, i64)> {
                live.incoming().groups().map(|group| (group.lines.into(), group.delay.into())).collect()
            };
            let queue = expected["q"].as_array().unwrap();
            if takes_turns {
                for (side, queue) in queue.iter().enumerate() {
                    let seen = waiting(&after.sides()[side]);
                    let seen: Vec<i64> = seen.iter().map(|(lines, _)| *lines).collect();
                    assert_eq!(seen, numbers(queue), "{said}: q of side {side}");
                }
            } else {
                let queue: Vec<(i64, i64)> =
                    queue.iter().map(numbers).map(|group| (group[0], group[1])).collect();
                assert_eq!(waiting(is), queue, "{said}: q");
            }
            placements += 1;
        });
    }
    assert_eq!(placements, 1064);
}

#[test]
fn matches_of_bots_are_those_of_their_arena() {
    let mut placements = 0;
    for case in lines(include_str!("../data/versus/botris.jsonl")) {
        let botris = Rules::preset("botris").unwrap();
        let match_rules = &case["rules"];
        let garbage = Garbage {
            hole_move_chance: match_rules["messiness"].as_f64().unwrap(),
            delay_pieces: number(&match_rules["delay"]) as u8,
            multiplier: match_rules["multiplier"].as_f64().unwrap(),
            ..botris.garbage.unwrap()
        };
        let rules = Rules { players: 2, garbage: Some(garbage), ..botris };
        let takes_turns = text(&match_rules["clock"]) == "alternate";
        replay(&case, &rules, "ho", takes_turns, |before, after, turn, side, expected, said| {
            let happened = turn.happened[side].unwrap();
            let (was, is) = (&before.sides()[side], &after.sides()[side]);
            let (old, new) = (was.incoming(), is.incoming());
            let chain = is.chain();
            let gone = (happened.landed.unwrap().cleared_rows & old.garbage_rows).count_ones();
            assert_eq!(i64::from(happened.lines), number(&expected["n"]), "{said}: n");
            assert_eq!(i64::from(gone), number(&expected["ng"]), "{said}: ng");
            assert_eq!(i64::from(happened.attack.lines()), number(&expected["a"]), "{said}: a");
            let cancelled = new.exchanged.cancelled - old.exchanged.cancelled;
            assert_eq!(cancelled as i64, number(&expected["x"]), "{said}: x");
            assert_eq!(i64::from(happened.left.lines()), number(&expected["o"]), "{said}: o");
            assert_eq!(i64::from(chain.clears), number(&expected["cb"]), "{said}: cb");
            assert_eq!(i64::from(chain.back_to_back > 0), number(&expected["b"]), "{said}: b");
            assert_eq!(i64::from(happened.risen), numbers(&expected["g"]).len() as i64, "{said}: g");
            assert_eq!(drawn(is.playfield()), text(&expected["bd"]), "{said}: bd");
            assert_eq!(new.garbage_rows, gray(text(&expected["gr"])), "{said}: gr");
            assert_eq!(is_topped_out(is), number(&expected["z"]) == 1, "{said}: z");
            let waiting: Vec<(i64, i64)> = new
                .groups()
                .flat_map(|group| vec![(group.hole.into(), group.delay.into()); group.lines.into()])
                .collect();
            let queue = expected["q"].as_array().unwrap();
            let queue: Vec<(i64, i64)> = queue.iter().map(numbers).map(|line| (line[0], line[1])).collect();
            assert_eq!(waiting, queue, "{said}: q");
            placements += 1;
        });
    }
    assert_eq!(placements, 456);
}
