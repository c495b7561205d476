//! Every limit on a request, and the reason for its value.
//!
//! `GetServerInfo` reports each limit that a client can act on, so a client need not know this file. It has constants and
//! no table, because each is used by name where a request is checked, and no flag changes it. The limits on a server as a
//! whole, which flags change, are in the package of the services.

use std::time::Duration;

use super::error::DecodeError;

/// Environments per session. With more, one call would take too long: 65,536 steps and their observations take tens of
/// milliseconds.
pub const MAX_ENVS_PER_SESSION: u32 = 65_536;

/// Bytes of a request to a call that takes bulk data. The largest useful requests, thousands of snapshots or weight
/// vectors, take several megabytes.
pub const MAX_REQUEST_BYTES: u32 = 64 << 20;

/// Memory of a decoded message, without tensors. The heaviest message within all other limits, thousands of drawings
/// row by row, takes slightly less.
pub const MAX_DECODED_BYTES: u64 = 2 * MAX_REQUEST_BYTES as u64;

/// Bytes of a request, as sent, to a call that takes no bulk data. The largest is a Reset of the largest session: 1.0
/// MB of letters, and for each of 65,536 environments four bytes around its letters and four of its number, 1.5 MB in
/// total.
pub const MAX_SMALL_REQUEST_BYTES: u32 = 2 << 20;

/// Calls that take bulk data: snapshots, playfields, weights, or requests of such calls.
const BULK: [&str; 4] = ["EnumeratePlacements", "EvaluatePolicies", "RestoreState", "StepStream"];

/// Most bytes of a request to a method, named as `package.Service/Method`.
pub fn max_request_bytes(method: &str) -> u32 {
    let (_, name) = method.rsplit_once('/').unwrap_or_default();
    if BULK.contains(&name) { MAX_REQUEST_BYTES } else { MAX_SMALL_REQUEST_BYTES }
}

/// Bytes of an answer if the client does not ask for more: the default limit of gRPC clients.
pub const DEFAULT_RESPONSE_BYTES: u32 = 4 << 20;

/// Most bytes of an answer that a client can ask for. The server builds the whole answer in memory, one per call in
/// progress.
pub const MAX_RESPONSE_BYTES: u32 = 64 << 20;

/// Lease of a session whose request has none. A learner seldom takes this long between two steps, and the session of a
/// crashed learner does no harm for this long.
pub const DEFAULT_TTL: Duration = Duration::from_secs(10 * 60);

/// Longest lease: a day, so that abandoned sessions end by themselves.
pub const MAX_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// Requests of one stream that wait in the server. Enough to hide a network's latency behind small steps.
pub const MAX_STREAM_REQUESTS: u32 = 64;

/// Letters of one explicit piece sequence, with the columns of its holes: a person needs a month for such a game. Every
/// snapshot of the environment contains them.
pub const MAX_SEQUENCE_PIECES: u32 = 100_000;

/// Letters of all explicit piece sequences of one request, with the columns of their holes. Each takes one byte of
/// memory while an environment deals them.
pub const MAX_REQUEST_SEQUENCE_PIECES: u32 = 1_000_000;

/// Columns of a feature selection: more than the number of features on the widest playfield.
pub const MAX_FEATURES: u32 = tetrion_core::features::MAX_COLUMNS as u32;

/// Keys per placement in an answer, which reserves room for all of them: three times the longest list on 10 x 20
/// outside of mazes. Longer lists are omitted.
pub const MAX_KEYS: u32 = tetrion_core::engine::MAX_KEYS as u32;

/// Positions per request: as many as environments of the largest session.
pub const MAX_POSITIONS: u32 = MAX_ENVS_PER_SESSION;

/// Bytes of one snapshot: the longest sequence, the rest of an environment, and a byte for each cell of the largest playfield.
pub const MAX_STATE_BYTES: u32 = MAX_SEQUENCE_PIECES + 1024 + 2048;

