//! Policies by name, with weights and with playouts, over a real connection: what they take, what comes back, and what the
//! server refuses.

use std::sync::atomic::AtomicBool;

use tetrion_core::agents::{
    AGENTS, Agent, Controller, Expectation, Kernel, KeyAgent, LookaheadAgent, MonteCarlo, Search, Terms,
};
use tetrion_core::engine::{Randomizer, Rules};
use tetrion_core::rollout::{Deal, Evaluation, PlayedGame};
use tetrion_protocol::limits::{MAX_LOOKAHEAD, MAX_PLAYOUTS};
use tetrion_protocol::pb::policy::Kind;
use tetrion_protocol::pb::search::Method;
use tetrion_protocol::{features, pb, seeding, tensor};

use tetrion_service_testing::evaluations::{Refused, ask, named, start};

/// Some games of these policies on a small Leiden playfield that shows two pieces.
fn request(policies: Vec<pb::Policy>) -> pb::EvaluatePoliciesRequest {
    pb::EvaluatePoliciesRequest {
        rules: Some(pb::Rules {
            preset: "leiden".to_owned(),
            width: 8,
            height: 9,
            preview: Some(2),
            ..Default::default()
        }),
        policies,
        seeding: Some(seeding::from_seeds(vec![3, 1, 4])),
        max_pieces: 50,
        include_results: true,
        ..Default::default()
    }
}

fn playing(playouts: u32, as_coded: bool) -> pb::Policy {
    let kind = Some(Kind::MonteCarlo(pb::MonteCarlo { playouts, as_coded }));
    pb::Policy { kind, ..Default::default() }
}

/// One row of weights for a set of features.
fn weighing(set: &str, weights: &[f64]) -> pb::Weights {
    let weights = Some(tensor::encode(vec![weights.len() as u32], weights));
    pb::Weights { features: Some(features::from_set(set)), weights, mlp: None, n_tuple: None }
}

fn with(weights: pb::Weights) -> pb::Policy {
    pb::Policy { kind: Some(Kind::Weights(weights)), ..Default::default() }
}

fn looking(method: Method) -> Option<pb::Search> {
    Some(pb::Search { method: Some(method) })
}

fn lookahead(pieces: u32) -> Option<pb::Search> {
    looking(Method::Lookahead(pb::Lookahead { pieces }))
}

fn expecting(expectation: pb::Expectation) -> Option<pb::Search> {
    looking(Method::Expectation(expectation))
}

