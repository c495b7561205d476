//! How models are sent, repeated and refused, and how large they may be.

use tetrion_client::{
    ConnectOptions, EvaluationRequest, Expectation, Features, PlayChoice, Policy, PolicyKind, RulesChoice,
    Search, Seeds, WeightRows,
};
use tetrion_protocol::limits::{
    MAX_HIDDEN_LAYERS, MAX_HIDDEN_UNITS, MAX_MODEL_PARAMETERS, MAX_MODEL_WORK, MAX_REQUEST_PARAMETERS,
    MAX_TUPLE_POSITIONS, MAX_TUPLES,
};
use tetrion_protocol::pb::TupleKind::{Cells, Heights, Steps};
use tetrion_protocol::pb::policy::Kind;
use tetrion_protocol::{features, pb, search, tensor};
use tetrion_server::ServerConfig;

use super::{Case, FEATURES, both, counts, mlp, request, shape, tuples};
use tetrion_service_testing::evaluations::{Client, ask, start, weighing};
use tetrion_service_testing::servers::listen_with;

/// A small network and some tables, as agents that play.
fn small(size: (u8, u8)) -> [Case; 2] {
    let (width, height) = (size.0.into(), size.1.into());
    let network = Case::new(&FEATURES, mlp(&[3, 2], "relu"), 1.0, 4);
    [network, Case::new(&FEATURES, tuples(width, height), 1.0, 5)]
}

/// A small network that reads tables, as an agent that plays.
fn reader(size: (u8, u8)) -> Case {
    Case::new(&FEATURES, both(&[3, 2], "relu", tuples(size.0.into(), size.1.into())), 1.0, 7)
}

#[tokio::test]
async fn started_repeats_models_with_every_field() {
    let (mut client, _guard) = start(1).await;
    let [network, tables] = small((6, 6));
    let mut unspecified = network.message();
    unspecified.mlp.as_mut().unwrap().activation = 0;
    let asked = [
        network.matrix(&[network.row(), network.row()]),
        unspecified,
        tables.message(),
        reader((6, 6)).message(),
    ];
    let answer = ask(&mut client, request((6, 6), asked.map(weighing).into(), &[1], 5)).await.unwrap();
    let echoes: Vec<_> = answer.started.policies.iter().map(|entry| entry.policy.clone().unwrap()).collect();
    let expected = [network.message(), network.message(), tables.message(), reader((6, 6)).message()];
    for (echo, expected) in echoes.iter().zip(expected) {
        let Some(Kind::Weights(weights)) = &echo.kind else { panic!("weights") };
        assert_eq!(*weights, pb::Weights { weights: None, ..expected });
        assert_eq!((echo.search, echo.terminal_value), (Some(search::encode(Search::Greedy)), 1));
    }
    assert_eq!(echoes.len(), 4);
}

#[tokio::test]
async fn parameters_are_float32_however_they_are_sent() {
    let (mut client, _guard) = start(1).await;
    let [case, _] = small((6, 6));
    // Doubles next to those floats, which round to them.
    let row = case.row();
    let nearly = |(index, number): (usize, &f64)| match index < FEATURES.len() {
        true => *number,
        false => number * (1.0 + 1e-12),
    };
    let doubles: Vec<f64> = row.iter().enumerate().map(nearly).collect();
    assert_ne!(doubles, row);
    let floats: Vec<f32> = row.iter().map(|number| *number as f32).collect();
    let sent = |weights| pb::Weights { weights: Some(weights), ..case.message() };
    let by_hand = pb::Tensor { values: row.clone(), ..Default::default() };
    let mut games = Vec::new();
    for tensor in [
        tensor::encode(vec![1, row.len() as u32], &floats),
        tensor::encode(vec![1, row.len() as u32], &doubles),
        by_hand,
    ] {
        let policies = [sent(tensor), case.message()].map(weighing);
        let asked = request((6, 6), policies.into(), &[1, 2, 3], 100);
        let answer = ask(&mut client, asked).await.unwrap();
        games.extend([counts(&answer, 0), counts(&answer, 1)]);
    }
    assert!(games.iter().all(|counts| *counts == games[0]), "{games:?}");
}

