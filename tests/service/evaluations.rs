//! Evaluations of whole games: a request, its answer as one value, and refusals.

use std::time::{Duration, Instant};

use tetrion_core::engine::EpisodeEnd;
use tetrion_core::rollout::{Estimate, EstimatedGame, PlayedGame};
use tetrion_protocol::pb::evaluate_policies_response::Event;
use tetrion_protocol::pb::evaluation_service_client::EvaluationServiceClient;
use tetrion_protocol::pb::policy::Kind;
use tetrion_protocol::policies::Policy;
use tetrion_protocol::{features, pb, seeding, tensor};
use tetrion_server::ServerConfig;
use tokio_util::sync::DropGuard;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

use crate::refusal_of;
use crate::servers::connect_with;

/// The client that a test evaluates with.
pub type Client = EvaluationServiceClient<Channel>;

/// A client of a new server with this many threads, which stops with the guard.
pub async fn start(num_threads: usize) -> (Client, DropGuard) {
    start_with(ServerConfig { num_threads, ..ServerConfig::default() }).await
}

/// A client of a new server, which stops with the guard.
pub async fn start_with(config: ServerConfig) -> (Client, DropGuard) {
    let (channel, guard) = connect_with(config).await;
    (Client::new(channel), guard)
}

/// Weak controllers on a small playfield: their games are short, and some of them are cut.
pub const WEIGHTS: [[f64; 4]; 3] = [[-0.5, 0.8, -0.2, -0.2], [-0.5, 0.8, -0.4, -0.2], [-0.3, 0.1, 0.0, -0.2]];

/// Thirty short games of three policies, with results.
pub fn request() -> pb::EvaluatePoliciesRequest {
    pb::EvaluatePoliciesRequest {
        rules: Some(rules(8, 10)),
        policies: vec![weighing(matrix(&WEIGHTS))],
        seeding: Some(seeding::from_seeds(vec![3, 1, 4, 1, 5])),
        episodes_per_seed: 2,
        max_pieces: 300,
        include_results: true,
        ..Default::default()
    }
}

pub fn rules(width: u32, height: u32) -> pb::Rules {
    pb::Rules { width, height, ..Default::default() }
}

pub fn matrix<const F: usize>(rows: &[[f64; F]]) -> pb::Weights {
    pb::Weights {
        features: Some(features::from_set("height4")),
        weights: Some(tensor::encode(vec![rows.len() as u32, F as u32], rows.as_flattened())),
        ..Default::default()
    }
}

/// The policies of these weights.
pub fn weighing(weights: pb::Weights) -> pb::Policy {
    pb::Policy { kind: Some(Kind::Weights(weights)), ..Default::default() }
}

/// The policy with this name.
pub fn named(name: &str) -> pb::Policy {
    Policy::named(name).encode()
}

/// All events of an answer, sorted by their kinds.
#[derive(Debug, PartialEq)]
pub struct Answer {
    pub started: pb::EvaluationStarted,
    /// In the order of policy, seed and episode.
    pub results: Vec<PlayedGame>,
    pub estimates: Vec<EstimatedGame>,
    pub last_progress: pb::EvaluationProgress,
    pub summary: pb::EvaluationSummary,
}

/// Plays, and checks that the messages come in the order in which they should.
pub async fn ask(client: &mut Client, request: pb::EvaluatePoliciesRequest) -> Result<Answer, Status> {
    let mut stream = client.evaluate_policies(request).await?.into_inner();
    let Some(Event::Started(started)) = next(&mut stream).await? else { panic!("started comes first") };
    let (mut results, mut estimates, mut last_progress) = (Vec::new(), Vec::new(), None);
    loop {
        match next(&mut stream).await?.expect("a summary comes last") {
            Event::Started(_) => panic!("started comes once"),
            Event::Results(columns) => results.extend(rows(&columns)),
            Event::Estimates(columns) => estimates.extend(estimated(&columns)),
            Event::Progress(progress) => last_progress = Some(progress),
            Event::Recording(recording) => panic!("nothing is to be recorded: {recording:?}"),
            Event::Summary(summary) => {
                assert_eq!(next(&mut stream).await?, None, "nothing comes after the summary");
                let last_progress = last_progress.expect("progress comes at least once");
                results.sort_by_key(|result| (result.policy, result.seed_index, result.episode));
                for (game, result) in results.iter_mut().enumerate() {
                    result.game = game as u64;
                }
                estimates.sort_by_key(|one| (one.policy, one.seed_index, one.episode));
                for (game, one) in estimates.iter_mut().enumerate() {
                    one.game = game as u64;
                }
                return Ok(Answer { started, results, estimates, last_progress, summary });
            }
        }
    }
}

