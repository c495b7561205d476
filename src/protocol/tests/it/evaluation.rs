//! A request for an evaluation is read policy by policy, with the same result however many are read at a time.

use tetrion_core::features::kernel::Kernel;
use tetrion_protocol::evaluation::{DecodedEvaluation, ReadEvaluation};
use tetrion_protocol::{DecodeError, pb, tensor};

use pb::policy::Kind;

fn read(
    request: &pb::EvaluatePoliciesRequest,
    max_bytes: usize,
) -> Result<(DecodedEvaluation, u32), DecodeError> {
    let mut reading = ReadEvaluation::begin(request)?;
    let mut turns = 1;
    while reading.read_policies(request, max_bytes)? {
        turns += 1;
    }
    Ok((reading.finish(request, Kernel::Portable)?, turns))
}

fn request(kinds: Vec<Kind>) -> pb::EvaluatePoliciesRequest {
    let policies = kinds.into_iter().map(|kind| pb::Policy { kind: Some(kind), ..Default::default() });
    let drawn = pb::DrawnSeeds { seed: 1, count: 2 };
    pb::EvaluatePoliciesRequest {
        policies: policies.collect(),
        seeding: Some(pb::Seeding { kind: Some(pb::seeding::Kind::Drawn(drawn)) }),
        ..Default::default()
    }
}

fn weights(tensor: pb::Tensor) -> Kind {
    let names = ["holes", "max_height"].map(str::to_owned).to_vec();
    let features = pb::feature_selection::Kind::Names(pb::FeatureNames { names });
    let features = Some(pb::FeatureSelection { kind: Some(features), ..Default::default() });
    Kind::Weights(pb::Weights { features, weights: Some(tensor), ..Default::default() })
}

fn formula(text: &str) -> Kind {
    Kind::Formula(pb::Formula { text: text.to_owned() })
}

#[test]
fn policies_are_read_in_as_many_turns_as_one_likes() {
    let doubles: Vec<f64> = (0..40).map(f64::from).collect();
    let singles: Vec<f32> = (0..6).map(|n| n as f32 / 4.0).collect();
    let request = request(vec![
        Kind::Name("dt-10".to_owned()),
        weights(tensor::encode(vec![20, 2], &doubles)),
        formula("-holes - max_height ^ 2"),
        weights(tensor::encode(vec![3, 2], &singles)),
        weights(tensor::encode(vec![2], &[1.0, 2.0])),
        Kind::MonteCarlo(pb::MonteCarlo::default()),
    ]);
    let (whole, turns) = read(&request, usize::MAX).unwrap();
    assert_eq!(turns, 1);
    let num_rows: Vec<u32> = whole.started.policies.iter().map(|entry| entry.num_rows).collect();
    assert_eq!(num_rows, [1, 20, 1, 3, 1, 1]);
    for (max_bytes, expected) in [(1, 27), (300, 14), (3_000, 3)] {
        let (parts, turns) = read(&request, max_bytes).unwrap();
        assert_eq!(turns, expected, "{max_bytes} bytes at a time");
        assert_eq!(format!("{parts:?}"), format!("{whole:?}"), "{max_bytes} bytes at a time");
    }
}

#[test]
fn a_fault_is_named_in_whatever_turn_it_is_read() {
    let wrong = [0.0, 1.0, 2.0, f64::NAN];
    let refused = [
        (vec![], "policies: is required"),
        (vec![formula("holes"), formula("hols")], "policies[1].formula.text: "),
        (
            vec![formula("holes"), weights(tensor::encode(vec![2, 2], &wrong))],
            "policies[1].weights.weights: row 1",
        ),
        (
            vec![weights(tensor::encode(vec![0, 2], &[] as &[f64]))],
            "policies[0].weights.weights: has no rows",
        ),
        (vec![weights(tensor::encode(vec![1, 3], &[1.0, 2.0, 3.0]))], "policies[0].weights.weights"),
    ];
    for (kinds, expected) in refused {
        let request = request(kinds);
        let errors = [1, usize::MAX].map(|max_bytes| read(&request, max_bytes).unwrap_err().to_string());
        assert_eq!(errors[0], errors[1]);
        assert!(errors[0].starts_with(expected), "{}", errors[0]);
    }
}
