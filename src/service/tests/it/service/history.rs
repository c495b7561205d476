//! GetHistory: the finished episodes of a session, against a plain list of all of them.

use std::time::Duration;

use tetrion_protocol::{pb, tensor};
use tonic::Code;

use crate::support::{by, numbers, save, start};
use tetrion_service_testing::{Client, config, create, only, refused, reset, step};
use tetrion_twins as twin;

/// Most rows of a history.
const MOST: usize = 256;

/// The history of a session.
pub async fn get(client: &mut Client, session: &str) -> pb::GetHistoryResponse {
    let request = pb::GetHistoryRequest { session: session.to_owned() };
    client.get_history(request).await.unwrap().into_inner()
}

/// A history without what depends on the machine.
pub fn timeless(history: pb::GetHistoryResponse) -> pb::GetHistoryResponse {
    let shape = history.seconds.as_ref().unwrap().shape.clone();
    let seconds = vec![0.0; shape[0] as usize];
    pb::GetHistoryResponse { age: None, seconds: Some(tensor::encode(shape, &seconds)), ..history }
}

/// A learner with a list of its finished episodes: the steps of the session so far, lines, length and return of each.
struct Learner {
    client: Client,
    name: String,
    calls: u64,
    num_steps: u64,
    episodes: Vec<[f64; 4]>,
    mask: Vec<u8>,
    num_envs: usize,
}

impl Learner {
    async fn new(mut client: Client, config: pb::SessionConfig) -> Learner {
        let num_envs = config.num_envs as usize;
        let name = create(&mut client, config).await.name;
        let mut learner = Learner {
            client,
            name,
            calls: 0,
            num_steps: 0,
            episodes: Vec::new(),
            mask: Vec::new(),
            num_envs,
        };
        learner.reset(None).await;
        learner
    }

    async fn reset(&mut self, envs: Option<pb::EnvIds>) {
        let ids = envs.as_ref().map_or((0..self.num_envs).collect(), places);
        let request = pb::ResetRequest { envs, ..reset(&self.name) };
        let mask = self.client.reset(request).await.unwrap().into_inner().action_mask.unwrap();
        self.keep(&ids, &mask.data);
    }

    /// Keeps the masks of environments.
    fn keep(&mut self, ids: &[usize], mask: &[u8]) {
        let width = mask.len() / ids.len();
        self.mask.resize(self.num_envs * width, 0);
        for (row, env) in ids.iter().enumerate() {
            self.mask[env * width..][..width].copy_from_slice(&mask[row * width..][..width]);
        }
    }

    /// Takes a legal step in some environments, or in all.
    async fn step(&mut self, envs: Option<pb::EnvIds>) {
        let ids = envs.as_ref().map_or((0..self.num_envs).collect(), places);
        let width = self.mask.len() / self.num_envs;
        let legal = |env: &usize| -> i32 {
            let mask = &self.mask[env * width..][..width];
            let legal: Vec<usize> = (0..width).filter(|&action| mask[action] == 1).collect();
            legal[(twin::word(*env as u64, 8, self.calls) % legal.len() as u64) as usize] as i32
        };
        let actions: Vec<i32> = ids.iter().map(legal).collect();
        let request = pb::StepRequest { envs, ..step(&self.name, &actions) };
        let answer = self.client.step(request).await.unwrap().into_inner();
        self.calls += 1;
        self.num_steps += ids.len() as u64;
        self.keep(&ids, &answer.action_mask.unwrap().data);
        let flags = |flags: &Option<pb::Tensor>| numbers(flags.as_ref().unwrap());
        let ends = flags(&answer.terminated).into_iter().zip(flags(&answer.truncated));
        let ended: Vec<usize> =
            ends.enumerate().filter(|(_, end)| *end != (0.0, 0.0)).map(|(row, _)| row).collect();
        // In SAME_STEP the infos of ended episodes come apart, in the order of the rows.
        let (infos, rows) = match answer.final_batch {
            Some(last) => (last.infos, (0..ended.len()).collect()),
            None => (answer.infos, ended),
        };
        let [lines, _, steps, returns] = [0, 1, 2, 3].map(|info| numbers(&infos[info]));
        let steps_so_far = self.num_steps as f64;
        self.episodes
            .extend(rows.into_iter().map(|row| [steps_so_far, lines[row], steps[row], returns[row]]));
    }

