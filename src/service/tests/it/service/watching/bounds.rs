//! What watching may take: how many watch, what they ask for, how often frames come, and callers that do not read.

use std::time::{Duration, Instant};

use tetrion_protocol::limits::{MAX_FRAMES_PER_SECOND, MAX_WATCHED_ENVS, MAX_WATCHES_PER_SESSION};
use tetrion_protocol::pb;
use tetrion_server::ServerConfig;
use tetrion_service::ServerLimits;
use tokio_util::sync::DropGuard;
use tonic::Code;
use tonic::transport::Endpoint;
use tonic_types::StatusExt;

use super::{Viewer, request, rules, try_watch, until, watch};
use crate::support::{by, field_names, start, start_with};
use tetrion_service_testing::servers::listen_with;
use tetrion_service_testing::{Client, config, create, only, refused, reset, step};

#[tokio::test]
async fn callers_that_watch_are_limited() {
    let server =
        start_with(ServerLimits { max_watches: MAX_WATCHES_PER_SESSION + 1, ..ServerLimits::default() })
            .await;
    let mut client = server.client().await;
    let mut names = Vec::new();
    for seed in 0..2 {
        names.push(create(&mut client, config(3, seed)).await.name);
    }
    let memory = server.store.memory().taken();
    let mut viewers = Vec::new();
    for _ in 0..MAX_WATCHES_PER_SESSION {
        viewers.push(watch(&mut client, &names[0]).await.0);
    }
    let full = refused(
        try_watch(&mut client, request(&names[0])).await.map(drop),
        Code::ResourceExhausted,
        "WATCH_LIMIT",
    );
    assert_eq!(full.message, "the session has reached its limit on watches, 8");
    assert!(full.details.retry_info().is_some());
    assert_eq!(server.store.num_watches(), MAX_WATCHES_PER_SESSION, "a refusal takes no place");
    viewers.push(watch(&mut client, &names[1]).await.0);
    let full = refused(
        try_watch(&mut client, request(&names[1])).await.map(drop),
        Code::ResourceExhausted,
        "WATCH_LIMIT",
    );
    assert_eq!(full.message, "the server has reached its limit on watches, 9");
    // A place is free again when its caller has left.
    viewers.remove(0);
    until(|| server.store.num_watches() == MAX_WATCHES_PER_SESSION).await;
    viewers.push(watch(&mut client, &names[0]).await.0);
    viewers.clear();
    until(|| server.store.num_watches() == 0).await;
    // What was kept for them is given back, at the latest.
    until(|| server.store.memory().taken() == memory).await;
}

/// A server where each connection is a caller, with two sessions of it.
async fn listen(limits: ServerLimits) -> (Endpoint, [String; 2], DropGuard) {
    let (address, guard) = listen_with(ServerConfig { limits, ..ServerConfig::default() }).await;
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let mut client = Client::new(endpoint.connect().await.unwrap());
    let mut names = [String::new(), String::new()];
    for name in &mut names {
        *name = create(&mut client, config(64, 1)).await.name;
        client.reset(reset(name)).await.unwrap();
    }
    (endpoint, names, guard)
}

#[tokio::test]
async fn one_caller_does_not_take_the_places_of_all() {
    let limits = ServerLimits { max_watches: 5, max_watches_per_caller: 3, ..ServerLimits::default() };
    let (endpoint, [name, _], _guard) = listen(limits).await;
    let mut viewers = Vec::new();
    for (most, message) in [
        (3, "this connection has reached its limit on watches, 3"),
        (2, "the server has reached its limit on watches, 5"),
    ] {
        let mut client = Client::new(endpoint.connect().await.unwrap());
        for _ in 0..most {
            viewers.push(watch(&mut client, &name).await.0);
        }
        let full = try_watch(&mut client, request(&name)).await.map(drop);
        assert_eq!(refused(full, Code::ResourceExhausted, "WATCH_LIMIT").message, message);
    }
}

