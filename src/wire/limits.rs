//! Every limit on a request, and the reason for its value.
//!
//! `GetServerInfo` reports each of them, so that a client need not know this file. Limits on the server as a whole
//! (sessions, environments of all of them) have their defaults here; the operator can set them at the start.

use std::time::Duration;

use super::error::DecodeError;

/// Environments of one session. Beyond it, one call would take too long: 65,536 steps and their observations are some
/// tens of milliseconds.
pub const MAX_ENVS_PER_SESSION: u32 = 65_536;

/// Sessions of a server by default: more learners than a machine can feed.
pub const DEFAULT_MAX_SESSIONS: u32 = 1_024;

/// Environments of all sessions of a server by default: on small playfields 64 MiB of them, on the largest 256 MiB.
pub const DEFAULT_MAX_ENVS: u32 = 262_144;

/// Bytes of a request to a call that takes bulk data. The largest sensible requests, thousands of snapshots or weight
/// vectors, are some megabytes.
pub const MAX_REQUEST_BYTES: u32 = 64 << 20;

/// Bytes of memory that a decoded message may take, tensors not counted. The heaviest one within all other limits, thousands
/// of drawings row by row, takes a little less.
pub const MAX_DECODED_BYTES: u64 = 2 * MAX_REQUEST_BYTES as u64;

/// Bytes of a request to a call that takes no bulk data, as sent. The largest is a Reset of all environments of the largest
/// session: 1.0 MB of letters, and for each of 65,536 environments four bytes around its letters and four of its number, 1.5
/// MB.
pub const MAX_SMALL_REQUEST_BYTES: u32 = 2 << 20;

/// The calls that take bulk data: snapshots, playfields, weights, or requests of such calls.
const BULK: [&str; 4] = ["EnumeratePlacements", "EvaluatePolicies", "RestoreState", "StepStream"];

/// Bytes of a request to a method, named as `package.Service/Method`.
pub fn max_request_bytes(method: &str) -> u32 {
    let (_, name) = method.rsplit_once('/').unwrap_or_default();
    if BULK.contains(&name) { MAX_REQUEST_BYTES } else { MAX_SMALL_REQUEST_BYTES }
}

/// Bytes of an answer unless the client asks for more: the default limit of gRPC clients.
pub const DEFAULT_RESPONSE_BYTES: u32 = 4 << 20;

/// Bytes of an answer that a client can ask for. The server builds it in memory as a whole, once for each call in progress.
pub const MAX_RESPONSE_BYTES: u32 = 64 << 20;

/// The lease of a session whose request names none: longer than a learner thinks between two steps, short enough that the
/// session of a vanished learner does no harm.
pub const DEFAULT_TTL: Duration = Duration::from_secs(10 * 60);

/// The longest lease: a day, so that forgotten sessions end by themselves.
pub const MAX_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// Requests of one stream that wait in the server. Enough to hide a network's latency behind small steps.
pub const STREAM_QUEUE: u32 = 64;

/// Letters of one explicit piece sequence: a person needs a month for a game that long. Every snapshot of the environment
/// holds them.
pub const MAX_SEQUENCE_PIECES: u32 = 100_000;

/// Letters of all explicit piece sequences of one request, a byte of memory each while an environment deals them.
pub const MAX_REQUEST_SEQUENCE_PIECES: u32 = 1_000_000;

/// Columns of a feature selection: more than there are features at the widest playfield.
pub const MAX_FEATURES: u32 = crate::features::MAX_COLUMNS as u32;

/// Keys of one placement in an answer, which has room for as many of each: three times those of the longest ways on 10 x 20
/// outside of mazes. A longer way is left out.
pub const MAX_KEYS: u32 = crate::engine::MAX_KEYS as u32;

/// Positions of one request: as many as a session has environments.
pub const MAX_POSITIONS: u32 = MAX_ENVS_PER_SESSION;

/// Bytes of one snapshot: the longest sequence, and the rest of an environment.
pub const MAX_STATE_BYTES: u32 = MAX_SEQUENCE_PIECES + 1024;

/// The most sessions on a page of a list.
pub const MAX_PAGE_SIZE: u32 = 1_000;
/// Sessions on a page of a list if the request names no size.
pub const DEFAULT_PAGE_SIZE: u32 = 100;

/// Policies of one evaluation: the population of any known search, several times over.
pub const MAX_POLICIES: u32 = 16_384;