pub async fn next(stream: &mut Streaming<pb::EvaluatePoliciesResponse>) -> Result<Option<Event>, Status> {
    Ok(stream.message().await?.map(|answer| answer.event.expect("an event in each message")))
}

fn column<T: tensor::Element>(tensor: &Option<pb::Tensor>) -> Vec<T> {
    tensor::decode(tensor.as_ref().unwrap(), &[tensor::DimSize::Any]).unwrap().elements
}

fn estimated(columns: &pb::EvaluationEstimates) -> Vec<EstimatedGame> {
    let [policies, seed_indices, episodes] =
        [&columns.policy_indices, &columns.seed_indices, &columns.episode_indices].map(column::<i32>);
    let seeds: Vec<u64> = column(&columns.seeds);
    let [rates, lines, steps, scores] =
        [&columns.loss_rates, &columns.lines_per_piece, &columns.steps_per_piece, &columns.score_per_piece]
            .map(column::<f64>);
    let lasts_longer = &columns.lasts_longer.as_ref().unwrap().data;
    (0..policies.len())
        .map(|k| EstimatedGame {
            game: 0,
            policy: policies[k] as u32,
            seed_index: seed_indices[k] as u32,
            episode: episodes[k] as u32,
            seed: seeds[k],
            estimate: Estimate {
                loss_rate: rates[k],
                lines_per_piece: lines[k],
                steps_per_piece: steps[k],
                score_per_piece: scores[k],
                lasts_longer: lasts_longer[k] == 1,
            },
        })
        .collect()
}

pub fn rows(columns: &pb::EvaluationResults) -> Vec<PlayedGame> {
    let policies: Vec<i32> = column(&columns.policy_indices);
    let (seed_indices, episodes): (Vec<i32>, Vec<i32>) =
        (column(&columns.seed_indices), column(&columns.episode_indices));
    let (seeds, lines, pieces): (Vec<u64>, Vec<i64>, Vec<i64>) =
        (column(&columns.seeds), column(&columns.lines), column(&columns.pieces));
    let (steps, scores): (Vec<i64>, Vec<f64>) = (column(&columns.steps), column(&columns.scores));
    let ends: Vec<u8> = column(&columns.ends);
    (0..policies.len())
        .map(|k| PlayedGame {
            game: 0,
            policy: policies[k] as u32,
            seed_index: seed_indices[k] as u32,
            episode: episodes[k] as u32,
            seed: seeds[k],
            lines: lines[k] as u64,
            pieces: pieces[k] as u64,
            steps: steps[k] as u64,
            score: scores[k],
            end: EpisodeEnd::with_number(ends[k]).unwrap(),
        })
        .collect()
}

/// An evaluation that runs until it is stopped.
pub fn endless() -> pb::EvaluatePoliciesRequest {
    pb::EvaluatePoliciesRequest {
        rules: None,
        policies: vec![named("bcts")],
        seeding: Some(seeding::from_drawn(1, 1000)),
        max_pieces: 0,
        ..request()
    }
}

/// Asks again and again until there is room; returns how long that took.
pub async fn until_there_is_room(client: &mut Client) -> Duration {
    let start = Instant::now();
    loop {
        match ask(client, request()).await {
            Ok(_) => return start.elapsed(),
            Err(status) => assert_eq!(status.code(), Code::ResourceExhausted, "{status}"),
        }
        assert!(start.elapsed() < Duration::from_secs(20), "the place was never given back");
    }
}

/// A request that is refused with this code and reason, and with this field, before anything is played.
#[derive(Debug)]
pub struct Refused<'a> {
    pub client: &'a mut Client,
}

impl Refused<'_> {
    pub async fn check(&mut self, request: pb::EvaluatePoliciesRequest, reason: &str, field: &str) {
        let refusal = refusal_of(&ask(self.client, request).await.expect_err(field));
        assert_eq!(refusal.reason, reason, "{field}: {}", refusal.message);
        assert_eq!(refusal.fields().first().copied().unwrap_or_default(), field, "{}", refusal.message);
    }
}
