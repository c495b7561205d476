use tetrion_core::engine::{Playfield, Rules, Tetromino};
use tetrion_core::features::FeatureSet;
use tetrion_core::placements::{Options, Position, enumerate as list};
use tetrion_protocol::{features, pb, positions, seeding, tensor};

use crate::support::{drawing, field_names, numbers, restore, save, start};
use tetrion_service_testing::{config, create, enumerate, only, refusal_of, reset, step};

const DRAWINGS: [(&[&str], &str); 3] = [
    (&["....#.....", "##.#######", "#########."], "T"),
    (&[], "O"),
    (&["#########.", "#########.", "#########.", "#########.", "##########"], "I"),
];

fn drawings() -> Vec<pb::Drawing> {
    DRAWINGS.iter().map(|(rows, piece)| drawing(rows, piece)).collect()
}

fn drawn() -> pb::Positions {
    positions::from_drawings(drawings())
}

fn playfields() -> Vec<(Playfield, Tetromino)> {
    let read = |(rows, piece): &(&[&str], &str)| {
        let piece = Tetromino::from_letter(piece.chars().next().unwrap()).unwrap();
        (Playfield::from_drawn_rows(10, 20, rows).unwrap(), piece)
    };
    DRAWINGS.iter().map(read).collect()
}

fn packed() -> pb::Positions {
    let rows: Vec<u16> = playfields()
        .iter()
        .flat_map(|(playfield, _)| playfield.rows().map(|row| row as u16).collect::<Vec<_>>())
        .collect();
    let pieces: Vec<u8> = playfields().iter().map(|&(_, piece)| piece.number()).collect();
    let packed = pb::PackedPositions {
        boards: Some(tensor::encode(vec![3, 20], &rows)),
        pieces: Some(tensor::encode(vec![3], &pieces)),
        queues: None,
        held: None,
    };
    positions::from_packed(packed)
}

fn everything(request: pb::EnumeratePlacementsRequest) -> pb::EnumeratePlacementsRequest {
    pb::EnumeratePlacementsRequest {
        features: Some(features::from_set("bcts8")),
        include_afterstates: true,
        include_position_features: true,
        include_anchors: true,
        include_cells: true,
        include_preclear_boards: true,
        ..request
    }
}

/// Four lines send four; under a factor of 1.5 six, in the first step from a drawing as in its list.
#[tokio::test]
async fn a_drawing_has_the_factor_with_which_games_begin() {
    let server = start().await;
    let garbage = pb::Garbage { multiplier: Some(1.5), ..Default::default() };
    let rules = pb::Rules { preset: "tetrio".to_owned(), garbage: Some(garbage), ..Default::default() };
    let rows = ["#########."; 4];
    let drawn = positions::from_drawings(vec![drawing(&rows, "I")]);
    let drawn = pb::Positions { rules: Some(rules), ..drawn };
    let all = server.client().await.enumerate_placements(enumerate(drawn)).await.unwrap().into_inner();
    let (attacks, lines) = (numbers(&all.attacks.unwrap()), numbers(&all.lines.unwrap()));
    let four = lines.iter().position(|lines| *lines == 4.0).expect("an upright I in the well");
    // A clear of everything sends five more, times the factor, rounded down.
    assert_eq!(attacks[four], 6.0 + 7.0);
}

#[tokio::test]
async fn the_same_positions_have_the_same_placements_wherever_they_come_from() {
    let server = start().await;
    let mut client = server.client().await;
    let by_drawing = client.enumerate_placements(everything(enumerate(drawn()))).await.unwrap().into_inner();
    let by_packing = client.enumerate_placements(everything(enumerate(packed()))).await.unwrap().into_inner();
    assert_eq!(by_drawing, by_packing);

    let name = create(&mut client, config(3, 5)).await.name;
    client.restore_state(restore(&name, drawn())).await.unwrap();
    let states = client.save_state(save(&name)).await.unwrap().into_inner().states;
    let snapshots = positions::from_snapshots(states);
    let by_snapshot =
        client.enumerate_placements(everything(enumerate(snapshots))).await.unwrap().into_inner();
    assert_eq!(by_drawing, by_snapshot);
    let envs = pb::SessionEnvs { session: name.clone(), ..Default::default() };
    let by_session = client.enumerate_placements(everything(enumerate(envs))).await.unwrap().into_inner();
    assert_eq!(by_session.sequence_number, 1, "the state they belong to");
    assert_eq!(by_drawing, pb::EnumeratePlacementsResponse { sequence_number: 0, ..by_session });
    let backwards = pb::SessionEnvs { session: name, envs: only([2, 0]) };
    let backwards = client.enumerate_placements(enumerate(backwards)).await.unwrap().into_inner();
    assert_eq!(numbers(&backwards.row_offsets.unwrap()), [0.0, 17.0, 51.0]);
}