/// Games of one evaluation. The server keeps 25 bytes of each until the end, which makes 25 MiB.
pub const MAX_GAMES: u64 = 1 << 20;

/// Pieces of one game of an evaluation: the best known controllers end theirs on 10 x 20 after about a tenth as many.
pub const MAX_PIECES: u64 = 1_000_000_000;

/// Steps of one game of an evaluation: as many as pieces, where a step is a piece.
pub const MAX_STEPS: u64 = MAX_PIECES;

/// Playouts a placement of an agent that plays games at random before it chooses: a thousand for each of 34 placements
/// are some tenths of a second a piece.
pub const MAX_PLAYOUTS: u32 = 1_000;

/// Next pieces that a linear controller looks ahead. Each makes a choice about 23 times as long: with two of them, and
/// features that no kernel knows, a choice on the widest playfield takes seconds.
pub const MAX_LOOKAHEAD: u32 = 2;

/// Hidden layers of a network over the features.
pub const MAX_HIDDEN_LAYERS: u32 = 4;

/// Units of one hidden layer. With [`MAX_HIDDEN_LAYERS`] of them and the features of a set with a name, a choice on 10 x 10
/// takes about half a millisecond.
pub const MAX_HIDDEN_UNITS: u32 = 256;

/// Tuples of an n-tuple network: as many as a playfield of 10 x 20 has windows of cells, with room.
pub const MAX_TUPLES: u32 = 256;

/// Positions of one tuple: a window of 4 x 4 cells.
pub const MAX_TUPLE_POSITIONS: u32 = 16;

/// Parameters of one model, a network and the tables that it reads together: 4 MiB of tables, which the cache of a core still
/// holds in part.
pub const MAX_MODEL_PARAMETERS: u32 = 1 << 20;

/// Parameters of all models of one evaluation, which keeps them until its end: 16 MiB.
pub const MAX_REQUEST_PARAMETERS: u32 = 1 << 22;

/// Work of one step of a choice with a model, by [`Agent::cost`](crate::agents::Agent::cost), in pieces of a linear controller:
/// some twentieth of a second, after which the server looks whether the caller is still there. The largest network takes two
/// thirds of it on the widest playfield when it weighs one hidden piece.
pub const MAX_MODEL_WORK: u64 = 1 << 17;

/// Finished games of an evaluation that may wait for their caller before no further ones begin: 1 MiB.
pub const MAX_UNREAD_GAMES: usize = 16_384;

/// Evaluations of one caller at one time by default: a quarter of all.
pub const DEFAULT_MAX_EVALUATIONS_PER_CALLER: u32 = 16;

/// How long the answer of an evaluation or of a watch may lie unread, by default, before that call must make room for another one:
/// longer than a program takes between two messages, shorter than other callers like to wait.
pub const DEFAULT_MAX_UNREAD: Duration = Duration::from_secs(10);

/// Time of one core that a call may take by the server's estimate, evaluations aside, by default. Every placement of as many
/// positions as one request may have takes less under nearly all rules and features.
pub const DEFAULT_MAX_CALL_WORK: Duration = Duration::from_secs(60);

/// Connections from one address, of this many in all, by default: half of them, rounded up. A proxy or a lab behind one
/// address has room, and leaves as much to the others.
pub fn default_connections_per_address(max_connections: u32) -> u32 {
    max_connections.div_ceil(2)
}

/// Calls in progress on one connection. Further calls wait in the client, which learns the limit when it connects.
pub const DEFAULT_MAX_CALLS_PER_CONNECTION: u32 = 1_024;

/// How much one call may send before it must wait for the server.
pub const STREAM_WINDOW: u32 = 256 << 10;
/// How much all calls of a connection together may send before they must wait for the server, which holds that much while no
/// call reads it. HTTP/2 ends a connection with too many small frames that no call has read: at this size, some two thousand.
pub const CONNECTION_WINDOW: u32 = 512 << 10;

/// Bytes of the headers of a call, as HTTP/2 counts them: as many as gRPC's own libraries take by default.
pub const MAX_HEADER_BYTES: u32 = 8 << 10;

/// Bytes of a request over HTTP/1.1 that the server holds at a time: of its headers, then of its body. Browsers send some
/// kilobytes of headers.
pub const MAX_HTTP1_BYTES: usize = 32 << 10;

