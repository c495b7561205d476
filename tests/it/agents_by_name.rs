//! Agents by name, over a real connection: what they take, what comes back, and what the server refuses.

use std::sync::atomic::AtomicBool;

use tetrion::agents::{
    AGENTS, Agent, Controller, Expectation, ExpectationAgent, Kernel, KeyAgent, LookaheadAgent, MonteCarlo,
    Parameter, Search, Terms,
};
use tetrion::engine::{Randomizer, Rules};
use tetrion::rollout::{Deal, Evaluation, GameResult};
use tetrion::wire::limits::{MAX_LOOKAHEAD, MAX_PLAYOUTS};
use tetrion::wire::pb;
use tetrion::wire::pb::evaluate_policies_request::Games;
use tetrion::wire::tensor;

use crate::evaluation::{Refused, ask, start};

fn named(name: &str) -> pb::Agent {
    pb::Agent { name: name.to_owned(), ..Default::default() }
}

/// Some games of these agents on a small Leiden playfield that shows two pieces.
fn request(agents: Vec<pb::Agent>) -> pb::EvaluatePoliciesRequest {
    pb::EvaluatePoliciesRequest {
        rules: Some(pb::Rules {
            preset: "leiden".to_owned(),
            width: Some(8),
            height: Some(9),
            preview: Some(2),
            ..Default::default()
        }),
        agents,
        games: Some(Games::Seeds(tensor::encode(vec![3], &[3u64, 1, 4]))),
        max_pieces: 50,
        ..Default::default()
    }
}

fn everybody() -> Vec<pb::Agent> {
    let features = Some(pb::FeatureSelection { feature_set: "height4".to_owned(), ..Default::default() });
    vec![
        named("dummy"),
        named("random"),
        named("random_survey"),
        named("flat_stacking"),
        pb::Agent { playouts: Some(20), label: "twenty".to_owned(), ..named("monte_carlo") },
        pb::Agent { playouts: Some(20), ..named("monte_carlo_coded") },
        pb::Agent { lookahead: Some(1), ..named("yiyuan-lee") },
        pb::Agent {
            lookahead: Some(1),
            features: features.clone(),
            weights: vec![-0.510066, 0.760666, -0.35663, -0.184483],
            ..named("linear")
        },
        pb::Agent { expectation: Some(pb::Expectation::default()), ..named("dt-10") },
        pb::Agent {
            features: features.clone(),
            // 4 weights, 5 * 2 + 3 parameters.
            weights: [&[-0.5, 0.75, -0.25, -0.25][..], &[0.125; 13]].concat(),
            mlp: Some(small_network()),
            ..named("mlp")
        },
        pb::Agent {
            features: features.clone(),
            weights: [&[-0.5, 0.75, -0.25, -0.25][..], &[0.125; 27]].concat(),
            n_tuple: Some(small_table()),
            ..named("n_tuple")
        },
        pb::Agent {
            features,
            // The same, and rows of two behind 13 parameters.
            weights: [&[-0.5, 0.75, -0.25, -0.25][..], &[0.125; 13 + 2 * 27]].concat(),
            mlp: Some(small_network()),
            n_tuple: Some(small_table()),
            ..named("mlp")
        },
    ]
}

fn small_network() -> pb::Mlp {
    pb::Mlp { hidden: vec![2], activation: pb::Activation::Relu.into() }
}

fn small_table() -> pb::NTuple {
    let kind = pb::TupleKind::Steps.into();
    pb::NTuple { tuples: vec![pb::TuplePattern { kind, positions: vec![0, 1, 2], clip: 1, shares: None }] }
}

fn dt_10(expectation: Expectation) -> Agent {
    Agent::Expectation(ExpectationAgent::new(
        Controller::named("dt-10").unwrap().agent(8).unwrap(),
        expectation,
    ))
}

fn played(evaluation: &Evaluation) -> Vec<GameResult> {
    let stop = AtomicBool::new(false);
    (0..evaluation.num_games()).map(|game| evaluation.play(game, &stop).unwrap()).collect()
}

