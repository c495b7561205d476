//! Random calls to a session and to its model, by single calls and by a stream.

use std::time::Duration;

use bytes::Bytes;
use tetrion_core::engine::{MovingPiece, Placement, Playfield, Rules};
use tetrion_core::env::{AutoresetMode, EnvBatch, EnvConfig, Field, InvalidActionPolicy, Seeding};
use tetrion_core::placements::num_rows;
use tetrion_protocol::pb::step_stream_request::Request as Asked;
use tetrion_protocol::pb::step_stream_response::Response as Answered;
use tetrion_protocol::{pb, positions, seeding};
use tonic::Status;

use super::{Changed, Dice, LIMITS, Model, Mutation, TTL, from_reset, from_restore, from_step, infos};
use crate::service::stream::Stream;
use crate::support::{TestServer, field_names, numbers, save, start_with};
use tetrion_service_testing::{Client, config, enumerate, refusal_of, step};

fn named(env_ids: Option<Vec<u32>>) -> Option<pb::EnvIds> {
    env_ids.map(|ids| pb::EnvIds { ids })
}

fn asked(name: &str, number: u64, mutation: &Mutation) -> Asked {
    let session = name.to_owned();
    match mutation.clone() {
        Mutation::Reset(env_ids, seeds) => Asked::Reset(pb::ResetRequest {
            session,
            envs: named(env_ids),
            seeding: (!seeds.is_empty()).then(|| seeding::from_seeds(seeds)),
            sequence_number: number,
            swap_sides: false,
        }),
        Mutation::Step(env_ids, actions) => Asked::Step(pb::StepRequest {
            envs: named(env_ids),
            sequence_number: number,
            ..step(name, &actions)
        }),
        Mutation::Restore(env_ids, states, reseed) => {
            let positions = Some(positions::from_snapshots(states));
            Asked::RestoreState(pb::RestoreStateRequest {
                session,
                envs: named(env_ids),
                positions,
                reseed,
                sequence_number: number,
            })
        }
    }
}

/// The service's answer, or the reason of its refusal.
async fn by_call(client: &mut Client, request: Asked) -> Result<Changed, String> {
    let reason = |status: Status| refusal_of(&status).reason;
    match request {
        Asked::Reset(request) => client.reset(request).await.map(|answer| from_reset(answer.into_inner())),
        Asked::Step(request) => client.step(request).await.map(|answer| from_step(answer.into_inner())),
        Asked::RestoreState(request) => {
            client.restore_state(request).await.map(|answer| from_restore(answer.into_inner()))
        }
        other => panic!("{other:?}"),
    }
    .map_err(reason)
}

async fn by_stream(stream: &mut Stream, request: Asked) -> Result<Changed, String> {
    stream.send(request).await;
    match stream.receive().await {
        Answered::Reset(answer) => Ok(from_reset(answer)),
        Answered::Step(answer) => Ok(from_step(answer)),
        Answered::RestoreState(answer) => Ok(from_restore(answer)),
        Answered::Error(error) => Err(tetrion_service_testing::reason(&error)),
        other => panic!("{other:?}"),
    }
}

struct World {
    dice: Dice,
    server: TestServer,
    client: Client,
    stream: Stream,
    now: u64,
    models: Vec<Model>,
    /// Names of sessions that no longer exist, with what the service says about them.
    gone: Vec<(String, &'static str)>,
    states: Vec<Bytes>,
}

impl World {
    async fn new(seed: u64) -> World {
        let server = start_with(LIMITS).await;
        let mut client = server.client().await;
        let stream = Stream::open(&mut client).await;
        let (dice, states) = (Dice(seed, 0), vec![Bytes::from_static(b"no snapshot")]);
        World { dice, server, client, stream, now: 0, models: vec![], gone: vec![], states }
    }

    fn expire(&mut self) {
        let now = self.now;
        for model in self.models.extract_if(.., |model| model.expires <= now) {
            self.gone.push((model.name, "SESSION_EXPIRED"));
        }
    }

