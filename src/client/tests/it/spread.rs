//! Evaluations that are spread over servers, without servers: which calls are made, and what becomes of their messages.

use std::collections::BTreeSet;
use std::time::Duration;

use tetrion_client::{ClientError, EvaluationCall, EvaluationNews, PlayedGame, SpreadEvaluation};
use tetrion_protocol::pb::evaluate_policies_response::Event;
use tetrion_protocol::results::encode_results;
use tetrion_protocol::tensor::{self, DimSize};
use tetrion_protocol::{pb, seeding};
use tonic::Status;

const POLICIES: u32 = 3;
const SEEDS: u32 = 20;

fn spread(servers: &[&str], change: impl FnOnce(&mut pb::EvaluatePoliciesRequest)) -> SpreadEvaluation {
    let mut request = pb::EvaluatePoliciesRequest {
        policies: vec![pb::Policy::default(); POLICIES as usize],
        seeding: Some(seeding::from_drawn(1, SEEDS)),
        include_results: true,
        ..Default::default()
    };
    change(&mut request);
    let mut spread = SpreadEvaluation::new(request, servers.len(), Duration::from_secs(60)).unwrap();
    spread.set_servers(servers.iter().map(|name| (*name).to_owned()));
    spread
}

/// The pairs that a call asks for.
fn pairs(call: &EvaluationCall) -> Vec<(u32, u32)> {
    let Some(pairs) = &call.request.pairs else {
        return (0..POLICIES).flat_map(|policy| (0..SEEDS).map(move |seed| (policy, seed))).collect();
    };
    let pairs = tensor::decode::<i32>(pairs, &[DimSize::Any, DimSize::Exactly(2)]).unwrap().elements;
    pairs.chunks_exact(2).map(|pair| (pair[0] as u32, pair[1] as u32)).collect()
}

fn message(event: Event) -> pb::EvaluatePoliciesResponse {
    pb::EvaluatePoliciesResponse { event: Some(event) }
}

fn started(num_games: usize) -> Event {
    Event::Started(pb::EvaluationStarted {
        num_policies: POLICIES,
        num_seeds: SEEDS,
        episodes_per_seed: 1,
        num_games: num_games as u64,
        baseline: Some(0),
        rules_version: "rules".to_owned(),
        ..Default::default()
    })
}

/// A game whose numbers follow from its policy and its seed.
fn game(policy: u32, seed: u32) -> PlayedGame {
    let pieces = u64::from(100 * policy + 7 * seed + 1);
    PlayedGame {
        game: 0,
        policy,
        seed_index: seed,
        episode: 0,
        seed: seed.into(),
        lines: pieces / 3,
        pieces,
        steps: pieces,
        score: 0.5,
        end: None,
    }
}

fn games(pairs: &[(u32, u32)]) -> Event {
    Event::Results(encode_results(
        &pairs.iter().map(|&(policy, seed)| game(policy, seed)).collect::<Vec<_>>(),
    ))
}

/// What a server that plays everything sums up.
fn summary() -> pb::EvaluationSummary {
    let mut whole = spread(&["one"], |_| ());
    let call = whole.hand_out().unwrap();
    let asked = pairs(&call);
    whole.take(call.number, message(started(asked.len()))).unwrap();
    whole.take(call.number, message(games(&asked))).unwrap();
    whole.end(call.number, Err(lost())).unwrap(); // before its own summary
    assert!(whole.is_over());
    whole.summary().unwrap()
}

fn lost() -> ClientError {
    let (address, message) = ("one".to_owned(), "it is gone".to_owned());
    ClientError::Lost { address, message, status: Box::new(Status::unavailable("it is gone")) }
}

/// Plays a call to its end.
fn play(spread: &mut SpreadEvaluation, call: &EvaluationCall) {
    let asked = pairs(call);
    spread.take(call.number, message(started(asked.len()))).unwrap();
    for some in asked.chunks(3) {
        spread.take(call.number, message(games(some))).unwrap();
    }
    spread.take(call.number, message(Event::Summary(pb::EvaluationSummary::default()))).unwrap();
    spread.end(call.number, Ok(())).unwrap();
}

#[test]
fn every_game_is_asked_for_once_and_every_call_has_games_of_every_policy() {
    let mut spread = spread(&["one", "two"], |_| ());
    let mut asked = Vec::new();
    while !spread.is_over() {
        let calls: Vec<EvaluationCall> = std::iter::from_fn(|| spread.hand_out()).collect();
        assert!(calls.len() <= 4, "two calls a server");
        for call in calls {
            let pairs = pairs(&call);
            let policies: BTreeSet<u32> = pairs.iter().map(|pair| pair.0).collect();
            assert_eq!(policies.len(), POLICIES as usize);
            asked.extend(pairs);
            play(&mut spread, &call);
        }
    }
    asked.sort_unstable();
    let all: Vec<(u32, u32)> =
        (0..POLICIES).flat_map(|policy| (0..SEEDS).map(move |seed| (policy, seed))).collect();
    assert_eq!(asked, all);
    let Event::Results(results) = spread.results() else { panic!("games were played") };
    let Event::Results(expected) = games(&all) else { unreachable!() };
    assert_eq!(results, expected, "in the order of policy and seed");
    assert_eq!(spread.summary().unwrap(), summary());
    assert_eq!(spread.started().unwrap().num_games, all.len() as u64);
}