#[tokio::test]
async fn agents_play_the_engines_games_on_one_thread_and_on_two() {
    let lee = || Controller::named("yiyuan-lee").unwrap().agent(8).unwrap();
    let evaluation = Evaluation {
        rules: Rules { width: 8, height: 9, preview: 2, ..Rules::preset("leiden").unwrap() },
        policies: vec![
            Agent::Dummy,
            Agent::Random,
            Agent::RandomSurvey,
            Agent::Linear(Controller::named("flat_stacking").unwrap().agent(8).unwrap()),
            Agent::MonteCarlo(MonteCarlo::new(20)),
            Agent::MonteCarlo(MonteCarlo::as_coded(20)),
            Agent::Lookahead(LookaheadAgent::new(lee(), 1)),
            Agent::Lookahead(LookaheadAgent::new(lee(), 1)),
            dt_10(Expectation::default()),
        ],
        deal: Deal::Common(vec![3, 1, 4]),
        episodes_per_seed: 1,
        pairs: None,
        max_pieces: 50,
        max_steps: u64::MAX,
        loss_trials: 0,
        kernel: Kernel::best(),
    };
    let expected = played(&evaluation);
    for threads in [1, 2] {
        let (mut client, _guard) = start(threads).await;
        let answer = ask(&mut client, request(everybody())).await.unwrap();
        // The last three have models, whose games the twin plays.
        assert_eq!(answer.results[..expected.len()], expected, "{threads} threads");
        assert_eq!((answer.results.len(), answer.summary.policies.len()), (36, 12));
    }
}

#[tokio::test]
async fn echoes_have_every_parameter_that_the_agent_takes_and_no_other() {
    let (mut client, _guard) = start(1).await;
    let agents = [everybody(), vec![named("monte_carlo"), named("dellacherie")]].concat();
    let answer = ask(&mut client, request(agents.clone())).await.unwrap();
    assert_eq!(answer.started.agents.len(), agents.len());
    for (echo, asked) in answer.started.agents.iter().zip(&agents) {
        assert_eq!((&echo.name, &echo.label), (&asked.name, &asked.label));
        let row = AGENTS.iter().find(|row| row.name == echo.name);
        let takes = |parameter| {
            let of_controllers = tetrion::agents::CONTROLLER_PARAMETERS;
            // Controllers report their weights too.
            row.map_or(of_controllers, |row| row.parameters).contains(&parameter)
                || row.is_none() && [Parameter::Features, Parameter::Weights].contains(&parameter)
        };
        let name = &echo.name;
        assert_eq!(echo.playouts.is_some(), takes(Parameter::Playouts), "{name}");
        assert_eq!(echo.lookahead.is_some(), takes(Parameter::Lookahead), "{name}");
        assert!(echo.expectation.is_none() || takes(Parameter::Expectation), "{name}");
        assert_eq!(echo.terminal_value != 0, takes(Parameter::TerminalValue), "{name}");
        assert_eq!(echo.features.is_some(), takes(Parameter::Features), "{name}");
        assert_eq!(echo.weights.is_empty(), !takes(Parameter::Weights), "{name}");
        assert_eq!(echo.mlp.is_some(), takes(Parameter::Mlp), "{name}");
        // A network can do without tables.
        let tables = takes(Parameter::NTuple) || takes(Parameter::MlpTables) && asked.n_tuple.is_some();
        assert_eq!(echo.n_tuple.is_some(), tables, "{name}");
    }
    assert_eq!(answer.started.agents[4].playouts, Some(20));
    assert_eq!(answer.started.agents[12].playouts, Some(MonteCarlo::DEFAULT_PLAYOUTS));
    assert_eq!(answer.started.agents[6].lookahead, Some(1));
    assert_eq!(answer.started.agents[13].lookahead, Some(0));
}

