//! GetTask and ScoreTask: what they answer, and what they refuse.

use tetrion::wire::pb;
use tonic::Code;

use crate::support::{config, create, field_names, refused, restore, start};

fn of(split: &str, index: u32) -> pb::GetTaskRequest {
    pb::GetTaskRequest { split: split.to_owned(), index }
}

fn scored(index: u32, actions: &[i32]) -> pb::ScoreTaskRequest {
    pb::ScoreTaskRequest { split: "train".to_owned(), index, actions: actions.to_vec(), formula: None }
}

fn formula(index: u32, text: &str) -> pb::ScoreTaskRequest {
    pb::ScoreTaskRequest { formula: Some(pb::Formula { text: text.to_owned() }), ..scored(index, &[]) }
}

#[tokio::test]
async fn an_oracle_scores_one_in_a_session_and_by_its_actions() {
    let server = start().await;
    let mut client = server.client().await;
    let task = client.get_task(of("train", 1)).await.unwrap().into_inner();
    assert_eq!((task.suite.as_str(), task.group.as_str(), task.index), ("tetrion-tasks-1", "play", 1));
    let wanted = pb::SessionConfig {
        rules: task.rules.clone(),
        info_fields: field_names(&["regret"]),
        ..config(1, 1)
    };
    let session = create(&mut client, wanted).await.name;
    let snapshots = pb::Snapshots { states: vec![task.state.clone()] };
    let positions =
        pb::Positions { kind: Some(pb::positions::Kind::Snapshots(snapshots)), ..Default::default() };
    client.restore_state(restore(&session, positions)).await.unwrap();
    for action in &task.oracle_actions {
        let stepped = client.step(crate::support::step(&session, &[*action])).await.unwrap().into_inner();
        assert_eq!(crate::support::numbers(&stepped.infos[0]), [0.0]);
    }
    let score = client.score_task(scored(1, &task.oracle_actions)).await.unwrap().into_inner();
    assert_eq!((score.score, score.done, score.pieces), (1.0, true, task.num_pieces.into()));
    assert!(score.regrets.iter().all(|regret| *regret == 0.0) && score.spreads.len() == score.regrets.len());
    let none = client.score_task(scored(1, &[])).await.unwrap().into_inner();
    assert_eq!((none.score, none.done, none.pieces), (0.0, false, 0));
}

#[tokio::test]
async fn a_formula_is_scored_between_random_play_and_our_controller() {
    let server = start().await;
    let mut client = server.client().await;
    let task = client.get_task(of("train", 6)).await.unwrap().into_inner();
    assert!(task.state.is_empty() && task.oracle_actions.is_empty());
    let mut scores = Vec::new();
    for text in ["0 * holes", "-holes", "-holes - total_height", &task.oracle_formula] {
        let score = client.score_task(formula(6, text)).await.unwrap().into_inner();
        assert!(score.done, "{text}");
        scores.push(score.score);
    }
    assert!(scores.is_sorted() && scores[0] == 0.0 && scores[3] == 1.0, "{scores:?}");
    assert_eq!((task.floor_first, task.floor_random), (0.0, 0.0));
}

#[tokio::test]
async fn what_is_no_task_and_no_answer_is_refused() {
    let server = start().await;
    let mut client = server.client().await;
    let invalid = "INVALID_FIELD";
    for (request, reason, field) in [
        (of("", 0), invalid, "split"),
        (of("trian", 0), "UNKNOWN_NAME", "split"),
        (of("test", 10_500), invalid, "index"),
    ] {
        let refusal = refused(client.get_task(request).await, Code::InvalidArgument, reason);
        assert_eq!(refusal.fields(), [field]);
    }
    for (request, field) in [
        (scored(0, &[99]), "actions[0]"),
        (scored(0, &[0, 0]), "actions[1]"),
        (scored(6, &[0]), "actions"),
        (scored(6, &[]), "formula"),
        (formula(0, "-holes"), "formula"),
        (formula(6, "-hole"), "formula.text"),
    ] {
        let refusal = refused(client.score_task(request).await, Code::InvalidArgument, invalid);
        assert_eq!(refusal.fields(), [field]);
    }
}
