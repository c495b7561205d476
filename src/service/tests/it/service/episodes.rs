//! What learners rely on from one episode to the next, each named after a failure.

use tetrion_protocol::{features, pb, seeding};

use crate::support::{field_names, numbers, start};
use tetrion_service_testing::{Client, config, create, reset, step};
use tetrion_twins as twin;

/// Plays the first legal placement, or another that a number picks, until the end of a number of steps.
async fn play(client: &mut Client, name: &str, num_envs: u32, num_steps: u64) -> Vec<pb::StepResponse> {
    let mut mask = client.reset(reset(name)).await.unwrap().into_inner().action_mask.expect("a mask");
    let mut answers = Vec::new();
    for i in 0..num_steps {
        let legal = |row: u32| -> i32 {
            let width = mask.data.len() / num_envs as usize;
            let row_mask = &mask.data[row as usize * width..][..width];
            let legal: Vec<usize> = (0..width).filter(|&action| row_mask[action] == 1).collect();
            legal[(twin::word(u64::from(row), 8, i) % legal.len() as u64) as usize] as i32
        };
        let actions: Vec<i32> = (0..num_envs).map(legal).collect();
        let answer = client.step(step(name, &actions)).await.unwrap().into_inner();
        mask = answer.action_mask.clone().expect("a mask");
        answers.push(answer);
    }
    answers
}

fn masked(num_envs: u32, seed: u64) -> pb::SessionConfig {
    pb::SessionConfig { action_mask_format: pb::ActionMaskFormat::Bytes.into(), ..config(num_envs, seed) }
}

#[tokio::test]
async fn seed_zero_gives_the_same_game_twice() {
    let server = start().await;
    let mut client = server.client().await;
    let mut games = Vec::new();
    for _ in 0..2 {
        let name = create(&mut client, masked(1, 0)).await.name;
        games.push(play(&mut client, &name, 1, 50).await);
    }
    assert_eq!(games[0], games[1]);
    let name = create(&mut client, config(1, 77)).await.name;
    let zero = pb::ResetRequest { seeding: Some(seeding::from_seeds(vec![0])), ..reset(&name) };
    let first = client.reset(zero.clone()).await.unwrap().into_inner();
    client.step(step(&name, &[0])).await.unwrap();
    let second = client.reset(zero).await.unwrap().into_inner();
    assert_eq!((first.observations, first.infos), (second.observations, second.infos));
}

#[tokio::test]
async fn an_environment_alone_plays_as_it_does_among_eight() {
    let server = start().await;
    let mut client = server.client().await;
    let alone = create(&mut client, masked(1, 6)).await.name;
    let among = create(&mut client, masked(8, 6)).await.name;
    let alone = play(&mut client, &alone, 1, 60).await;
    let among = play(&mut client, &among, 8, 60).await;
    for (one, eight) in alone.iter().zip(&among) {
        for (one, eight) in one.observations.iter().zip(&eight.observations) {
            assert_eq!(one.data[..], eight.data[..one.data.len()]);
        }
    }
}

#[tokio::test]
async fn everything_observed_lies_within_its_spec() {
    let server = start().await;
    let mut client = server.client().await;
    let fields = ["board", "board_bits", "current", "queue", "heights", "features"];
    let wanted = pb::SessionConfig {
        rules: Some(pb::Rules { preset: "survey".into(), preview: Some(3), ..Default::default() }),
        observation_fields: field_names(&fields),
        features: Some(features::from_set("bertsekas")),
        ..masked(16, 2)
    };
    let session = create(&mut client, wanted).await;
    for answer in play(&mut client, &session.name, 16, 150).await {
        let infos = session.info_specs.iter().zip(&answer.infos);
        for (spec, tensor) in session.observation_specs.iter().zip(&answer.observations).chain(infos) {
            assert_eq!(tensor.dtype(), spec.dtype(), "{}", spec.name);
            assert_eq!(tensor.shape[0], 16);
            assert_eq!(tensor.shape[1..], spec.shape, "{}", spec.name);
            for number in numbers(tensor) {
                assert!(spec.low.is_none_or(|low| number >= low), "{} is {number}", spec.name);
                assert!(spec.high.is_none_or(|high| number <= high), "{} is {number}", spec.name);
            }
        }
    }
}

