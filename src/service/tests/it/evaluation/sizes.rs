//! Messages are as large as the client can take, and requests as large as the limits.

use prost::Message;
use tetrion_protocol::limits::{
    DEFAULT_RESPONSE_BYTES, MAX_GAMES, MAX_PIECES, MAX_POLICIES, MAX_RESPONSE_BYTES,
};
use tetrion_protocol::{features, pb, seeding, tensor};
use tonic::{Code, Status};

use tetrion_service_testing::evaluations::{
    Client, Refused, WEIGHTS, ask, matrix, named, request, rules, start, weighing,
};
use tetrion_service_testing::refused;

/// A request with this many policies with long echoes and short games.
fn labelled(count: u32, label: &str) -> pb::EvaluatePoliciesRequest {
    // Names of features are echoed.
    let names = (0..10).map(|column| format!("column_height_preclear[{column}]")).collect();
    let row = pb::Weights {
        features: Some(features::from_names(names)),
        weights: Some(tensor::encode(vec![10], &[-1.0; 10])),
        ..Default::default()
    };
    let policy = pb::Policy { label: label.to_owned(), ..weighing(row) };
    pb::EvaluatePoliciesRequest {
        rules: Some(rules(10, 10)),
        policies: vec![policy; count as usize],
        seeding: Some(seeding::from_drawn(1, 1)),
        episodes_per_seed: 1,
        max_pieces: 1,
        include_results: false,
        ..request()
    }
}

/// The bytes of each message of an answer.
async fn message_bytes(
    client: &mut Client,
    request: pb::EvaluatePoliciesRequest,
) -> Result<Vec<usize>, Status> {
    let mut stream = client.evaluate_policies(request).await?.into_inner();
    let mut bytes = Vec::new();
    while let Some(message) = stream.message().await? {
        bytes.push(message.encoded_len());
    }
    Ok(bytes)
}

#[tokio::test]
async fn no_message_is_larger_than_the_client_can_take() {
    let (client, _guard) = start(2).await;
    let mut client = client.max_decoding_message_size(MAX_RESPONSE_BYTES as usize);
    let label = "x".repeat(128);
    // The largest allowed number of policies does not fit into one answer; the number that the refusal names does.
    let refusal = message_bytes(&mut client, labelled(MAX_POLICIES, &label)).await;
    let refusal = refused(refusal, Code::InvalidArgument, "RESPONSE_TOO_LARGE");
    assert_eq!(refusal.metadata("max_bytes"), DEFAULT_RESPONSE_BYTES.to_string());
    let fit: u32 = refusal.metadata("max_rows").parse().unwrap();
    let bytes = message_bytes(&mut client, labelled(fit, &label)).await.unwrap();
    let limit = DEFAULT_RESPONSE_BYTES as usize;
    assert!(bytes[0] > limit - 2048 && bytes.iter().all(|bytes| *bytes <= limit), "{bytes:?}");
    let one_more = message_bytes(&mut client, labelled(fit + 1, &label)).await;
    refused(one_more, Code::InvalidArgument, "RESPONSE_TOO_LARGE");
    // A client that can take more says so.
    let request = labelled(MAX_POLICIES, &label);
    let request = pb::EvaluatePoliciesRequest { max_response_bytes: MAX_RESPONSE_BYTES, ..request };
    let bytes = message_bytes(&mut client, request).await.unwrap();
    assert!(bytes[0] > limit, "{bytes:?}");
}

