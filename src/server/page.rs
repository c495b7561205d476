//! The page at `/`: files that are part of the program, and how browsers get them.
//!
//! The sources are in `clients/typescript/page`; `make page` builds the served files, and a test compares both. The
//! build script adds the documents, so every program has those of its version. To the server the page is a client that
//! calls with gRPC-Web and the rights of the token that its user enters. So the files themselves are public, like the
//! program.

use std::io::Read;
use std::sync::LazyLock;

use axum::Router;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use flate2::read::GzDecoder;
use xxhash_rust::xxh3::xxh3_64;

/// Content security policy of the page: its own script, style sheet and picture, and calls to its own server. It
/// forbids markup from strings, frames around the page, and anything from other hosts.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types 'none'";

/// Headers of every answer with a file.
const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    // Browsers may store the file but must ask again each time, because a new program brings a new page.
    (header::CACHE_CONTROL, "no-cache"),
    (header::VARY, "accept-encoding"),
];

/// A file of the page, a document, or a picture in one.
struct Asset {
    path: &'static str,
    kind: &'static str,
    /// The compressed bytes, made when the program was built.
    gzip: &'static [u8],
    /// The uncompressed bytes, made for the first browser that does not accept gzip. Most processes never need them.
    bytes: LazyLock<Vec<u8>>,
}

macro_rules! asset {
    ($path:literal, $name:literal, $kind:literal) => {{
        const GZIP: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".gz"));
        Asset { path: $path, kind: $kind, gzip: GZIP, bytes: LazyLock::new(|| decompressed(GZIP)) }
    }};
}

/// All files, by the table of the build script: nothing in a request names a file of the machine.
static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| include!(concat!(env!("OUT_DIR"), "/assets.rs")));

/// The routes of the page.
pub(super) fn routes() -> Router {
    ASSETS.iter().enumerate().fold(Router::new(), |router, (index, asset)| {
        router.route(asset.path, get(async move |headers: HeaderMap| answer(index, &headers)))
    })
}

/// The answer with a file, or 304 if the browser already has it.
fn answer(index: usize, request: &HeaderMap) -> Response {
    static TAGS: LazyLock<Vec<u64>> =
        LazyLock::new(|| ASSETS.iter().map(|asset| xxh3_64(asset.gzip)).collect());
    let asset = &ASSETS[index];
    let is_gzip = accepts_gzip(request);
    let tag = format!("\"{:016x}{}\"", TAGS[index], if is_gzip { "-gz" } else { "" });
    let is_known = request.get(header::IF_NONE_MATCH).is_some_and(|known| names(known, &tag));
    let body = if is_gzip { asset.gzip } else { asset.bytes.as_slice() };
    let mut response = if is_known { StatusCode::NOT_MODIFIED.into_response() } else { body.into_response() };
    let headers = response.headers_mut();
    headers.extend(HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value))));
    headers.insert(header::ETAG, HeaderValue::from_str(&tag).expect("hexadecimal digits"));
    if is_known {
        headers.remove(header::CONTENT_TYPE);
    } else {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.kind));
        if is_gzip {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
    }
    response
}

/// The decompressed bytes of a file.
fn decompressed(gzip: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(gzip).read_to_end(&mut bytes).expect("the build wrote it");
    bytes
}

/// Whether a list of entity tags contains this tag. Weak tags count too, because equal tags mean equal bytes here.
fn names(list: &HeaderValue, tag: &str) -> bool {
    let list = list.to_str().unwrap_or_default();
    list.split(',').map(str::trim).any(|known| known == "*" || known.trim_start_matches("W/") == tag)
}

/// Whether the browser accepts gzip. A coding with a quality of 0 is not accepted.
fn accepts_gzip(request: &HeaderMap) -> bool {
    let codings = request.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut codings = codings.flat_map(|value| value.split(','));
    codings.any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip") || name == "*");
        let quality = parts.find_map(|part| part.strip_prefix("q=")).map_or(Ok(1.0), str::parse::<f64>);
        is_gzip && quality.is_ok_and(|quality| quality > 0.0)
    })
}