#[tokio::test]
async fn a_token_may_have_a_limit_of_its_own() {
    let server = start().await;
    let mut client = server.client().await;
    let create = pb::CreateSessionRequest { config: Some(config(1, 1)), ..Default::default() };
    let made = client.create_session(by("small", create)).await.unwrap().into_inner();
    let name = made.session.unwrap().name;
    let _viewer = client.watch_session(by("small", request(&name))).await.unwrap();
    let full = client.watch_session(by("small", request(&name))).await.map(drop);
    let message = refused(full, Code::ResourceExhausted, "WATCH_LIMIT").message;
    assert_eq!(message, "the token \"small\" has reached its limit on watches, 1");
    let told = client.get_server_info(by("small", pb::GetServerInfoRequest::default())).await.unwrap();
    assert_eq!(told.into_inner().limits.unwrap().watches.unwrap().max_watches_per_caller, 1);
}

/// A viewer that leaves its first frame unread: its connection has room for less than that.
async fn stalled(endpoint: &Endpoint, name: &str) -> Viewer {
    let narrow = endpoint.clone().initial_stream_window_size(65_535).initial_connection_window_size(65_535);
    let mut client = Client::new(narrow.connect().await.unwrap());
    let mut viewer = try_watch(&mut client, request(name)).await.unwrap();
    viewer.started().await;
    viewer
}

#[tokio::test]
async fn a_caller_that_does_not_read_gives_its_place_to_one_that_does() {
    for max_watches in [1, 256] {
        let limits = ServerLimits {
            max_watches,
            max_unread_time: Duration::from_millis(50),
            ..ServerLimits::default()
        };
        let (endpoint, names, _guard) = listen(limits).await;
        // All places of the server, or of the session.
        let wide = pb::SessionConfig { rules: rules("simplified", 32, 40, 0), ..config(MAX_WATCHED_ENVS, 1) };
        let mut learner = Client::new(endpoint.connect().await.unwrap());
        let name = create(&mut learner, wide).await.name;
        learner.reset(reset(&name)).await.unwrap();
        let mut idle = Vec::new();
        for _ in 0..max_watches.min(MAX_WATCHES_PER_SESSION) {
            idle.push(stalled(&endpoint, &name).await);
        }
        let mut client = Client::new(endpoint.connect().await.unwrap());
        let watched = if max_watches == 1 { &names[0] } else { &name };
        let start = Instant::now();
        let mut viewer = loop {
            // New frames fill the windows of those that do not read.
            learner.step(step(&name, &[0; MAX_WATCHED_ENVS as usize])).await.unwrap();
            match try_watch(&mut client, request(watched)).await {
                Ok(viewer) => break viewer,
                Err(status) => assert_eq!(status.code(), Code::ResourceExhausted, "{status}"),
            }
            assert!(start.elapsed() < Duration::from_secs(20), "no place for a caller that reads");
        };
        viewer.started().await;
        viewer.frame().await;
        // One of them has lost its place, and learns it when it reads on.
        let mut ends = tokio::task::JoinSet::new();
        for mut viewer in idle {
            ends.spawn(async move { viewer.end().await });
        }
        let end = ends.join_next().await.unwrap().unwrap();
        assert_eq!(end.code(), Code::Aborted, "{end}");
        assert_eq!(end.get_error_details().error_info().unwrap().reason, "ANSWER_UNREAD");
    }
}