/// Bytes that a connection takes at most besides its calls: its window, with half as much again for frames that are small,
/// or its buffers for HTTP/1.1; its headers, its TLS and its tasks.
pub const CONNECTION_BYTES: u64 = CONNECTION_WINDOW as u64 / 2 * 3 + 64 * 1024;

/// Bytes of requests, and of answers, on their way over one connection: four of the largest, and dozens of typical ones. A
/// connection can make the server hold this much without one complete request, besides [`CONNECTION_BYTES`].
pub const CONNECTION_MEMORY: u64 = 4 * MAX_REQUEST_BYTES as u64;

/// Calls in progress that each connection may have whatever the others do, so that the server always serves a newcomer.
pub const OWN_CALLS: u64 = 8;

/// Bytes of requests, and of answers, that each connection may have on their way whatever the others do: a step of hundreds
/// of environments, or the answer of GetServerInfo.
pub const OWN_MEMORY: u64 = 64 << 10;

/// How long a connection may be silent before its first request, its TLS handshake included.
pub const DEFAULT_FIRST_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the server waits for the next 64 KiB of a request.
pub const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a client may leave an answer unread: longer than a learner thinks before it reads.
pub const DEFAULT_ANSWER_TIMEOUT: Duration = DEFAULT_TTL;

/// How long a connection stays open without a call: longer than the default lease. Clients reconnect by themselves.
pub const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// Games of an evaluation that records what is done in them: of [`MAX_RECORDED_BYTES`] each, 16 MiB, which the server keeps
/// until their caller has read them.
pub const MAX_RECORDED_GAMES: u32 = 16;

/// Trials at each height of an estimate of how long games last. Fewer than these say nothing about rare losses.
pub const MIN_LOSS_TRIALS: u32 = 16;

/// Two positions are kept for each trial, of some 600 bytes each: about [`MAX_RECORDED_BYTES`] for each estimate in progress.
pub const MAX_LOSS_TRIALS: u32 = 1024;

/// Bytes that are kept of a game that is recorded.
pub const MAX_RECORDED_BYTES: u64 = 1 << 20;

/// Steps of a game that is recorded, in one message of the answer: a byte each. Where there are more than 256 actions a step
/// takes two, and games are half as long.
pub const MAX_RECORDED_STEPS: u64 = MAX_RECORDED_BYTES;

/// Bytes of a recording in a file: a game of ten million pieces takes as many in JSON. As text it takes eight times as much
/// memory at most, in lists of empty texts that no recording has.
pub const MAX_RECORDING_BYTES: u32 = 32 << 20;

/// Bytes of a text for people in a recording: a line of a terminal, twice.
pub const MAX_RECORDING_TEXT: usize = 200;

/// Callers that watch sessions of a server at one time, by default: as many people as look at a cluster's learners.
pub const DEFAULT_MAX_WATCHES: u32 = 256;

/// Calls of one caller that watch sessions at one time, by default: a quarter of all.
pub const DEFAULT_MAX_WATCHES_PER_CALLER: u32 = 64;

/// Callers that watch one session at one time. Each environment that any of them watches costs a step some tens of nanoseconds.
pub const MAX_WATCHES_PER_SESSION: u32 = 8;

/// Environments that one caller watches in one call: more playfields than a person can follow. On the largest ones a frame has
/// 100 KB.
pub const MAX_WATCHED_ENVS: u32 = 64;

/// Frames a second of a call that watches: as often as most screens are drawn.
pub const MAX_FRAMES_PER_SECOND: u32 = 60;
/// The same if the request names no rate: enough for pieces that move, a third of the bytes.
pub const DEFAULT_FRAMES_PER_SECOND: u32 = 20;

/// How often an evaluation reports its progress if the request names no interval.
pub const DEFAULT_PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// The shortest interval between two progress reports.
pub const MIN_PROGRESS_INTERVAL: Duration = Duration::from_millis(50);

/// Bytes of a name in a request. Our longest name has half as many; a longer one would fill the error that refuses it.
pub const MAX_NAME_BYTES: usize = 128;

/// Refuses a name that is too long.
///
/// # Errors
/// With the path `field`.
pub fn check_name(field: &str, name: &str) -> Result<(), DecodeError> {
    if name.len() > MAX_NAME_BYTES {
        let problem = format!("has {} bytes, expected at most {MAX_NAME_BYTES}", name.len());
        return Err(DecodeError::field(field, problem));
    }
    Ok(())
}
