//! The pages that servers show to people. They are no part of the protocol: a browser would find them at the same address.

use std::time::Duration;

use tonic::body::Body;
use tonic::codegen::http::{Method, Request, Response, StatusCode, header};
use tower::ServiceExt;

use super::Client;
use super::connection::ServerChannel;

/// How long a server may take to show its page.
const TIMEOUT: Duration = Duration::from_secs(5);

impl Client {
    /// The addresses of the pages of those servers that show one.
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

impl ServerChannel {
    /// Where a browser would look.
    fn page(&self) -> String {
        let address = self.address.trim_end_matches('/');
        if address.contains("://") { format!("{address}/") } else { format!("http://{address}/") }
    }

    /// What the server says of `/`, over the connection of the calls; none if it does not answer.
    async fn head_of_page(&self) -> Option<Response<Body>> {
        let request = Request::builder().method(Method::HEAD).uri("/").body(Body::empty()).ok()?;
        self.channel.clone().oneshot(request).await.ok()
    }
}

fn is_page(answer: &Response<Body>) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    answer.status() == StatusCode::OK && kind.is_some_and(|kind| kind.starts_with("text/html"))
}
