//! Actions as text: read like numbers, refused with the legal ones, and counted where the policy accepts them.

use tetrion_protocol::pb;
use tonic::Code;

use crate::support::{field_names, numbers, start};
use tetrion_service_testing::{config, create, refused, reset, step};

fn said(session: &str, texts: &[&str]) -> pb::StepRequest {
    let text_actions = texts.iter().map(|&text| text.to_owned()).collect();
    pb::StepRequest { session: session.to_owned(), text_actions, ..Default::default() }
}

#[tokio::test]
async fn a_text_steps_like_its_number() {
    let server = start().await;
    let mut client = server.client().await;
    let by_text = create(&mut client, config(2, 5)).await;
    let by_number = create(&mut client, config(2, 5)).await;
    for session in [&by_text, &by_number] {
        client.reset(reset(&session.name)).await.unwrap();
    }
    for (texts, actions) in [(["a", "0@3"], [0, 3]), ([" B ", "b"], [1, 1]), (["c", "0@2"], [2, 2])] {
        let read = client.step(said(&by_text.name, &texts)).await.unwrap().into_inner();
        assert_eq!(numbers(read.actions.as_ref().unwrap()), actions.map(f64::from));
        let expected = client.step(step(&by_number.name, &actions)).await.unwrap().into_inner();
        assert_eq!(expected.actions, None);
        assert_eq!(pb::StepResponse { actions: None, ..read }, expected);
    }
}

#[tokio::test]
async fn a_text_that_is_no_action_is_refused_with_the_legal_ones_and_changes_nothing() {
    let server = start().await;
    let mut client = server.client().await;
    let session = create(&mut client, config(2, 5)).await.name;
    client.reset(reset(&session)).await.unwrap();
    let got = client.step(said(&session, &["a", "0@99"])).await;
    let refusal = refused(got, Code::InvalidArgument, "ILLEGAL_ACTION");
    assert_eq!(refusal.fields(), ["text_actions[1]"]);
    let message = client.step(said(&session, &["a", "0@99"])).await.unwrap_err().message().to_owned();
    assert!(
        message.starts_with("text_actions[1]: \"0@99\" is not a legal action, expected one of: a 0@0-"),
        "{message}"
    );
    for (texts, problem) in [(&["a"][..], "has 1 texts, expected 2"), (&["a", "a", "a"], "has 3 texts")] {
        let refusal =
            refused(client.step(said(&session, texts)).await, Code::InvalidArgument, "INVALID_FIELD");
        assert_eq!(refusal.fields(), ["text_actions"], "{problem}");
    }
    let both = pb::StepRequest { text_actions: vec!["a".to_owned(); 2], ..step(&session, &[0, 0]) };
    refused(client.step(both).await, Code::InvalidArgument, "INVALID_FIELD");
    let answer = client.step(said(&session, &["a", "a"])).await.unwrap().into_inner();
    assert_eq!(answer.sequence_number, 2, "nothing but the reset and this step has counted");
}

#[tokio::test]
async fn where_invalid_actions_are_ignored_such_a_text_is_counted() {
    let server = start().await;
    let mut client = server.client().await;
    let ignoring = pb::SessionConfig {
        invalid_action_policy: pb::InvalidActionPolicy::Ignore.into(),
        invalid_action_reward: -2.0,
        info_fields: field_names(&["invalid_actions", "steps"]),
        ..config(1, 5)
    };
    let session = create(&mut client, ignoring).await.name;
    client.reset(reset(&session)).await.unwrap();
    let answer = client.step(said(&session, &["I place it on the left"])).await.unwrap().into_inner();
    assert_eq!(numbers(answer.rewards.as_ref().unwrap()), [-2.0]);
    assert_eq!(answer.infos.iter().map(|info| numbers(info)[0]).collect::<Vec<_>>(), [1.0, 1.0]);
}

#[tokio::test]
async fn a_text_for_an_ended_episode_is_not_read() {
    let server = start().await;
    let mut client = server.client().await;
    let rules = pb::Rules { preset: "simplified".to_owned(), width: 4, height: 4, ..Default::default() };
    let session = create(&mut client, pb::SessionConfig { rules: Some(rules), ..config(1, 5) }).await.name;
    client.reset(reset(&session)).await.unwrap();
    loop {
        let answer = client.step(said(&session, &["a"])).await.unwrap().into_inner();
        if numbers(answer.terminated.as_ref().unwrap()) == [1.0] {
            break;
        }
    }
    client.step(said(&session, &["anything"])).await.unwrap();
    client.step(said(&session, &["a"])).await.unwrap();
}

#[tokio::test]
async fn a_line_of_a_drawn_list_can_be_stepped() {
    let server = start().await;
    let mut client = server.client().await;
    let rules = pb::Rules { preset: "guideline".to_owned(), ..Default::default() };
    let session = create(&mut client, pb::SessionConfig { rules: Some(rules), ..config(3, 5) }).await.name;
    client.reset(reset(&session)).await.unwrap();
    for format in [pb::RenderFormat::PromptActions, pb::RenderFormat::PromptConsequences] {
        let render = pb::RenderRequest {
            session: session.clone(),
            envs: Some(pb::EnvIds { ids: vec![2, 0] }),
            format: format.into(),
            ..Default::default()
        };
        let frames = client.render(render).await.unwrap().into_inner().frames;
        let lines: Vec<&str> = frames.iter().map(|frame| frame.lines().last().unwrap()).collect();
        let entries: Vec<&str> = lines.iter().map(|line| line.split(':').next().unwrap()).collect();
        assert!(entries[0].contains("hold "), "{entries:?}");
        let envs = Some(pb::EnvIds { ids: vec![2, 0] });
        client.step(pb::StepRequest { envs, ..said(&session, &entries) }).await.unwrap();
    }
}

#[tokio::test]
async fn a_list_that_is_larger_than_the_client_accepts_is_refused() {
    let server = start().await;
    let mut client = server.client().await;
    let wanted = pb::SessionConfig { max_response_bytes: 16_384, ..config(4, 5) };
    let session = create(&mut client, wanted).await.name;
    client.reset(reset(&session)).await.unwrap();
    let render = |ids: Vec<u32>| pb::RenderRequest {
        session: session.clone(),
        envs: Some(pb::EnvIds { ids }),
        format: pb::RenderFormat::PromptConsequences.into(),
        ..Default::default()
    };
    let one = client.render(render(vec![0])).await.unwrap().into_inner().frames[0].len();
    assert!((1_000..4_000).contains(&one), "{one}");
    let all = client.render(render(vec![0, 1, 2, 3])).await.unwrap().into_inner().frames;
    assert_eq!(all.len(), 4);
}