#[tokio::test]
async fn the_answer_is_the_librarys_own_list() {
    let server = start().await;
    let mut client = server.client().await;
    let answer = client.enumerate_placements(everything(enumerate(drawn()))).await.unwrap().into_inner();
    let positions: Vec<Position> = playfields()
        .into_iter()
        .map(|(playfield, piece)| Position::of(playfield, Some(tetrion_core::engine::Hand::only(piece))))
        .collect();
    let set = FeatureSet::named("bcts8", 10).unwrap();
    let options = Options {
        afterstates: true,
        anchors: true,
        cells: true,
        preclear_boards: true,
        position_features: true,
        ..Options::default()
    };
    let expected = list(&Rules::default(), &positions, Some(&set), options);
    let rows = expected.actions.len() as u32;
    assert_eq!(answer.row_offsets.unwrap(), tensor::encode_offsets(&expected.row_offsets));
    assert_eq!(answer.actions.unwrap(), tensor::encode(vec![rows], &expected.actions));
    assert_eq!(answer.placements.unwrap(), tensor::encode(vec![rows], &expected.placements));
    assert_eq!(answer.features.unwrap(), tensor::encode(vec![rows, 8], &expected.features));
    assert_eq!(answer.rewards.unwrap(), tensor::encode(vec![rows], &expected.rewards));
    assert_eq!(answer.lines.clone().unwrap(), tensor::encode(vec![rows], &expected.lines));
    assert_eq!(answer.terminated.unwrap(), tensor::encode_bools(vec![rows], &expected.terminated));
    assert_eq!(answer.afterstates.unwrap().data, expected.afterstates);
    assert_eq!(answer.position_features.unwrap(), tensor::encode(vec![3, 8], &expected.position_features));
    assert_eq!(answer.anchors.unwrap(), tensor::encode(vec![rows, 2], &expected.anchors));
    assert_eq!(answer.cells.unwrap(), tensor::encode(vec![rows, 4, 2], &expected.cells));
    let preclear = answer.preclear_boards.unwrap();
    assert_eq!((preclear.dtype(), &preclear.shape), (pb::DataType::Uint16, &vec![rows, 20]));
    assert_eq!(preclear.data, expected.preclear_boards);
    let columns = answer.feature_columns.unwrap();
    assert_eq!((columns.feature_set.as_str(), columns.feature_set_version.as_str()), ("bcts8", "1"));
    assert_eq!(columns.names, set.names());
    // The upright I in the last column of the third drawing clears four rows and the one that was full already.
    assert_eq!(numbers(&answer.lines.unwrap()).last_chunk::<17>().unwrap()[9], 5.0);
}

#[tokio::test]
async fn features_are_those_asked_for_or_the_sessions_or_none() {
    let server = start().await;
    let mut client = server.client().await;
    let selection = features::from_names(vec!["column_height".into()]);
    let wanted = pb::SessionConfig { features: Some(selection), ..config(1, 1) };
    let name = create(&mut client, wanted).await.name;
    client.reset(reset(&name)).await.unwrap();
    let envs = || enumerate(pb::SessionEnvs { session: name.clone(), ..Default::default() });
    let own = client.enumerate_placements(envs()).await.unwrap().into_inner();
    let names: Vec<String> = (0..10).map(|i| format!("column_height[{i}]")).collect();
    assert_eq!(own.feature_columns.unwrap().names, names);
    let other = features::from_names(vec!["holes".into(), "lines_cleared".into()]);
    let asked = pb::EnumeratePlacementsRequest { features: Some(other), ..envs() };
    let asked = client.enumerate_placements(asked).await.unwrap().into_inner();
    assert_eq!(asked.features.unwrap().shape[1], 2);
    let none = client.enumerate_placements(enumerate(drawn())).await.unwrap().into_inner();
    assert!(none.features.is_none() && none.feature_columns.is_none() && none.afterstates.is_none());
    assert!(none.anchors.is_none() && none.cells.is_none() && none.preclear_boards.is_none());
}