#[tokio::test]
async fn our_own_client_sends_them_too() {
    let (address, _guard) = listen_with(ServerConfig::default()).await;
    let ours = tetrion_client::Client::connect(&[address.to_string()], ConnectOptions::default()).await;
    let (ours, (mut plain, _other_guard)) = (ours.unwrap(), start(1).await);
    for case in small((6, 6)).into_iter().chain([reader((6, 6))]) {
        let asked = request((6, 6), vec![weighing(case.message())], &[1, 2, 3], 50);
        let expected = counts(&ask(&mut plain, asked).await.unwrap(), 0);
        let policy = Policy {
            kind: PolicyKind::Weights(WeightRows {
                features: Features::List(FEATURES.map(str::to_owned).into()),
                rows: vec![case.row()],
                model: Some(shape(&case.model)),
            }),
            play: PlayChoice::default(),
        };
        let mut request = EvaluationRequest::new(vec![policy], Seeds::PerPolicy(vec![vec![1, 2, 3]]));
        request.rules = RulesChoice::of_size(6, 6);
        request.max_pieces = 50;
        let evaluated = ours.evaluate_all(&request, |_| ()).await.unwrap();
        let games = evaluated.games(0).iter().map(|game| (game.lines, game.pieces, game.is_truncated()));
        assert_eq!(games.collect::<Vec<_>>(), expected);
    }
}

/// The message of a refusal, which begins with its field; empty if the games are played.
async fn refusal(client: &mut Client, asked: pb::EvaluatePoliciesRequest) -> String {
    match ask(client, asked).await {
        Ok(_) => String::new(),
        Err(status) => status.message().to_owned(),
    }
}

