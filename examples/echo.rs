//! An echo of Steps: a server in the stack of the real one that reads each request and answers with the same message: the
//! cost of a call before the server does anything for it.
//!
//! `clients/python/benches/bench.py` compares its own Steps with it. The answer is the first argument, a `StepResponse` in
//! hexadecimal:
//!
//! ```sh
//! cargo run --release --example echo -- 4001           # echo listening on 127.0.0.1:PORT
//! ```
//!
//! It ends when its standard input ends.

use std::convert::Infallible;
use std::io::Read;
use std::pin::Pin;
use std::task::{Context, Poll};

use prost::Message;
use tetrion::protocol::pb::{StepRequest, StepResponse};
use tonic::body::Body;
use tonic::codegen::http;
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

#[tokio::main]
async fn main() {
    let answer = std::env::args().nth(1).expect("the answer, in hexadecimal");
    let incoming = TcpIncoming::bind(([127, 0, 0, 1], 0).into()).expect("a port").with_nodelay(Some(true));
    println!("echo listening on {}", incoming.local_addr().expect("an address"));
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let answer = StepResponse::decode(from_hex(&answer).as_slice()).expect("a StepResponse");
    let served = Server::builder().add_service(Echo(answer)).serve_with_incoming(incoming).await;
    served.expect("a socket that lasts");
}

fn from_hex(text: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal digits");
    (0..text.len()).step_by(2).map(byte).collect()
}

/// A service whose answer to every `Step` is this message.
#[derive(Clone)]
struct Echo(StepResponse);

impl NamedService for Echo {
    const NAME: &'static str = "tetrion.bench.Echo";
}

impl tower::Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let echo = self.clone();
        Box::pin(async move { Ok(Grpc::new(ProstCodec::default()).unary(echo, request).await) })
    }
}

impl UnaryService<StepRequest> for Echo {
    type Response = StepResponse;
    type Future = std::future::Ready<Result<Response<StepResponse>, Status>>;

    fn call(&mut self, _: Request<StepRequest>) -> Self::Future {
        std::future::ready(Ok(Response::new(self.0.clone())))
    }
}
