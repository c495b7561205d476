//! What the network costs an evaluation: the same games on the same threads, handed in directly and asked for over gRPC.
//!
//! The two take turns, so that whatever else the machine does meets both; told are the medians of the rounds and the
//! ratio of their times: `cargo bench --bench evaluation`.

use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use tetrion::agents::{Agent, Controller, Kernel, LinearAgent, TerminalPolicy};
use tetrion::engine::Rules;
use tetrion::engine::rng::{Tag, word};
use tetrion::features::FeatureSet;
use tetrion::pool::Pool;
use tetrion::rollout::{Deal, Evaluation, GameResult, Next, spawn};
use tetrion::server::{Server, ServerConfig};
use tetrion::wire::pb;
use tetrion::wire::pb::evaluate_policies_request::Games;
use tetrion::wire::pb::evaluate_policies_response::Event;
use tetrion::wire::pb::evaluation_service_client::EvaluationServiceClient;
use tetrion::wire::tensor;
use tonic::transport::Channel;

const ROUNDS: usize = 9;

/// A controller, how many games it plays, and where they are cut.
struct Workload {
    name: &'static str,
    set: &'static str,
    weights: &'static [f64],
    num_games: u32,
    max_pieces: u64,
}

fn main() {
    let bcts = Controller::named("bcts").expect("a controller").weights;
    let workloads = [
        Workload {
            name: "a few long games",
            set: "bcts8",
            weights: bcts,
            num_games: 32,
            max_pieces: 100_000,
        },
        Workload {
            name: "many short games",
            set: "height4",
            weights: &[0.1, 0.5, -0.3, -0.1],
            num_games: 50_000,
            max_pieces: 1_000,
        },
    ];
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let channel = runtime.block_on(async {
        let config = ServerConfig { listen: ([127, 0, 0, 1], 0).into(), ..ServerConfig::default() };
        let server = Server::bind(config).await.expect("a server");
        let channel = Channel::from_shared(format!("http://{}", server.local_addr())).expect("an address");
        tokio::spawn(server.run(std::future::pending()));
        channel.connect().await.expect("a connection")
    });
    let pool = Pool::new(0).expect("threads");
    println!("{} threads, {} kernel, {ROUNDS} rounds", pool.num_threads(), Kernel::best().name());
    for workload in &workloads {
        let (mut direct, mut asked) = (Vec::new(), Vec::new());
        let mut pieces = [0; 2];
        for _ in 0..ROUNDS {
            let start = Instant::now();
            pieces[0] = workload.play(&pool);
            direct.push(start.elapsed());
            let start = Instant::now();
            pieces[1] = runtime.block_on(workload.ask(channel.clone()));
            asked.push(start.elapsed());
        }
        assert_eq!(pieces[0], pieces[1], "the same games");
        let (direct, asked) = (median(direct), median(asked));
        let rate = |time: Duration| pieces[0] as f64 / time.as_secs_f64() / 1e6;
        println!(
            "{:<18} {:>9} pieces   direct {:>6.2} M/s   gRPC {:>6.2} M/s   time ratio {:.3}",
            workload.name,
            pieces[0],
            rate(direct),
            rate(asked),
            asked.as_secs_f64() / direct.as_secs_f64()
        );
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

impl Workload {
    /// Hands the games in and collects the results; how many pieces they had.
    fn play(&self, pool: &Arc<Pool>) -> u64 {
        let set = FeatureSet::named(self.set, 10).expect("a set");
        let agent = LinearAgent::new(set, self.weights.to_vec(), TerminalPolicy::Avoid).expect("weights");
        let evaluation = Evaluation {
            rules: Rules::default(),
            policies: vec![Agent::Linear(agent)],
            deal: Deal::Common((0..u64::from(self.num_games)).map(|j| word(1, Tag::Game, j)).collect()),
            episodes_per_seed: 1,
            pairs: None,
            max_pieces: self.max_pieces,
            kernel: Kernel::best(),
        };
        let (sender, results) = mpsc::channel::<GameResult>();
        let sender = Mutex::new(sender);
        let sink = move |result, next: Next| {
            let _ = sender.lock().expect("no panics").send(result);
            next();
        };
        spawn(pool, Arc::new(evaluation), 0, Arc::default(), Arc::default(), sink);
        results.iter().map(|result| result.pieces).sum()
    }

    /// Asks for the games and reads the results; how many pieces they had.
    async fn ask(&self, channel: Channel) -> u64 {
        let selection = pb::FeatureSelection { set: self.set.to_owned(), ..Default::default() };
        let weights = pb::WeightMatrix {
            features: Some(selection),
            weights: Some(tensor::encode(vec![1, self.weights.len() as u32], self.weights)),
            ..Default::default()
        };
        let request = pb::EvaluatePoliciesRequest {
            weights: Some(weights),
            games: Some(Games::SeedRange(pb::SeedRange { seed: 1, count: self.num_games })),
            max_pieces: self.max_pieces,
            ..Default::default()
        };
        let answer = EvaluationServiceClient::new(channel).evaluate_policies(request).await;
        let mut messages = answer.expect("an answer").into_inner();
        let mut pieces = 0;
        while let Some(message) = messages.message().await.expect("a message") {
            if let Some(Event::Results(results)) = message.event {
                let column =
                    tensor::decode_field::<u64>(results.pieces.as_ref(), "pieces", &[tensor::Dim::Any]);
                pieces += column.expect("a column").elements.iter().sum::<u64>();
            }
        }
        pieces
    }
}