fn everybody() -> Vec<pb::Policy> {
    let few = [-0.5, 0.75, -0.25, -0.25];
    vec![
        named("dummy"),
        named("random"),
        named("random_survey"),
        named("flat_stacking"),
        pb::Policy { label: "twenty".to_owned(), ..playing(20, false) },
        playing(20, true),
        pb::Policy { search: lookahead(1), ..named("yiyuan-lee") },
        pb::Policy {
            search: lookahead(1),
            ..with(weighing("height4", &[-0.510066, 0.760666, -0.35663, -0.184483]))
        },
        pb::Policy { search: expecting(pb::Expectation::default()), ..named("dt-10") },
        // 4 weights, 5 * 2 + 3 parameters.
        with(pb::Weights {
            mlp: Some(small_network()),
            ..weighing("height4", &[&few[..], &[0.125; 13]].concat())
        }),
        with(pb::Weights {
            n_tuple: Some(small_table()),
            ..weighing("height4", &[&few[..], &[0.125; 27]].concat())
        }),
        // The network, whose first layer reads table entries of two numbers: 13 parameters, then 27 entries.
        with(pb::Weights {
            mlp: Some(small_network()),
            n_tuple: Some(small_table()),
            ..weighing("height4", &[&few[..], &[0.125; 13 + 2 * 27]].concat())
        }),
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
    let controller = Controller::named("dt-10").unwrap().agent(8).unwrap();
    Agent::searching(controller, Search::Expectation(expectation))
}

fn played(evaluation: &Evaluation) -> Vec<PlayedGame> {
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
        opponent: None,
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
async fn echoes_have_every_default_and_no_weights() {
    let (mut client, _guard) = start(1).await;
    let rows = tensor::encode(vec![3, 4], &[0.5f32; 12]);
    let rows = pb::Weights { weights: Some(rows), ..weighing("height4", &[]) };
    let asked = [everybody(), vec![named("monte_carlo"), named("dellacherie"), playing(0, true), with(rows)]]
        .concat();
    let answer = ask(&mut client, request(asked.clone())).await.unwrap();
    assert_eq!((answer.started.num_policies, answer.started.policies.len()), (18, 16));
    for (echo, asked) in answer.started.policies.iter().zip(&asked) {
        let policy = echo.policy.as_ref().unwrap();
        assert_eq!(policy.label, asked.label);
        let scores_placements = match policy.kind.as_ref().unwrap() {
            Kind::Name(name) => {
                assert_eq!(asked.kind, Some(Kind::Name(name.clone())));
                Controller::named(name).is_ok()
            }
            Kind::MonteCarlo(_) => false,
            Kind::Formula(_) => panic!("no formula was given"),
            Kind::Weights(weights) => {
                let Some(Kind::Weights(given)) = &asked.kind else { panic!("weights were given") };
                let version = "1".to_owned();
                let set =
                    pb::FeatureSelection { feature_set_version: version, ..features::from_set("height4") };
                assert_eq!((&weights.features, &weights.weights), (&Some(set), &None));
                assert_eq!((&weights.mlp, &weights.n_tuple), (&given.mlp, &given.n_tuple));
                true
            }
        };
        assert_eq!(policy.search.is_some(), scores_placements, "{policy:?}");
        assert_eq!(policy.terminal_value != 0, scores_placements, "{policy:?}");
    }
    let echo = |at: usize| answer.started.policies[at].policy.clone().unwrap();
    assert_eq!(echo(4).kind, playing(20, false).kind);
    assert_eq!(echo(14).kind, playing(MonteCarlo::DEFAULT_PLAYOUTS, true).kind);
    assert_eq!(echo(6).search, lookahead(1));
    assert_eq!(echo(13).search, looking(Method::Greedy(pb::Greedy {})));
    let rows: Vec<u32> = answer.started.policies.iter().map(|echo| echo.num_rows).collect();
    assert_eq!(rows, [[1; 15].as_slice(), &[3]].concat());
}

#[tokio::test]
async fn policies_are_counted_row_by_row() {
    let (mut client, _guard) = start(2).await;
    let lee = [-0.510066, 0.760666, -0.35663, -0.184483];
    let reversed = lee.map(|weight| -weight);
    let rows = tensor::encode(vec![2, 4], &[reversed, lee].concat());
    let matrix = with(pb::Weights { weights: Some(rows), ..weighing("height4", &[]) });
    let asked = request(vec![named("dummy"), matrix, named("yiyuan-lee")]);
    let answer = ask(&mut client, asked).await.unwrap();
    let counts = |policy: usize| -> Vec<_> {
        answer.results[3 * policy..3 * policy + 3].iter().map(|game| (game.lines, game.pieces)).collect()
    };
    assert_eq!(answer.summary.policies.len(), 4);
    assert_eq!(counts(2), counts(3), "the second row has the weights of yiyuan-lee");
    assert_ne!(counts(1), counts(2));
}

#[tokio::test]
async fn a_policy_of_getpolicy_plays_like_its_name() {
    let (mut client, _guard) = start(2).await;
    let server = crate::support::start().await;
    for name in ["dt-10", "tetrion-10x10-expectation", "lab-uniform", "monte_carlo_coded", "random"] {
        let request_of = pb::GetPolicyRequest { name: name.to_owned() };
        let got = server.client().await.get_policy(request_of).await.unwrap().into_inner();
        let policy = got.policy.unwrap();
        assert_eq!((policy.label.as_str(), got.info.unwrap().name.as_str()), (name, name));
        let mut asked = request(vec![named(name), policy.clone()]);
        asked.rules = Some(pb::Rules { width: 10, ..asked.rules.unwrap() });
        asked.max_pieces = 10;
        let answer = ask(&mut client, asked).await.unwrap();
        let counts = |policy: usize| -> Vec<_> {
            answer.results[3 * policy..3 * policy + 3].iter().map(|game| (game.lines, game.pieces)).collect()
        };
        assert_eq!(counts(0), counts(1), "{name}");
        let echo = answer.started.policies[1].policy.as_ref().unwrap();
        assert_eq!((&echo.search, echo.terminal_value), (&policy.search, policy.terminal_value), "{name}");
    }
    let nobody = pb::GetPolicyRequest { name: "nobody".to_owned() };
    let refusal = server.client().await.get_policy(nobody).await;
    tetrion_service_testing::refused(refusal, tonic::Code::InvalidArgument, "UNKNOWN_NAME");
}

#[tokio::test]
async fn an_expectation_is_asked_for_by_name_and_with_weights() {
    let (mut client, _guard) = start(2).await;
    let expectation = pb::Expectation {
        pieces: 2,
        placements: 3,
        lost_piece: Some(-10.5),
        discount: Some(0.75),
        terms: pb::ExpectationTerms::All.into(),
        caution: 0.25,
    };
    let weights = with(weighing("thiery9", Controller::named("dt-10").unwrap().weights));
    let policies = vec![
        pb::Policy { search: expecting(expectation), ..named("dt-10") },
        pb::Policy { search: expecting(expectation), ..weights.clone() },
        pb::Policy { search: expecting(pb::Expectation::default()), ..weights },
    ];
    let answer = ask(&mut client, request(policies)).await.unwrap();
    let counts = |policy: usize| -> Vec<_> {
        let games = &answer.results[3 * policy..3 * policy + 3];
        games.iter().map(|game| (game.lines, game.pieces, game.is_truncated())).collect()
    };
    assert_eq!(counts(0), counts(1));
    assert_ne!(counts(1), counts(2), "the defaults play another game");
    let echo = |at: usize| answer.started.policies[at].policy.clone().unwrap().search;
    assert_eq!((echo(0), echo(1)), (expecting(expectation), expecting(expectation)));
    let defaults = pb::Expectation {
        pieces: 1,
        placements: 8,
        lost_piece: Some(-100.0),
        discount: Some(1.0),
        terms: pb::ExpectationTerms::Landing.into(),
        caution: 0.0,
    };
    assert_eq!(echo(2), expecting(defaults));

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
        opponent: None,
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
        let with_weights = with(weighing(controller.feature_set, controller.weights));
        let placements = own.placements.into();
        let expectation = pb::Expectation { pieces, placements, ..Default::default() };
        let greedy = looking(Method::Greedy(pb::Greedy {}));
        let asked = |preview, policies| {
            let rules = pb::Rules {
                preset: "simplified".to_owned(),
                width: 10,
                height: 6,
                preview: Some(preview),
                ..Default::default()
            };
            pb::EvaluatePoliciesRequest { rules: Some(rules), max_pieces: 40, ..request(policies) }
        };
        let policies = vec![
            named(name),
            pb::Policy { search: expecting(expectation), ..with_weights.clone() },
            pb::Policy { search: greedy, ..named(name) },
            with_weights,
        ];
        let answer = ask(&mut client, asked(pieces - 1, policies)).await.unwrap();
        let games = |policy: usize| -> Vec<_> {
            let games = &answer.results[3 * policy..3 * policy + 3];
            games.iter().map(|game| (game.lines, game.pieces, game.is_truncated())).collect()
        };
        assert_eq!((games(0), games(2)), (games(1), games(3)), "{name}");
        assert_ne!(games(0), games(2), "{name} can be made greedy");
        let echo = |at: usize| answer.started.policies[at].policy.clone().unwrap().search;
        assert_eq!((echo(0), echo(2), echo(3)), (echo(1), greedy, greedy), "{name}");
        assert_ne!(echo(0), greedy, "{name}");

        if pieces == 2 {
            let status = Refused { client: &mut client };
            let refusal = ask(status.client, asked(0, vec![named(name)])).await.unwrap_err();
            assert_eq!(
                refusal.message(),
                "policies[0].name: tetrion-10x10-preview needs rules that show at least 1 of the next pieces, these show 0"
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
        pieces: 2,
        placements: 128,
        lost_piece: Some(-1e6),
        discount: Some(0.0),
        terms: pb::ExpectationTerms::None.into(),
        caution: 10.0,
    };
    for (preview, expectation, field) in [
        (2, edge, ""),
        (1, edge, ""),
        (0, edge, "pieces"),
        (0, pb::Expectation { lost_piece: Some(0.0), discount: Some(1.0), placements: 1, ..default }, ""),
        (2, pb::Expectation { pieces: 3, ..default }, "pieces"),
        (2, pb::Expectation { placements: 129, ..default }, "placements"),
        (2, pb::Expectation { lost_piece: Some(-1_000_001.0), ..default }, "lost_piece"),
        (2, pb::Expectation { lost_piece: Some(0.5), ..default }, "lost_piece"),
        (2, pb::Expectation { lost_piece: Some(f64::NAN), ..default }, "lost_piece"),
        (2, pb::Expectation { discount: Some(-0.5), ..default }, "discount"),
        (2, pb::Expectation { discount: Some(1.5), ..default }, "discount"),
        (2, pb::Expectation { discount: Some(f64::NAN), ..default }, "discount"),
        (2, pb::Expectation { terms: 4, ..default }, "terms"),
        (2, pb::Expectation { caution: -0.5, ..default }, "caution"),
        (2, pb::Expectation { caution: 10.5, ..default }, "caution"),
        (2, pb::Expectation { caution: f64::NAN, ..default }, "caution"),
    ] {
        let asked = request(vec![pb::Policy { search: expecting(expectation), ..named("dt-10") }]);
        let rules = pb::Rules { preview: Some(preview), ..asked.rules.clone().unwrap() };
        let asked = pb::EvaluatePoliciesRequest { rules: Some(rules), max_pieces: 1, ..asked };
        if field.is_empty() {
            assert!(ask(refused.client, asked).await.is_ok(), "{expectation:?}");
        } else {
            refused.check(asked, "INVALID_FIELD", &format!("policies[0].search.expectation.{field}")).await;
        }
    }
    let none = pb::Policy { search: Some(pb::Search { method: None }), ..named("dt-10") };
    refused.check(request(vec![none]), "INVALID_FIELD", "policies[0].search").await;
}

#[tokio::test]
async fn key_presses_are_counted_and_cut_over_the_wire() {
    let (mut client, _guard) = start(2).await;
    let policies = vec![named("lab-uniform"), named("random_keys"), named("monte_carlo")];
    let lab = pb::Rules { preset: "lab".to_owned(), ..Default::default() };
    let asked = pb::EvaluatePoliciesRequest {
        rules: Some(lab),
        policies,
        // The notebook's batch: a seed for each slot, its games one after the other.
        seeding: Some(seeding::from_seeds_per_policy(vec![42, 43, 44])),
        episodes_per_seed: 4,
        max_steps: 300,
        include_results: true,
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
        opponent: None,
        kernel: Kernel::best(),
    };
    assert_eq!(answer.results, played(&evaluation));
    assert_eq!(answer.started.max_steps, 300);
    for game in &answer.results {
        assert!(game.steps > game.pieces && game.steps <= 300, "{game:?}");
        assert_eq!(game.is_truncated(), game.steps == 300, "{game:?}");
    }
    let [lab_uniform, ..] = &answer.summary.policies[..] else { panic!("a summary for each") };
    assert!(lab_uniform.num_truncated > 0 && lab_uniform.lines.unwrap().mean > 3.0);
    let steps = answer.results[..4].iter().map(|game| game.steps as f64);
    assert_eq!(lab_uniform.steps.unwrap().mean, steps.sum::<f64>() / 4.0);
}

#[tokio::test]
async fn what_a_policy_does_not_take_is_refused() {
    let (mut client, _guard) = start(1).await;
    let mut refused = Refused { client: &mut client };
    let second = |policy: pb::Policy| request(vec![named("dummy"), policy]);

    refused.check(request(vec![]), "INVALID_FIELD", "policies").await;
    refused.check(second(pb::Policy::default()), "INVALID_FIELD", "policies[1]").await;
    refused.check(second(named("")), "INVALID_FIELD", "policies[1].name").await;
    refused.check(second(named("nobody")), "UNKNOWN_NAME", "policies[1].name").await;
    refused.check(second(named("random_keys")), "INVALID_FIELD", "policies[1].name").await;
    let most = playing(MAX_PLAYOUTS + 1, false);
    refused.check(second(most), "INVALID_FIELD", "policies[1].monte_carlo.playouts").await;
    // Beyond what the rules show, and beyond what any policy looks at.
    let lee = |pieces| pb::Policy { search: lookahead(pieces), ..named("yiyuan-lee") };
    let shows = |preview: u32, policy: pb::Policy| {
        let request = second(policy);
        let rules = pb::Rules { preview: Some(preview), ..request.rules.clone().unwrap() };
        pb::EvaluatePoliciesRequest { rules: Some(rules), ..request }
    };
    let pieces = "policies[1].search.lookahead.pieces";
    refused.check(shows(2, lee(0)), "INVALID_FIELD", pieces).await;
    refused.check(shows(0, lee(1)), "INVALID_FIELD", pieces).await;
    refused.check(shows(1, lee(2)), "INVALID_FIELD", pieces).await;
    refused.check(shows(6, lee(MAX_LOOKAHEAD + 1)), "INVALID_FIELD", pieces).await;
    let one = pb::EvaluatePoliciesRequest { max_pieces: 1, ..shows(6, lee(MAX_LOOKAHEAD)) };
    assert!(ask(refused.client, one).await.is_ok());
    let one = pb::EvaluatePoliciesRequest { max_pieces: 1, ..request(vec![playing(MAX_PLAYOUTS, false)]) };
    assert!(ask(refused.client, one).await.is_ok());

    // Whoever scores no placements takes no search, and no value of the end.
    let others = AGENTS.iter().map(|row| named(row.name)).chain([playing(5, false)]);
    for policy in others {
        let searching = pb::Policy { search: lookahead(1), ..policy.clone() };
        refused.check(second(searching), "INVALID_FIELD", "policies[1].search").await;
        let avoiding = pb::Policy { terminal_value: 1, ..policy };
        refused.check(second(avoiding), "INVALID_FIELD", "policies[1].terminal_value").await;
    }
}

#[tokio::test]
async fn visible_pieces_are_those_that_come() {
    // With bags, and to the end of a written sequence.
    let (mut client, _guard) = start(1).await;
    let bag7 = pb::Rules {
        randomizer: pb::Randomizer::Bag7.into(),
        preview: Some(1),
        width: 7,
        height: 6,
        ..Default::default()
    };
    let ahead = vec![pb::Policy { search: lookahead(1), ..named("yiyuan-lee") }];
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
        opponent: None,
        kernel: Kernel::best(),
    };
    assert_eq!(answer.results, played(&evaluation));
    let sequences = vec!["OIOL".to_owned()];
    let asked = pb::EvaluatePoliciesRequest {
        rules: Some(bag7),
        seeding: Some(seeding::from_sequences(sequences)),
        ..request(ahead)
    };
    let [game] = ask(&mut client, asked).await.unwrap().results.try_into().unwrap();
    assert_eq!((game.pieces, game.is_truncated()), (4, true));
}