#[tokio::test]
async fn a_summary_is_no_larger_than_the_client_can_take() {
    let (client, _guard) = start(2).await;
    let mut client = client.max_decoding_message_size(MAX_RESPONSE_BYTES as usize);
    // Two games a policy have a spread, which is most of the summary.
    let twice = |count: u32| {
        let rows = vec![WEIGHTS[0]; count as usize];
        let (policies, seeding) = (vec![weighing(matrix(&rows))], Some(seeding::from_drawn(1, 2)));
        pb::EvaluatePoliciesRequest { policies, seeding, ..labelled(0, "") }
    };
    let refusal = message_bytes(&mut client, twice(MAX_POLICIES)).await;
    let refusal = refused(refusal, Code::InvalidArgument, "RESPONSE_TOO_LARGE");
    let fit: u32 = refusal.metadata("max_rows").parse().unwrap();
    let bytes = message_bytes(&mut client, twice(fit)).await.unwrap();
    assert!(bytes.iter().all(|bytes| *bytes <= DEFAULT_RESPONSE_BYTES as usize), "{bytes:?}");
    refused(message_bytes(&mut client, twice(fit + 1)).await, Code::InvalidArgument, "RESPONSE_TOO_LARGE");
    let all = pb::EvaluatePoliciesRequest { max_response_bytes: MAX_RESPONSE_BYTES, ..twice(MAX_POLICIES) };
    message_bytes(&mut client, all).await.unwrap();
    // Results come in messages as small as the client wants them, or not at all.
    let small = |max_response_bytes| {
        let request = pb::EvaluatePoliciesRequest { episodes_per_seed: 20, ..request() };
        pb::EvaluatePoliciesRequest { max_response_bytes, ..request }
    };
    let bytes = message_bytes(&mut client, small(2000)).await.unwrap();
    assert!(bytes.iter().all(|bytes| *bytes <= 2000), "{bytes:?}");
    let refusal = message_bytes(&mut client, small(100)).await;
    let refusal = refused(refusal, Code::InvalidArgument, "RESPONSE_TOO_LARGE");
    assert_eq!(refusal.metadata("max_rows"), "0");
}

#[tokio::test]
async fn limits_hold_at_the_limit_and_refuse_one_past_it() {
    let (mut client, _guard) = start(2).await;
    let quick = || pb::EvaluatePoliciesRequest {
        max_pieces: 1,
        episodes_per_seed: 1,
        include_results: false,
        ..request()
    };
    let games = |count: u32| Some(seeding::from_drawn(1, count));
    let policies = |count: u32| {
        let rows = vec![WEIGHTS[0]; count as usize];
        let policies = vec![weighing(matrix(&rows))];
        pb::EvaluatePoliciesRequest { policies, seeding: games(1), ..quick() }
    };
    let one = |count: u64| pb::EvaluatePoliciesRequest {
        policies: vec![weighing(matrix(&WEIGHTS[..1]))],
        seeding: games((count / 2) as u32),
        episodes_per_seed: 2,
        ..quick()
    };
    assert_eq!(
        ask(&mut client, policies(MAX_POLICIES)).await.unwrap().summary.policies.len(),
        MAX_POLICIES as usize
    );
    assert_eq!(ask(&mut client, one(MAX_GAMES)).await.unwrap().last_progress.games_done, MAX_GAMES);

    let mut refused = Refused { client: &mut client };
    refused.check(policies(MAX_POLICIES + 1), "INVALID_FIELD", "policies[0].weights.weights").await;
    refused.check(one(MAX_GAMES + 2), "INVALID_FIELD", "seeding").await;
    let r = pb::EvaluatePoliciesRequest { max_pieces: MAX_PIECES + 1, ..request() };
    refused.check(r, "INVALID_FIELD", "max_pieces").await;
    let r = pb::EvaluatePoliciesRequest { max_steps: MAX_PIECES + 1, ..request() };
    refused.check(r, "INVALID_FIELD", "max_steps").await;
    let long = "x".repeat(129);
    let with = |policy| pb::EvaluatePoliciesRequest { policies: vec![policy], ..request() };
    refused.check(with(named(&long)), "INVALID_FIELD", "policies[0].name").await;
    let labelled = pb::Policy { label: long, ..named("bcts") };
    refused.check(with(labelled), "INVALID_FIELD", "policies[0].label").await;
}
