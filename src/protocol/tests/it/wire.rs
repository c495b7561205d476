//! Conversions between messages and the types they stand for, without a network.

use bytes::Bytes;
use tetrion_core::engine::{PRESETS, Rules};
use tetrion_core::features::{FEATURE_SETS, FeatureSet};
use tetrion_protocol::rules::ResolvedRules;
use tetrion_protocol::tensor::{DimSize, decode, encode};
use tetrion_protocol::{DecodeError, Fault, InField, features, limits, pb};

fn data(dtype: pb::DataType, shape: &[u32], data: &'static [u8]) -> pb::Tensor {
    pb::Tensor { dtype: dtype.into(), shape: shape.to_vec(), data: Bytes::from_static(data), values: vec![] }
}

fn values(values: &[f64]) -> pb::Tensor {
    pb::Tensor { values: values.to_vec(), ..Default::default() }
}

/// Expects a refusal of a certain kind with a path and a part of the message.
#[track_caller]
fn check_refused<T: std::fmt::Debug>(got: Result<T, DecodeError>, fault: Fault, field: &str, part: &str) {
    match got.expect_err("a refusal") {
        DecodeError::Invalid { fault: got, field: path, problem } => {
            assert_eq!((got, path.as_str()), (fault, field), "{problem}");
            assert!(problem.contains(part), "{problem:?} does not speak of {part:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn tensors_are_little_endian_rows() {
    let actions = data(pb::DataType::Int32, &[2], &[1, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF]);
    assert_eq!(decode::<i32>(&actions, &[DimSize::Any]).unwrap().elements, [1, -2]);
    assert_eq!(encode::<i32>(vec![2], &[1, -2]), actions);

    let matrix = encode::<f64>(vec![2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.5]);
    let back = decode::<f64>(&matrix, &[DimSize::Any, DimSize::Exactly(3)]).unwrap();
    assert_eq!((back.shape, back.elements[5]), (vec![2, 3], 6.5));

    let scalar = data(pb::DataType::Uint8, &[], &[7]);
    assert_eq!(decode::<u8>(&scalar, &[]).unwrap().elements, [7]);
    let nothing = data(pb::DataType::Uint8, &[0], &[]);
    assert!(decode::<u8>(&nothing, &[DimSize::Any]).unwrap().elements.is_empty());
}

#[test]
fn what_a_person_writes_becomes_rows() {
    assert_eq!(decode::<i32>(&values(&[3.0, 17.0]), &[DimSize::Any]).unwrap().elements, [3, 17]);
    let rows = decode::<u16>(&values(&[1.0, 2.0, 3.0, 4.0]), &[DimSize::Any, DimSize::Exactly(2)]).unwrap();
    assert_eq!((rows.shape, rows.elements), (vec![2, 2], vec![1, 2, 3, 4]));
    let one_row = decode::<u64>(&values(&[1.0, 2.0, 3.0]), &[DimSize::Any, DimSize::Any]).unwrap();
    assert_eq!(one_row.shape, [1, 3]);
    assert_eq!(decode::<f32>(&values(&[0.1]), &[]).unwrap().elements, [0.1f32]);
    let shaped = pb::Tensor { shape: vec![2, 1], ..values(&[5.0, 6.0]) };
    assert_eq!(decode::<u8>(&shaped, &[DimSize::Any, DimSize::Any]).unwrap().shape, [2, 1]);
}

#[test]
fn a_tensor_that_is_not_what_it_says_is_refused() {
    #[track_caller]
    fn check(tensor: pb::Tensor, part: &str) {
        check_refused(
            decode::<i32>(&tensor, &[DimSize::Exactly(2)]).in_field("actions"),
            Fault::Tensor,
            "actions",
            part,
        );
    }
    use pb::DataType::{Float32, Int32, Unspecified};
    check(data(Int32, &[2], &[0; 7]), "7 bytes");
    check(data(Int32, &[2], &[0; 9]), "9 bytes");
    check(data(Int32, &[2], &[]), "0 bytes");
    check(data(Int32, &[3], &[0; 12]), "[3]");
    check(data(Int32, &[2, 1], &[0; 8]), "[2, 1]");
    check(data(Int32, &[], &[0; 4]), "[]");
    check(data(Float32, &[2], &[0; 8]), "FLOAT32");
    check(data(Unspecified, &[2], &[0; 8]), "no element type");
    check(pb::Tensor { dtype: 77, ..data(Int32, &[2], &[0; 8]) }, "77");
    check(pb::Tensor::default(), "no element type");
    check(pb::Tensor { values: vec![1.0, 2.0], ..data(Int32, &[2], &[0; 8]) }, "both");
    check(values(&[1.0]), "shape [1]");
    check(values(&[1.0, 0.5]), "values[1] is 0.5");
    check(values(&[1.0, f64::NAN]), "values[1] is NaN");
    check(values(&[1.0, f64::INFINITY]), "inf");
    check(values(&[1.0, 2147483648.0]), "2147483648");
    check(pb::Tensor { dtype: Float32.into(), ..values(&[1.0, 2.0]) }, "FLOAT32");
    check(pb::Tensor { shape: vec![2], ..values(&[1.0]) }, "do not fill");
}

#[test]
fn whole_numbers_end_where_doubles_skip_them() {
    let exact = 2f64.powi(53);
    assert_eq!(decode::<u64>(&values(&[exact]), &[DimSize::Any]).unwrap().elements, [1 << 53]);
    check_refused(decode::<u64>(&values(&[exact + 2.0]), &[DimSize::Any]), Fault::Tensor, "", "values[0]");
    check_refused(decode::<u64>(&values(&[-1.0]), &[DimSize::Any]), Fault::Tensor, "", "values[0] is -1");
    check_refused(decode::<f32>(&values(&[1e39]), &[DimSize::Any]), Fault::Tensor, "", "values[0]");
}

#[test]
fn a_shape_whose_product_overflows_takes_no_memory() {
    let huge = data(pb::DataType::Uint8, &[u32::MAX; 3], &[0; 4]);
    check_refused(decode::<u8>(&huge, &[DimSize::Any; 3]), Fault::Tensor, "", "4 bytes");
    let endless = pb::Tensor { shape: vec![1; 1_000_000], ..huge };
    match decode::<u8>(&endless, &[DimSize::Any]).unwrap_err() {
        DecodeError::Invalid { problem, .. } => assert!(problem.len() < 200, "{}", problem.len()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rules_come_back_as_they_went() {
    for preset in &PRESETS {
        let message = pb::Rules { preset: preset.name.into(), ..Default::default() };
        let resolved = ResolvedRules::try_from(&message).unwrap();
        assert_eq!(resolved, ResolvedRules { preset: preset.name, rules: preset.rules });
        let echo = pb::Rules::from(&resolved);
        assert_eq!(ResolvedRules::try_from(&echo).unwrap(), resolved);
        // The echo says everything: under another preset's name it is the same rules.
        let elsewhere = pb::Rules { preset: "leiden".into(), ..echo };
        assert_eq!(ResolvedRules::try_from(&elsewhere).unwrap().rules, preset.rules);
    }
    assert_eq!(ResolvedRules::try_from(&pb::Rules::default()).unwrap(), ResolvedRules::default());
}

#[test]
fn a_preset_can_be_changed_field_by_field() {
    let message = pb::Rules {
        preset: "survey".into(),
        width: 6,
        height: 40,
        randomizer: pb::Randomizer::Uniform.into(),
        scoring: Some(pb::Scoring { lines: vec![1.0, 3.0, 5.0, 8.0], ..Default::default() }),
        preview: Some(0),
        ..Default::default()
    };
    let rules = ResolvedRules::try_from(&message).unwrap().rules;
    let survey = Rules::preset("survey").unwrap();
    assert_eq!((rules.width, rules.height, rules.preview), (6, 40, 0));
    assert_eq!((rules.scoring.lines, rules.scoring.piece), ([1.0, 3.0, 5.0, 8.0], survey.scoring.piece));
    assert_eq!((rules.orientations, rules.reach), (survey.orientations, survey.reach));
}

#[test]
fn rules_out_of_bounds_are_refused_by_name() {
    #[track_caller]
    fn check(change: impl FnOnce(&mut pb::Rules), fault: Fault, field: &str, part: &str) {
        let mut message = pb::Rules::default();
        change(&mut message);
        check_refused(ResolvedRules::try_from(&message).in_field("config.rules"), fault, field, part);
    }
    check(|r| r.preset = "modern".into(), Fault::UnknownName, "config.rules.preset", "simplified");
    check(|r| r.preset = "x".repeat(129), Fault::Field, "config.rules.preset", "129 bytes");
    check(|r| r.width = 3, Fault::Field, "config.rules.width", "4 to 32");
    check(|r| r.width = 33, Fault::Field, "config.rules.width", "33");
    check(|r| r.width = 256 + 10, Fault::Field, "config.rules.width", "266");
    check(|r| r.height = 41, Fault::Field, "config.rules.height", "4 to 40");
    check(|r| r.preview = Some(7), Fault::Field, "config.rules.preview", "0 to 6");
    check(|r| r.randomizer = 9, Fault::Field, "config.rules.randomizer", "is 9");
    check(|r| r.top_out = 99, Fault::Field, "config.rules.top_out", "unknown");
    check(|r| r.reach = 4, Fault::Field, "config.rules.reach", "is 4");
    check(|r| r.orientation_table = 99, Fault::Field, "config.rules.orientation_table", "unknown");
    check(|r| r.action_model = -1, Fault::Field, "config.rules.action_model", "is -1");
    let scored = |scoring: pb::Scoring| move |r: &mut pb::Rules| r.scoring = Some(scoring);
    let lines = pb::Scoring { lines: vec![1.0; 3], ..Default::default() };
    check(scored(lines), Fault::Field, "config.rules.scoring.lines", "3 numbers");
    let lines = pb::Scoring { lines: vec![1.0, 2.0, f64::NAN, 4.0], ..Default::default() };
    check(scored(lines), Fault::Field, "config.rules.scoring.lines", "NaN");
    let piece = pb::Scoring { piece: Some(1.1e15), ..Default::default() };
    check(scored(piece), Fault::Field, "config.rules.scoring.piece", "1e15");
    let key_presses = |r: &mut pb::Rules| r.action_model = pb::ActionModel::Keypress.into();
    check(key_presses, Fault::Rules, "config.rules", "sideways");
}

fn list(names: &[&str]) -> pb::FeatureSelection {
    let features = names.iter().map(|&name| name.to_owned()).collect();
    features::from_names(features)
}

fn set(name: &str, version: &str) -> pb::FeatureSelection {
    pb::FeatureSelection { feature_set_version: version.into(), ..features::from_set(name) }
}

#[test]
fn selections_come_back_as_they_went() {
    for row in FEATURE_SETS {
        let decoded =
            features::decode(Some(&set(row.name, "")), &Rules::simplified(7, 20)).unwrap().expect("a set");
        assert_eq!(decoded.names(), FeatureSet::named(row.name, 7).unwrap().names());
        assert_eq!(features::encode(&decoded), set(row.name, &row.version.to_string()));
        let columns = features::encode_columns(&decoded);
        assert_eq!((columns.feature_set.as_str(), columns.names), (row.name, decoded.names()));
    }
    let own =
        features::decode(Some(&list(&["holes_preclear", "column_height[3]"])), &Rules::simplified(7, 20))
            .unwrap()
            .unwrap();
    assert_eq!(features::encode(&own), list(&["holes_preclear", "column_height[3]"]));
    let columns = features::encode_columns(&own);
    assert_eq!((columns.feature_set.as_str(), columns.feature_set_version.as_str()), ("", ""));
    assert!(features::decode(None, &Rules::simplified(10, 20)).unwrap().is_none());
}

#[test]
fn the_bare_name_of_a_family_is_all_of_it() {
    let selection = list(&["holes", "height_difference", "column_height_preclear"]);
    let names = features::decode(Some(&selection), &Rules::simplified(4, 20)).unwrap().unwrap().names();
    let expected = [
        "holes",
        "height_difference[0]",
        "height_difference[1]",
        "height_difference[2]",
        "column_height_preclear[0]",
        "column_height_preclear[1]",
        "column_height_preclear[2]",
        "column_height_preclear[3]",
    ];
    assert_eq!(names, expected);
}

#[test]
fn selections_that_mean_nothing_are_refused() {
    #[track_caller]
    fn check(selection: pb::FeatureSelection, fault: Fault, field: &str, part: &str) {
        let got = features::decode(Some(&selection), &Rules::simplified(10, 20)).in_field("features");
        check_refused(got, fault, field, part);
    }
    check(set("bcts9", ""), Fault::UnknownName, "features.feature_set", "bcts8");
    check(list(&["holes", "hole"]), Fault::UnknownName, "features.names.names[1]", "\"hole\"");
    check(list(&["holes", "holes"]), Fault::Field, "features.names.names[1]", "twice");
    check(
        list(&["column_height", "holes", "column_height[3]"]),
        Fault::Field,
        "features.names.names[2]",
        "twice",
    );
    check(list(&["column_height[10]"]), Fault::Field, "features.names.names[0]", "0 to 9");
    check(list(&["landing_height_preclear"]), Fault::Field, "features.names.names[0]", "_preclear");
    check(list(&["holes"; limits::MAX_FEATURES as usize + 1]), Fault::Field, "features.names.names", "257");
    check(list(&[&"x".repeat(129)]), Fault::Field, "features.names.names[0]", "129 bytes");
    check(list(&[]), Fault::Field, "features.names.names", "is empty");
    check(pb::FeatureSelection::default(), Fault::Field, "features", "feature_set or names");
    check(set("", ""), Fault::UnknownName, "features.feature_set", "\"\"");
    for selection in [list(&["holes"]), pb::FeatureSelection::default()] {
        let versioned = pb::FeatureSelection { feature_set_version: "1".into(), ..selection };
        check(versioned, Fault::Field, "features.feature_set_version", "without a feature_set");
    }
    assert_eq!(
        features::decode(Some(&set("bcts8", "0")), &Rules::simplified(10, 20)).unwrap_err(),
        DecodeError::FeatureSetMismatch { expected: "1".into(), got: "0".into() }
    );
}