#[tokio::test]
async fn a_matrix_looks_ahead_like_an_agent() {
    let (mut client, _guard) = start(2).await;
    let weights = [[-0.510066, 0.760666, -0.35663, -0.184483]];
    let matrix = pb::WeightMatrix {
        features: Some(pb::FeatureSelection { feature_set: "height4".to_owned(), ..Default::default() }),
        weights: Some(tensor::encode(vec![1, 4], weights.as_flattened())),
        lookahead: 1,
        ..Default::default()
    };
    let asked = pb::EvaluatePoliciesRequest { weights: Some(matrix), ..request(everybody()[7..8].to_vec()) };
    let answer = ask(&mut client, asked).await.unwrap();
    let (row, agent) = answer.results.split_at(3);
    let counts =
        |games: &[GameResult]| games.iter().map(|game| (game.lines, game.pieces)).collect::<Vec<_>>();
    assert_eq!(counts(row), counts(agent));
}

#[tokio::test]
async fn an_expectation_is_asked_for_in_three_ways() {
    let (mut client, _guard) = start(2).await;
    let expectation = Some(pb::Expectation {
        pieces: Some(2),
        placements: Some(3),
        lost_piece: Some(-10.5),
        discount: Some(0.75),
        terms: pb::ExpectationTerms::All.into(),
        caution: Some(0.25),
    });
    let dt_10 = Controller::named("dt-10").unwrap();
    let features = Some(pb::FeatureSelection { feature_set: "thiery9".to_owned(), ..Default::default() });
    let row = pb::WeightMatrix {
        features: features.clone(),
        weights: Some(tensor::encode(vec![1, 9], dt_10.weights)),
        expectation,
        ..Default::default()
    };
    let weights = dt_10.weights.to_vec();
    let agents = vec![
        pb::Agent { expectation, ..named("dt-10") },
        pb::Agent {
            features: features.clone(),
            weights: weights.clone(),
            expectation,
            ..named("expectation")
        },
        pb::Agent { features, weights, ..named("expectation") },
    ];
    let asked = pb::EvaluatePoliciesRequest { weights: Some(row), ..request(agents) };
    let answer = ask(&mut client, asked).await.unwrap();
    let counts = |policy: usize| -> Vec<_> {
        let games = &answer.results[3 * policy..3 * policy + 3];
        games.iter().map(|game| (game.lines, game.pieces, game.truncated)).collect()
    };
    assert_eq!((counts(0), counts(1)), (counts(1), counts(2)));
    assert_ne!(counts(2), counts(3), "the defaults play another game");
    let [by_name, with_weights, with_defaults] = &answer.started.agents[..] else { panic!("three agents") };
    assert_eq!((by_name.expectation, with_weights.expectation), (expectation, expectation));
    let defaults = with_defaults.expectation.unwrap();
    let expected = pb::Expectation {
        pieces: Some(1),
        placements: Some(8),
        lost_piece: Some(-100.0),
        discount: Some(1.0),
        terms: pb::ExpectationTerms::Landing.into(),
        caution: Some(0.0),
    };
    assert_eq!(defaults, expected);

    let evaluation = Evaluation {
        rules: Rules { width: 8, height: 9, preview: 2, ..Rules::preset("leiden").unwrap() },
        policies: vec![self::dt_10(Expectation {
            pieces: 2,
            placements: 3,
            lost_piece: -10.5,
            discount: 0.75,
            terms: Terms::All,
            caution: 0.25,
        })],
        deal: Deal::Common(vec![3, 1, 4]),
        episodes_per_seed: 1,
        pairs: None,
        max_pieces: 50,
        max_steps: u64::MAX,
        loss_trials: 0,
        kernel: Kernel::Portable,
    };
    assert_eq!(answer.results[..3], played(&evaluation));
}