#[tokio::test]
async fn what_is_no_model_is_refused() {
    let (mut client, _guard) = start(1).await;
    let [network, tables] = small((6, 7));
    let with = |weights: pb::Weights| request((6, 7), vec![weighing(weights)], &[1], 1);
    let hidden = |hidden: &[u32]| {
        let mlp = Some(pb::Mlp { hidden: hidden.to_vec(), activation: 0 });
        with(pb::Weights { mlp, ..network.message() })
    };
    let pattern = |kind: pb::TupleKind, positions: &[u32], clip, shares| pb::TuplePattern {
        kind: kind.into(),
        positions: positions.to_vec(),
        clip,
        shares,
    };
    let tupled = |tuples: Vec<pb::TuplePattern>| {
        with(pb::Weights { n_tuple: Some(pb::NTuple { tuples }), ..tables.message() })
    };
    let steps = |positions: &[u32]| tupled(vec![pattern(Steps, positions, 1, None)]);
    let second = |tuple: pb::TuplePattern| tupled(vec![pattern(Steps, &[0, 1], 1, None), tuple]);
    let tensor = |tensor: pb::Tensor| with(pb::Weights { weights: Some(tensor), ..network.message() });
    let row = |row: Vec<f64>| tensor(tensor::encode(vec![row.len() as u32], &row));
    let tables_too = |weights| pb::Weights { n_tuple: tables.message().n_tuple, ..weights };
    let both = |row: Vec<f64>| with(tables_too(network.matrix(&[row])));
    let reader = reader((6, 7));
    let mut no_number = reader.row();
    *no_number.last_mut().unwrap() = f64::INFINITY;
    let mut infinite = network.row();
    infinite[8] = 1e39;
    let mut large = network.row();
    large[8] = f32::MAX.into();
    // 6 features; (6 + 1) * 3 + (3 + 1) * 2 + (2 + 1) parameters.
    assert_eq!(network.row().len(), 6 + 32);
    for (asked, expected) in [
        (with(network.message()), ""),
        (with(tables.message()), ""),
        (hidden(&[]), "policies[0].weights.mlp.hidden: has 0 layers, expected 1 to 4"),
        (hidden(&[1; 5]), "policies[0].weights.mlp.hidden: has 5 layers, expected 1 to 4"),
        (hidden(&[3, 0]), "policies[0].weights.mlp.hidden[1]: is 0, expected 1 to 256 units"),
        (hidden(&[257]), "policies[0].weights.mlp.hidden[0]: is 257, expected 1 to 256 units"),
        (
            with(pb::Weights {
                mlp: Some(pb::Mlp { hidden: vec![3, 2], activation: 9 }),
                ..network.message()
            }),
            "policies[0].weights.mlp.activation: is 9, which is not a value of this field",
        ),
        (
            with(pb::Weights { mlp: None, ..network.message() }),
            "policies[0].weights.weights: has shape [38], expected [6]",
        ),
        (
            with(pb::Weights { features: None, ..network.message() }),
            "policies[0].weights.features: is required",
        ),
        (
            row(vec![0.5; 7]),
            "policies[0].weights.weights: has 7 columns, expected 6 features + 32 parameters = 38",
        ),
        (
            row(infinite),
            "policies[0].weights.weights: row 0: weight 8, a parameter of the model, is 1e39, expected a finite number of \
             at most 3.4028235e38 in size",
        ),
        (row(large), ""),
        (
            tensor(tensor::encode(vec![1, 39], &[0.5; 39])),
            "policies[0].weights.weights: has 39 columns, expected 6 features + 32 parameters = 38",
        ),
        (
            tensor(pb::Tensor { values: vec![0.5; 39], ..Default::default() }),
            "policies[0].weights.weights: has 39 values, expected 6 features + 32 parameters = 38",
        ),
        (
            tensor(tensor::encode(vec![1, 38], &[f32::NAN; 38])),
            "policies[0].weights.weights: row 0: weight 0 is NaN, expected a finite number of at most 1e300 in size",
        ),
        (
            both(network.row()),
            "policies[0].weights.weights: has 38 columns, expected 6 features + 884 parameters = 890",
        ),
        (both(reader.row()), ""),
        (with(reader.message()), ""),
        (
            with(pb::Weights { mlp: None, ..reader.message() }),
            "policies[0].weights.weights: has 890 columns, expected 6 features + 284 parameters = 290",
        ),
        (
            with(pb::Weights { n_tuple: None, ..reader.message() }),
            "policies[0].weights.weights: has 890 columns, expected 6 features + 32 parameters = 38",
        ),
        (
            with(pb::Weights { n_tuple: Some(pb::NTuple::default()), ..reader.message() }),
            "policies[0].weights.n_tuple.tuples: has 0 tuples, expected 1 to 256",
        ),
        (
            with(tables_too(pb::Weights {
                weights: Some(tensor::encode(vec![890], &no_number)),
                ..network.message()
            })),
            "policies[0].weights.weights: row 0: weight 889, a parameter of the model, is inf, expected a finite number of \
             at most 3.4028235e38 in size",
        ),
        (tupled(Vec::new()), "policies[0].weights.n_tuple.tuples: has 0 tuples, expected 1 to 256"),
        (steps(&[]), "policies[0].weights.n_tuple.tuples[0].positions: has 0 positions, expected 1 to 16"),
        (
            steps(&[0; 17]),
            "policies[0].weights.n_tuple.tuples[0].positions: has 17 positions, expected 1 to 16",
        ),
        (
            steps(&[0, 5]),
            "policies[0].weights.n_tuple.tuples[0].positions[1]: is 5, expected 0 to 4 on 6 x 7",
        ),
        (
            tupled(vec![pattern(Heights, &[6], 1, None)]),
            "policies[0].weights.n_tuple.tuples[0].positions[0]: is 6, expected 0 to 5 on 6 x 7",
        ),
        (
            tupled(vec![pattern(Cells, &[41, 42], 0, None)]),
            "policies[0].weights.n_tuple.tuples[0].positions[1]: is 42, expected 0 to 41 on 6 x 7",
        ),
        (
            steps(&[3, 2, 3]),
            "policies[0].weights.n_tuple.tuples[0].positions[2]: is 3 again, expected each position once",
        ),
        (
            second(pattern(Steps, &[0], 0, None)),
            "policies[0].weights.n_tuple.tuples[1].clip: is 0, expected 1 to 7, the height of the playfield",
        ),
        (
            second(pattern(Heights, &[0], 8, None)),
            "policies[0].weights.n_tuple.tuples[1].clip: is 8, expected 1 to 7, the height of the playfield",
        ),
        (
            second(pattern(Cells, &[0], 1, None)),
            "policies[0].weights.n_tuple.tuples[1].clip: is 1, expected none: cells are not cut off",
        ),
        (
            second(pattern(pb::TupleKind::Unspecified, &[0], 1, None)),
            "policies[0].weights.n_tuple.tuples[1].kind: is required",
        ),
        (
            second(pattern(Steps, &[2, 1], 1, Some(1))),
            "policies[0].weights.n_tuple.tuples[1].shares: is 1, expected an earlier tuple: below 1",
        ),
        (
            second(pattern(Steps, &[2, 1], 2, Some(0))),
            "policies[0].weights.n_tuple.tuples[1].shares: is 0, expected a tuple of the same kind, clip and number of positions",
        ),
        (
            second(pattern(Heights, &[2, 1], 1, Some(0))),
            "policies[0].weights.n_tuple.tuples[1].shares: is 0, expected a tuple of the same kind, clip and number of positions",
        ),
        (
            tupled(vec![
                pattern(Cells, &[0], 0, None),
                pattern(Cells, &[1], 0, Some(0)),
                pattern(Cells, &[2], 0, Some(1)),
            ]),
            "policies[0].weights.n_tuple.tuples[2].shares: is 1, expected a tuple with its own table",
        ),
        (
            second(pb::TuplePattern { kind: 7, positions: vec![0], clip: 1, shares: None }),
            "policies[0].weights.n_tuple.tuples[1].kind: is 7, which is not a value of this field",
        ),
    ] {
        assert_eq!(refusal(&mut client, asked).await, expected);
    }
}

