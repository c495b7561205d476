//! The keys of placements, pressed again on the twin: what they lead to, that there are no fewer, and one list on request.

use std::collections::{HashMap, VecDeque};

use prost::Message;
use tetrion_core::agents::Kernel;
use tetrion_core::engine::{
    HalfTurns, Hand, Key, MAX_KEYS, NamedChoice, Placement, Playfield, RotationSystem, Rules, SpinRule,
    Tetromino, TopOut, is_blocked,
};
use tetrion_core::placements::{Options, Placements, Position, enumerate as list, enumerate_only};
use tetrion_protocol::{pb, positions, tensor};
use tonic::Code;

use crate::support::{drawing, numbers, start};
use tetrion_service_testing::{Client, config, create, enumerate, only, refused, reset, step};
use tetrion_twins::{TwinGround, TwinMovement, TwinPlayfield, TwinResting, random_playfield, word};

const WANTED: Options = Options {
    cells: true,
    keys: true,
    afterstates: false,
    anchors: false,
    preclear_boards: false,
    position_features: false,
    optimal_values: None,
};

fn guideline() -> Rules {
    Rules::preset("guideline").unwrap()
}

fn rule_sets() -> Vec<Rules> {
    let low = Rules { height: 14, rows_above: 4, ..guideline() };
    vec![
        guideline(),
        low,
        Rules { width: 4, height: 10, spin_rule: SpinRule::None, ..low },
        Rules { rotation_system: RotationSystem::SrsPlus, half_turns: HalfTurns::Tetrio, hold: false, ..low },
        Rules { half_turns: HalfTurns::Cobra, spin_rule: SpinRule::AllSpins, width: 7, preview: 1, ..low },
        Rules {
            rotation_system: RotationSystem::NoKicks,
            spin_rule: SpinRule::TSpinsStrict,
            width: 18,
            ..low
        },
    ]
}

/// A position drawn from a seed, twice, and its rules.
struct Case {
    rules: Rules,
    twin: TwinPlayfield,
    playfield: Playfield,
    hand: Hand,
}

impl Case {
    fn drawn(rules: Rules, seed: u64) -> Case {
        let draw = |n: u64, bound: u64| word(seed, 2100, n) % bound;
        let visible = usize::from(rules.visible_rows());
        let mut twin = random_playfield(rules.width.into(), visible, seed);
        // Low enough for most pieces to appear.
        twin.rows.truncate(visible - draw(0, visible as u64 / 2) as usize);
        twin.rows.resize(rules.height.into(), vec![false; rules.width.into()]);
        let columns: Vec<u64> = (0..twin.width())
            .map(|column| (0..twin.height()).map(|row| u64::from(twin.rows[row][column]) << row).sum())
            .collect();
        let playfield = Playfield::from_columns(rules.width, rules.height, &columns);
        let piece = |n| Tetromino::ALL[draw(n, 7) as usize];
        let held = (draw(1, 2) == 0).then(|| piece(2));
        let hand = Hand::new(&rules, piece(3), held, Some(piece(4)));
        Case { rules, twin, playfield, hand }
    }

    fn position(&self) -> Position {
        // A game is over when the current piece is blocked, whatever is held.
        let is_over = is_blocked(&self.rules, &self.playfield, self.hand.current);
        Position::of(self.playfield, (!is_over).then_some(self.hand))
    }

