//! The id of a request: the caller sends it as metadata, or the server makes one. The answer, its errors and its log lines
//! show it, so that both sides can refer to the same call.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::{HeaderMap, HeaderName};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// The metadata key of the id, in both directions.
pub(super) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id that a caller may give, in bytes.
const MAX_BYTES: usize = 128;

/// The id of a request with these headers. The server replaces an id that is too long, or not of visible ASCII, because it
/// appears in log lines.
pub(super) fn of(headers: &HeaderMap) -> String {
    given(headers).map_or_else(new, str::to_owned)
}

fn given(headers: &HeaderMap) -> Option<&str> {
    let id = headers.get(HEADER)?.to_str().ok()?;
    let fits = (1..=MAX_BYTES).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then_some(id)
}

/// An id that no other request has. It need not be hard to guess: it grants nothing.
fn new() -> String {
    static SEED: OnceLock<u64> = OnceLock::new();
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let seed = *SEED.get_or_init(|| getrandom::u64().expect("the operating system has randomness"));
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    hex(xxh3_128_with_seed(&number.to_le_bytes(), seed))
}

/// The 32 digits of a number; `format!` takes three times as long, in every call.
fn hex(number: u128) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = number.to_be_bytes().into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}