/// Rows of a session's history, an even number: after two neighbouring rows have become one, a curve still has 128
/// points. They take 22 KiB per session.
pub const MAX_HISTORY_ROWS: usize = 256;

/// Most sessions on a page of a list.
pub const MAX_PAGE_SIZE: u32 = 1_000;
/// Sessions on a page of a list if the request names no size.
pub const DEFAULT_PAGE_SIZE: u32 = 100;

/// Policies of one evaluation: several times the population of any known search.
pub const MAX_POLICIES: u32 = 16_384;

/// Games of one evaluation. The server keeps 25 bytes per game until the end, 25 MiB in total.
pub const MAX_GAMES: u64 = 1 << 20;

/// Pieces per game of an evaluation: the best known controllers lose on 10 x 20 after about a tenth of them.
pub const MAX_PIECES: u64 = 1_000_000_000;

/// Steps per game of an evaluation. Equal to the limit on pieces, since a step places at most one piece.
pub const MAX_STEPS: u64 = MAX_PIECES;

/// Playouts per placement of an agent that plays random games before it chooses. A thousand for each of 34 placements
/// take a few tenths of a second per piece. Other work has its turn after each thousand.
pub const MAX_PLAYOUTS: u32 = 100_000;

/// Next pieces of a linear controller's lookahead. Each multiplies the time of a choice by about 23. With two of them,
/// and features that no kernel supports, a choice on the widest playfield takes seconds.
pub const MAX_LOOKAHEAD: u32 = 2;

/// Hidden layers of a network over the features.
pub const MAX_HIDDEN_LAYERS: u32 = 4;

/// Units of one hidden layer. With [`MAX_HIDDEN_LAYERS`] layers and the features of a named set, a choice on 10 x 10
/// takes about half a millisecond.
pub const MAX_HIDDEN_UNITS: u32 = 256;

/// Tuples of an n-tuple network: more than a 10 x 20 playfield has windows of cells.
pub const MAX_TUPLES: u32 = 256;

/// Positions of one tuple: a window of 4 x 4 cells.
pub const MAX_TUPLE_POSITIONS: u32 = 16;

/// Parameters of one model, including tables that a network reads: 16 MiB, as many as `train td` learns. A network of 64
/// units on 10 x 10 takes half of it.
pub const MAX_MODEL_PARAMETERS: u32 = tetrion_toolkit::optimizers::td::MAX_ENTRIES;

/// Parameters of all models of one evaluation, which holds them until its end: 16 MiB.
pub const MAX_REQUEST_PARAMETERS: u32 = 1 << 22;

/// Bytes of a formula: a page of text.
pub const MAX_FORMULA_BYTES: u32 = tetrion_core::formula::MAX_BYTES as u32;

/// Levels of parentheses, calls, conditions and signs of a formula within each other.
pub const MAX_FORMULA_DEPTH: u32 = tetrion_core::formula::MAX_DEPTH;

/// Cost of a formula for one placement, in additions.
pub const MAX_FORMULA_COST: u32 = tetrion_core::formula::MAX_COST;

/// Most work of one choice with a model or a formula, measured by [`Agent::cost`](tetrion_core::agents::Agent::cost) in pieces
/// of a linear controller. This is about a twentieth of a second; between choices the server checks whether the caller
/// is still there. The largest network on the widest playfield with one hidden piece uses two thirds of it.
pub const MAX_MODEL_WORK: u64 = 1 << 17;

/// Finished games of an evaluation that may wait for the caller, 1 MiB; with more, no new games start.
pub const MAX_UNREAD_GAMES: usize = 16_384;

/// Bytes that one call may send before it must wait for the server to read them.
pub const STREAM_WINDOW: u32 = 256 << 10;
/// Bytes that all calls of a connection together may send before they must wait for the server to read them. Until then
/// the server holds them. HTTP/2 ends a connection with too many small unread frames: at this size, about two thousand.
pub const CONNECTION_WINDOW: u32 = 512 << 10;