#[tokio::test]
async fn what_is_asked_for_is_bounded() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(MAX_WATCHED_ENVS + 1, 1)).await.name;
    let asked = |envs, max_frames_per_second| pb::WatchSessionRequest {
        session: name.clone(),
        envs,
        max_frames_per_second,
    };
    for (envs, rate, field) in [
        (only(0..MAX_WATCHED_ENVS + 1), 0, "envs.ids"),
        (only([3, MAX_WATCHED_ENVS + 1]), 0, "envs.ids[1]"),
        (only([3, 4, 3]), 0, "envs.ids[2]"),
        (None, MAX_FRAMES_PER_SECOND + 1, "max_frames_per_second"),
    ] {
        let reported = refused(
            try_watch(&mut client, asked(envs, rate)).await.map(drop),
            Code::InvalidArgument,
            "INVALID_FIELD",
        );
        assert_eq!(reported.fields(), [field]);
    }
    let nameless = pb::WatchSessionRequest::default();
    let reported =
        refused(try_watch(&mut client, nameless).await.map(drop), Code::InvalidArgument, "INVALID_FIELD");
    assert_eq!(reported.fields(), ["session"]);
    for (envs, rate, shown, at_most) in [
        (None, 0, (0..MAX_WATCHED_ENVS).collect::<Vec<_>>(), 20),
        (only((1..MAX_WATCHED_ENVS + 1).rev()), 60, (1..MAX_WATCHED_ENVS + 1).rev().collect(), 60),
        (only([7]), 1, vec![7], 1),
    ] {
        let mut viewer = try_watch(&mut client, asked(envs, rate)).await.unwrap();
        let started = viewer.started().await;
        assert_eq!((started.env_ids, started.max_frames_per_second), (shown, at_most));
        viewer.frame().await;
    }
}

#[tokio::test]
async fn frames_come_no_faster_than_asked_for() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(1, 1)).await.name;
    client.reset(reset(&name)).await.unwrap();
    let asked = pb::WatchSessionRequest { max_frames_per_second: 20, ..request(&name) };
    let mut viewer = try_watch(&mut client, asked).await.unwrap();
    viewer.started().await;
    let (mut learner, session) = (client.clone(), name.clone());
    let stepping = tokio::spawn(async move {
        loop {
            learner.step(step(&session, &[0])).await.unwrap();
        }
    });
    let (start, mut frames) = (Instant::now(), Vec::new());
    while start.elapsed() < Duration::from_millis(600) {
        frames.push(viewer.frame().await);
    }
    stepping.abort();
    let elapsed = start.elapsed().as_secs_f64();
    assert!(frames.len() as f64 <= elapsed * 20.0 + 2.0, "{} in {elapsed} s", frames.len());
    assert!(frames.len() >= 3, "{} in {elapsed} s", frames.len());
    let sequences: Vec<u64> = frames.iter().map(|frame| frame.sequence_number).collect();
    assert!(sequences.is_sorted_by(|a, b| a < b), "{sequences:?}");
}

/// The window of its connection holds less than a frame, so a caller that does not read gets one frame late, and then the newest.
#[tokio::test]
async fn a_caller_that_does_not_read_skips_frames_and_delays_no_step() {
    let (address, _stop) = listen_with(ServerConfig::default()).await;
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let mut client = Client::new(endpoint.connect().await.unwrap());
    let config = pb::SessionConfig {
        rules: rules("simplified", 32, 40, 0),
        observation_fields: field_names(&["current"]),
        ..config(MAX_WATCHED_ENVS, 1)
    };
    let name = create(&mut client, config).await.name;
    client.reset(reset(&name)).await.unwrap();
    let info = client.get_server_info(pb::GetServerInfoRequest::default()).await.unwrap();
    let limits = info.into_inner().limits.unwrap().watches.unwrap();
    assert_eq!((limits.max_watches, limits.max_watches_per_session), (256, 8));
    let narrow = endpoint.initial_stream_window_size(65_535).initial_connection_window_size(65_535);
    let mut slow = Client::new(narrow.connect().await.unwrap());
    let mut viewer = try_watch(&mut slow, request(&name)).await.unwrap();
    let actions = [0; MAX_WATCHED_ENVS as usize];
    let start = Instant::now();
    let mut last = 0;
    // At 60 a second, dozens of frames would be due meanwhile.
    while start.elapsed() < Duration::from_millis(700) {
        last = client.step(step(&name, &actions)).await.unwrap().into_inner().sequence_number;
    }
    viewer.started().await;
    let mut frames = Vec::new();
    while frames.last().is_none_or(|frame: &pb::WatchFrame| frame.sequence_number < last) {
        frames.push(viewer.frame().await);
    }
    assert!(frames.len() <= 3, "{} frames were kept for a caller that did not read", frames.len());
    assert_eq!(frames[0].envs.len(), 64);
}
