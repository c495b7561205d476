//! The origins whose pages may call.
//!
//! A browser sends the page's origin with every call from a page, and the page cannot change it. Without this check, a
//! call from a foreign page would be performed, because browsers only withhold the answer. Other programs send no
//! origin.

use axum::http::uri::Authority;
use axum::http::{HeaderValue, Request, Uri, header};

use super::hosts::{host_of, is_loopback};

/// The origins whose pages may call the server from a browser, in addition to its own page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origins {
    /// Pages that come from the browser's own machine, on any port.
    #[default]
    Loopback,
    /// Pages of these origins, each as `SCHEME://HOST` or `SCHEME://HOST:PORT`.
    Listed(Vec<HeaderValue>),
    Any,
}

impl Origins {
    /// Whether these origins include a page's origin.
    pub(super) fn have(&self, origin: &HeaderValue) -> bool {
        match self {
            Origins::Loopback => parsed(origin).is_some_and(|uri| uri.host().is_some_and(is_loopback)),
            Origins::Listed(listed) => listed.contains(origin),
            Origins::Any => true,
        }
    }

    /// The origin of a request if the server refuses it: it is neither one of these, nor the host of the request.
    pub(super) fn refused<B>(&self, request: &Request<B>) -> Option<String> {
        let origins = request.headers().get_all(header::ORIGIN);
        let refused = origins.iter().find(|origin| !self.have(origin) && !is_own(origin, request))?;
        Some(String::from_utf8_lossy(refused.as_bytes()).into_owned())
    }
}

/// Whether a page came from the host that it calls. A proxy may encrypt, so the scheme does not matter.
fn is_own<B>(origin: &HeaderValue, request: &Request<B>) -> bool {
    let (Some(origin), Some(host)) = (parsed(origin), host_of(request)) else { return false };
    let default_port = if origin.scheme_str() == Some("https") { 443 } else { 80 };
    let place = |authority: &Authority| {
        (authority.host().to_ascii_lowercase(), authority.port_u16().unwrap_or(default_port))
    };
    origin.authority().is_some_and(|origin| place(origin) == place(&host))
}

/// An origin as `SCHEME://HOST:PORT`; `null` is not one.
fn parsed(origin: &HeaderValue) -> Option<Uri> {
    let uri = origin.to_str().ok()?.parse::<Uri>().ok()?;
    uri.scheme().is_some().then_some(uri)
}
