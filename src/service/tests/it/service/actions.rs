//! What actions say and which ones exist: digits in a mixed radix, and masks as bytes and as bits.

use std::collections::BTreeMap;

use tetrion_core::engine::{PRESETS, Placement, Rules, Spot};
use tetrion_protocol::{pb, positions};
use tonic::Code;

use crate::support::{drawing, numbers, start};
use tetrion_service_testing::{config, create, enumerate, refused, reset, step};

/// The values of the digits of a number, by name.
fn digits_of(sizes: &[(String, u32)], number: u32) -> BTreeMap<String, u32> {
    let mut rest = number;
    let values = sizes.iter().rev().map(|(name, size)| {
        let value = rest % size;
        rest /= size;
        (name.clone(), value)
    });
    values.collect()
}

#[test]
fn digits_say_what_a_placement_is() {
    let narrow = Rules { width: 5, height: 6, rows_above: 2, ..Rules::preset("guideline").unwrap() };
    for rules in PRESETS.iter().map(|preset| preset.rules).chain([narrow]) {
        let sizes = |digits: Vec<tetrion_core::engine::Digit>| -> Vec<(String, u32)> {
            digits.into_iter().map(|digit| (digit.name.to_owned(), digit.size)).collect()
        };
        let product = |sizes: &[(String, u32)]| sizes.iter().map(|(_, size)| size).product::<u32>();
        assert_eq!(product(&sizes(rules.action_digits())), rules.num_actions());
        let sizes = sizes(rules.placement_digits());
        assert_eq!(product(&sizes), rules.num_placements() * if rules.hold { 2 } else { 1 });
        for number in 0..product(&sizes) {
            let Placement { orientation, column, spot, hold } = Placement::from_action(number, &rules);
            let mut expected =
                BTreeMap::from([("orientation", u32::from(orientation)), ("column", column.into())]);
            if rules.hold {
                expected.insert("hold", hold.into());
            }
            if let Some(Spot { row, spin }) = spot {
                expected.insert("row", row.into());
                expected.insert("spin", spin as u32);
            }
            let found = digits_of(&sizes, number);
            assert!(
                found.iter().all(|(name, value)| expected[name.as_str()] == *value),
                "{number}: {found:?}"
            );
            assert!(expected.iter().all(|(name, value)| found.get(*name).unwrap_or(&0) == value), "{number}");
        }
    }
}

#[tokio::test]
async fn a_session_and_its_placements_list_their_digits() {
    let server = start().await;
    let mut client = server.client().await;
    let by_keys = pb::ActionModel::Keypress.into();
    for (preset, action_model, expected) in [
        ("simplified", 0, vec![("orientation", 4), ("column", 10)]),
        ("guideline", 0, vec![("hold", 2), ("orientation", 4), ("column", 10), ("row", 24), ("spin", 3)]),
        ("guideline", by_keys, vec![("key", 10)]),
        ("lab", 0, vec![("key", 6)]),
    ] {
        let rules = Some(pb::Rules { preset: preset.to_owned(), action_model, ..Default::default() });
        let session = create(&mut client, pb::SessionConfig { rules, ..config(1, 3) }).await;
        let found: Vec<(&str, u32)> =
            session.action_digits.iter().map(|digit| (digit.name.as_str(), digit.size)).collect();
        assert_eq!(found, expected, "{preset}");
        assert!(session.action_digits.iter().all(|digit| !digit.description.is_empty()));
        let product = found.iter().map(|(_, size)| size).product::<u32>();
        assert_eq!(session.action_spec.unwrap().high, Some(f64::from(product - 1)));
        // What is listed lies where its digits say, also where actions are keys.
        client.reset(reset(&session.name)).await.unwrap();
        let envs = pb::SessionEnvs { session: session.name, envs: None };
        let request = pb::EnumeratePlacementsRequest { include_cells: true, ..enumerate(envs) };
        let listed = client.enumerate_placements(request).await.unwrap().into_inner();
        let sizes: Vec<(String, u32)> =
            listed.placement_digits.iter().map(|digit| (digit.name.clone(), digit.size)).collect();
        let cells = numbers(listed.cells.as_ref().unwrap());
        let placements = numbers(listed.placements.as_ref().unwrap());
        assert!(!placements.is_empty());
        for (number, cells) in placements.iter().zip(cells.chunks(8)) {
            let digits = digits_of(&sizes, *number as u32);
            let lowest = |axis: usize| cells.iter().skip(axis).step_by(2).copied().fold(f64::MAX, f64::min);
            assert_eq!(f64::from(digits["column"]), lowest(1), "{preset}: {number}");
            assert_eq!(
                digits.get("row").map_or(lowest(0), |row| f64::from(*row)),
                lowest(0),
                "{preset}: {number}"
            );
        }
    }
}

