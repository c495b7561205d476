// The generated messages, enums and services of the protocol, for programs that need more than `Client` and `Session`.

export * from "./gen/tetrion/v1/catalog_pb.js";
export * from "./gen/tetrion/v1/environment_service_pb.js";
export * from "./gen/tetrion/v1/evaluation_service_pb.js";
export * from "./gen/tetrion/v1/features_pb.js";
export * from "./gen/tetrion/v1/policy_pb.js";
export * from "./gen/tetrion/v1/position_pb.js";
export * from "./gen/tetrion/v1/recording_pb.js";
export * from "./gen/tetrion/v1/rules_pb.js";
export * from "./gen/tetrion/v1/seeding_pb.js";
export * from "./gen/tetrion/v1/server_info_pb.js";
export * from "./gen/tetrion/v1/task_pb.js";
export * from "./gen/tetrion/v1/tensor_pb.js";

/** The revision of the protocol that this package knows. A server with a lower one refuses requests that rely on it. */
export const PROTOCOL_REVISION = 1;
