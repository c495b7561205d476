//! GetTask and ScoreTask: what they answer, and what they refuse.

use tetrion_protocol::{pb, positions};
use tonic::Code;

use crate::support::{drawing, field_names, numbers, restore, start};
use tetrion_service_testing::{config, create, enumerate, refused};

fn of(split: &str, index: u32) -> pb::GetTaskRequest {
    pb::GetTaskRequest { split: split.to_owned(), index }
}

fn scored(index: u32, actions: &[i32]) -> pb::ScoreTaskRequest {
    pb::ScoreTaskRequest { split: "train".to_owned(), index, actions: actions.to_vec(), ..Default::default() }
}

fn texts(index: u32, texts: &[&str]) -> pb::ScoreTaskRequest {
    let text_actions = texts.iter().map(|text| (*text).to_owned()).collect();
    pb::ScoreTaskRequest { text_actions, ..scored(index, &[]) }
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
        let stepped =
            client.step(tetrion_service_testing::step(&session, &[*action])).await.unwrap().into_inner();
        assert_eq!(crate::support::numbers(&stepped.infos[0]), [0.0]);
    }
    let score = client.score_task(scored(1, &task.oracle_actions)).await.unwrap().into_inner();
    assert_eq!((score.score, score.done, score.pieces), (1.0, true, task.num_pieces.into()));
    assert!(score.regrets.iter().all(|regret| *regret == 0.0) && score.spreads.len() == score.regrets.len());
    let none = client.score_task(scored(1, &[])).await.unwrap().into_inner();
    assert_eq!((none.score, none.done, none.pieces), (0.0, false, 0));
}

#[tokio::test]
async fn placements_have_values_where_these_are_known() {
    let server = start().await;
    let mut client = server.client().await;
    let of = |width, height, rows: &[&str]| {
        let drawings = vec![drawing(rows, "O"); 3000];
        let rules = pb::Rules { width, height, ..Default::default() };
        let positions = pb::Positions { rules: Some(rules), ..positions::from_drawings(drawings) };
        pb::EnumeratePlacementsRequest { include_optimal_values: true, ..enumerate(positions) }
    };
    // So many that the server works in slices. Two rows clear in the middle. Games have a multiple of four cells.
    let known = client.enumerate_placements(of(4, 5, &["#..#", "#..#"])).await.unwrap().into_inner();
    let values = numbers(known.optimal_values.as_ref().unwrap());
    let (empty, all) = (12.506553871, known.lines.as_ref().unwrap().data.len());
    assert_eq!((all, values.len()), (9000, 9000));
    assert!(
        values.chunks(3).all(|row| row == &values[..3] && (row[1] - 2.0 - empty).abs() < 1e-8),
        "{values:?}"
    );
    let unknown = client.enumerate_placements(of(4, 5, &["...#", "..##"])).await.unwrap().into_inner();
    assert!(numbers(&unknown.optimal_values.unwrap()).iter().any(|value| value.is_nan()));
    let plain = pb::EnumeratePlacementsRequest { include_optimal_values: false, ..of(4, 5, &[]) };
    assert!(client.enumerate_placements(plain).await.unwrap().into_inner().optimal_values.is_none());
    let refusal = client.enumerate_placements(of(10, 20, &[])).await;
    let refusal = refused(refusal, Code::InvalidArgument, "INVALID_FIELD");
    assert_eq!(refusal.fields(), ["include_optimal_values"]);
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
        (texts(0, &["zz"]), "text_actions[0]"),
        (texts(0, &["a", "a"]), "text_actions[1]"),
        (pb::ScoreTaskRequest { actions: vec![0], ..texts(0, &["a"]) }, "text_actions"),
        (texts(6, &["a"]), "text_actions"),
        (scored(6, &[0]), "actions"),
        (scored(6, &[]), "formula"),
        (formula(0, "-holes"), "formula"),
        (formula(6, "-hole"), "formula.text"),
    ] {
        let refusal = refused(client.score_task(request).await, Code::InvalidArgument, invalid);
        assert_eq!(refusal.fields(), [field]);
    }
}