/// Bytes of the headers of a call, as HTTP/2 counts them: the default of gRPC's own libraries.
pub const MAX_HEADER_BYTES: u32 = 8 << 10;

/// Bytes of a request over HTTP/1.1 that the server holds at a time: first its headers, then its body. Browsers send
/// several kilobytes of headers.
pub const MAX_HTTP1_BYTES: usize = 32 << 10;

/// Most bytes of a connection in addition to its calls: its window plus half of it for small frames, or its buffers for
/// HTTP/1.1; also its headers, its TLS and its tasks.
pub const CONNECTION_BYTES: u64 = CONNECTION_WINDOW as u64 / 2 * 3 + 64 * 1024;

/// Bytes of requests, and of answers, in transit over one connection: four of the largest, or dozens of typical ones.
/// A connection can make the server hold this much without one complete request, in addition to [`CONNECTION_BYTES`].
pub const CONNECTION_MEMORY: u64 = 4 * MAX_REQUEST_BYTES as u64;

/// Concurrent calls that every connection may have, whatever the others use, so that the server always serves a
/// newcomer.
pub const OWN_CALLS: u64 = 8;

/// Bytes of requests, and of answers, in transit that every connection may have, whatever the others use: enough for a
/// step of hundreds of environments, or the answer of GetCatalog.
pub const OWN_MEMORY: u64 = 64 << 10;

/// Recorded games of one evaluation. Each may have [`MAX_RECORDED_BYTES`] of actions and as many of landings, 32 MiB in
/// total, which the server holds until the caller has read them.
pub const MAX_RECORDED_GAMES: u32 = 16;

/// Fewest trials per height in an estimate of game lengths. Fewer would miss rare losses.
pub const MIN_LOSS_TRIALS: u32 = 16;

/// Most trials per height in an estimate of game lengths. The server keeps two positions of about 600 bytes per trial:
/// about [`MAX_RECORDED_BYTES`] for each estimate in progress.
pub const MAX_LOSS_TRIALS: u32 = 1024;

/// Bytes of actions per recorded game.
pub const MAX_RECORDED_BYTES: u64 = 1 << 20;

/// Steps of a recorded game in one message of the answer, one byte each. With more than 256 actions a step takes two
/// bytes, so games can be only half as long.
pub const MAX_RECORDED_STEPS: u64 = MAX_RECORDED_BYTES;

/// Bytes of a recording file: a game of ten million pieces in JSON. Decoded text takes at most eight times its size in
/// memory, in lists of empty texts that no real recording has.
pub const MAX_RECORDING_BYTES: u32 = 32 << 20;

/// Bytes of a descriptive text in a recording: two lines of a terminal.
pub const MAX_RECORDING_TEXT: usize = 200;

/// Concurrent watches per session. For each watch, a step takes a few tens of nanoseconds more per watched environment.
pub const MAX_WATCHES_PER_SESSION: u32 = 8;

/// Environments per watch: more playfields than a person can follow. On the largest playfields a frame takes 100 KB.
pub const MAX_WATCHED_ENVS: u32 = 64;

/// Frames per second of a watch: the refresh rate of most screens.
pub const MAX_FRAMES_PER_SECOND: u32 = 60;
/// Frames per second of a watch whose request names no rate: enough for moving pieces, with a third of the bytes.
pub const DEFAULT_FRAMES_PER_SECOND: u32 = 20;

/// Interval of an evaluation's progress reports if the request names none.
pub const DEFAULT_PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// The shortest interval between two progress reports.
pub const MIN_PROGRESS_INTERVAL: Duration = Duration::from_millis(50);

/// Bytes of a name in a request: twice our longest name. The error shows an unknown name, so it must not be long.
pub const MAX_NAME_BYTES: usize = 128;

/// Refuses a name that is longer than [`MAX_NAME_BYTES`].
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
