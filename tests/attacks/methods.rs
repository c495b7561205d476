//! The methods that inputs of the fuzz target `calls` name by number. The target includes this file, so that both count alike.

use std::sync::LazyLock;

use prost::Message;
use prost_types::FileDescriptorSet;
use tetrion::protocol::FILE_DESCRIPTOR_SET;

/// The methods of `EnvironmentService`, in the order of the proto file.
pub static METHODS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let set = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).expect("a descriptor set written by build.rs");
    let services =
        set.file.iter().filter(|file| file.package() == "tetrion.v1").flat_map(|file| &file.service);
    let service = services.into_iter().find(|service| service.name() == "EnvironmentService");
    let methods = &service.expect("a service of the protocol").method;
    methods.iter().map(|method| method.name().to_owned()).collect()
});
