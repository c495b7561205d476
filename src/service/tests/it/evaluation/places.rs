//! Evaluations end and make room for others, share the threads, and report their progress.

use tetrion_protocol::pb;
use tetrion_protocol::pb::evaluate_policies_response::Event;
use tetrion_server::ServerConfig;
use tetrion_service::ServerLimits;
use tonic::Code;
use tonic_types::StatusExt;

use tetrion_service_testing::evaluations::{
    ask, endless, next, request, start, start_with, until_there_is_room,
};

/// The usual limits, and this many evaluations.
fn at_most(max_evaluations: u32) -> ServerLimits {
    ServerLimits { max_evaluations, ..ServerLimits::default() }
}

#[tokio::test]
async fn a_place_is_free_again_when_the_caller_has_left() {
    let config = ServerConfig { num_threads: 2, limits: at_most(1), ..ServerConfig::default() };
    let (mut client, _guard) = start_with(config).await;
    let mut stream = client.evaluate_policies(endless()).await.unwrap().into_inner();
    assert!(matches!(next(&mut stream).await, Ok(Some(Event::Started(_)))));

    let refused = client.evaluate_policies(request()).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    let details = refused.get_error_details();
    assert_eq!(details.error_info().unwrap().reason, "EVALUATION_LIMIT");
    assert!(details.retry_info().is_some() && details.quota_failure().is_some());

    drop(stream);
    println!("free after {:?}", until_there_is_room(&mut client).await);
}

#[tokio::test]
async fn a_place_is_free_again_when_the_deadline_has_passed() {
    let config = ServerConfig { num_threads: 2, limits: at_most(1), ..ServerConfig::default() };
    let (mut client, _guard) = start_with(config).await;
    let mut with_deadline = tonic::Request::new(endless());
    with_deadline.metadata_mut().insert("grpc-timeout", "200m".parse().unwrap());
    let mut stream = client.evaluate_policies(with_deadline).await.unwrap().into_inner();
    let end = loop {
        match next(&mut stream).await {
            Ok(event) => assert!(event.is_some(), "no end without a summary or an error"),
            Err(status) => break status,
        }
    };
    assert!(matches!(end.code(), Code::DeadlineExceeded | Code::Cancelled), "{end}");
    until_there_is_room(&mut client).await;
}

#[tokio::test]
async fn evaluations_share_the_threads() {
    let (mut client, _guard) = start(1).await;
    let mut long = client.evaluate_policies(endless()).await.unwrap().into_inner();
    assert!(matches!(next(&mut long).await, Ok(Some(Event::Started(_)))));
    // With one thread, and a game before it that would never end.
    assert_eq!(ask(&mut client, request()).await.unwrap().results.len(), 30);
}

#[tokio::test]
async fn progress_comes_while_games_are_played() {
    let (mut client, _guard) = start(1).await;
    let progress_interval = Some(prost_types::Duration { seconds: 0, nanos: 1 });
    let often = pb::EvaluatePoliciesRequest { progress_interval, include_results: false, ..endless() };
    let mut stream = client.evaluate_policies(often).await.unwrap().into_inner();
    let mut pieces = Vec::new();
    // As many as it takes on a busy machine: progress that never moves would go on for ever.
    while pieces.len() < 4 || pieces.first() == pieces.last() {
        if let Some(Event::Progress(progress)) = next(&mut stream).await.unwrap() {
            assert_eq!(progress.num_games, 2000);
            pieces.push(progress.pieces_done);
        }
    }
    assert!(pieces.is_sorted(), "{pieces:?}");
}

#[tokio::test]
async fn progress_may_be_reported_less_often_than_any_clock_can_count() {
    let (mut client, _guard) = start(2).await;
    for (seconds, nanos) in [(i64::MAX, 0), (i64::MAX, i32::MAX), (i64::MAX / 1_000_000_000, 0)] {
        let progress_interval = Some(prost_types::Duration { seconds, nanos });
        let request = pb::EvaluatePoliciesRequest { progress_interval, ..request() };
        let mut stream = client.evaluate_policies(request).await.unwrap().into_inner();
        let mut reported = 0;
        let mut last = None;
        while let Some(event) = next(&mut stream).await.unwrap() {
            reported += u32::from(matches!(event, Event::Progress(_)));
            last = Some(event);
        }
        assert!(reported == 1 && matches!(last, Some(Event::Summary(_))), "{reported} messages of progress");
    }
}