#[tokio::test]
async fn what_is_wanted_of_landings_counts_in_the_size_of_the_answer() {
    let server = start().await;
    let mut client = server.client().await;
    let width = |width| pb::Rules { width, height: 40, ..Default::default() };
    let positions =
        |rules| pb::Positions { rules: Some(rules), ..positions::from_drawings(vec![drawing(&[], "T"); 30]) };
    use prost::Message;
    for (rules, board_bytes) in [(width(16), 80), (width(17), 160)] {
        let mut max_rows = Vec::new();
        for (anchors, cells, preclear, row_bytes) in [
            (false, false, false, 14),
            (true, false, false, 16),
            (false, true, false, 22),
            (false, false, true, 14 + board_bytes),
            (true, true, true, 24 + board_bytes),
        ] {
            let request = |max_response_bytes| pb::EnumeratePlacementsRequest {
                include_anchors: anchors,
                include_cells: cells,
                include_preclear_boards: preclear,
                max_response_bytes,
                ..enumerate(positions(rules.clone()))
            };
            let reported = refusal_of(&client.enumerate_placements(request(10_000)).await.unwrap_err());
            assert_eq!(reported.reason, "RESPONSE_TOO_LARGE");
            max_rows.push((reported.metadata("max_rows").parse::<u64>().unwrap(), row_bytes));
            // What passes at the limit is no larger than it.
            let rows = 30 * (4 * u64::from(rules.width) - 6);
            let enough = (rows * row_bytes + 10_000) as u32;
            let answer = client.enumerate_placements(request(enough)).await.unwrap().into_inner();
            assert_eq!(answer.actions.as_ref().unwrap().shape, [rows as u32]);
            assert!(answer.encoded_len() <= enough as usize);
            assert!(answer.encoded_len() as u64 >= rows * row_bytes, "nothing is counted that does not come");
        }
        let (plain, bytes) = max_rows[0];
        for &(rows, row_bytes) in &max_rows {
            assert!((rows * row_bytes).abs_diff(plain * bytes) <= row_bytes.max(bytes), "{max_rows:?}");
        }
    }
}

#[tokio::test]
async fn every_action_it_lists_can_be_played_and_does_what_it_says() {
    let server = start().await;
    let mut client = server.client().await;
    let bits = pb::SessionConfig { observation_fields: field_names(&["board_bits"]), ..config(1, 3) };
    let name = create(&mut client, bits).await.name;
    client.restore_state(restore(&name, positions::from_drawings(drawings()[..1].to_vec()))).await.unwrap();
    let state = client.save_state(save(&name)).await.unwrap().into_inner().states;
    let envs = enumerate(pb::SessionEnvs { session: name.clone(), ..Default::default() });
    let listed = client.enumerate_placements(everything(envs)).await.unwrap().into_inner();
    let actions = numbers(&listed.actions.unwrap());
    let (rewards, terminated) = (numbers(&listed.rewards.unwrap()), numbers(&listed.terminated.unwrap()));
    let afterstates = listed.afterstates.unwrap();
    assert_eq!(actions.len(), 34);
    for (row, action) in actions.iter().enumerate() {
        let back = restore(&name, positions::from_snapshots(state.clone()));
        client.restore_state(back).await.unwrap();
        let answer = client.step(step(&name, &[*action as i32])).await.unwrap().into_inner();
        assert_eq!(numbers(&answer.rewards.unwrap()), [rewards[row]]);
        assert_eq!(numbers(&answer.terminated.unwrap()), [terminated[row]]);
        assert_eq!(answer.observations[0].data[..], afterstates.data[row * 40..][..40], "action {action}");
    }
}

#[tokio::test]
async fn an_episode_that_has_ended_has_no_placements_and_one_action() {
    let server = start().await;
    let mut client = server.client().await;
    let ending = pb::SessionConfig {
        max_episode_steps: 1,
        action_mask_format: pb::ActionMaskFormat::Bytes.into(),
        ..config(2, 1)
    };
    let name = create(&mut client, ending).await.name;
    client.reset(reset(&name)).await.unwrap();
    let one = pb::StepRequest { envs: only([0]), ..step(&name, &[0]) };
    let ended = client.step(one).await.unwrap().into_inner();
    let mask = numbers(&ended.action_mask.unwrap());
    assert_eq!((mask[0], mask.iter().sum::<f64>()), (1.0, 1.0));
    let envs = pb::SessionEnvs { session: name, ..Default::default() };
    let answer = client.enumerate_placements(enumerate(envs)).await.unwrap().into_inner();
    let offsets = numbers(&answer.row_offsets.unwrap());
    assert_eq!(offsets[1], 0.0);
    assert!(offsets[2] > 0.0);
}

#[tokio::test]
async fn a_request_typed_by_hand_may_have_plain_numbers() {
    let server = start().await;
    let mut client = server.client().await;
    let written = |values: &[f64]| Some(pb::Tensor { values: values.to_vec(), ..Default::default() });
    let mut answers = Vec::new();
    for by_hand in [true, false] {
        let name = create(&mut client, config(2, 9)).await.name;
        client.reset(reset(&name)).await.unwrap();
        let mut request = step(&name, &[3, 5]);
        if by_hand {
            request.actions = written(&[3.0, 5.0]);
        }
        answers.push(client.step(request).await.unwrap().into_inner());
    }
    assert_eq!(answers[0], answers[1]);
    let mut board = vec![0.0; 20];
    board[0] = f64::from(0b11_1111_1110);
    let packed =
        pb::PackedPositions { boards: written(&board), pieces: written(&[0.0]), queues: None, held: None };
    let positions = positions::from_packed(packed);
    let lines = client.enumerate_placements(enumerate(positions)).await.unwrap().into_inner().lines.unwrap();
    assert_eq!(numbers(&lines)[0], 1.0, "an upright I in the first column clears the row");
}

