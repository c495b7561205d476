use tetrion_protocol::pb;
use tonic::Code;

use crate::support::start;
use tetrion_service_testing::{Client, config, create, refused, reset, step};

fn numbered(request: pb::StepRequest, sequence_number: u64) -> pb::StepRequest {
    pb::StepRequest { sequence_number, ..request }
}

async fn sequence_of(client: &mut Client, session: &str) -> u64 {
    let request = pb::GetSessionRequest { name: session.to_owned() };
    client.get_session(request).await.unwrap().into_inner().session.unwrap().sequence_number
}

#[tokio::test]
async fn a_numbered_step_sent_twice_is_done_once() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(2, 1)).await.name;
    client.reset(reset(&name)).await.unwrap();
    let request = numbered(step(&name, &[1, 2]), 2);
    let answer = client.step(request.clone()).await.unwrap().into_inner();
    // Over another connection as well: the client's broke.
    let again = server.client().await.step(request.clone()).await.unwrap().into_inner();
    assert_eq!(again, answer);
    assert_eq!(sequence_of(&mut client, &name).await, 2);
    let next = client.step(numbered(step(&name, &[1, 2]), 3)).await.unwrap().into_inner();
    assert_eq!(next.sequence_number, 3);
    assert_ne!(next.observations, answer.observations);
}

#[tokio::test]
async fn any_other_number_is_a_mismatch_and_moves_nothing() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(1, 1)).await.name;
    client.reset(pb::ResetRequest { sequence_number: 1, ..reset(&name) }).await.unwrap();
    let answer = client.step(numbered(step(&name, &[3]), 2)).await.unwrap().into_inner();
    for wrong in [1, 4, u64::MAX] {
        let got = client.step(numbered(step(&name, &[3]), wrong)).await;
        let reported = refused(got, Code::Aborted, "SEQUENCE_MISMATCH");
        assert_eq!(
            (reported.metadata("expected"), reported.metadata("got")),
            ("3", wrong.to_string().as_str())
        );
    }
    // The last number with another request: other actions, another call, the same bytes to another call.
    let got = client.step(numbered(step(&name, &[4]), 2)).await;
    refused(got, Code::Aborted, "SEQUENCE_MISMATCH");
    let got = client.reset(pb::ResetRequest { sequence_number: 2, ..reset(&name) }).await;
    refused(got, Code::Aborted, "SEQUENCE_MISMATCH");
    let again = client.step(numbered(step(&name, &[3]), 2)).await.unwrap().into_inner();
    assert_eq!(again, answer, "the kept answer is still there");
}

#[tokio::test]
async fn an_unnumbered_call_counts_and_keeps_nothing() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(1, 1)).await.name;
    client.reset(reset(&name)).await.unwrap();
    client.step(numbered(step(&name, &[0]), 2)).await.unwrap();
    assert_eq!(client.step(step(&name, &[0])).await.unwrap().into_inner().sequence_number, 3);
    let got = client.step(numbered(step(&name, &[0]), 3)).await;
    refused(got, Code::Aborted, "SEQUENCE_MISMATCH");
    assert_eq!(client.step(numbered(step(&name, &[0]), 4)).await.unwrap().into_inner().sequence_number, 4);
}

#[tokio::test]
async fn a_refused_call_uses_no_number() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(1, 1)).await.name;
    client.reset(pb::ResetRequest { sequence_number: 1, ..reset(&name) }).await.unwrap();
    let reported = refused(
        client.step(numbered(step(&name, &[40]), 2)).await,
        Code::InvalidArgument,
        "ACTION_OUT_OF_RANGE",
    );
    assert_eq!(reported.metadata("count"), "1");
    assert_eq!(sequence_of(&mut client, &name).await, 1);
    assert_eq!(client.step(numbered(step(&name, &[0]), 2)).await.unwrap().into_inner().sequence_number, 2);
}

#[tokio::test]
async fn a_step_whose_caller_left_has_happened_or_not_and_the_number_tells() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(4096, 5)).await.name;
    let mut straight = server.client().await;
    let other = create(&mut straight, config(4096, 5)).await.name;
    client.reset(reset(&name)).await.unwrap();
    straight.reset(reset(&other)).await.unwrap();
    let actions = [0; 4096];
    for sequence_number in 2..8 {
        let expected =
            straight.step(numbered(step(&other, &actions), sequence_number)).await.unwrap().into_inner();
        // Callers that leave at once, at some point on the way; then one that waits.
        for _ in 0..3 {
            let (mut leaving, request) = (client.clone(), numbered(step(&name, &actions), sequence_number));
            let call = tokio::spawn(async move { leaving.step(request).await });
            tokio::task::yield_now().await;
            call.abort();
        }
        let got = client.step(numbered(step(&name, &actions), sequence_number)).await.unwrap().into_inner();
        assert_eq!(got, expected, "sequence {sequence_number}");
    }
}
