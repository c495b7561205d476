//! The memory that messages take is known before they are read.

use prost::{Message, Name};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FileDescriptorSet};
use tetrion_protocol::codec;
use tetrion_protocol::{FILE_DESCRIPTOR_SET, pb, positions};

fn weight<M: Message + Name>(message: &M) -> u64 {
    codec::weight(&M::full_name(), &message.encode_to_vec()).expect("a message of ours")
}

#[test]
fn a_message_weighs_what_it_takes() {
    let policies = |count| pb::EvaluatePoliciesRequest {
        policies: vec![pb::Policy::default(); count],
        ..Default::default()
    };
    let policy = size_of::<pb::Policy>() as u64;
    assert_eq!(weight(&policies(0)), 0);
    let each = weight(&policies(1000)) / 1000;
    assert!((policy..=2 * policy).contains(&each), "{each} bytes for a policy that takes {policy}");

    // Inside of messages, and texts with what is in them.
    let drawing = pb::Drawing { rows: vec!["#.#.".to_owned(); 10], ..Default::default() };
    let positions = positions::from_drawings(vec![drawing; 100]);
    let request = pb::EnumeratePlacementsRequest {
        source: Some(pb::enumerate_placements_request::Source::Positions(positions)),
        ..Default::default()
    };
    let least = 100 * (size_of::<pb::Drawing>() + 10 * (size_of::<String>() + 4)) as u64;
    let weighed = weight(&request);
    assert!((least..=2 * least).contains(&weighed), "{weighed} bytes, expected about {least}");

    // Bytes are not copied; packed numbers are written out.
    let tensor = pb::Tensor { data: vec![0; 10_000].into(), ..Default::default() };
    assert_eq!(weight(&pb::StepRequest { actions: Some(tensor), ..Default::default() }), 0);
    let envs = Some(pb::EnvIds { ids: vec![1; 10_000] });
    assert_eq!(weight(&pb::StepRequest { envs, ..Default::default() }), 40_000);
    let seeds = pb::Seeds { seeds: vec![7; 10_000], per_policy: false };
    assert_eq!(weight(&seeds), 80_000);
    // A short text takes a block of the allocator.
    let request = pb::PieceSequences { sequences: vec!["I".to_owned(); 1000], ..Default::default() };
    assert!((48_000..60_000).contains(&weight(&request)), "{} bytes", weight(&request));
}

#[test]
fn nothing_is_too_heavy_for_its_size_unless_it_is_weighed() {
    fn check(prefix: &str, messages: &[DescriptorProto]) -> usize {
        let mut checked = 0;
        for message in messages {
            let name = format!("{prefix}.{}", message.name());
            for field in &message.field {
                // The shortest that there is: a tag, and a length of 0 or the number 0; one that is packed has a length of 1.
                let mut bytes = Vec::new();
                let numeric = !matches!(field.r#type(), Type::Message | Type::String | Type::Bytes);
                let packed = numeric && field.label() == Label::Repeated;
                let wire_type = if numeric && !packed { 0 } else { 2 };
                prost::encoding::encode_varint((field.number() as u64) << 3 | wire_type, &mut bytes);
                bytes.extend_from_slice(if packed { &[1, 0] } else { &[0] });
                let weight = codec::weight(&name, &bytes).expect("a message of ours");
                let most = bytes.len() as u64 * codec::most_per_byte_of(&name).unwrap();
                assert!(weight <= most, "{name}.{}: {weight} bytes for {}", field.name(), bytes.len());
                checked += 1;
            }
            checked += check(&name, &message.nested_type);
        }
        checked
    }
    let set = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    let checked: usize = set.file.iter().map(|file| check(file.package(), &file.message_type)).sum();
    assert!(checked > 200, "{checked} fields");
}

#[test]
fn what_cannot_be_read_weighs_nothing() {
    for bytes in
        [&b"\xff"[..], b"\x22", b"\x22\x05", b"\x22\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\x23"]
    {
        assert_eq!(codec::weight("tetrion.v1.EvaluatePoliciesRequest", bytes), Some(0), "{bytes:?}");
    }
}
