//! States that are refused: damaged, of other rules, of another version, or of a game that is over.

use bytes::Bytes;
use tetrion_protocol::{pb, positions};
use tonic::Code;
use xxhash_rust::xxh3::xxh3_64;

use super::Witness;
use crate::support::{drawing, restore, save};
use tetrion_service_testing::{config, create, enumerate, refused, reset};

#[tokio::test]
async fn a_damaged_snapshot_is_invalid_state() {
    let mut w = Witness::new().await;
    let name = w.name.clone();
    let state = w.before.0[0].clone();
    for damage in 0..state.len() {
        let mut bytes = state.to_vec();
        bytes[damage] ^= 1;
        let states = vec![state.clone(), bytes.into()];
        let positions = positions::from_snapshots(states);
        let got = w.client.restore_state(restore(&name, positions)).await;
        let reported = refused(got, Code::InvalidArgument, "INVALID_STATE");
        assert_eq!(reported.fields(), ["positions.snapshots.states[1]"], "byte {damage}");
    }
    for states in [vec![Bytes::new()], vec![state.slice(..state.len() - 1)]] {
        let positions = positions::from_snapshots(states);
        let got = w.client.restore_state(restore(&name, positions.clone())).await;
        w.field(got, "INVALID_STATE", "positions.snapshots.states[0]").await;
        let got = w.client.enumerate_placements(enumerate(positions)).await;
        w.field(got, "INVALID_STATE", "positions.snapshots.states[0]").await;
    }
}

#[tokio::test]
async fn a_snapshot_of_other_rules_is_refused() {
    let mut w = Witness::new().await;
    let name = w.name.clone();
    let rules = pb::Rules { width: 9, ..Default::default() };
    let other =
        create(&mut w.client, pb::SessionConfig { rules: Some(rules.clone()), ..config(2, 1) }).await.name;
    w.client.reset(reset(&other)).await.unwrap();
    let foreign = w.client.save_state(save(&other)).await.unwrap().into_inner().states;
    w.before = w.everything().await;
    let own = w.before.0[0].clone();
    for states in [foreign.clone(), vec![own.clone(), foreign[0].clone()]] {
        let positions = positions::from_snapshots(states);
        let got = w.client.restore_state(restore(&name, positions)).await;
        w.refused(got, Code::FailedPrecondition, "RULES_MISMATCH").await;
    }
    // A drawing under other rules than the session's; snapshots of different rules in one request; and of other rules than
    // those that the request names.
    let drawn =
        pb::Positions { rules: Some(rules.clone()), ..positions::from_drawings(vec![drawing(&[], "I")]) };
    let got = w.client.restore_state(restore(&name, drawn)).await;
    w.refused(got, Code::FailedPrecondition, "RULES_MISMATCH").await;
    let mixed = positions::from_snapshots(vec![own.clone(), foreign[0].clone()]);
    let got = w.client.enumerate_placements(enumerate(mixed)).await;
    w.refused(got, Code::FailedPrecondition, "RULES_MISMATCH").await;
    let named = pb::Positions { rules: Some(rules), ..positions::from_snapshots(vec![own]) };
    let got = w.client.enumerate_placements(enumerate(named)).await;
    w.refused(got, Code::FailedPrecondition, "RULES_MISMATCH").await;
}

#[tokio::test]
async fn a_snapshot_of_another_version_of_the_rules_says_both() {
    let mut w = Witness::new().await;
    let name = w.name.clone();
    let version = tetrion_core::engine::RULES_VERSION.as_bytes();
    let mut bytes = w.before.0[0].to_vec();
    let at = bytes.windows(version.len()).position(|window| window == version).expect("the version is in it");
    bytes[at + version.len() - 1] ^= 1;
    let content = bytes.len() - 8;
    let checksum = xxh3_64(&bytes[..content]).to_le_bytes();
    bytes[content..].copy_from_slice(&checksum);
    let positions = positions::from_snapshots(vec![bytes.into()]);
    let got = w.client.restore_state(restore(&name, positions)).await;
    let reported = w.refused(got, Code::FailedPrecondition, "RULES_VERSION_MISMATCH").await;
    assert_eq!(reported.metadata("expected"), tetrion_core::engine::RULES_VERSION);
    assert_ne!(reported.metadata("got"), tetrion_core::engine::RULES_VERSION);
}

#[tokio::test]
async fn no_game_goes_on_from_where_it_is_over() {
    let rules = pb::Rules { preset: "leiden".into(), ..Default::default() };
    let mut w = Witness::of(pb::SessionConfig { rules: Some(rules.clone()), ..config(2, 11) }).await;
    let name = w.name.clone();
    let at = |row_from_top: usize| {
        let mut rows = vec![".........."; 10];
        rows[row_from_top] = "#.........";
        pb::Positions { rules: Some(rules.clone()), ..positions::from_drawings(vec![drawing(&rows, "O")]) }
    };
    let got = w.client.restore_state(restore(&name, at(2))).await;
    w.field(got, "INVALID_POSITION", "positions.drawings.drawings[0]").await;
    let over = w.client.enumerate_placements(enumerate(at(2))).await.unwrap().into_inner();
    assert_eq!(
        crate::support::numbers(&over.row_offsets.unwrap()),
        [0.0, 0.0],
        "no rows where the game is over"
    );
    let below = w.client.enumerate_placements(enumerate(at(3))).await.unwrap().into_inner();
    assert_eq!(crate::support::numbers(&below.row_offsets.unwrap()), [0.0, 9.0]);
    w.client.restore_state(restore(&name, at(3))).await.expect("one row lower it goes on");

    // Where it ends when a piece cannot appear: the O is in the way of nothing at the left wall.
    let appears = pb::Rules { top_out: pb::TopOut::SpawnBlocked.into(), ..Default::default() };
    for (top_row, rows) in [("....##....", [0.0, 0.0]), ("#........#", [0.0, 9.0])] {
        let drawings = vec![drawing(&[[top_row].as_slice(), &[".........."; 19]].concat(), "O")];
        let positions = pb::Positions { rules: Some(appears.clone()), ..positions::from_drawings(drawings) };
        let listed = w.client.enumerate_placements(enumerate(positions)).await.unwrap().into_inner();
        assert_eq!(crate::support::numbers(&listed.row_offsets.unwrap()), rows, "{top_row}");
    }
}
