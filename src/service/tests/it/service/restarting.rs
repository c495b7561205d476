use bytes::Bytes;
use tetrion_core::engine::Rules;
use tetrion_core::env::{EnvBatch, EnvConfig, EnvState, Restored, Seeding};
use tetrion_protocol::limits::MAX_RESPONSE_BYTES;
use tetrion_protocol::{colors, pb, positions, seeding};

use crate::support::{restore, save, start};
use tetrion_service_testing::{Client, config, create, only, reset, step};

/// So many that a call takes several turns.
const MANY: u32 = 24_000;

fn many(seed: u64, keep_colors: bool) -> pb::SessionConfig {
    let rules = Some(pb::Rules { width: 4, height: 8, ..Default::default() });
    pb::SessionConfig { rules, keep_colors, max_response_bytes: MAX_RESPONSE_BYTES, ..config(MANY, seed) }
}

/// A session after one step, whose environments all have pieces of their own.
async fn stepped(client: &mut Client, config: pb::SessionConfig) -> String {
    let name = create(client, config).await.name;
    client.reset(reset(&name)).await.unwrap();
    client.step(step(&name, &[0; MANY as usize])).await.unwrap();
    name
}

async fn states(client: &mut Client, session: &str, envs: Option<pb::EnvIds>) -> Vec<Bytes> {
    let request = pb::SaveStateRequest { envs, ..save(session) };
    client.save_state(request).await.unwrap().into_inner().states
}

/// The row of the first difference.
#[track_caller]
fn assert_equal(got: &[Bytes], expected: &[Bytes]) {
    assert_eq!(got.len(), expected.len());
    assert_eq!(got.iter().zip(expected).position(|(got, expected)| got != expected), None);
}

#[tokio::test]
async fn many_environments_are_restored_row_by_row() {
    let server = start().await;
    let mut client = server.client().await.max_decoding_message_size(MAX_RESPONSE_BYTES as usize);
    let name = stepped(&mut client, many(5, true)).await;
    let saved = states(&mut client, &name, None).await;

    let other = stepped(&mut client, many(6, true)).await;
    client.restore_state(restore(&other, positions::from_snapshots(saved.clone()))).await.unwrap();
    assert_equal(&states(&mut client, &other, None).await, &saved);

    // Every other environment, from the last to the first.
    let other = stepped(&mut client, many(6, true)).await;
    let ids = || (0..MANY).rev().step_by(2);
    let mut expected = states(&mut client, &other, None).await;
    ids().for_each(|id| expected[id as usize] = saved[id as usize].clone());
    let listed = positions::from_snapshots(ids().map(|id| saved[id as usize].clone()).collect());
    let request = pb::RestoreStateRequest { envs: only(ids()), ..restore(&other, listed) };
    client.restore_state(request).await.unwrap();
    assert_equal(&states(&mut client, &other, None).await, &expected);
}

#[tokio::test]
async fn many_environments_get_seeds_by_their_row() {
    let server = start().await;
    let mut client = server.client().await.max_decoding_message_size(MAX_RESPONSE_BYTES as usize);
    let rules = Rules::simplified(4, 8);
    let config = EnvConfig { rules, num_envs: MANY, ..EnvConfig::default() };
    let mut batch = EnvBatch::new(config, &Seeding::Seed(5)).unwrap();
    let expected = |batch: &EnvBatch| -> Vec<Bytes> {
        (0..MANY).map(|env_id| batch.state(env_id).to_bytes().into()).collect()
    };

    let name = stepped(&mut client, many(5, false)).await;
    let seeds: Vec<u64> = (0..u64::from(MANY)).map(|row| row * row + 7).collect();
    let request = pb::ResetRequest { seeding: Some(seeding::from_seeds(seeds.clone())), ..reset(&name) };
    client.reset(request).await.unwrap();
    batch.reset(None, Some(&Seeding::Seeds(seeds))).unwrap();
    let saved = states(&mut client, &name, None).await;
    assert_equal(&saved, &expected(&batch));

    let request = pb::RestoreStateRequest {
        reseed: Some(9),
        ..restore(&name, positions::from_snapshots(saved.clone()))
    };
    client.restore_state(request).await.unwrap();
    let read = |state: &Bytes| EnvState::from_bytes(colors::split(state).unwrap().0).unwrap();
    let read: Vec<EnvState> = saved.iter().map(read).collect();
    batch.restore(None, Restored::States(&read), Some(9)).unwrap();
    assert_equal(&states(&mut client, &name, None).await, &expected(&batch));
}