#[tokio::test]
async fn a_controller_weighs_the_pieces_that_its_weights_were_found_for() {
    let (mut client, _guard) = start(2).await;
    for (name, pieces) in [("tetrion-10x10-expectation", 1), ("tetrion-10x10-preview", 2)] {
        let controller = Controller::named(name).unwrap();
        let Search::Expectation(own) = controller.play.search else { panic!("{name} is greedy") };
        assert_eq!(u32::from(own.pieces), pieces);
        let with_weights = pb::Agent {
            features: Some(pb::FeatureSelection {
                feature_set: controller.feature_set.to_owned(),
                ..Default::default()
            }),
            weights: controller.weights.to_vec(),
            ..named("linear")
        };
        let placements = Some(own.placements.into());
        let expectation = Some(pb::Expectation { pieces: Some(pieces), placements, ..Default::default() });
        let asked = |preview, agents| {
            let rules = pb::Rules {
                preset: "simplified".to_owned(),
                width: Some(10),
                height: Some(6),
                preview: Some(preview),
                ..Default::default()
            };
            pb::EvaluatePoliciesRequest { rules: Some(rules), max_pieces: 40, ..request(agents) }
        };
        let agents = vec![
            named(name),
            pb::Agent { expectation, name: "expectation".to_owned(), ..with_weights.clone() },
            pb::Agent { lookahead: Some(0), ..named(name) },
            with_weights,
        ];
        let answer = ask(&mut client, asked(pieces - 1, agents)).await.unwrap();
        let games = |policy: usize| -> Vec<_> {
            let games = &answer.results[3 * policy..3 * policy + 3];
            games.iter().map(|game| (game.lines, game.pieces, game.truncated)).collect()
        };
        assert_eq!((games(0), games(2)), (games(1), games(3)), "{name}");
        assert_ne!(games(0), games(2), "{name}: a lookahead of 0 is greedy");
        let echoed: Vec<_> = answer.started.agents.iter().map(|agent| agent.expectation).collect();
        assert_eq!((echoed[0], echoed[2]), (echoed[1], None), "{name}");
        assert!(echoed[0].is_some(), "{name}");

        if pieces == 2 {
            let status = Refused { client: &mut client };
            let refusal = ask(status.client, asked(0, vec![named(name)])).await.unwrap_err();
            assert_eq!(
                refusal.message(),
                "agents[0].name: tetrion-10x10-preview needs rules that show at least 1 of the next pieces, these show 0"
            );
        }
    }
}

#[tokio::test]
async fn an_expectation_has_bounds() {
    let (mut client, _guard) = start(1).await;
    let mut refused = Refused { client: &mut client };
    let default = pb::Expectation::default();
    let edge = pb::Expectation {
        pieces: Some(2),
        placements: Some(128),
        lost_piece: Some(-1e6),
        discount: Some(0.0),
        terms: pb::ExpectationTerms::None.into(),
        caution: Some(10.0),
    };
    for (preview, expectation, field) in [
        (2, edge, ""),
        (1, edge, ""),
        (0, edge, "pieces"),
        (
            0,
            pb::Expectation { lost_piece: Some(0.0), discount: Some(1.0), placements: Some(1), ..default },
            "",
        ),
        (2, pb::Expectation { pieces: Some(3), ..default }, "pieces"),
        (2, pb::Expectation { pieces: Some(0), ..default }, "pieces"),
        (2, pb::Expectation { placements: Some(0), ..default }, "placements"),
        (2, pb::Expectation { placements: Some(129), ..default }, "placements"),
        (2, pb::Expectation { lost_piece: Some(-1_000_001.0), ..default }, "lost_piece"),
        (2, pb::Expectation { lost_piece: Some(0.5), ..default }, "lost_piece"),
        (2, pb::Expectation { lost_piece: Some(f64::NAN), ..default }, "lost_piece"),
        (2, pb::Expectation { discount: Some(-0.5), ..default }, "discount"),
        (2, pb::Expectation { discount: Some(1.5), ..default }, "discount"),
        (2, pb::Expectation { discount: Some(f64::NAN), ..default }, "discount"),
        (2, pb::Expectation { terms: 4, ..default }, "terms"),
        (2, pb::Expectation { caution: Some(-0.5), ..default }, "caution"),
        (2, pb::Expectation { caution: Some(10.5), ..default }, "caution"),
        (2, pb::Expectation { caution: Some(f64::NAN), ..default }, "caution"),
    ] {
        let asked = request(vec![pb::Agent { expectation: Some(expectation), ..named("dt-10") }]);
        let rules = pb::Rules { preview: Some(preview), ..asked.rules.clone().unwrap() };
        let asked = pb::EvaluatePoliciesRequest { rules: Some(rules), max_pieces: 1, ..asked };
        if field.is_empty() {
            assert!(ask(refused.client, asked).await.is_ok(), "{expectation:?}");
        } else {
            refused.check(asked, "INVALID_FIELD", &format!("agents[0].expectation.{field}")).await;
        }
    }
    let both = pb::Agent { lookahead: Some(1), expectation: Some(default), ..named("dt-10") };
    refused.check(request(vec![both]), "INVALID_FIELD", "agents[0].expectation").await;
    let both = pb::WeightMatrix {
        features: Some(pb::FeatureSelection { feature_set: "height4".to_owned(), ..Default::default() }),
        weights: Some(tensor::encode(vec![1, 4], &[0.0; 4])),
        lookahead: 1,
        expectation: Some(default),
        ..Default::default()
    };
    let both = pb::EvaluatePoliciesRequest { weights: Some(both), ..request(Vec::new()) };
    refused.check(both, "INVALID_FIELD", "weights.expectation").await;
}