#[test]
fn the_missing_games_of_a_lost_call_are_asked_for_again() {
    let mut spread = spread(&["one", "two"], |_| ());
    let call = spread.hand_out().unwrap();
    let asked = pairs(&call);
    spread.take(call.number, message(started(asked.len()))).unwrap();
    spread.take(call.number, message(games(&asked[..2]))).unwrap();
    assert!(matches!(spread.end(call.number, Err(lost())), Ok(Some(ClientError::Lost { .. }))));
    let mut again = Vec::new();
    while !spread.is_over() {
        let next = spread.hand_out().expect("another server is well");
        assert_eq!(next.server, "two", "a server that has failed rests");
        assert_eq!(next.request.rules_version, "rules", "as in the first description");
        again.extend(pairs(&next));
        play(&mut spread, &next);
    }
    assert!(asked[..2].iter().all(|pair| !again.contains(pair)));
    assert!(asked[2..].iter().all(|pair| again.contains(pair)));
    assert_eq!(spread.summary().unwrap(), summary());
}

#[test]
fn progress_never_falls() {
    let mut spread = spread(&["one"], |_| ());
    let call = spread.hand_out().unwrap();
    spread.take(call.number, message(started(60))).unwrap();
    let (games_done, pieces_done, lines_done) = (5, 900, 300);
    let progress =
        pb::EvaluationProgress { games_done, num_games: 60, pieces_done, lines_done, elapsed: None };
    spread.take(call.number, message(Event::Progress(progress))).unwrap();
    let before = spread.report();
    assert_eq!((before.games, before.num_games, before.pieces, before.lines), (5, 60, 900, 300));
    spread.end(call.number, Err(lost())).unwrap();
    assert_eq!(spread.report().pieces, 900, "although its games begin again");
}

#[test]
fn answers_that_nobody_asked_for_are_refused() {
    let all =
        || (0..POLICIES).flat_map(|policy| (0..SEEDS).map(move |seed| (policy, seed))).collect::<Vec<_>>();
    let twice = || [all(), vec![(1, 1)]].concat();
    let others = |change: fn(&mut pb::EvaluationStarted)| {
        let Event::Started(mut started) = started(60) else { unreachable!() };
        change(&mut started);
        vec![Event::Started(started)]
    };
    let estimates = Event::Estimates(pb::EvaluationEstimates::default());
    let short = |results: Event| {
        let Event::Results(mut results) = results else { unreachable!() };
        results.lines = Some(tensor::encode(vec![1], &[1i64]));
        Event::Results(results)
    };
    let cases = [
        ("did not begin with a description", vec![games(&all())]),
        ("has 4 policies, expected 3", others(|started| started.num_policies = 4)),
        ("has 21 seeds, expected 20", others(|started| started.num_seeds = 21)),
        ("has 61 games, expected 60", others(|started| started.num_games = 61)),
        ("not asked for: policy 3, seed 0, episode 0", vec![started(60), games(&[(3, 0)])]),
        ("a game of the evaluation came twice", vec![started(60), games(&twice())]),
        ("sent estimates, expected results", vec![started(60), estimates]),
        ("lines: has shape [1], expected [60]", vec![started(60), short(games(&all()))]),
        (
            "1 games of the evaluation are missing",
            vec![started(60), games(&all()[1..]), Event::Summary(summary())],
        ),
        (
            "is of 0 of 3 policies, and has none of them",
            vec![started(60), games(&all()), Event::Summary(pb::EvaluationSummary::default())],
        ),
        ("ended without a summary", vec![started(60), games(&all())]),
    ];
    for (expected, events) in cases {
        let mut spread = spread(&["one"], |_| ());
        let number = spread.hand_out().unwrap().number;
        let taken: Result<Vec<Option<EvaluationNews>>, ClientError> =
            events.into_iter().map(|event| spread.take(number, message(event))).collect();
        let refused = taken.map(|_| ()).and_then(|()| spread.end(number, Ok(())).map(drop));
        let said = refused.expect_err(expected).to_string();
        assert!(said.contains(expected), "{said}, expected {expected}");
    }
}

#[test]
fn listed_pairs_are_the_only_ones() {
    let mut spread = spread(&["one", "two"], |request| {
        request.pairs = Some(tensor::encode(vec![2, 2], &[2, 5, 0, 1]));
    });
    let mut asked = BTreeSet::new();
    while let Some(call) = spread.hand_out() {
        asked.extend(pairs(&call));
        play(&mut spread, &call);
    }
    assert!(spread.is_over());
    assert_eq!(asked, BTreeSet::from([(0, 1), (2, 5)]));
    let summed: Vec<(u32, u64)> =
        spread.summary().unwrap().policies.iter().map(|of| (of.policy_index, of.num_games)).collect();
    assert_eq!(summed, [(0, 1), (2, 1)]);
}

#[test]
fn an_evaluation_that_no_server_takes_is_asked_for_as_it_is() {
    let mut spread =
        spread(&["one", "two"], |request| request.seeding = Some(seeding::from_drawn(1, u32::MAX)));
    let call = spread.hand_out().unwrap();
    assert!(call.request.pairs.is_none());
    let num_games = u64::from(POLICIES) * u64::from(u32::MAX);
    let Event::Started(started) = started(num_games as usize) else { unreachable!() };
    let started = Event::Started(pb::EvaluationStarted { num_seeds: u32::MAX, ..started });
    let refused = spread.take(call.number, message(started)).unwrap_err().to_string();
    assert!(refused.contains("has 12884901885 games, expected at most"), "{refused}");
}
