//! Sets of features: what the names stand for, and which lists are refused.

use tetrion_core::features::{FEATURE_SETS, FEATURES, Feature, FeatureError, FeatureSet, MAX_COLUMNS};

use super::all_names;

#[test]
fn sets_have_their_features_in_the_order_of_their_weights() {
    let names = |set: &str, width| FeatureSet::named(set, width).unwrap().names().join(" ");
    let dellacherie =
        "landing_height eroded_piece_cells row_transitions column_transitions holes cumulative_wells";
    assert_eq!(names("dellacherie6", 10), dellacherie);
    assert_eq!(names("bcts8", 10), format!("{dellacherie} hole_depth rows_with_holes"));
    assert_eq!(names("thiery9", 10), format!("{dellacherie} hole_depth rows_with_holes pattern_diversity"));
    assert_eq!(
        names("surface27", 10),
        format!(
            "{} readiness[0] readiness[1] readiness[2] readiness[3] readiness[4] readiness[5] readiness[6] fits \
             steps[0] steps[1] steps[2] steps[3] steps[4] steps[5] steps[6] weighted_holes deep_wells surface_parity",
            names("thiery9", 10)
        )
    );
    assert_eq!(
        names("modern30", 10),
        format!(
            "{} total_height deep_wells steps[0] steps[1] steps[2] steps[3] steps[4] steps[5] steps[6] \
             clears[0] clears[1] clears[2] clears[3] clears[4] clears[5] clears[6] base_attack idle_t ready_rows \
             spin_slots spin_slot_rows",
            names("thiery9", 10)
        )
    );
    assert_eq!(names("eltetris6", 10), dellacherie.replace("eroded_piece_cells", "lines_cleared"));
    assert_eq!(names("height4", 10), "total_height lines_cleared holes bumpiness");
    assert_eq!(names("lab4", 10), "total_height_preclear lines_cleared holes_preclear bumpiness_preclear");
    assert_eq!(
        names("lab8", 10),
        "landing_height_lab eroded_piece_cells row_transitions_preclear column_transitions_lab_preclear \
         holes_preclear wells_lab_preclear hole_depth_lab_preclear rows_with_holes_preclear"
    );
    assert_eq!(
        names("survey6", 10),
        "landing_height_survey lines_cleared row_transitions_survey column_transitions_survey hole_runs \
         wells_survey"
    );
    assert_eq!(names("flatstack", 10), "lines_cleared landing_top holes open_shafts");
    let bertsekas = "column_height[0] column_height[1] column_height[2] column_height[3] \
                     height_difference[0] height_difference[1] height_difference[2] max_height holes";
    assert_eq!(names("bertsekas", 4), bertsekas);
    assert_eq!(
        names("bdu", 4),
        format!(
            "{bertsekas} landing_height eroded_piece_cells row_transitions column_transitions \
             cumulative_wells hole_depth rows_with_holes"
        )
    );
    for width in [4, 10, 32] {
        let width_of = |set| FeatureSet::named(set, width).unwrap().len();
        assert_eq!(width_of("bertsekas"), 2 * usize::from(width) + 1);
        assert_eq!(width_of("bdu"), 2 * usize::from(width) + 8);
    }
}

#[test]
fn the_names_of_a_set_make_the_same_set() {
    for row in FEATURE_SETS {
        for width in [4, 10, 32] {
            let set = FeatureSet::named(row.name, width).unwrap();
            assert_eq!((set.name(), set.version(), set.width()), (row.name, row.version, width));
            let again = FeatureSet::custom(&set.names(), width).unwrap();
            assert_eq!(again.name(), "custom");
            assert_eq!(again.columns(), set.columns());
        }
    }
}

#[test]
fn every_feature_has_one_name_and_a_list_of_all_is_a_set() {
    for (i, feature) in FEATURES.iter().enumerate() {
        assert_eq!(Feature::named(feature.name).unwrap().formula, feature.formula);
        assert!(FEATURES[..i].iter().all(|other| other.name != feature.name), "{} twice", feature.name);
    }
    for width in [4, 10, 32] {
        let names = all_names(width);
        assert_eq!(FeatureSet::custom(&names, width).unwrap().names(), names);
        assert!(names.len() <= MAX_COLUMNS);
    }
}