#[tokio::test]
async fn a_limit_is_a_truncation_and_losing_is_none() {
    let server = start().await;
    let mut client = server.client().await;
    let limited = pb::SessionConfig { max_episode_steps: 5, ..masked(4, 1) };
    let name = create(&mut client, limited).await.name;
    for (i, answer) in play(&mut client, &name, 4, 12).await.iter().enumerate() {
        let truncated = numbers(answer.truncated.as_ref().unwrap());
        let terminated = numbers(answer.terminated.as_ref().unwrap());
        let length = numbers(&answer.infos[2]);
        // Five steps, one in which the next episode begins, five steps.
        let expected = [1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0][i];
        assert_eq!(length, [f64::from(expected); 4], "the steps are counted");
        assert_eq!(truncated, [f64::from(u8::from(expected == 5)); 4]);
        assert_eq!(terminated, [0.0; 4], "a limit is no loss");
    }
    let low = pb::Rules { height: 4, ..Default::default() };
    let losing = pb::SessionConfig { rules: Some(low), max_episode_steps: 1_000, ..masked(4, 1) };
    let name = create(&mut client, losing).await.name;
    let mut lost = 0.0;
    for answer in play(&mut client, &name, 4, 60).await {
        assert_eq!(numbers(answer.truncated.as_ref().unwrap()), [0.0; 4], "a loss is no limit");
        lost += numbers(answer.terminated.as_ref().unwrap()).iter().sum::<f64>();
    }
    assert!(lost > 4.0);
}

#[tokio::test]
async fn each_distinct_placement_is_one_action() {
    let server = start().await;
    let mut client = server.client().await;
    let sequences = ["I", "O", "T", "Z", "S", "J", "L"].map(|letter| format!("{letter}{letter}")).to_vec();
    let named = pb::SessionConfig { seeding: Some(seeding::from_sequences(sequences)), ..masked(7, 0) };
    let name = create(&mut client, named).await.name;
    let mask = client.reset(reset(&name)).await.unwrap().into_inner().action_mask.unwrap();
    let counts: Vec<f64> = numbers(&mask).chunks(40).map(|row| row.iter().sum()).collect();
    assert_eq!(counts, [17.0, 9.0, 34.0, 17.0, 17.0, 34.0, 34.0]);
}

#[tokio::test]
async fn resetting_twice_skips_one_episode_and_says_so() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(2, 42)).await.name;
    let mut seeds = Vec::new();
    for _ in 0..3 {
        let answer = client.reset(reset(&name)).await.unwrap().into_inner();
        let bytes = answer.infos[4].data.chunks_exact(8);
        seeds.push(bytes.map(|seed| u64::from_le_bytes(seed.try_into().unwrap())).collect::<Vec<_>>());
    }
    let expected: Vec<Vec<u64>> = (0..3)
        .map(|k| (0..2).map(|i| twin::episode_seed(twin::environment_seed(42, i), k)).collect())
        .collect();
    assert_eq!(seeds, expected);
    // The seed that the infos reported replays its episode.
    let replayed = pb::ResetRequest { seeding: Some(seeding::from_seeds(seeds[1].clone())), ..reset(&name) };
    let again = client.reset(replayed).await.unwrap().into_inner();
    let first = create(&mut client, config(2, 42)).await.name;
    client.reset(reset(&first)).await.unwrap();
    let second = client.reset(reset(&first)).await.unwrap().into_inner();
    assert_eq!((again.observations, again.infos), (second.observations, second.infos));
}

#[tokio::test]
async fn every_choice_that_is_documented_can_be_made() {
    let server = start().await;
    let mut client = server.client().await;
    let catalog = client.get_catalog(pb::GetCatalogRequest::default()).await.unwrap().into_inner();
    let plain = pb::Rules::default;
    let mut choices: Vec<pb::Rules> =
        catalog.rules_presets.iter().filter_map(|preset| preset.rules.clone()).collect();
    assert!(choices.len() >= 3);
    use pb::{OrientationTable, Randomizer, TopOut};
    for randomizer in [Randomizer::Uniform, Randomizer::Bag7, Randomizer::Balanced, Randomizer::Nes] {
        choices.push(pb::Rules { randomizer: randomizer.into(), ..plain() });
    }
    for top_out in [TopOut::Overflow, TopOut::SpawnBlocked, TopOut::TopRow, TopOut::AboveField] {
        choices.push(pb::Rules { top_out: top_out.into(), ..plain() });
    }
    for table in [
        OrientationTable::Literature,
        OrientationTable::Lab,
        OrientationTable::Survey,
        OrientationTable::Leiden,
    ] {
        choices.push(pb::Rules { orientation_table: table.into(), ..plain() });
    }
    for preview in 0..=6 {
        choices.push(pb::Rules { preview: Some(preview), ..plain() });
    }
    for rules in choices {
        let session = create(&mut client, pb::SessionConfig { rules: Some(rules), ..masked(2, 3) }).await;
        play(&mut client, &session.name, 2, 30).await;
    }
}
