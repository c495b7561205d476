//! The web pages of servers. They are not part of the protocol: a browser finds them at the server's address.

use std::time::Duration;

use tonic::body::Body;
use tonic::codegen::http::{Method, Request, Response, StatusCode, header};
use tower::ServiceExt;

use super::Client;
use super::connection::LinkedServer;

/// How long a server may take to show its page.
const TIMEOUT: Duration = Duration::from_secs(5);

impl Client {
    /// The addresses of the pages of those servers that have one.
    pub async fn pages(&self) -> Vec<String> {
        let mut pages = Vec::new();
        for server in &self.servers {
            let answer = tokio::time::timeout(TIMEOUT, server.head_of_page()).await;
            if answer.ok().flatten().is_some_and(|answer| is_page(&answer)) {
                pages.push(server.page());
            }
        }
        pages
    }
}

impl LinkedServer {
    /// The URL for a browser.
    fn page(&self) -> String {
        let address = self.address.trim_end_matches('/');
        if address.contains("://") { format!("{address}/") } else { format!("http://{address}/") }
    }

    /// The answer to a HEAD request for `/`, over the connection of the calls; `None` if the server does not answer.
    async fn head_of_page(&self) -> Option<Response<Body>> {
        let request = Request::builder().method(Method::HEAD).uri("/").body(Body::empty()).ok()?;
        self.link.clone().oneshot(request).await.ok()
    }
}

fn is_page(answer: &Response<Body>) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    answer.status() == StatusCode::OK && kind.is_some_and(|kind| kind.starts_with("text/html"))
}
