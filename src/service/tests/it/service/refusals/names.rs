//! Names that nothing has, and sets of features of another version.

use tetrion_core::engine::PRESETS;
use tetrion_core::features::FEATURE_SETS;
use tetrion_protocol::{features, pb};
use tonic::{Code, Status};
use tonic_types::StatusExt;

use super::Witness;
use crate::support::field_names;
use tetrion_service_testing::{config, enumerate};

#[tokio::test]
async fn names_that_nothing_has() {
    let mut w = Witness::new().await;
    let plain = || config(2, 11);
    let rules = pb::Rules { preset: "modern".into(), ..Default::default() };
    w.create(pb::SessionConfig { rules: Some(rules), ..plain() }, "UNKNOWN_NAME", "config.rules.preset")
        .await;
    let fields = pb::SessionConfig { observation_fields: field_names(&["board", "hold"]), ..plain() };
    w.create(fields, "UNKNOWN_NAME", "config.observation_fields.names[1]").await;
    let infos = pb::SessionConfig { info_fields: field_names(&["level"]), ..plain() };
    w.create(infos, "UNKNOWN_NAME", "config.info_fields.names[0]").await;
    let set = features::from_set("bcts9");
    w.create(
        pb::SessionConfig { features: Some(set), ..plain() },
        "UNKNOWN_NAME",
        "config.features.feature_set",
    )
    .await;
    let list = features::from_names(vec!["hole".into()]);
    let envs = pb::SessionEnvs { session: w.name.clone(), ..Default::default() };
    let request = pb::EnumeratePlacementsRequest { features: Some(list), ..enumerate(envs) };
    let got = w.client.enumerate_placements(request).await;
    w.field(got, "UNKNOWN_NAME", "features.names.names[0]").await;
}

#[tokio::test]
async fn an_unknown_name_is_answered_with_the_one_that_was_meant_and_all_there_are() {
    #[track_caller]
    fn check(status: &Status, meant: &str, last: &str) {
        let message = status.message();
        assert!(message.contains(&format!(", did you mean {meant:?}? expected one of ")), "{message}");
        assert!(message.ends_with(last), "{message}");
        let violations = status.get_details_bad_request().unwrap().field_violations;
        assert!(violations[0].description.ends_with(last), "{violations:?}");
    }
    let mut w = Witness::new().await;
    let mut create = async |config| {
        let request = pb::CreateSessionRequest { config: Some(config), ..Default::default() };
        w.client.create_session(request).await.unwrap_err()
    };
    let rules = pb::Rules { preset: "labb".into(), ..Default::default() };
    let status = create(pb::SessionConfig { rules: Some(rules), ..config(1, 11) }).await;
    check(&status, "lab", PRESETS.last().unwrap().name);
    let fields = pb::SessionConfig { observation_fields: field_names(&["bord"]), ..config(1, 11) };
    check(&create(fields).await, "board", "counts");
    let infos = pb::SessionConfig { info_fields: field_names(&["line"]), ..config(1, 11) };
    assert!(create(infos).await.message().contains("did you mean \"lines\"?"));
    let set = features::from_set("bcts");
    let status = create(pb::SessionConfig { features: Some(set), ..config(1, 11) }).await;
    check(&status, "bcts8", FEATURE_SETS.last().unwrap().name);
    // The longest list of all is not cut, even for the longest name.
    let features = vec!["hole".into(), "h".repeat(128)];
    for name in features {
        let list = features::from_names(vec![name]);
        let status = create(pb::SessionConfig { features: Some(list), ..config(1, 11) }).await;
        assert!(status.message().ends_with("measured before clearing"), "{}", status.message());
    }
}

#[tokio::test]
async fn a_set_of_another_version_says_both() {
    let mut w = Witness::new().await;
    let set = pb::FeatureSelection { feature_set_version: "0".into(), ..features::from_set("bcts8") };
    let config = pb::SessionConfig { features: Some(set), ..config(2, 11) };
    let request = pb::CreateSessionRequest { config: Some(config), ..Default::default() };
    let got = w.client.create_session(request).await;
    let reported = w.refused(got, Code::FailedPrecondition, "FEATURE_SET_MISMATCH").await;
    assert_eq!((reported.metadata("expected"), reported.metadata("got")), ("1", "0"));
}
