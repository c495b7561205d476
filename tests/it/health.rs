//! `tetrion health`, as probes of containers start it: an exit code, and a sentence that says why.

use std::net::TcpListener;
use std::process::Output;

use tetrion::protocol::pb::environment_service_server::SERVICE_NAME;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic_health::ServingStatus;
use tonic_health::server::{HealthReporter, HealthService};

use crate::evaluate::tetrion;
use crate::server::Process;
use crate::support::Command;

/// A probe, without the variables of the machine that runs the tests.
fn health(args: &[&str]) -> Command {
    let mut command = tetrion(&["health"]);
    command.args(args).env_remove("TETRION_HEALTH_SERVER");
    command
}

#[track_caller]
fn serving(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.stdout, b"serving\n");
}

#[track_caller]
fn fails(output: &Output, why: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]), "{stderr}");
    assert!(stderr.starts_with("error: ") && stderr.contains(why), "{stderr}");
}

#[test]
fn a_server_that_serves_is_healthy_without_a_token() {
    let process = Process::start(&["--token", "open sesame"]);
    let address = process.address.to_string();
    serving(&health(&["--server", &address]).output().unwrap());
    serving(&health(&[]).env("TETRION_HEALTH_SERVER", address).output().unwrap());
}

#[test]
fn a_certificate_must_have_the_name_that_a_probe_expects() {
    let file = |name: &str| format!("{}/tests/data/tls/{name}", env!("CARGO_MANIFEST_DIR"));
    let (certificate, key, authority) = (file("cert.pem"), file("key.pem"), file("ca.pem"));
    let process = Process::start(&["--tls-cert", &certificate, "--tls-key", &key]);
    let address = format!("https://{}", process.address);
    let probe = ["--server", &address, "--ca-cert", &authority];
    let named = |name| health(&[&probe[..], &["--server-name", name]].concat()).output().unwrap();
    serving(&health(&probe).output().unwrap());
    serving(&named("localhost"));
    let why = format!("no server answers at {address}: ");
    fails(&named("tetrion.example"), &why);
    fails(&health(&probe[..2]).output().unwrap(), &why);
    let plain = process.address.to_string();
    fails(&health(&["--server", &plain]).output().unwrap(), &plain);
}

#[test]
fn a_server_that_wants_certificates_of_its_clients_wants_one_of_a_probe() {
    let file = |name: &str| format!("{}/tests/data/tls/{name}", env!("CARGO_MANIFEST_DIR"));
    let [certificate, key, clients, authority, client, client_key] =
        ["cert.pem", "key.pem", "client-ca.pem", "ca.pem", "client.pem", "client-key.pem"].map(file);
    let process =
        Process::start(&["--tls-cert", &certificate, "--tls-key", &key, "--tls-client-ca", &clients]);
    let address = format!("https://{}", process.address);
    let probe = ["--server", &address, "--ca-cert", &authority];
    let with = |flags: &[&str]| health(&[&probe[..], flags].concat()).output().unwrap();
    serving(&with(&["--client-cert", &client, "--client-key", &client_key]));
    fails(&with(&[]), &format!("no server answers at {address}: "));
    fails(&with(&["--client-cert", &client, "--client-key", &client]), "holds no PRIVATE KEY");
    assert_eq!(with(&["--client-cert", &client]).status.code(), Some(2));
}

#[test]
fn what_does_not_answer_is_not_healthy() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let silent = health(&["--server", &address, "--timeout", "0.2"]).output().unwrap();
    fails(&silent, &format!("the server at {address} has not answered within 200ms"));
    drop(listener);
    fails(&health(&["--server", &address]).output().unwrap(), &format!("no server answers at {address}: "));
    let refused = health(&["--timeout", "soon"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_drains_or_is_another_one_is_not_healthy() {
    let reporter = HealthReporter::new();
    let incoming = TcpIncoming::bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = incoming.local_addr().unwrap().to_string();
    let service = HealthService::from_health_reporter(reporter.clone());
    let service = tonic_health::pb::health_server::HealthServer::new(service);
    tokio::spawn(Server::builder().add_service(service).serve_with_incoming(incoming));
    let asked = || health(&["--server", &address]).output().unwrap();
    let foreign = format!("the program at {address} is not a Tetrion server: ");
    tokio::task::block_in_place(|| fails(&asked(), &foreign));
    reporter.set_service_status(SERVICE_NAME, ServingStatus::NotServing).await;
    let drains = format!("the server at {address} is not serving: it is starting or draining");
    tokio::task::block_in_place(|| fails(&asked(), &drains));
    reporter.set_service_status(SERVICE_NAME, ServingStatus::Serving).await;
    tokio::task::block_in_place(|| serving(&asked()));
}