    fn ground(&self, piece: Tetromino) -> TwinGround<'_> {
        let Rules { rotation_system, half_turns, spin_rule, .. } = self.rules;
        let movement = TwinMovement {
            rotation_system: rotation_system.name(),
            half_turns: half_turns.name(),
            spin_rule: spin_rule.name(),
            spawn_row: i32::from(self.rules.visible_rows()) - 1,
            spawn_lift: i32::from(self.rules.top_out != TopOut::SpawnBlocked),
        };
        TwinGround::new(&self.twin, movement, piece.letter())
    }

    fn packed(cases: &[Case]) -> pb::Positions {
        let rules = &cases[0].rules;
        let count = cases.len() as u32;
        let boards: Vec<u16> = cases.iter().flat_map(|c| c.playfield.rows().map(|row| row as u16)).collect();
        let pieces: Vec<u8> = cases.iter().map(|case| case.hand.current.number()).collect();
        // The other piece is the next one; where there is none, because the same piece is held.
        let held =
            |case: &Case| if case.hand.other.is_some() { -1 } else { case.hand.current.number() as i8 };
        let held: Vec<i8> = cases.iter().map(held).collect();
        let preview = u32::from(rules.preview);
        let queue = |case: &Case| {
            let next = case.hand.other.map_or(-1, |other| other.number() as i8);
            std::iter::once(next).chain((1..preview).map(|_| -1)).collect::<Vec<_>>()
        };
        let queues: Vec<i8> = cases.iter().flat_map(queue).collect();
        let packed = pb::PackedPositions {
            boards: Some(tensor::encode(vec![count, rules.height.into()], &boards)),
            pieces: Some(tensor::encode(vec![count], &pieces)),
            queues: Some(tensor::encode(vec![count, preview], &queues)),
            held: Some(tensor::encode(vec![count], &held)),
        };
        let rules = pb::Rules { preset: "guideline".to_owned(), ..Default::default() };
        pb::Positions { rules: Some(rules), ..positions::from_packed(packed) }
    }
}

fn names(keys: &[u8]) -> Vec<&'static str> {
    keys.iter().map(|key| Key::ALL[usize::from(*key)].name()).collect()
}

/// The keys of a row.
fn keys_of(listed: &Placements, row: usize) -> &[u8] {
    &listed.keys[listed.key_offsets[row] as usize..listed.key_offsets[row + 1] as usize]
}

/// What a row says of where it comes to rest.
fn promised(rules: &Rules, listed: &Placements, row: usize) -> TwinResting {
    let mut cells: Vec<(i32, i32)> =
        listed.cells[8 * row..][..8].chunks(2).map(|cell| (cell[0].into(), cell[1].into())).collect();
    cells.sort_unstable();
    let spin = if rules.spin_rule == SpinRule::None { 0 } else { listed.spins[row] };
    (cells, ["none", "mini", "full"][usize::from(spin)])
}

/// Presses the keys of every row of one position again.
fn press_again(case: &Case, listed: &Placements, rows: std::ops::Range<usize>) {
    for row in rows {
        let keys = names(keys_of(listed, row));
        let holds = case.rules.hold && listed.holds[row];
        let context = format!("{keys:?} of {:?} on\n{}", case.hand, case.twin);
        assert_eq!(keys.iter().position(|key| *key == "hold"), holds.then_some(0), "{context}");
        assert_eq!(keys.iter().position(|key| *key == "hard_drop"), Some(keys.len() - 1), "{context}");
        let piece = if holds { case.hand.other.unwrap() } else { case.hand.current };
        let ground = case.ground(piece);
        let start = ground.appears().expect("it can be placed");
        let end = keys[usize::from(holds)..].iter().fold(start, |piece, key| ground.pressed(piece, key));
        assert_eq!(ground.resting(end), promised(&case.rules, listed, row), "{context}");
    }
}

#[test]
fn every_list_leads_to_the_placement_of_its_row() {
    let (mut held, mut longest) = (0, 0);
    for (n, rules) in rule_sets().into_iter().enumerate() {
        for seed in 0..250 {
            let case = Case::drawn(rules, 1000 * n as u64 + seed);
            let listed = list(&rules, &[case.position()], None, WANTED);
            assert_eq!(listed.key_offsets.len(), listed.actions.len() + 1);
            press_again(&case, &listed, 0..listed.actions.len());
            held += listed.holds.iter().filter(|held| **held).count();
            longest =
                longest.max(listed.key_offsets.windows(2).map(|two| two[1] - two[0]).max().unwrap_or(0));
        }
    }
    assert!(held > 5_000, "{held} placements of the other piece");
    assert!((10..MAX_KEYS as u32).contains(&longest), "{longest} keys");
}

