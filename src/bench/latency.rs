//! Latency of Step while the server is otherwise idle, and while evaluations use every core.
//!
//! Open loop: calls start at fixed times, whether or not earlier ones have been answered, and each is timed from its scheduled
//! start. A closed loop would stop calling whenever the server stops answering, and would miss the delay. Therefore this
//! workload, and no other, reads the clock.

use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tonic::Streaming;

use super::remote::{Remote, RemoteError, config, create_session, step_requests};
use tetrion_protocol::pb::evaluation_service_client::EvaluationServiceClient;
use tetrion_protocol::policies::Policy;
use tetrion_protocol::{pb, seeding};

/// Number of sessions that are stepped in turn, so that a call does not wait for the previous one.
const NUM_SESSIONS: usize = 16;

impl Remote {
    /// Latencies of `calls` Steps of `num_envs` environments at `rate` per second, shortest first, during this many
    /// evaluations. The connection must be one [with threads](Remote::connect_with_threads).
    ///
    /// # Errors
    /// If the server does not answer, or has no capacity for an evaluation.
    pub fn step_latencies(
        &self,
        num_envs: u32,
        evaluations: usize,
        rate: u32,
        calls: u32,
    ) -> Result<Vec<Duration>, RemoteError> {
        let running = self.runtime.block_on(self.start_evaluations(evaluations))?;
        let mut times = self.time_steps(num_envs, rate, calls)?;
        drop(running);
        times.sort_unstable();
        Ok(times)
    }

    /// Starts evaluations that do not end during the measurement, each with games for every thread.
    async fn start_evaluations(
        &self,
        number: usize,
    ) -> Result<Vec<Streaming<pb::EvaluatePoliciesResponse>>, RemoteError> {
        let mut running = Vec::new();
        for seed in 0..number as u64 {
            let request = pb::EvaluatePoliciesRequest {
                policies: vec![Policy::named("bcts").encode()],
                seeding: Some(seeding::from_drawn(seed, 1000)),
                ..Default::default()
            };
            let answer = EvaluationServiceClient::new(self.channel.clone()).evaluate_policies(request).await;
            running.push(answer?.into_inner());
        }
        Ok(running)
    }

    fn time_steps(&self, num_envs: u32, rate: u32, calls: u32) -> Result<Vec<Duration>, RemoteError> {
        let client = self.client();
        let mut requests = Vec::new();
        for _ in 0..NUM_SESSIONS {
            let created = create_session(client.clone(), config(num_envs, true));
            requests.push(step_requests(&self.runtime.block_on(created)?, num_envs));
        }
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let start = Instant::now() + Duration::from_millis(100);
        // tokio's timers have a resolution of a millisecond; a thread's sleep is finer.
        for call in 0..calls {
            let due = start + call * (Duration::from_secs(1) / rate);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let requests = &requests[call as usize % NUM_SESSIONS];
            let request = requests[call as usize / NUM_SESSIONS % requests.len()].clone();
            let (mut client, sender) = (client.clone(), sender.clone());
            self.runtime.spawn(async move {
                let answer = client.step(request).await;
                let _ = sender.send(answer.map(|_| due.elapsed()));
            });
        }
        drop(sender);
        let mut times = Vec::new();
        while let Some(time) = receiver.blocking_recv() {
            times.push(time?);
        }
        Ok(times)
    }
}