#[tokio::test]
async fn an_episode_from_a_drawing_deals_on_where_it_says() {
    let server = start().await;
    let mut client = server.client().await;
    let rules = pb::Rules { preview: Some(3), ..Default::default() };
    let name = create(&mut client, pb::SessionConfig { rules: Some(rules), ..config(1, 4) }).await.name;
    let dealt = client
        .reset(pb::ResetRequest { seeding: Some(seeding::from_seeds(vec![77])), ..reset(&name) })
        .await
        .unwrap()
        .into_inner();
    let first: Vec<f64> = [numbers(&dealt.observations[1]), numbers(&dealt.observations[2])].concat();
    let again = create(
        &mut client,
        pb::SessionConfig {
            rules: Some(pb::Rules { preview: Some(3), ..Default::default() }),
            seeding: Some(seeding::from_seeds(vec![77])),
            ..config(1, 0)
        },
    )
    .await
    .name;
    let drawing = pb::Drawing { queue: "z s".into(), ..drawing(&["##........"], "l") };
    let answer = client.restore_state(restore(&again, positions::from_drawings(vec![drawing]))).await;
    let answer = answer.unwrap().into_inner();
    assert_eq!(numbers(&answer.observations[0])[..3], [1.0, 1.0, 0.0]);
    let seen: Vec<f64> = [numbers(&answer.observations[1]), numbers(&answer.observations[2])].concat();
    assert_eq!(seen[..3], [6.0, 3.0, 4.0], "the pieces that were given");
    assert_eq!(seen[3], first[3], "then those that the seed deals at their places");
    assert_eq!(numbers(&answer.infos[0]).into_iter().chain(numbers(&answer.infos[1])).sum::<f64>(), 0.0);
    let bytes = &answer.infos[4].data[..];
    assert_eq!(u64::from_le_bytes(bytes.try_into().unwrap()), 77, "the first episode of its seed");
}

#[tokio::test]
async fn pictures_come_in_the_order_asked_for() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(3, 5)).await.name;
    client.restore_state(restore(&name, drawn())).await.unwrap();
    let format = pb::RenderFormat::Ascii.into();
    let request =
        pb::RenderRequest { session: name.clone(), envs: only([2, 0]), format, ..Default::default() };
    let answer = client.render(request).await.unwrap().into_inner();
    let expected: Vec<String> = [2, 0].map(|i: usize| playfields()[i].0.to_string()).to_vec();
    assert_eq!((answer.frames, answer.sequence_number), (expected, 1));
    for (format, part) in [
        (pb::RenderFormat::Lab, "   o--------------------o\n 0 |"),
        (pb::RenderFormat::Leiden, "\n------------\n 0123456789"),
        (pb::RenderFormat::Ansi, "  piece  \x1b[1;38;5;134mT\x1b[0m\n"),
        (pb::RenderFormat::Letters, "  piece  T\n"),
    ] {
        let request = pb::RenderRequest {
            session: name.clone(),
            envs: only([0]),
            format: format.into(),
            ..Default::default()
        };
        let frames = client.render(request).await.unwrap().into_inner().frames;
        assert!(frames[0].contains(part), "{}", frames[0]);
    }
}

#[tokio::test]
async fn a_lost_game_is_drawn_as_lost() {
    let server = start().await;
    let mut client = server.client().await;
    let rules = pb::Rules { preset: "leiden".to_owned(), width: 4, height: 7, ..Default::default() };
    let config = pb::SessionConfig {
        rules: Some(rules),
        autoreset_mode: pb::AutoresetMode::Disabled.into(),
        seeding: Some(seeding::from_sequences(vec!["OOOOOOO".to_owned()])),
        ..Default::default()
    };
    let name = create(&mut client, config).await.name;
    client.reset(reset(&name)).await.unwrap();
    let mut terminated = vec![];
    for _ in 0..3 {
        terminated
            .push(client.step(step(&name, &[0])).await.unwrap().into_inner().terminated.unwrap().data[0]);
    }
    assert_eq!(terminated, [0, 0, 1]);
    let format = pb::RenderFormat::Leiden.into();
    let request = pb::RenderRequest { session: name, envs: None, format, ..Default::default() };
    let frames = client.render(request).await.unwrap().into_inner().frames;
    let last: Vec<&str> = frames[0].lines().rev().take(3).collect();
    let expected =
        ["Done! We have 0 row(s) cleared, using 3 pieces.", "Top row 5 has 2 empties.", "This was move 3."];
    assert_eq!(last, expected, "\n{}", frames[0]);
}
