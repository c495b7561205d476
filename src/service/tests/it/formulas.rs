//! Formulas that are sent to a server.

use tetrion_core::agents::{CONTROLLERS, Expectation, Search};
use tetrion_protocol::pb::policy::Kind;
use tetrion_protocol::{pb, policies, search, seeding};
use tonic_types::StatusExt;

use tetrion_service_testing::evaluations::{self, Client, ask, named, start};
use tetrion_testing::weighted_sum;

fn formula(text: &str) -> pb::Policy {
    let kind = Some(Kind::Formula(pb::Formula { text: text.to_owned() }));
    pb::Policy { kind, ..Default::default() }
}

fn request(rules: pb::Rules, policies: Vec<pb::Policy>) -> pb::EvaluatePoliciesRequest {
    pb::EvaluatePoliciesRequest {
        rules: Some(rules),
        policies,
        seeding: Some(seeding::from_drawn(5, 6)),
        max_pieces: 200,
        include_results: true,
        ..Default::default()
    }
}

/// Many different games: conditions, facts, a family and functions.
const MIXED: &str = "let roof = max(0, max_height - 6); # cells above the sixth row
    -4.5 * holes - 3.2 * cumulative_wells + 3.4 * eroded_piece_cells - roof^2
    + (if next == I and max_height < 8 then 2 * deep_wells else -abs(column_height[0] - sum(column_height) / width))
    - exp(-pieces / 50) * ln(1 + bumpiness)";

#[tokio::test]
async fn every_controller_as_a_formula_plays_its_games() {
    let (mut client, _guard) = start(2).await;
    for controller in CONTROLLERS {
        let set = controller.features(controller.width).unwrap();
        let greedy = Some(search::encode(Search::Greedy));
        let terminal_value = policies::encode_terminal_value(controller.play.terminal_value).into();
        let weights = pb::Policy { search: greedy, ..named(controller.name) };
        let text = weighted_sum(&set, controller.weights);
        let formula = pb::Policy { search: greedy, terminal_value, ..formula(&text) };
        let request = request(evaluations::rules(controller.width.into(), 12), vec![weights, formula]);
        let answer = ask(&mut client, request).await.unwrap();
        let games = |policy| {
            let games = answer.results.iter().filter(move |game| game.policy == policy);
            games
                .map(|game| (game.seed, game.lines, game.pieces, game.score.to_bits(), game.end))
                .collect::<Vec<_>>()
        };
        assert_eq!(games(0).len(), 6);
        assert_eq!(games(0), games(1), "{}", controller.name);
    }
}

#[tokio::test]
async fn games_do_not_depend_on_threads() {
    let searching = |search| pb::Policy { search: Some(search::encode(search)), ..formula(MIXED) };
    let policies = vec![
        pb::Policy { label: "mixed".to_owned(), ..formula(MIXED) },
        searching(Search::Lookahead { pieces: 1 }),
        searching(Search::Expectation(Expectation { placements: 3, ..Expectation::default() })),
        pb::Policy { terminal_value: pb::TerminalValue::Score.into(), ..formula(MIXED) },
    ];
    let request = request(pb::Rules { preview: Some(1), ..evaluations::rules(10, 12) }, policies);
    let mut answers = Vec::new();
    for threads in [1, 8] {
        let (mut client, _guard) = start(threads).await;
        let answer = ask(&mut client, request.clone()).await.unwrap();
        answers.push((answer.started, answer.results, answer.summary));
    }
    assert_eq!(answers[0], answers[1]);
    let (started, results, _) = &answers[0];
    let echo = started.policies[0].policy.clone().unwrap();
    let expected = pb::Policy {
        label: "mixed".to_owned(),
        search: Some(search::encode(Search::Greedy)),
        terminal_value: pb::TerminalValue::Avoid.into(),
        ..formula("")
    };
    assert_eq!((echo, started.policies[0].num_rows), (expected, 1));
    let lines =
        |policy| results.iter().filter(|game| game.policy == policy).map(|game| game.lines).sum::<u64>();
    assert!((0..4).all(|policy| lines(policy) > 0) && lines(0) != lines(1), "{results:?}");
}

/// Expects a refusal of the second policy, and returns its description.
async fn refusal(client: &mut Client, rules: pb::Rules, policy: pb::Policy, field: &str) -> String {
    let status = ask(client, request(rules, vec![named("dummy"), policy])).await.expect_err(field);
    let details = status.get_error_details();
    assert_eq!(details.error_info().unwrap().reason, "INVALID_FIELD", "{status}");
    let violation = details.bad_request().unwrap().field_violations[0].clone();
    assert_eq!(violation.field, format!("policies[1].{field}"), "{status}");
    violation.description
}

#[tokio::test]
async fn mistakes_are_refused_before_anything_is_played() {
    let (mut client, _guard) = start(1).await;
    let problem = refusal(&mut client, evaluations::rules(10, 20), formula(""), "formula.text").await;
    assert_eq!(problem, "is required");
    let problem =
        refusal(&mut client, evaluations::rules(10, 20), formula("-2 * hole"), "formula.text").await;
    assert_eq!(
        problem,
        "nothing is called \"hole\", did you mean \"holes\"? (line 1, column 6):\n  -2 * hole\n       ^^^^"
    );
    // Looking at every placement of two pieces with the most costly formula takes too long on the widest playfield.
    let costly: Vec<String> = (2..87).map(|number| format!("{number} * holes")).collect();
    let deep = |placements| pb::Policy {
        search: Some(search::encode(Search::Expectation(Expectation {
            pieces: 2,
            placements,
            ..Expectation::default()
        }))),
        ..formula(&costly.join(" + "))
    };
    let wide = pb::Rules { preset: "guideline".to_owned(), ..evaluations::rules(32, 40) };
    let problem = refusal(&mut client, wide, deep(128), "formula").await;
    assert!(
        problem.starts_with("takes the time of ") && problem.ends_with("or take a shorter formula"),
        "{problem}"
    );
    // Trials of an estimate begin within games.
    let estimate = |text: &str| pb::EvaluatePoliciesRequest {
        loss_estimation: Some(pb::LossEstimation { trials: 16 }),
        max_pieces: 50,
        ..request(evaluations::rules(10, 8), vec![formula(text)])
    };
    let status = ask(&mut client, estimate("-holes * pieces")).await.unwrap_err();
    let details = status.get_error_details();
    assert_eq!(details.bad_request().unwrap().field_violations[0].field, "loss_estimation", "{status}");
    ask(&mut client, estimate("-holes^2 - max_height")).await.unwrap();
    let playing =
        pb::EvaluatePoliciesRequest { max_pieces: 1, ..request(evaluations::rules(10, 20), vec![deep(8)]) };
    let rules = Some(pb::Rules { preview: Some(1), ..evaluations::rules(10, 20) });
    ask(&mut client, pb::EvaluatePoliciesRequest { rules, ..playing }).await.unwrap();
}