    async fn create(&mut self) {
        let dice = &mut self.dice;
        let (num_envs, seed) = (1 + dice.below(5) as u32, dice.word());
        let modes = [pb::AutoresetMode::NextStep, pb::AutoresetMode::SameStep, pb::AutoresetMode::Disabled];
        let autoreset_mode = dice.below(3);
        let policies = [
            (pb::InvalidActionPolicy::Reject, InvalidActionPolicy::Reject),
            (pb::InvalidActionPolicy::Terminate, InvalidActionPolicy::Terminate),
            (pb::InvalidActionPolicy::Ignore, InvalidActionPolicy::Ignore { reward: -0.25 }),
        ];
        let (policy, invalid_action_policy) = policies[dice.below(3)];
        let width = 5 + dice.below(2) as u32;
        let max_episode_steps = [0, 6][dice.below(2)];
        let preset = ["simplified", "lab"][dice.below(2)];
        let wanted = pb::SessionConfig {
            rules: Some(pb::Rules { preset: preset.into(), width, height: 6, ..Default::default() }),
            autoreset_mode: modes[autoreset_mode].into(),
            invalid_action_policy: policy.into(),
            invalid_action_reward: if policy == pb::InvalidActionPolicy::Ignore { -0.25 } else { 0.0 },
            info_fields: field_names(&infos().map(|field| field.info().name).collect::<Vec<_>>()),
            max_episode_steps,
            action_mask_format: pb::ActionMaskFormat::Bytes.into(),
            ..config(num_envs, seed)
        };
        let ttl = Some(prost_types::Duration { seconds: TTL as i64, nanos: 0 });
        let request = pb::CreateSessionRequest { config: Some(wanted), ttl, ..Default::default() };
        let got = self.client.create_session(request).await;
        let used: u32 = self.models.iter().map(|model| model.batch.config().num_envs).sum();
        let expected = if self.models.len() as u32 == LIMITS.max_sessions {
            Err("SESSION_LIMIT")
        } else if used + num_envs > LIMITS.max_envs {
            Err("ENV_LIMIT")
        } else {
            Ok(())
        };
        match (got, expected) {
            (Ok(answer), Ok(())) => {
                let modes = [AutoresetMode::NextStep, AutoresetMode::SameStep, AutoresetMode::Disabled];
                let config = EnvConfig {
                    rules: Rules { width: width as u8, height: 6, ..Rules::preset(preset).unwrap() },
                    num_envs,
                    autoreset_mode: modes[autoreset_mode],
                    invalid_action_policy,
                    max_episode_steps,
                    features: None,
                    values: None,
                };
                let batch = EnvBatch::new(config, &Seeding::Seed(seed)).unwrap();
                let name = answer.into_inner().session.unwrap().name;
                self.models.push(Model {
                    name,
                    batch,
                    sequence_number: 0,
                    kept: None,
                    expires: self.now + TTL,
                });
            }
            (Err(status), Err(reason)) => assert_eq!(refusal_of(&status).reason, reason),
            (got, expected) => panic!("{got:?}, expected {expected:?}"),
        }
    }

    fn env_ids(&mut self, num_envs: u32) -> Option<Vec<u32>> {
        match self.dice.below(9) {
            0..4 => None,
            4 => Some(vec![num_envs]),
            5 => Some(vec![0, 0]),
            6 => Some(vec![]),
            _ => {
                let first = self.dice.below(num_envs as usize) as u32;
                Some((first..num_envs).rev().collect())
            }
        }
    }

    fn mutation(&mut self, i: usize) -> Mutation {
        let num_envs = self.models[i].batch.config().num_envs;
        let env_ids = self.env_ids(num_envs);
        let rows = env_ids.as_ref().map_or(num_envs as usize, Vec::len);
        let dice = &mut self.dice;
        match dice.below(10) {
            0 => Mutation::Reset(env_ids, vec![]),
            1 => Mutation::Reset(env_ids, (0..rows + dice.below(2)).map(|_| dice.word()).collect()),
            2 => {
                let count = [1, rows.max(1), 2][dice.below(3)];
                let states = (0..count).map(|_| self.states[dice.below(self.states.len())].clone()).collect();
                Mutation::Restore(env_ids, states, [None, Some(9)][dice.below(2)])
            }
            _ => {
                let model = &self.models[i];
                let mask = model.see(Field::ActionMask, None);
                let width = mask.len() / num_envs as usize;
                let mut action = |row: usize| {
                    let env_id = env_ids.as_ref().map_or(row, |env_ids| (env_ids[row] % num_envs) as usize);
                    let legal: Vec<usize> = (0..width).filter(|&a| mask[env_id * width + a] == 1).collect();
                    match (dice.below(40), legal.as_slice()) {
                        (0, _) | (_, []) => dice.below(width) as i32,
                        (1, _) => width as i32,
                        (_, legal) => legal[dice.below(legal.len())] as i32,
                    }
                };
                let mut actions: Vec<i32> = (0..rows).map(&mut action).collect();
                if dice.below(30) == 0 {
                    actions.push(0);
                }
                Mutation::Step(env_ids, actions)
            }
        }
    }

    async fn change(&mut self, i: usize) {
        let again = self.models[i].kept.clone().filter(|_| self.dice.below(4) == 0);
        let (mutation, number) = match again {
            Some((mutation, _)) => (mutation, self.models[i].sequence_number),
            None => {
                let next = self.models[i].sequence_number + 1;
                let number = [0, next, next, next - 1, next + 1][self.dice.below(5)];
                (self.mutation(i), number)
            }
        };
        let model = &mut self.models[i];
        model.expires = self.now + TTL;
        let expected = model.change(number, &mutation);
        let request = asked(&model.name, number, &mutation);
        let got = match self.dice.below(2) {
            0 => by_call(&mut self.client, request).await,
            _ => by_stream(&mut self.stream, request).await,
        };
        assert_eq!(got, expected.map_err(str::to_owned), "{number} {mutation:?}");
    }

