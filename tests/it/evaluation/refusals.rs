//! What cannot be played is refused before anything is.

use tetrion::wire::limits::{MAX_LOSS_TRIALS, MAX_RESPONSE_BYTES, MIN_LOSS_TRIALS};
use tetrion::wire::pb;
use tetrion::wire::pb::evaluate_policies_request::Games;
use tetrion::wire::tensor;
use tonic_types::StatusExt;

use super::{Client, WEIGHTS, ask, matrix, named, request, rules, start};

/// A request that is refused with this code and reason, and with this field, before anything is played.
pub struct Refused<'a> {
    pub client: &'a mut Client,
}

impl Refused<'_> {
    pub async fn check(&mut self, request: pb::EvaluatePoliciesRequest, reason: &str, field: &str) {
        let status = ask(self.client, request).await.expect_err(field);
        let details = status.get_error_details();
        assert_eq!(details.error_info().unwrap().reason, reason, "{field}: {status}");
        let violated = details.bad_request().map(|bad| bad.field_violations[0].field.clone());
        assert_eq!(violated.unwrap_or_default(), field, "{status}");
    }
}

#[tokio::test]
async fn what_cannot_be_played_is_refused() {
    let (mut client, _guard) = start(1).await;
    let mut refused = Refused { client: &mut client };
    let seeds = |shape: Vec<u32>, seeds: &[u64]| Some(Games::Seeds(tensor::encode(shape, seeds)));
    let agent = |agent: pb::Agent| pb::EvaluatePoliciesRequest { agents: vec![agent], ..request() };
    let by_name = |name: &str| pb::Agent { name: name.to_owned(), ..Default::default() };
    let weights =
        |weights: pb::WeightMatrix| pb::EvaluatePoliciesRequest { weights: Some(weights), ..request() };

    let r = pb::EvaluatePoliciesRequest { games: None, ..request() };
    refused.check(r, "INVALID_FIELD", "games").await;
    let r = pb::EvaluatePoliciesRequest { weights: None, ..request() };
    refused.check(r, "INVALID_FIELD", "agents").await;
    let r = pb::EvaluatePoliciesRequest { rules_version: "other".to_owned(), ..request() };
    refused.check(r, "RULES_VERSION_MISMATCH", "").await;
    let r = pb::EvaluatePoliciesRequest { rules: Some(rules(3, 10)), ..request() };
    refused.check(r, "INVALID_FIELD", "rules.width").await;

    let r = weights(pb::WeightMatrix { features: None, ..matrix(&WEIGHTS) });
    refused.check(r, "INVALID_FIELD", "weights.features").await;
    let r = weights(pb::WeightMatrix { features: named("height5"), ..matrix(&WEIGHTS) });
    refused.check(r, "UNKNOWN_NAME", "weights.features.feature_set").await;
    let r = weights(pb::WeightMatrix { weights: None, ..matrix(&WEIGHTS) });
    refused.check(r, "INVALID_FIELD", "weights.weights").await;
    refused.check(weights(matrix(&[[1.0; 5]])), "INVALID_TENSOR", "weights.weights").await;
    refused.check(weights(matrix::<4>(&[])), "INVALID_TENSOR", "weights.weights").await;
    refused.check(weights(matrix(&[[1.0, f64::NAN, 0.0, 0.0]])), "INVALID_TENSOR", "weights.weights").await;
    refused.check(weights(matrix(&[[1.0, 1e301, 0.0, 0.0]])), "INVALID_TENSOR", "weights.weights").await;
    let r = weights(pb::WeightMatrix { terminal_value: 77, ..matrix(&WEIGHTS) });
    refused.check(r, "INVALID_FIELD", "weights.terminal_value").await;
    let r = weights(pb::WeightMatrix { lookahead: 1, ..matrix(&WEIGHTS) });
    refused.check(r, "INVALID_FIELD", "weights.lookahead").await; // no next piece is shown
    let version =
        pb::FeatureSelection { feature_set_version: "none".to_owned(), ..named("height4").unwrap() };
    let r = weights(pb::WeightMatrix { features: Some(version), ..matrix(&WEIGHTS) });
    refused.check(r, "FEATURE_SET_MISMATCH", "").await;

    refused.check(agent(by_name("")), "INVALID_FIELD", "agents[0].name").await;
    refused.check(agent(by_name("nobody")), "UNKNOWN_NAME", "agents[0].name").await;
    refused.check(agent(by_name("linear")), "INVALID_FIELD", "agents[0].features").await;
    let r = agent(pb::Agent { playouts: Some(3), ..by_name("bcts") });
    refused.check(r, "INVALID_FIELD", "agents[0].playouts").await;
    let r = agent(pb::Agent { weights: vec![1.0], ..by_name("bcts") });
    refused.check(r, "INVALID_FIELD", "agents[0].weights").await;
    let r = agent(pb::Agent { features: named("height4"), weights: vec![1.0], ..by_name("linear") });
    refused.check(r, "INVALID_FIELD", "agents[0].weights").await;

    for (shape, numbers) in [(vec![0], vec![]), (vec![3, 0], vec![])] {
        let r = pb::EvaluatePoliciesRequest { games: seeds(shape, &numbers), ..request() };
        refused.check(r, "INVALID_TENSOR", "seeds").await;
    }
    let r = pb::EvaluatePoliciesRequest { games: seeds(vec![2, 1], &[1, 2]), ..request() };
    refused.check(r, "INVALID_TENSOR", "seeds").await;
    let r = pb::EvaluatePoliciesRequest {
        games: Some(Games::SeedRange(pb::SeedRange { seed: 1, count: 0 })),
        ..request()
    };
    refused.check(r, "INVALID_FIELD", "seed_range.count").await;
    let pieces = |sequences: &[&str]| {
        let sequences = sequences.iter().map(|letters| (*letters).to_owned()).collect();
        let games = Some(Games::PieceSequences(pb::PieceSequences { sequences }));
        pb::EvaluatePoliciesRequest { games, episodes_per_seed: 1, ..request() }
    };
    refused.check(pieces(&[]), "INVALID_FIELD", "piece_sequences.sequences").await;
    refused.check(pieces(&["IOT", "IOX"]), "INVALID_FIELD", "piece_sequences.sequences[1]").await;
    let r = pb::EvaluatePoliciesRequest { episodes_per_seed: 2, ..pieces(&["I"]) };
    refused.check(r, "INVALID_FIELD", "episodes_per_seed").await;

    for pairs in [vec![0u32, 5], vec![3, 0], vec![1, 1, 0, 0, 1, 1]] {
        let pairs = Some(tensor::encode(vec![pairs.len() as u32 / 2, 2], &pairs));
        let r = pb::EvaluatePoliciesRequest { pairs, ..request() };
        refused.check(r, "INVALID_TENSOR", "pairs").await;
    }
    let r = pb::EvaluatePoliciesRequest { baseline: Some(3), ..request() };
    refused.check(r, "INVALID_FIELD", "baseline").await;
    for (seconds, nanos) in [(-1, 0), (0, -1), (i64::MIN, 0), (i64::MIN, i32::MIN)] {
        let progress_interval = Some(prost_types::Duration { seconds, nanos });
        let r = pb::EvaluatePoliciesRequest { progress_interval, ..request() };
        refused.check(r, "INVALID_FIELD", "progress_interval").await;
    }
    for loss_trials in [1, MIN_LOSS_TRIALS - 1, MAX_LOSS_TRIALS + 1, u32::MAX] {
        let r = pb::EvaluatePoliciesRequest { loss_trials, ..request() };
        refused.check(r, "INVALID_FIELD", "loss_trials").await;
    }
    let estimates = |request| pb::EvaluatePoliciesRequest { loss_trials: MIN_LOSS_TRIALS, ..request };
    refused.check(estimates(pieces(&["I"])), "INVALID_FIELD", "loss_trials").await;
    let r = pb::EvaluatePoliciesRequest { record: true, ..request() };
    refused.check(estimates(r), "INVALID_FIELD", "loss_trials").await;
    let shown = Some(pb::Rules { preview: Some(1), ..rules(8, 8) });
    refused
        .check(
            estimates(pb::EvaluatePoliciesRequest { rules: shown, ..request() }),
            "INVALID_FIELD",
            "loss_trials",
        )
        .await;
    let sinking = pb::Rules { preset: "melax".to_owned(), ..Default::default() };
    let r = pb::EvaluatePoliciesRequest {
        rules: Some(sinking),
        weights: None,
        agents: vec![by_name("random")],
        max_pieces: 10,
        ..request()
    };
    refused.check(estimates(r), "INVALID_FIELD", "loss_trials").await;
    let r = pb::EvaluatePoliciesRequest { max_response_bytes: MAX_RESPONSE_BYTES + 1, ..request() };
    refused.check(r, "INVALID_FIELD", "max_response_bytes").await;
}