#[test]
fn lists_that_are_no_set_are_refused_with_a_reason() {
    #[track_caller]
    fn check(names: &[&str], message: &str) {
        assert_eq!(FeatureSet::custom(names, 10).unwrap_err().to_string(), message);
    }
    #[track_caller]
    fn unknown(name: &str, wrong: &str) {
        let known: Vec<String> = FEATURES
            .iter()
            .map(|feature| {
                feature.name.to_owned() + if feature.family_size(10).is_some() { "[i]" } else { "" }
            })
            .collect();
        let known = known.join(", ");
        check(
            &["holes", name],
            &format!("{wrong} expected one of {known}; with _preclear, measured before clearing"),
        );
    }
    unknown("hoels", "no feature is called \"hoels\", did you mean \"holes\"?");
    unknown("", "no feature is called \"\",");
    unknown("xyzzy", "no feature is called \"xyzzy\",");
    unknown("eroded", "no feature is called \"eroded\", did you mean \"eroded_piece_cells\"?");
    unknown("Holes", "no feature is called \"Holes\", did you mean \"holes\"?");
    unknown("holes[0", "no feature is called \"holes[0\", did you mean \"holes\"?");
    unknown("hole_preclear", "no feature is called \"hole_preclear\", did you mean \"holes_preclear\"?");
    unknown(
        "colum_height_preclear[0]",
        "no feature is called \"colum_height_preclear[0]\", did you mean \"column_height_preclear[i]\"?",
    );
    unknown(
        "column_height[0][0]",
        "no feature is called \"column_height[0][0]\", did you mean \"column_height[i]\"?",
    );
    for name in [
        "_preclear",
        "holes_preclear_preclear",
        "column_height[0]_pre",
        "column_height[0]_preclear",
        "column_height_preclear[0]_preclear",
    ] {
        let error = FeatureSet::custom(&[name], 10).unwrap_err();
        assert_eq!(error, FeatureError::UnknownFeature(name.to_owned()));
    }
    unknown("bcts8", "\"bcts8\" is a feature set and no feature,");
    check(&["holes", "max_height", "holes"], "feature \"holes\" is listed twice");
    check(&["landing_height_preclear"], "landing_height belongs to the landing and has no _preclear form");
    check(
        &["column_height"],
        "column_height is a family of features, expected column_height[0] to column_height[9] at width 10",
    );
    check(
        &["column_height_preclear"],
        "column_height_preclear is a family of features, expected column_height_preclear[0] to \
         column_height_preclear[9] at width 10",
    );
    check(
        &["column_height_preclear[0]", "column_height_preclear[0]"],
        "feature \"column_height_preclear[0]\" is listed twice",
    );
    check(&["holes[0]"], "\"holes[0]\" has a wrong index, expected none at width 10");
    for wrong in ["10", "-1", "01", "", "i", " 1", "+1", "4294967296"] {
        let name = format!("column_height[{wrong}]");
        check(&[&name], &format!("{name:?} has a wrong index, expected 0 to 9 at width 10"));
    }
    check(
        &["height_difference_preclear[9]"],
        "\"height_difference_preclear[9]\" has a wrong index, expected 0 to 8 at width 10",
    );
    check(&[], "the list of features is empty");
    assert_eq!(FeatureSet::custom(&["holes"; MAX_COLUMNS + 1], 10).unwrap_err(), FeatureError::TooMany(257));
    assert_eq!(
        FeatureSet::custom(&["holes"; MAX_COLUMNS], 10).unwrap_err(),
        FeatureError::Repeated("holes".to_owned())
    );
    assert_eq!(
        FeatureSet::named("bcts9", 10).unwrap_err().to_string(),
        "no feature set is called \"bcts9\", did you mean \"bcts8\"? expected one of dellacherie6, bcts8, thiery9, \
         steps16, surface27, modern30, bertsekas, bdu, eltetris6, height4, lab4, lab8, survey6, flatstack"
    );
    assert_eq!(
        FeatureSet::named("holes", 10).unwrap_err().to_string(),
        "\"holes\" is a feature and no feature set, expected a list of features or one of dellacherie6, bcts8, thiery9, \
         steps16, surface27, modern30, bertsekas, bdu, eltetris6, height4, lab4, lab8, survey6, flatstack"
    );
}