    async fn read(&mut self, i: usize) {
        let env_ids = self.env_ids(self.models[i].batch.config().num_envs);
        let model = &mut self.models[i];
        model.expires = self.now + TTL;
        let expected = match model.batch.check(env_ids.as_deref()) {
            Ok(()) => Ok(()),
            Err(tetrion_core::env::ReadError::EnvIds(_)) => Err("INVALID_FIELD"),
            Err(tetrion_core::env::ReadError::NotReset(_)) => Err("NOT_RESET"),
        };
        let model = &self.models[i];
        let ids = env_ids.clone().unwrap_or_else(|| (0..model.batch.config().num_envs).collect());
        let session = model.name.clone();
        if self.dice.below(2) == 0 {
            let got =
                self.client.save_state(pb::SaveStateRequest { envs: named(env_ids), ..save(&session) }).await;
            match got.map(|answer| answer.into_inner()) {
                Ok(answer) => {
                    let states: Vec<Bytes> =
                        ids.iter().map(|&id| model.batch.state(id).to_bytes().into()).collect();
                    assert_eq!(
                        (answer.states, answer.sequence_number),
                        (states.clone(), model.sequence_number)
                    );
                    self.states.extend(states);
                    let surplus = self.states.len().saturating_sub(12);
                    self.states.drain(1..1 + surplus);
                }
                Err(status) => assert_eq!(Err(refusal_of(&status).reason.as_str()), expected),
            }
        } else {
            let envs = pb::SessionEnvs { session, envs: named(env_ids) };
            match self.client.enumerate_placements(enumerate(envs)).await.map(|answer| answer.into_inner()) {
                Ok(answer) => {
                    let rules = &model.batch.config().rules;
                    let count = |&id: &u32| {
                        let piece = model.batch.pieces(id).first().copied();
                        let piece = piece.filter(|_| !model.batch.has_ended(id));
                        let playfield = model.batch.playfield(id);
                        let position = tetrion_core::placements::Position::of(
                            playfield,
                            piece.map(tetrion_core::engine::Hand::only),
                        );
                        f64::from(num_rows(rules, &position))
                    };
                    let offsets = numbers(&answer.row_offsets.unwrap());
                    let counts: Vec<f64> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
                    assert_eq!(counts, ids.iter().map(count).collect::<Vec<_>>());
                    let placements = numbers(&answer.placements.unwrap());
                    let falling: Vec<Option<MovingPiece>> =
                        ids.iter().map(|&id| model.batch.falling(id)).collect();
                    let of_rows = counts
                        .iter()
                        .zip(falling)
                        .flat_map(|(&count, falling)| std::iter::repeat_n(falling, count as usize));
                    let next = |(&placement, falling): (&f64, Option<MovingPiece>)| match falling {
                        None => placement,
                        Some(falling) => {
                            let target = Placement::from_action(placement as u32, rules);
                            let any = Playfield::empty(rules.width, rules.height); // pieces that only fall look at none
                            f64::from(falling.key_towards(rules, &any, target) as u8)
                        }
                    };
                    let actions: Vec<f64> = placements.iter().zip(of_rows).map(next).collect();
                    assert_eq!(numbers(&answer.actions.unwrap()), actions);
                    assert_eq!(answer.sequence_number, model.sequence_number);
                }
                Err(status) => assert_eq!(Err(refusal_of(&status).reason.as_str()), expected),
            }
        }
    }

    async fn call(&mut self) {
        self.expire();
        let choice = self.dice.below(40);
        if choice < 3 {
            self.create().await;
        } else if choice == 3 {
            let seconds = self.dice.below(60) as u64;
            self.now += seconds;
            self.server.clock.advance(Duration::from_secs(seconds));
        } else if choice == 4 && !self.models.is_empty() {
            let i = self.dice.below(self.models.len());
            let name = self.models.remove(i).name;
            let request = pb::DeleteSessionRequest { name: name.clone(), allow_missing: false };
            self.client.delete_session(request).await.unwrap();
            self.gone.push((name, "SESSION_NOT_FOUND"));
        } else if choice == 5 && !self.gone.is_empty() {
            let (name, reason) = self.gone[self.dice.below(self.gone.len())].clone();
            let got = by_stream(&mut self.stream, Asked::Step(step(&name, &[0]))).await;
            assert_eq!(got, Err(reason.to_owned()));
        } else if choice == 6 {
            let request = pb::ListSessionsRequest::default();
            let listed = self.client.list_sessions(request).await.unwrap().into_inner().sessions;
            let listed: Vec<(String, u64)> =
                listed.into_iter().map(|s| (s.name, s.sequence_number)).collect();
            let expected: Vec<(String, u64)> =
                self.models.iter().map(|m| (m.name.clone(), m.sequence_number)).collect();
            assert_eq!(listed, expected);
        } else if !self.models.is_empty() {
            let i = self.dice.below(self.models.len());
            if choice < 12 { self.read(i).await } else { self.change(i).await }
        }
    }
}

/// Says where in the test a panic happened.
struct Place {
    seed: u64,
    call: u32,
}

impl Drop for Place {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}, call {}", self.seed, self.call);
        }
    }
}

#[tokio::test]
async fn every_call_answers_what_the_model_says() {
    for seed in 0..24 {
        let mut world = World::new(seed).await;
        for call in 0..150 {
            let _place = Place { seed, call };
            world.call().await;
        }
    }
}
