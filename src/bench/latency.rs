//! Latency of Step while the server is otherwise idle, and while an evaluation uses every core.
//!
//! Open loop: calls start at fixed times, whether or not earlier ones have been answered, and each is timed from its scheduled
//! start. A closed loop would stop calling whenever the server stops answering, and would miss the delay. Therefore this
//! workload, and no other, reads the clock.

use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::error::BenchError;
use super::remote::{Remote, config, create_session, step_requests};
use tetrion_protocol::policies::Policy;
use tetrion_protocol::{pb, seeding};

/// Number of sessions that are stepped in turn, so that a call does not wait for the previous one.
const NUM_SESSIONS: usize = 16;
/// Steps per second.
const STEP_RATE: u32 = 200;

impl Remote {
    /// Latencies of Steps of `num_envs` environments during this time, shortest first; with `busy`, next to an evaluation with
    /// games for every thread. The connection must be one [with threads](Remote::start_with_threads).
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn step_latencies(
        &self,
        num_envs: u32,
        busy: bool,
        time: Duration,
    ) -> Result<Vec<Duration>, BenchError> {
        let endless = pb::EvaluatePoliciesRequest {
            policies: vec![Policy::named("bcts").encode()],
            seeding: Some(seeding::from_drawn(0, 1000)),
            ..Default::default()
        };
        let running = if busy { Some(self.start_evaluation(endless)?) } else { None };
        let client = self.client();
        let mut requests = Vec::new();
        for _ in 0..NUM_SESSIONS {
            let created = create_session(client.clone(), config(num_envs, true));
            let (session, _) = self.runtime.block_on(created)?;
            requests.push(step_requests(&session.name, num_envs));
        }
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let start = Instant::now() + Duration::from_millis(100);
        // tokio's timers have a resolution of a millisecond; a thread's sleep is finer.
        for call in 0..(time.as_secs_f64() * f64::from(STEP_RATE)) as u32 {
            let due = start + call * (Duration::from_secs(1) / STEP_RATE);
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
        drop(running);
        times.sort_unstable();
        Ok(times)
    }
}
