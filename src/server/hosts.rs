//! The host names that requests may use.
//!
//! A page can make a browser believe that the page's own host has the address of this server (DNS rebinding). Page and
//! server then have the same origin, and the browser lets the page call the server and read the answers. The host in
//! the request reveals the attack, because it is still the page's.

use std::net::IpAddr;

use axum::http::uri::Authority;
use axum::http::{Request, header};

/// Allowed values of a request's `Host` or `:authority`, ignoring the port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// This machine: `localhost`, loopback addresses, and the listed names.
    Local(Vec<String>),
    Any,
}

impl Hosts {
    /// The host of a request if the server refuses it. A request without a host does not come from a browser.
    pub(super) fn refused<B>(&self, request: &Request<B>) -> Option<String> {
        let Hosts::Local(others) = self else { return None };
        let host = match host_of(request) {
            Some(authority) => authority.host().to_owned(),
            None => {
                let header = request.headers().get(header::HOST)?;
                return Some(String::from_utf8_lossy(header.as_bytes()).into_owned());
            }
        };
        let known = is_loopback(&host) || others.iter().any(|other| other.eq_ignore_ascii_case(&host));
        (!known).then_some(host)
    }
}

/// The host of a request, with its port; `None` if it has none, several, or an invalid one.
pub(super) fn host_of<B>(request: &Request<B>) -> Option<Authority> {
    let header = || {
        let mut hosts = request.headers().get_all(header::HOST).iter();
        let only = hosts.next().filter(|_| hosts.next().is_none())?;
        only.to_str().ok()?.parse().ok()
    };
    request.uri().authority().cloned().or_else(header)
}

/// Whether `host` is a name or an address by which a machine refers to itself.
pub(super) fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}
