//! Modern Tetris key by key over the wire: its rules and their defaults, what a session shows, and the way to placements.

use tetrion_core::engine::{Key, Rules, Timing};
use tetrion_protocol::rules::{ResolvedRules, RulesChoice};
use tetrion_protocol::{pb, positions};
use tonic::Code;

use crate::support::{field_names, numbers, restore, save, start};
use tetrion_service_testing::{config, create, enumerate, refused, reset, step};

fn by_keys() -> pb::Rules {
    pb::Rules {
        preset: "guideline".to_owned(),
        action_model: pb::ActionModel::Keypress.into(),
        height: 24,
        ..Default::default()
    }
}

#[test]
fn time_is_that_of_level_1_unless_it_is_named() {
    let resolved = |rules: pb::Rules| ResolvedRules::try_from(&rules).map(|resolved| resolved.rules.timing);
    assert_eq!(resolved(by_keys()), Ok(Some(Timing::LEVEL_1)));
    let fast = pb::Rules { fall_delay: 1, lock_resets: Some(0), ..by_keys() };
    let timing = Timing { fall_delay: 1, lock_delay: 30, lock_resets: 0 };
    assert_eq!(resolved(fast.clone()), Ok(Some(timing)));
    let slow = pb::Rules { fall_delay: 255, lock_delay: 255, lock_resets: Some(255), ..by_keys() };
    let timing = Timing { fall_delay: 255, lock_delay: 255, lock_resets: 255 };
    assert_eq!(resolved(slow), Ok(Some(timing)));
    // What is echoed is the same rules, and says nothing of time where none passes.
    let echoed = pb::Rules::from(&ResolvedRules::try_from(&fast).unwrap());
    assert_eq!((echoed.fall_delay, echoed.lock_delay, echoed.lock_resets), (1, 30, Some(0)));
    assert_eq!(ResolvedRules::try_from(&echoed), ResolvedRules::try_from(&fast));
    for rules in [Rules::default(), Rules::preset("lab").unwrap(), Rules::preset("guideline").unwrap()] {
        let echoed = pb::Rules::from(&ResolvedRules::from(rules));
        assert_eq!((echoed.fall_delay, echoed.lock_delay, echoed.lock_resets), (0, 0, None));
    }
    #[track_caller]
    fn refuses(rules: pb::Rules, expected: &str) {
        let error = ResolvedRules::try_from(&rules).unwrap_err();
        assert_eq!(error.to_string().split_once(": ").unwrap().1, expected);
    }
    refuses(pb::Rules { fall_delay: 256, ..by_keys() }, "fall_delay is 256, expected 1 to 255");
    refuses(pb::Rules { lock_delay: 256, ..by_keys() }, "lock_delay is 256, expected 1 to 255");
    refuses(pb::Rules { lock_resets: Some(999), ..by_keys() }, "lock_resets is 999, expected 0 to 255");
    let none = "fall_delay is 5, expected none: time passes only where a step is a key under reach moves";
    for preset in ["simplified", "lab", "guideline"] {
        let rules = |fall_delay| pb::Rules { preset: preset.to_owned(), fall_delay, ..Default::default() };
        refuses(rules(5), none);
        assert_eq!(resolved(rules(0)), Ok(None), "{preset}: zero is nothing in many languages");
    }
    let choice = RulesChoice::from(&ResolvedRules::try_from(&fast).unwrap()).with("lock_delay", 4).unwrap();
    assert_eq!(ResolvedRules::try_from(&choice).unwrap().rules.timing.unwrap().lock_delay, 4);
}

