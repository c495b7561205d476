//! The table of the kinds of calls, compared with the proto files.

use prost::Message;
use prost_types::{DescriptorProto, FileDescriptorSet};
use tetrion_client::session::KINDS;
use tetrion_protocol::FILE_DESCRIPTOR_SET;

/// The descriptor of a message of the protocol.
fn message(name: &str) -> DescriptorProto {
    let files = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap().file;
    let ours = files.into_iter().filter(|file| file.package() == "tetrion.v1");
    ours.flat_map(|file| file.message_type).find(|message| message.name() == name).unwrap()
}

/// Number of a field; `None` if the message does not have it.
fn number(message: &DescriptorProto, field: &str) -> Option<u32> {
    message.field.iter().find(|known| known.name() == field).map(|field| field.number() as u32)
}

#[test]
fn every_kind_has_the_numbers_of_the_proto_files() {
    let [requests, answers] = ["StepStreamRequest", "StepStreamResponse"].map(message);
    assert_eq!(requests.field.len(), KINDS.len(), "every kind of request is in the table");
    for kind in KINDS {
        let words = kind.name.split('_').map(|word| word[..1].to_uppercase() + &word[1..]);
        let name: String = words.collect();
        let [request, answer] = ["Request", "Response"].map(|end| message(&format!("{name}{end}")));
        let session = match number(&request, "session") {
            Some(field) => vec![field],
            None => vec![
                number(&request, "session_envs").unwrap(),
                number(&message("SessionEnvs"), "session").unwrap(),
            ],
        };
        assert_eq!(kind.path, format!("/tetrion.v1.EnvironmentService/{name}"));
        assert_eq!(kind.session, session, "{name}");
        assert_eq!(kind.number, number(&request, "sequence_number"), "{name}");
        assert_eq!(Some(kind.answer_number), number(&answer, "sequence_number"), "{name}");
        for stream in [&requests, &answers] {
            assert_eq!(Some(kind.in_stream), number(stream, kind.name), "{name}");
        }
    }
}