/// The fewest presses to every placement of a piece, the hard drop counted, by trying all keys everywhere.
fn fewest(ground: &TwinGround<'_>) -> HashMap<TwinResting, usize> {
    let keys = "left right far_left far_right turn_right turn_left turn_half soft_drop sonic_drop";
    let mut fewest = HashMap::new();
    let mut presses = HashMap::new();
    let mut waiting = VecDeque::new();
    if let Some(start) = ground.appears() {
        presses.insert(start, 1);
        waiting.push_back(start);
    }
    while let Some(piece) = waiting.pop_front() {
        let so_far = presses[&piece];
        fewest.entry(ground.resting(ground.pressed(piece, "hard_drop"))).or_insert(so_far);
        for next in keys.split(' ').map(|key| ground.pressed(piece, key)) {
            presses.entry(next).or_insert_with(|| {
                waiting.push_back(next);
                so_far + 1
            });
        }
    }
    fewest
}

#[test]
fn no_list_is_longer_than_it_must_be() {
    for (n, rules) in rule_sets().into_iter().enumerate() {
        for seed in 0..12 {
            let case = Case::drawn(rules, 1000 * n as u64 + 500 + seed);
            let listed = list(&rules, &[case.position()], None, WANTED);
            let of_current = fewest(&case.ground(case.hand.current));
            let of_other = case.hand.other.map(|other| fewest(&case.ground(other)));
            for row in 0..listed.actions.len() {
                let way = promised(&rules, &listed, row);
                let expected = match &of_other {
                    Some(of_other) if listed.holds[row] => of_other[&way] + 1,
                    _ => of_current[&way],
                };
                assert_eq!(
                    keys_of(&listed, row).len(),
                    expected,
                    "{way:?} of {:?} on\n{}",
                    case.hand,
                    case.twin
                );
            }
        }
    }
}

async fn ask(
    client: &mut Client,
    request: pb::EnumeratePlacementsRequest,
) -> pb::EnumeratePlacementsResponse {
    let wanted = pb::EnumeratePlacementsRequest { include_keys: true, include_cells: true, ..request };
    client.enumerate_placements(wanted).await.unwrap().into_inner()
}

#[tokio::test]
async fn the_server_lists_the_keys_of_all_rows_or_of_those_chosen() {
    let rules = guideline();
    let server = start().await;
    let mut client = server.client().await;
    // So many that the server works in slices.
    let cases: Vec<Case> = (0..60).map(|seed| Case::drawn(rules, 9000 + seed)).collect();
    let positions: Vec<Position> = cases.iter().map(Case::position).collect();
    let own = list(&rules, &positions, None, WANTED);
    let all = ask(&mut client, enumerate(Case::packed(&cases))).await;
    let rows = own.actions.len() as u32;
    assert_eq!(all.actions.unwrap(), tensor::encode(vec![rows], &own.actions));
    assert_eq!(all.key_offsets.clone().unwrap(), tensor::encode_offsets(&own.key_offsets));
    assert_eq!(all.keys.clone().unwrap(), tensor::encode(vec![own.keys.len() as u32], &own.keys));
    for (i, case) in cases.iter().enumerate() {
        press_again(case, &own, own.row_offsets[i] as usize..own.row_offsets[i + 1] as usize);
    }

    // A row of each that has some, another one each time.
    for nth in [0, 7, 40] {
        let chosen: Vec<Option<usize>> = own
            .row_offsets
            .windows(2)
            .map(|two| (two[0] < two[1]).then(|| (two[0] + nth % (two[1] - two[0]).max(1)) as usize))
            .collect();
        // Any number where there is nothing to choose.
        let actions: Vec<i32> = chosen.iter().map(|row| row.map_or(-5, |row| own.actions[row])).collect();
        let request = pb::EnumeratePlacementsRequest {
            actions: Some(tensor::encode(vec![60], &actions)),
            ..enumerate(Case::packed(&cases))
        };
        let one = ask(&mut client, request).await;
        let rows: Vec<usize> = chosen.iter().flatten().copied().collect();
        let offsets = numbers(&one.key_offsets.unwrap());
        assert_eq!(offsets.len(), rows.len() + 1);
        let keys = numbers(&one.keys.unwrap());
        for (at, row) in rows.iter().enumerate() {
            let listed: Vec<u8> =
                keys[offsets[at] as usize..offsets[at + 1] as usize].iter().map(|key| *key as u8).collect();
            assert_eq!(listed, keys_of(&own, *row));
        }
        let expected: Vec<i8> = rows.iter().flat_map(|row| own.cells[8 * row..][..8].to_vec()).collect();
        assert_eq!(one.cells.unwrap(), tensor::encode(vec![rows.len() as u32, 4, 2], &expected));
        let counts = one.row_offsets.as_ref().map(numbers).unwrap();
        for (two, row) in counts.windows(2).zip(&chosen) {
            assert_eq!(two[1] - two[0], f64::from(u8::from(row.is_some())));
        }
    }
}