#[tokio::test]
async fn key_presses_are_counted_and_cut_over_the_wire() {
    let (mut client, _guard) = start(2).await;
    let agents = vec![named("lab-uniform"), named("random_keys"), named("monte_carlo")];
    let lab = pb::Rules { preset: "lab".to_owned(), ..Default::default() };
    let asked = pb::EvaluatePoliciesRequest {
        rules: Some(lab),
        agents,
        // The notebook's batch: a seed for each slot, its games one after the other.
        games: Some(Games::Seeds(tensor::encode(vec![3, 1], &[42u64, 43, 44]))),
        episodes_per_seed: 4,
        max_steps: 300,
        ..Default::default()
    };
    let answer = ask(&mut client, asked).await.unwrap();
    let evaluation = Evaluation {
        rules: Rules::preset("lab").unwrap(),
        policies: vec![
            Agent::Linear(Controller::named("lab-uniform").unwrap().agent(10).unwrap()),
            Agent::Keys(KeyAgent::Random),
            Agent::MonteCarlo(MonteCarlo::new(MonteCarlo::DEFAULT_PLAYOUTS)),
        ],
        deal: Deal::PerSlot { seeds: vec![42, 43, 44], columns: 1 },
        episodes_per_seed: 4,
        pairs: None,
        max_pieces: u64::MAX,
        max_steps: 300,
        loss_trials: 0,
        kernel: Kernel::best(),
    };
    assert_eq!(answer.results, played(&evaluation));
    assert_eq!(answer.started.max_steps, 300);
    for game in &answer.results {
        assert!(game.steps > game.pieces && game.steps <= 300, "{game:?}");
        assert_eq!(game.truncated, game.steps == 300, "{game:?}");
    }
    let [lab_uniform, ..] = &answer.summary.policies[..] else { panic!("a summary for each") };
    assert!(lab_uniform.lower_bound && lab_uniform.lines.unwrap().mean > 3.0);
}