#[tokio::test]
async fn positions_without_a_session_list_their_digits() {
    let server = start().await;
    let mut client = server.client().await;
    let positions = positions::from_drawings(vec![drawing(&[], "T")]);
    let listed = client.enumerate_placements(enumerate(positions)).await.unwrap().into_inner();
    let sizes: Vec<u32> = listed.placement_digits.iter().map(|digit| digit.size).collect();
    assert_eq!(sizes, [4, 10]);
}

fn masked(preset: &str, format: pb::ActionMaskFormat, num_envs: u32) -> pb::SessionConfig {
    let rules = Some(pb::Rules { preset: preset.to_owned(), ..Default::default() });
    pb::SessionConfig { rules, action_mask_format: format.into(), ..config(num_envs, 9) }
}

#[tokio::test]
async fn a_mask_of_bits_says_what_one_of_bytes_does() {
    let server = start().await;
    let mut client = server.client().await;
    for preset in ["simplified", "survey", "guideline", "lab"] {
        let mut names = Vec::new();
        for format in [pb::ActionMaskFormat::Bytes, pb::ActionMaskFormat::Bits] {
            names.push(create(&mut client, masked(preset, format, 3)).await.name);
        }
        let mut masks = Vec::new();
        for name in &names {
            masks.push(client.reset(reset(name)).await.unwrap().into_inner().action_mask.unwrap());
        }
        for at in 0..40 {
            let [bytes, bits] = [&masks[0], &masks[1]];
            let num_actions = bytes.shape[1] as usize;
            assert_eq!((bytes.dtype(), bits.dtype()), (pb::DataType::Bool, pb::DataType::Uint8));
            assert_eq!(bits.shape, [3, bytes.shape[1].div_ceil(8)]);
            for (bytes, bits) in bytes.data.chunks(num_actions).zip(bits.data.chunks(bits.shape[1] as usize))
            {
                let mut packed = vec![0u8; bits.len()];
                for (action, exists) in bytes.iter().enumerate() {
                    packed[action / 8] |= exists << (action % 8);
                }
                assert_eq!(bits, packed, "{preset}, step {at}");
            }
            let first = |mask: &[u8]| mask.iter().rposition(|exists| *exists == 1).unwrap() as i32;
            let actions: Vec<i32> = bytes.data.chunks(num_actions).map(first).collect();
            masks.clear();
            for name in &names {
                let answer = client.step(step(name, &actions)).await.unwrap().into_inner();
                masks.push(answer.action_mask.unwrap());
            }
        }
    }
}

#[tokio::test]
async fn a_thousand_environments_of_modern_tetris_fit_with_bits_only() {
    let server = start().await;
    let mut client = server.client().await;
    let session = create(&mut client, masked("guideline", pb::ActionMaskFormat::Bits, 1024)).await;
    let mask = client.reset(reset(&session.name)).await.unwrap().into_inner().action_mask.unwrap();
    assert_eq!(mask.shape, [1024, 720]);
    let request = pb::CreateSessionRequest {
        config: Some(masked("guideline", pb::ActionMaskFormat::Bytes, 1024)),
        ..Default::default()
    };
    refused(client.create_session(request).await, Code::InvalidArgument, "RESPONSE_TOO_LARGE");
}

#[tokio::test]
async fn a_format_that_is_unknown_is_refused_and_none_is_the_default() {
    let server = start().await;
    let mut client = server.client().await;
    let wrong = pb::SessionConfig { action_mask_format: 4, ..config(1, 1) };
    let request = pb::CreateSessionRequest { config: Some(wrong), ..Default::default() };
    let error = refused(client.create_session(request).await, Code::InvalidArgument, "INVALID_FIELD");
    assert_eq!(error.fields(), ["config.action_mask_format"]);
    for format in [pb::ActionMaskFormat::Unspecified, pb::ActionMaskFormat::None] {
        let session = create(&mut client, masked("simplified", format, 1)).await;
        assert_eq!(session.config.unwrap().action_mask_format(), pb::ActionMaskFormat::None);
        assert_eq!(client.reset(reset(&session.name)).await.unwrap().into_inner().action_mask, None);
    }
}