/// What is measured of one placement is what is measured of it among all.
#[test]
fn one_placement_is_a_row_of_the_whole_list() {
    let everything = Options { afterstates: true, anchors: true, preclear_boards: true, ..WANTED };
    let set = tetrion_core::features::FeatureSet::named("bcts8", 10).unwrap();
    for (rules, options) in
        [(guideline(), everything), (Rules::default(), Options { keys: false, ..everything })]
    {
        for seed in 0..40 {
            let case = Case::drawn(rules, 7000 + seed);
            let all = list(&rules, &[case.position()], Some(&set), options);
            for row in (0..all.actions.len()).step_by(5) {
                let only = [Placement::from_action(all.actions[row] as u32, &rules)];
                let one =
                    enumerate_only(Kernel::best(), &rules, &[case.position()], &only, Some(&set), options);
                assert_eq!((one.row_offsets, one.actions), (vec![0, 1], vec![all.actions[row]]));
                assert_eq!(one.features, all.features[8 * row..][..8]);
                assert_eq!((one.lines[0], one.rewards[0]), (all.lines[row], all.rewards[row]));
                let bytes = all.afterstates.len() / all.actions.len();
                assert_eq!(one.afterstates, all.afterstates[bytes * row..][..bytes]);
                assert_eq!(one.preclear_boards, all.preclear_boards[bytes * row..][..bytes]);
                assert_eq!(one.anchors, all.anchors[2 * row..][..2]);
            }
        }
    }
}

