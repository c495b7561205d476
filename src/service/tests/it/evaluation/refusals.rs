//! What cannot be played is refused before anything is.

use tetrion_protocol::limits::{MAX_LOSS_TRIALS, MAX_RESPONSE_BYTES, MIN_LOSS_TRIALS};
use tetrion_protocol::{features, pb, seeding, tensor};

use tetrion_service_testing::evaluations::{
    Refused, WEIGHTS, matrix, named, request, rules, start, weighing,
};

#[tokio::test]
async fn what_cannot_be_played_is_refused() {
    let (mut client, _guard) = start(1).await;
    let mut refused = Refused { client: &mut client };
    let with = |weights: pb::Weights| pb::EvaluatePoliciesRequest {
        policies: vec![named("dummy"), weighing(weights)],
        ..request()
    };
    let seeded = |seeding| pb::EvaluatePoliciesRequest { seeding, ..request() };

    refused.check(seeded(None), "INVALID_FIELD", "seeding").await;
    refused.check(seeded(Some(pb::Seeding { kind: None })), "INVALID_FIELD", "seeding").await;
    let r = pb::EvaluatePoliciesRequest { rules_version: "other".to_owned(), ..request() };
    refused.check(r, "RULES_VERSION_MISMATCH", "").await;
    let r = pb::EvaluatePoliciesRequest { rules: Some(rules(3, 10)), ..request() };
    refused.check(r, "INVALID_FIELD", "rules.width").await;

    let r = with(pb::Weights { features: None, ..matrix(&WEIGHTS) });
    refused.check(r, "INVALID_FIELD", "policies[1].weights.features").await;
    let height5 = Some(features::from_set("height5"));
    let r = with(pb::Weights { features: height5, ..matrix(&WEIGHTS) });
    refused.check(r, "UNKNOWN_NAME", "policies[1].weights.features.feature_set").await;
    let r = with(pb::Weights { weights: None, ..matrix(&WEIGHTS) });
    let weights = "policies[1].weights.weights";
    refused.check(r, "INVALID_FIELD", weights).await;
    refused.check(with(matrix(&[[1.0; 5]])), "INVALID_TENSOR", weights).await;
    refused.check(with(matrix::<4>(&[])), "INVALID_TENSOR", weights).await;
    refused.check(with(matrix(&[[1.0, f64::NAN, 0.0, 0.0]])), "INVALID_TENSOR", weights).await;
    refused.check(with(matrix(&[[1.0, 1e301, 0.0, 0.0]])), "INVALID_TENSOR", weights).await;
    for (shape, numbers) in [(vec![5], 5), (vec![1, 2, 2], 4), (vec![0, 4], 0)] {
        let tensor = Some(tensor::encode(shape, &vec![0.5; numbers]));
        let r = with(pb::Weights { weights: tensor, ..matrix(&WEIGHTS) });
        refused.check(r, "INVALID_TENSOR", weights).await;
    }
    let version = "none".to_owned();
    let other = pb::FeatureSelection { feature_set_version: version, ..features::from_set("height4") };
    let r = with(pb::Weights { features: Some(other), ..matrix(&WEIGHTS) });
    refused.check(r, "FEATURE_SET_MISMATCH", "").await;
    let unknown = pb::Policy { terminal_value: 77, ..weighing(matrix(&WEIGHTS)) };
    let r = pb::EvaluatePoliciesRequest { policies: vec![unknown], ..request() };
    refused.check(r, "INVALID_FIELD", "policies[0].terminal_value").await;

    let r = seeded(Some(seeding::from_seed(7)));
    refused.check(r, "INVALID_FIELD", "seeding.seed").await;
    let r = seeded(Some(seeding::from_seeds(vec![])));
    refused.check(r, "INVALID_FIELD", "seeding.seeds.seeds").await;
    for seeds in [vec![], vec![1, 2]] {
        let r = seeded(Some(seeding::from_seeds_per_policy(seeds)));
        refused.check(r, "INVALID_FIELD", "seeding.seeds.seeds").await;
    }
    let r = seeded(Some(seeding::from_drawn(1, 0)));
    refused.check(r, "INVALID_FIELD", "seeding.drawn.count").await;
    let pieces = |sequences: &[&str]| {
        let sequences = sequences.iter().map(|letters| (*letters).to_owned()).collect();
        pb::EvaluatePoliciesRequest {
            episodes_per_seed: 1,
            ..seeded(Some(seeding::from_sequences(sequences)))
        }
    };
    refused.check(pieces(&[]), "INVALID_FIELD", "seeding.piece_sequences.sequences").await;
    refused.check(pieces(&["IOT", "IOX"]), "INVALID_FIELD", "seeding.piece_sequences.sequences[1]").await;
    let holes = seeding::from_sequences_with_holes(vec!["IOT".to_owned()], vec![vec![0]]);
    let r = pb::EvaluatePoliciesRequest { episodes_per_seed: 1, ..seeded(Some(holes)) };
    refused.check(r, "INVALID_FIELD", "seeding.piece_sequences.hole_columns").await;
    let r = pb::EvaluatePoliciesRequest { episodes_per_seed: 2, ..pieces(&["I"]) };
    refused.check(r, "INVALID_FIELD", "episodes_per_seed").await;

    for pairs in [vec![0u32, 5], vec![3, 0], vec![1, 1, 0, 0, 1, 1]] {
        let pairs = Some(tensor::encode(vec![pairs.len() as u32 / 2, 2], &pairs));
        let r = pb::EvaluatePoliciesRequest { pairs, ..request() };
        refused.check(r, "INVALID_TENSOR", "pairs").await;
    }
    let r = pb::EvaluatePoliciesRequest { baseline: 3, ..request() };
    refused.check(r, "INVALID_FIELD", "baseline").await;
    for (seconds, nanos) in [(-1, 0), (0, -1), (i64::MIN, 0), (i64::MIN, i32::MIN)] {
        let progress_interval = Some(prost_types::Duration { seconds, nanos });
        let r = pb::EvaluatePoliciesRequest { progress_interval, ..request() };
        refused.check(r, "INVALID_FIELD", "progress_interval").await;
    }
    for trials in [0, 1, MIN_LOSS_TRIALS - 1, MAX_LOSS_TRIALS + 1, u32::MAX] {
        let loss_estimation = Some(pb::LossEstimation { trials });
        let r = pb::EvaluatePoliciesRequest { loss_estimation, ..request() };
        refused.check(r, "INVALID_FIELD", "loss_estimation.trials").await;
    }
    let loss_estimation = Some(pb::LossEstimation { trials: MIN_LOSS_TRIALS });
    let estimates = |request| pb::EvaluatePoliciesRequest { loss_estimation, ..request };
    refused.check(estimates(pieces(&["I"])), "INVALID_FIELD", "loss_estimation").await;
    let r = pb::EvaluatePoliciesRequest { include_recordings: true, ..request() };
    refused.check(estimates(r), "INVALID_FIELD", "loss_estimation").await;
    let shown = Some(pb::Rules { preview: Some(1), ..rules(8, 8) });
    refused
        .check(
            estimates(pb::EvaluatePoliciesRequest { rules: shown, ..request() }),
            "INVALID_FIELD",
            "loss_estimation",
        )
        .await;
    let sinking = pb::Rules { preset: "melax".to_owned(), ..Default::default() };
    let r = pb::EvaluatePoliciesRequest {
        rules: Some(sinking),
        policies: vec![named("random")],
        max_pieces: 10,
        ..request()
    };
    refused.check(estimates(r), "INVALID_FIELD", "loss_estimation").await;
    let r = pb::EvaluatePoliciesRequest { include_recordings: true, include_results: false, ..request() };
    refused.check(r, "INVALID_FIELD", "include_recordings").await;
    let r = pb::EvaluatePoliciesRequest { max_response_bytes: MAX_RESPONSE_BYTES + 1, ..request() };
    refused.check(r, "INVALID_FIELD", "max_response_bytes").await;
}