    /// Compares the history with the list.
    async fn check(&mut self) {
        let history = get(&mut self.client, &self.name).await;
        assert_eq!((history.num_episodes, history.num_steps), (self.episodes.len() as u64, self.num_steps));
        let mut each = 1;
        while self.episodes.len() > MOST * each {
            each *= 2;
        }
        assert_eq!(history.episodes_per_row, each as u64);
        let rows: Vec<&[[f64; 4]]> = self.episodes.chunks(each).collect();
        let tensor = |tensor: &Option<pb::Tensor>| numbers(tensor.as_ref().unwrap());
        let ends = rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end as f64)
        });
        assert_eq!(tensor(&history.episodes), ends.collect::<Vec<f64>>());
        let steps: Vec<f64> = rows.iter().map(|row| row.last().unwrap()[0]).collect();
        assert_eq!(tensor(&history.steps), steps);
        for (place, found) in [(1, &history.lines), (2, &history.lengths), (3, &history.returns)] {
            let spread = |row: &&[[f64; 4]]| {
                let numbers = row.iter().map(|episode| episode[place]);
                let sum: f64 = numbers.clone().sum();
                [
                    sum / row.len() as f64,
                    numbers.clone().fold(f64::MAX, f64::min),
                    numbers.fold(f64::MIN, f64::max),
                ]
            };
            assert_eq!(found.as_ref().unwrap().shape, [rows.len() as u32, 3]);
            assert_eq!(tensor(found), rows.iter().flat_map(spread).collect::<Vec<f64>>(), "{place}");
        }
        let seconds = tensor(&history.seconds);
        let age = history.age.unwrap();
        assert!(seconds.is_sorted() && seconds.last().is_none_or(|&last| last <= age.seconds as f64 + 1.0));
    }
}

fn places(envs: &pb::EnvIds) -> Vec<usize> {
    envs.ids.iter().map(|&id| id as usize).collect()
}

/// Games that end soon, some by a loss and some by the limit.
fn short(mode: pb::AutoresetMode) -> pb::SessionConfig {
    pb::SessionConfig {
        rules: Some(pb::Rules { width: 4, height: 6, ..Default::default() }),
        autoreset_mode: mode.into(),
        action_mask_format: pb::ActionMaskFormat::Bytes.into(),
        max_episode_steps: 9,
        ..config(5, 3)
    }
}

#[tokio::test]
async fn the_rows_are_those_of_all_episodes_however_many() {
    let server = start().await;
    for mode in [pb::AutoresetMode::NextStep, pb::AutoresetMode::SameStep] {
        let mut learner = Learner::new(server.client().await, short(mode)).await;
        learner.check().await;
        let mut checked = Vec::new();
        while learner.episodes.len() < 1_200 {
            let envs = if learner.calls % 3 == 1 { only([4, 0, 2]) } else { None };
            learner.step(envs).await;
            let each = learner.episodes.len().div_ceil(MOST).next_power_of_two();
            if learner.calls < 30 || checked.last() != Some(&each) {
                learner.check().await;
                checked.push(each);
            }
        }
        learner.check().await;
        assert!(checked.ends_with(&[2, 4, 8]), "{checked:?}");
        assert!(learner.episodes.iter().any(|episode| episode[1] > 0.0), "lines");
    }
}

#[tokio::test]
async fn an_episode_that_is_replaced_has_not_finished() {
    let server = start().await;
    let mut learner = Learner::new(server.client().await, short(pb::AutoresetMode::Disabled)).await;
    let states = learner.client.save_state(save(&learner.name)).await.unwrap().into_inner().states;
    learner.step(None).await;
    assert_eq!(learner.episodes, [[0.0; 4]; 0]);
    learner.reset(only([1])).await;
    let positions = tetrion_protocol::positions::from_snapshots(states);
    let restored = learner.client.restore_state(crate::support::restore(&learner.name, positions)).await;
    learner.keep(&[0, 1, 2, 3, 4], &restored.unwrap().into_inner().action_mask.unwrap().data);
    learner.check().await;
    while learner.episodes.is_empty() {
        learner.step(None).await;
    }
    learner.check().await;
}

#[tokio::test]
async fn it_is_for_the_caller_of_the_session_and_renews_no_lease() {
    let server = start().await;
    let mut client = server.client().await;
    let ttl = Some(prost_types::Duration { seconds: 100, nanos: 0 });
    let request = pb::CreateSessionRequest { config: Some(config(1, 1)), ttl, ..Default::default() };
    let made = client.create_session(by("ann", request)).await.unwrap().into_inner();
    let session = made.session.unwrap().name;
    let request = || pb::GetHistoryRequest { session: session.clone() };
    server.clock.advance(Duration::from_secs(60));
    assert_eq!(client.get_history(by("ann", request())).await.unwrap().into_inner().num_episodes, 0);
    refused(client.get_history(by("bob", request())).await, Code::NotFound, "SESSION_NOT_FOUND");
    server.clock.advance(Duration::from_secs(60));
    refused(client.get_history(by("ann", request())).await, Code::NotFound, "SESSION_EXPIRED");
    let nameless = pb::GetHistoryRequest::default();
    let reported = refused(client.get_history(nameless).await, Code::InvalidArgument, "INVALID_FIELD");
    assert_eq!(reported.fields(), ["session"]);
}