#[tokio::test]
async fn what_an_agent_does_not_take_is_refused() {
    let (mut client, _guard) = start(1).await;
    let mut refused = Refused { client: &mut client };
    let agent = |agent: pb::Agent| request(vec![named("dummy"), agent]);

    refused.check(agent(named("nobody")), "UNKNOWN_NAME", "agents[1].name").await;
    refused.check(agent(named("random_keys")), "INVALID_FIELD", "agents[1].name").await;
    for playouts in [0, MAX_PLAYOUTS + 1] {
        let r = agent(pb::Agent { playouts: Some(playouts), ..named("monte_carlo") });
        refused.check(r, "INVALID_FIELD", "agents[1].playouts").await;
    }
    // Beyond what the rules show, and beyond what any agent looks at.
    let lee = |lookahead| pb::Agent { lookahead: Some(lookahead), ..named("yiyuan-lee") };
    let shows = |preview: u32, agent: pb::Agent| {
        let request = request(vec![named("dummy"), agent]);
        let rules = pb::Rules { preview: Some(preview), ..request.rules.clone().unwrap() };
        pb::EvaluatePoliciesRequest { rules: Some(rules), ..request }
    };
    refused.check(shows(0, lee(1)), "INVALID_FIELD", "agents[1].lookahead").await;
    refused.check(shows(1, lee(2)), "INVALID_FIELD", "agents[1].lookahead").await;
    refused.check(shows(6, lee(MAX_LOOKAHEAD + 1)), "INVALID_FIELD", "agents[1].lookahead").await;
    let one = pb::EvaluatePoliciesRequest { max_pieces: 1, ..shows(6, lee(MAX_LOOKAHEAD)) };
    assert!(ask(refused.client, one).await.is_ok());
    let most = pb::Agent { playouts: Some(MAX_PLAYOUTS), ..named("monte_carlo") };
    let one = pb::EvaluatePoliciesRequest { max_pieces: 1, ..request(vec![most]) };
    assert!(ask(refused.client, one).await.is_ok());

    // Every parameter, for every agent that does not take it.
    let features = Some(pb::FeatureSelection { feature_set: "height4".to_owned(), ..Default::default() });
    for row in AGENTS {
        let given = [
            (Parameter::Playouts, pb::Agent { playouts: Some(5), ..named(row.name) }),
            (Parameter::Lookahead, pb::Agent { lookahead: Some(1), ..named(row.name) }),
            (
                Parameter::Expectation,
                pb::Agent { expectation: Some(pb::Expectation::default()), ..named(row.name) },
            ),
            (Parameter::TerminalValue, pb::Agent { terminal_value: 1, ..named(row.name) }),
            (Parameter::Features, pb::Agent { features: features.clone(), ..named(row.name) }),
            (Parameter::Weights, pb::Agent { weights: vec![1.0], ..named(row.name) }),
            (Parameter::Mlp, pb::Agent { mlp: Some(small_network()), ..named(row.name) }),
            (Parameter::NTuple, pb::Agent { n_tuple: Some(small_table()), ..named(row.name) }),
        ];
        for (parameter, message) in given {
            if row.parameters.iter().all(|taken| taken.name() != parameter.name()) {
                let field = format!("agents[1].{}", parameter.name());
                refused.check(agent(message), "INVALID_FIELD", &field).await;
            }
        }
    }
}

#[tokio::test]
async fn visible_pieces_are_those_that_come() {
    // With bags, and to the end of a written sequence.
    let (mut client, _guard) = start(1).await;
    let bag7 = pb::Rules {
        randomizer: Some(pb::Randomizer::Bag7.into()),
        preview: Some(1),
        width: Some(7),
        height: Some(6),
        ..Default::default()
    };
    let ahead = vec![pb::Agent { lookahead: Some(1), ..named("yiyuan-lee") }];
    let asked = pb::EvaluatePoliciesRequest { rules: Some(bag7.clone()), ..request(ahead.clone()) };
    let answer = ask(&mut client, asked).await.unwrap();
    let lee = Controller::named("yiyuan-lee").unwrap().agent(7).unwrap();
    let evaluation = Evaluation {
        rules: Rules { randomizer: Randomizer::Bag7, preview: 1, ..Rules::simplified(7, 6) },
        policies: vec![Agent::Lookahead(LookaheadAgent::new(lee, 1))],
        deal: Deal::Common(vec![3, 1, 4]),
        episodes_per_seed: 1,
        pairs: None,
        max_pieces: 50,
        max_steps: u64::MAX,
        loss_trials: 0,
        kernel: Kernel::best(),
    };
    assert_eq!(answer.results, played(&evaluation));
    let sequences = vec!["OIOL".to_owned()];
    let asked = pb::EvaluatePoliciesRequest {
        rules: Some(bag7),
        games: Some(Games::PieceSequences(pb::PieceSequences { sequences })),
        ..request(ahead)
    };
    let [game] = ask(&mut client, asked).await.unwrap().results.try_into().unwrap();
    assert_eq!((game.pieces, game.truncated), (4, true));
}
