use std::time::Duration;

use tetrion_protocol::pb::step_stream_request::Request as InStream;
use tetrion_protocol::pb::step_stream_response::Response as FromStream;
use tetrion_protocol::pb::watch_session_response::Event;
use tetrion_protocol::{pb, positions};

use super::stream::Stream;
use crate::support::{restore, save, start};
use tetrion_service_testing::{Client, config, create, enumerate, only, reset, step};

/// A session in the middle of its episodes, and snapshots of them.
async fn playing(client: &mut Client) -> (String, pb::SaveStateResponse) {
    let name = create(
        client,
        pb::SessionConfig { action_mask_format: pb::ActionMaskFormat::Bits.into(), ..config(3, 7) },
    )
    .await
    .name;
    client.reset(reset(&name)).await.unwrap();
    client.step(step(&name, &[1, 2, 3])).await.unwrap();
    let states = client.save_state(save(&name)).await.unwrap().into_inner();
    assert_eq!((states.states.len(), states.sequence_number), (3, 2));
    (name, states)
}

/// The number of rows of tensors, which all have the same.
#[track_caller]
fn rows<'a>(tensors: impl IntoIterator<Item = &'a pb::Tensor>) -> u32 {
    let rows: Vec<u32> = tensors.into_iter().map(|tensor| tensor.shape[0]).collect();
    assert!(!rows.is_empty() && rows.iter().all(|row| *row == rows[0]), "{rows:?}");
    rows[0]
}

#[tokio::test]
async fn a_mutating_call_on_no_environments_changes_none_and_counts() {
    let server = start().await;
    let mut client = server.client().await;
    let (name, before) = playing(&mut client).await;

    let request = pb::ResetRequest { envs: only([]), ..reset(&name) };
    let answer = client.reset(request.clone()).await.unwrap().into_inner();
    assert_eq!(rows(answer.observations.iter().chain(&answer.infos).chain(&answer.action_mask)), 0);
    assert_eq!(answer.sequence_number, 3);

    let answer =
        client.step(pb::StepRequest { envs: only([]), ..step(&name, &[]) }).await.unwrap().into_inner();
    let tensors = answer.observations.iter().chain(&answer.infos).chain(&answer.action_mask);
    let flags = [&answer.rewards, &answer.terminated, &answer.truncated].into_iter().flatten();
    assert_eq!(rows(tensors.chain(flags)), 0);
    assert_eq!((answer.final_batch, answer.sequence_number), (None, 4));

    let positions = positions::from_snapshots(before.states[..1].to_vec());
    let request_to_restore = pb::RestoreStateRequest { envs: only([]), ..restore(&name, positions) };
    let answer = client.restore_state(request_to_restore).await.unwrap().into_inner();
    assert_eq!(rows(answer.observations.iter().chain(&answer.infos).chain(&answer.action_mask)), 0);
    assert_eq!(answer.sequence_number, 5);

    // A numbered request for no environments, over a stream: repeated, it gets the same answer.
    let mut stream = Stream::open(&mut client).await;
    for _ in 0..2 {
        stream.send(InStream::Reset(pb::ResetRequest { sequence_number: 6, ..request.clone() })).await;
        let FromStream::Reset(answer) = stream.receive().await else { panic!("another answer") };
        assert_eq!((rows(&answer.observations), answer.sequence_number), (0, 6));
    }

    let after = client.save_state(save(&name)).await.unwrap().into_inner();
    assert_eq!((after.states, after.sequence_number), (before.states, 6));
}

#[tokio::test]
async fn a_call_that_reads_no_environments_has_no_rows() {
    let server = start().await;
    let mut client = server.client().await;
    let (name, before) = playing(&mut client).await;

    let some = pb::SaveStateRequest { envs: only([]), ..save(&name) };
    let answer = client.save_state(some).await.unwrap().into_inner();
    assert_eq!((answer.states.len(), answer.sequence_number), (0, 2));

    let format = pb::RenderFormat::Ascii.into();
    let some = pb::RenderRequest { session: name.clone(), envs: only([]), format, ..Default::default() };
    let answer = client.render(some).await.unwrap().into_inner();
    assert_eq!((answer.frames.len(), answer.sequence_number), (0, 2));

    let some = pb::SessionEnvs { session: name.clone(), envs: only([]) };
    let answer = client.enumerate_placements(enumerate(some)).await.unwrap().into_inner();
    assert_eq!(answer.row_offsets.unwrap().shape, [1], "the 0 at which the rows end");
    assert_eq!((rows(&answer.actions), answer.sequence_number), (0, 2));

    let some = pb::WatchSessionRequest { session: name.clone(), envs: only([]), ..Default::default() };
    let mut frames = client.watch_session(some).await.unwrap().into_inner();
    let mut next = async || {
        let message = tokio::time::timeout(Duration::from_secs(20), frames.message()).await;
        message.expect("a message in time").unwrap().unwrap().event.unwrap()
    };
    let Event::Started(started) = next().await else { panic!("another message") };
    assert!(started.env_ids.is_empty());
    let Event::Frame(frame) = next().await else { panic!("another message") };
    assert_eq!((frame.envs.len(), frame.sequence_number), (0, 2));

    let after = client.save_state(save(&name)).await.unwrap().into_inner();
    assert_eq!(after, before);
}