#[tokio::test]
async fn a_learner_asks_for_the_keys_of_the_actions_that_it_chose() {
    let server = start().await;
    let mut client = server.client().await;
    let rules = pb::Rules { preset: "guideline".to_owned(), ..Default::default() };
    let settings = pb::SessionConfig {
        rules: Some(rules),
        max_episode_steps: 2,
        autoreset_mode: pb::AutoresetMode::Disabled.into(),
        ..config(2, 3)
    };
    let name = create(&mut client, settings).await.name;
    client.reset(reset(&name)).await.unwrap();
    let envs = || enumerate(pb::SessionEnvs { session: name.clone(), ..Default::default() });
    let of = |actions: &[i32]| pb::EnumeratePlacementsRequest {
        actions: Some(tensor::encode(vec![actions.len() as u32], actions)),
        ..envs()
    };
    let all = ask(&mut client, envs()).await;
    let (offsets, actions) = (numbers(&all.row_offsets.unwrap()), numbers(&all.actions.unwrap()));
    let last = [actions[offsets[1] as usize - 1] as i32, actions[offsets[2] as usize - 1] as i32];
    assert!(last.iter().all(|action| *action >= 2880), "the last ones hold the piece");
    let chosen = ask(&mut client, of(&last)).await;
    assert_eq!(numbers(&chosen.actions.clone().unwrap()), last.map(f64::from));
    assert_eq!(numbers(&chosen.holds.clone().unwrap()), [1.0, 1.0]);
    let keys = numbers(&chosen.keys.clone().unwrap());
    assert_eq!((keys[0], keys[keys.len() - 1]), (9.0, 5.0));
    assert!(chosen.encoded_len() < 300, "{} bytes", chosen.encoded_len());

    // What Step takes is what is taken here, and nothing else.
    let many = i32::MAX;
    let refusal = refused(
        client.enumerate_placements(of(&[last[0], many])).await,
        Code::InvalidArgument,
        "ACTION_OUT_OF_RANGE",
    );
    assert_eq!(refusal.fields(), ["actions[1]"]);
    let below = client.enumerate_placements(of(&[-1, -2])).await;
    let refusal = refused(below, Code::InvalidArgument, "ACTION_OUT_OF_RANGE");
    assert_eq!((refusal.fields(), refusal.metadata("count")), (vec!["actions[0]", "actions[1]"], "2"));
    let floating = (0..2880).find(|action| !actions[..offsets[1] as usize].contains(&f64::from(*action)));
    let illegal = client.enumerate_placements(of(&[floating.unwrap(), last[1]])).await;
    assert_eq!(refused(illegal, Code::InvalidArgument, "ILLEGAL_ACTION").fields(), ["actions[0]"]);
    let short = client.enumerate_placements(of(&last[..1])).await;
    assert_eq!(refused(short, Code::InvalidArgument, "INVALID_TENSOR").fields(), ["actions"]);
    client.step(step(&name, &last)).await.expect("none of this moved anything");

    // Where there is nothing to place, any number goes.
    let next = ask(&mut client, envs()).await;
    let first = numbers(&next.actions.unwrap())[0] as i32;
    let one = pb::StepRequest { envs: only([0]), ..step(&name, &[first]) };
    client.step(one).await.unwrap();
    let second = numbers(&next.row_offsets.unwrap())[1];
    assert!(second > 0.0);
    let rest = ask(&mut client, envs()).await;
    let action = numbers(&rest.actions.unwrap())[0] as i32;
    let ended = ask(&mut client, of(&[many, action])).await;
    assert_eq!(numbers(&ended.row_offsets.unwrap()), [0.0, 0.0, 1.0]);
    assert_eq!(numbers(&ended.key_offsets.unwrap()).len(), 2);
}

#[tokio::test]
async fn keys_need_rules_whose_pieces_move_or_fall() {
    let server = start().await;
    let mut client = server.client().await;
    for preset in ["simplified", "lab", "genetic"] {
        let rules = pb::Rules { preset: preset.to_owned(), ..Default::default() };
        let positions =
            pb::Positions { rules: Some(rules), ..positions::from_drawings(vec![drawing(&[], "T")]) };
        let plain = enumerate(positions);
        let asked = pb::EnumeratePlacementsRequest { include_keys: true, ..plain.clone() };
        let got = client.enumerate_placements(asked).await;
        if preset == "lab" {
            // The piece is already where the fourth of them begins.
            let listed = got.unwrap().into_inner();
            let (ends, keys) = (numbers(&listed.key_offsets.unwrap()), numbers(&listed.keys.unwrap()));
            assert_eq!(keys[ends[3] as usize..ends[5] as usize], [1.0, 5.0, 5.0]);
        } else {
            let refusal = refused(got, Code::InvalidArgument, "INVALID_FIELD");
            assert_eq!(refusal.fields(), ["include_keys"], "{preset}");
        }
        let asked = pb::EnumeratePlacementsRequest { actions: Some(tensor::encode(vec![1], &[3])), ..plain };
        let got = client.enumerate_placements(asked).await;
        if preset == "lab" {
            assert_eq!(refused(got, Code::InvalidArgument, "INVALID_FIELD").fields(), ["actions"]);
        } else {
            let one = got.unwrap().into_inner();
            assert_eq!(numbers(&one.placements.unwrap()), [3.0]);
            assert!(one.keys.is_none() && one.key_offsets.is_none());
        }
    }
}

#[test]
fn the_protocol_names_the_keys_as_they_are_numbered() {
    for (number, key) in (0..).zip(Key::ALL) {
        assert_eq!(key as i32, number);
        let name = pb::Key::try_from(number).expect("a key of the protocol").as_str_name();
        assert_eq!(name, format!("KEY_{}", key.name().to_uppercase()));
    }
    assert!(pb::Key::try_from(Key::ALL.len() as i32).is_err());
}