#[tokio::test]
async fn a_model_is_as_large_as_its_limits() {
    let (mut client, _guard) = start(2).await;
    let features = Some(features::from_set("height4"));
    let sent = |rows: u32, columns: u32, mlp: Option<pb::Mlp>, n_tuple: Option<pb::NTuple>| {
        let weights = tensor::encode(vec![rows, columns], &vec![0.5f32; (rows * columns) as usize]);
        let weights = pb::Weights { features: features.clone(), weights: Some(weights), mlp, n_tuple };
        request((10, 10), vec![weighing(weights)], &[1], 1)
    };
    let network = |layers: u32, units: u32| {
        let hidden = vec![units; layers as usize];
        let parameters = 5 * units + (layers - 1) * (units + 1) * units + units + 1;
        sent(1, 4 + parameters, Some(pb::Mlp { hidden, activation: 0 }), None)
    };
    let cells = |first: u32, count: u32| pb::TuplePattern {
        kind: pb::TupleKind::Cells.into(),
        positions: (first..first + count).collect(),
        ..Default::default()
    };
    // Tables of 2^16 entries, and more of one cell each.
    let tables = |rows: u32, large: u32, more: u32| {
        let large_ones = (0..large).map(|n| cells(n, MAX_TUPLE_POSITIONS));
        let tuples: Vec<_> = large_ones.chain((0..more).map(|n| cells(n % 100, 1))).collect();
        sent(rows, 4 + (large << 16) + 2 * more, None, Some(pb::NTuple { tuples }))
    };
    // Rows of 23 numbers, and (4 + 1) * 23 + 23 + 1 = 139 parameters of the network. 23 * 182,355 + 139 is 2^22.
    let of_clip_2 = |kind: pb::TupleKind, positions: &[u32]| pb::TuplePattern {
        kind: kind.into(),
        positions: positions.to_vec(),
        clip: 2,
        shares: None,
    };
    let rows_of_23 = |last: pb::TuplePattern, entries: u32| {
        let of_cells = [16, 16, 15, 14, 11, 5, 4, 3].map(|count| cells(0, count));
        let tuples = of_cells.into_iter().chain([of_clip_2(Steps, &[0, 1]), last]).collect();
        let network = pb::Mlp { hidden: vec![23], activation: 0 };
        sent(1, 4 + 139 + 23 * entries, Some(network), Some(pb::NTuple { tuples }))
    };
    let (most, in_all) = (MAX_MODEL_PARAMETERS, MAX_REQUEST_PARAMETERS);
    assert_eq!((most, MAX_TUPLE_POSITIONS, in_all), (64 << 16, 16, most));
    // 3 * 10 placements by 198,913 parameters in units of 2048, and 4: 2,917, seven times for each placement looked at.
    let looking = |placements: u8| {
        let mut asked = network(MAX_HIDDEN_LAYERS, MAX_HIDDEN_UNITS);
        asked.rules.as_mut().unwrap().preview = Some(1);
        let expectation = Expectation { pieces: 2, placements, ..Expectation::default() };
        asked.policies[0].search = Some(search::encode(Search::Expectation(expectation)));
        asked
    };
    assert_eq!(MAX_MODEL_WORK, 131_072);
    for (asked, expected) in [
        (network(MAX_HIDDEN_LAYERS, MAX_HIDDEN_UNITS), ""),
        (looking(6), ""),
        (
            looking(7),
            "policies[0].weights: takes the time of 142933 pieces to score one placement, expected at most 131072: look at fewer \
             placements or pieces, or take a smaller model",
        ),
        (network(MAX_HIDDEN_LAYERS + 1, 1), "policies[0].weights.mlp.hidden: has 5 layers, expected 1 to 4"),
        (
            network(1, MAX_HIDDEN_UNITS + 1),
            "policies[0].weights.mlp.hidden[0]: is 257, expected 1 to 256 units",
        ),
        (tables(1, 0, MAX_TUPLES), ""),
        (
            tables(1, 0, MAX_TUPLES + 1),
            "policies[0].weights.n_tuple.tuples: has 257 tuples, expected 1 to 256",
        ),
        (
            tables(1, 64, 1),
            "policies[0].weights.n_tuple.tuples: have tables of 4194306 entries up to tuples[64], expected at most 4194304 in all",
        ),
        (tables(4, 16, 0), ""),
        (tables(1, 64, 0), ""),
        // 182,328 + 5^2 entries, and two or three more.
        (rows_of_23(cells(7, 1), 182_355), ""),
        (
            rows_of_23(of_clip_2(Heights, &[7]), 182_356),
            "policies[0].weights.n_tuple.tuples: have tables of 182356 entries of 23 numbers, which with the 139 parameters of \
             the network are 4194327, expected at most 4194304 in all",
        ),
        (
            // As many entries as tables may have alone, times as many units as there may be.
            {
                let tuples = (0..64).map(|n| cells(n, MAX_TUPLE_POSITIONS)).collect();
                let network = pb::Mlp { hidden: vec![MAX_HIDDEN_UNITS], activation: 0 };
                sent(1, 4, Some(network), Some(pb::NTuple { tuples }))
            },
            "policies[0].weights.n_tuple.tuples: have tables of 4194304 entries of 256 numbers, which with the 1537 parameters of \
             the network are 1073743361, expected at most 4194304 in all",
        ),
        (
            tables(5, 16, 0),
            "policies[0].weights.weights: brings the request to 5242880 parameters of models, expected at most 4194304",
        ),
    ] {
        assert_eq!(refusal(&mut client, asked).await, expected);
    }
}
