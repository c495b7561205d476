//! Evaluations share a limited memory: each takes what it may come to hold before its request is read, and gives it back
//! however it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tetrion_core::pool::{Party, Pool};
use tetrion_protocol::footprint::evaluation_bytes;
use tetrion_protocol::limits::MAX_GAMES;
use tetrion_protocol::pb::evaluation_service_server::EvaluationService;
use tetrion_protocol::{pb, seeding};
use tetrion_server::ServerConfig;
use tetrion_service::{CallPool, Evaluations, Kernel, Pressure, ServerLimits};
use tokio_stream::StreamExt;
use tonic::{Code, Request, Status};
use tonic_types::StatusExt;

use tetrion_service_testing::evaluations::{ask, endless, matrix, request, start_with, weighing};

/// The service without a server around it, with this many bytes and two threads.
fn service(evaluation_memory: u64) -> (Evaluations, Arc<Pool>) {
    let pool = Pool::new(2).unwrap();
    let limits =
        ServerLimits { evaluation_memory, max_unread_time: Duration::ZERO, ..ServerLimits::default() };
    let calls = CallPool::new(Pool::new(1).unwrap(), limits.max_call_work, Pressure::default());
    (Evaluations::new(pool.clone(), calls, Kernel::best(), limits), pool)
}

fn of_caller(request: pb::EvaluatePoliciesRequest, party: &Party) -> Request<pb::EvaluatePoliciesRequest> {
    let mut request = Request::new(request);
    request.extensions_mut().insert(party.clone());
    request
}

async fn given_back(evaluations: &Evaluations) {
    let start = Instant::now();
    while evaluations.memory().taken() > 0 {
        assert!(start.elapsed() < Duration::from_secs(20), "{} bytes are kept", evaluations.memory().taken());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn refused(status: &Status) {
    assert_eq!(status.code(), Code::ResourceExhausted, "{status}");
    let details = status.get_error_details();
    assert_eq!(details.error_info().unwrap().reason, "MEMORY_LIMIT");
    assert_eq!(details.quota_failure().unwrap().violations[0].subject, "evaluation_memory");
}

#[tokio::test]
async fn an_evaluation_takes_its_memory_before_it_begins() {
    let bytes = evaluation_bytes(&endless(), 2);
    let (evaluations, _pool) = service(4 * bytes);
    let parties = [Party::new_connection(), Party::new_connection()];
    let mut running = Vec::new();
    // One caller never holds more than it leaves free.
    for (party, most) in parties.iter().zip([2, 1]) {
        for _ in 0..most {
            running.push(evaluations.evaluate_policies(of_caller(endless(), party)).await.unwrap());
        }
        let status = evaluations.evaluate_policies(of_caller(endless(), party)).await.unwrap_err();
        refused(&status);
        assert!(status.get_error_details().retry_info().is_some(), "it may help to wait");
    }
    assert_eq!(evaluations.memory().taken(), 3 * bytes);
    running.pop();
    let start = Instant::now();
    while evaluations.evaluate_policies(of_caller(request(), &parties[1])).await.is_err() {
        assert!(start.elapsed() < Duration::from_secs(20), "the memory was never given back");
        tokio::task::yield_now().await;
    }
    drop(running);
    given_back(&evaluations).await;

    // It does not help to wait for more than a caller may ever have.
    let (evaluations, _pool) = service(2 * bytes - 2);
    let status = evaluations.evaluate_policies(of_caller(endless(), &parties[0])).await.unwrap_err();
    refused(&status);
    assert!(status.get_error_details().retry_info().is_none());
    assert_eq!((evaluations.memory().taken(), evaluations.num_running()), (0, 0), "a refusal takes nothing");
}

#[tokio::test]
async fn it_is_given_back_however_the_evaluation_ends() {
    let (evaluations, pool) = service(1 << 30);
    let party = Party::new_connection();
    let begin = |request| evaluations.evaluate_policies(of_caller(request, &party));

    // It is played to its end and read.
    let mut answer = begin(request()).await.unwrap().into_inner();
    assert!(evaluations.memory().taken() > 0);
    while let Some(message) = answer.next().await {
        message.unwrap();
    }
    given_back(&evaluations).await;

    // Its request is wrong.
    let wrong = pb::EvaluatePoliciesRequest { episodes_per_seed: 1 << 30, ..request() };
    assert_eq!(begin(wrong).await.unwrap_err().code(), Code::InvalidArgument);
    given_back(&evaluations).await;

    // Its caller leaves, before the first message and after it.
    drop(begin(endless()).await.unwrap());
    given_back(&evaluations).await;
    let mut answer = begin(endless()).await.unwrap().into_inner();
    answer.next().await.unwrap().unwrap();
    drop(answer);
    given_back(&evaluations).await;

    // Its caller leaves while the threads do something else: they still hold it.
    let (busy, free) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
    for _ in 0..2 {
        let (busy, free) = (busy.clone(), free.clone());
        pool.lane(Party::Own).spawn(move || {
            free.store(true, Ordering::SeqCst);
            while busy.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        });
    }
    let mut answer = begin(endless()).await.unwrap().into_inner();
    answer.next().await.unwrap().unwrap();
    drop(answer);
    assert!(evaluations.memory().taken() > 0 || !free.load(Ordering::SeqCst), "games wait for a thread");
    busy.store(false, Ordering::SeqCst);
    given_back(&evaluations).await;
}

#[tokio::test]
async fn a_usual_evaluation_is_never_refused_alone() {
    // A hundred policies of a thousand games each, and as many games as there may be, at the limits of servers.
    let memory = ServerLimits::DEFAULT.evaluation_memory;
    let mut usual = request();
    usual.policies = vec![weighing(matrix(&[[-0.5; 4]; 100]))];
    usual.seeding = Some(seeding::from_drawn(1, 1000));
    let mut most = usual.clone();
    most.seeding = Some(seeding::from_drawn(1, (MAX_GAMES / 100) as u32));
    for (request, part) in [(usual, 16), (most, 2)] {
        let bytes = evaluation_bytes(&request, 64);
        assert!(bytes <= memory / part, "{bytes} bytes of {memory}");
    }
    let (mut client, _guard) = start_with(ServerConfig::default()).await;
    ask(&mut client, request()).await.unwrap();
}