#[tokio::test]
async fn a_session_shows_the_whole_state_and_saves_it() {
    let server = start().await;
    let mut client = server.client().await;
    let settings = pb::SessionConfig {
        rules: Some(pb::Rules { fall_delay: 2, lock_delay: 3, ..by_keys() }),
        action_mask_format: pb::ActionMaskFormat::Bytes.into(),
        autoreset_mode: pb::AutoresetMode::Disabled.into(),
        ..config(2, 3)
    };
    let session = create(&mut client, settings).await;
    let names = |specs: &[pb::TensorSpec]| specs.iter().map(|spec| spec.name.clone()).collect::<Vec<_>>();
    assert_eq!(
        names(&session.observation_specs),
        ["board", "current", "queue", "held", "falling", "piece_state"]
    );
    let action = session.action_spec.clone().unwrap();
    assert_eq!((action.low, action.high), (Some(0.0), Some(9.0)));
    assert!(action.description.ends_with("7 sonic_drop, 8 turn_half, 9 hold"), "{}", action.description);
    let name = session.name;
    let begun = client.reset(reset(&name)).await.unwrap().into_inner();
    let mask = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0];
    assert_eq!(numbers(&begun.action_mask.unwrap()), [mask, mask].concat());
    assert_eq!(numbers(&begun.observations[5])[..8], [0.0, 0.0, 2.0, 3.0, 15.0, 15.0, 19.0, 0.0]);
    let held = client.step(step(&name, &[9, 7])).await.unwrap().into_inner();
    let state = numbers(&held.observations[5]);
    assert_eq!((state[7], state[11]), (1.0, 2.0), "one was held, the other has come down");
    let refusal = refused(client.step(step(&name, &[9, 8])).await, Code::InvalidArgument, "ILLEGAL_ACTION");
    assert_eq!(refusal.fields(), ["actions[0]", "actions[1]"]);
    refused(client.step(step(&name, &[10, 0])).await, Code::InvalidArgument, "ACTION_OUT_OF_RANGE");

    let saved = client.save_state(save(&name)).await.unwrap().into_inner();
    let keys = [[0, 1], [4, 0], [5, 0]];
    let mut answers = Vec::new();
    for _ in 0..2 {
        let positions = positions::from_snapshots(saved.states.clone());
        client.restore_state(restore(&name, positions)).await.unwrap();
        let mut seen = Vec::new();
        for pressed in keys {
            let answer = client.step(step(&name, &pressed)).await.unwrap().into_inner();
            seen.push((answer.observations, answer.infos, answer.rewards, answer.terminated));
        }
        answers.push(seen);
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(numbers(&answers[0][2].1[1]), [1.0, 1.0], "one was dropped, the other locked by time");
}

#[tokio::test]
async fn a_learner_of_afterstates_presses_the_next_key_towards_its_choice() {
    let server = start().await;
    let mut client = server.client().await;
    let settings = pb::SessionConfig {
        rules: Some(by_keys()),
        autoreset_mode: pb::AutoresetMode::Disabled.into(),
        observation_fields: field_names(&["board_bits"]),
        ..config(1, 5)
    };
    let name = create(&mut client, settings).await.name;
    client.reset(reset(&name)).await.unwrap();
    for n in 0..12 {
        let (mut chosen, mut after, mut presses) = (None, Vec::new(), 0);
        loop {
            let request = pb::EnumeratePlacementsRequest {
                include_keys: true,
                include_afterstates: true,
                ..enumerate(pb::SessionEnvs { session: name.clone(), ..Default::default() })
            };
            let all = client.enumerate_placements(request).await.unwrap().into_inner();
            let placements = numbers(all.placements.as_ref().unwrap());
            let held = numbers(all.holds.as_ref().unwrap());
            let row = match chosen {
                None => {
                    let row = 37 * n % placements.len();
                    let bits = numbers(all.afterstates.as_ref().unwrap());
                    after = bits[24 * row..24 * (row + 1)].to_vec();
                    // Once the piece is held, what was a placement of the other one is one of the current one.
                    chosen = Some(placements[row] - held[row] * 2880.0);
                    let first = numbers(all.keys.as_ref().unwrap())
                        [numbers(all.key_offsets.as_ref().unwrap())[row] as usize];
                    assert_eq!(first == 9.0, held[row] == 1.0, "{:?}", Key::ALL[first as usize]);
                    if held[row] == 1.0 {
                        assert_eq!(numbers(all.actions.as_ref().unwrap())[row], 9.0);
                        client.step(step(&name, &[9])).await.unwrap();
                        continue;
                    }
                    row
                }
                Some(chosen) => placements.iter().position(|placement| *placement == chosen).unwrap(),
            };
            let key = numbers(all.actions.as_ref().unwrap())[row] as i32;
            presses += 1;
            assert!(presses < 60);
            let answer = client.step(step(&name, &[key])).await.unwrap().into_inner();
            if numbers(&answer.infos[1]) == [f64::from(n as u32) + 1.0] {
                assert_eq!(numbers(&answer.observations[0]), after, "piece {n}");
                break;
            }
        }
    }
}

/// The keys of a list are stepped as they are; one that goes far is stepped until the piece stays in its column.
#[tokio::test]
async fn lists_of_keys_are_actions_that_lead_to_their_placements() {
    let server = start().await;
    let mut client = server.client().await;
    let settings = pb::SessionConfig {
        rules: Some(by_keys()),
        autoreset_mode: pb::AutoresetMode::Disabled.into(),
        observation_fields: field_names(&["board_bits", "falling_cells"]),
        info_fields: field_names(&["pieces"]),
        ..config(1, 6)
    };
    let name = create(&mut client, settings).await.name;
    client.reset(reset(&name)).await.unwrap();
    let (mut num_lists, mut num_far, mut num_holds) = (0, 0, 0);
    for n in 0..16 {
        let saved = client.save_state(save(&name)).await.unwrap().into_inner();
        let request = pb::EnumeratePlacementsRequest {
            include_keys: true,
            include_afterstates: true,
            ..enumerate(pb::SessionEnvs { session: name.clone(), ..Default::default() })
        };
        let all = client.enumerate_placements(request).await.unwrap().into_inner();
        let (keys, offsets) = (numbers(&all.keys.unwrap()), numbers(&all.key_offsets.unwrap()));
        let afterstates = numbers(&all.afterstates.unwrap());
        let terminal = numbers(&all.terminated.unwrap());
        let rows = terminal.len();
        // The last one is where the game goes on.
        for row in (0..rows).step_by(5).chain([37 * n % rows]) {
            let positions = positions::from_snapshots(saved.states.clone());
            let mut seen =
                client.restore_state(restore(&name, positions)).await.unwrap().into_inner().observations;
            let list = &keys[offsets[row] as usize..offsets[row + 1] as usize];
            let mut pieces = 0.0;
            for key in list {
                let key = Key::ALL[*key as usize];
                let action = match key {
                    Key::FarLeft => Key::Left,
                    Key::FarRight => Key::Right,
                    key => key,
                };
                loop {
                    let columns = |seen: &[pb::Tensor]| [1, 3, 5, 7].map(|at| numbers(&seen[1])[at]);
                    let before = columns(&seen);
                    let answer = client.step(step(&name, &[action as i32])).await.unwrap().into_inner();
                    (seen, pieces) = (answer.observations, numbers(&answer.infos[0])[0]);
                    if action == key || columns(&seen) == before {
                        break;
                    }
                }
                num_far += u32::from(action != key);
                num_holds += u32::from(action == Key::Hold);
            }
            num_lists += 1;
            assert_eq!(pieces, n as f64 + 1.0, "piece {n}, row {row}: {list:?}");
            if terminal[row] == 0.0 {
                assert_eq!(
                    numbers(&seen[0]),
                    afterstates[24 * row..][..24],
                    "piece {n}, row {row}: {list:?}"
                );
            }
        }
    }
    assert!(num_lists > 150 && num_far > 50 && num_holds > 50, "{num_lists} {num_far} {num_holds}");
}
