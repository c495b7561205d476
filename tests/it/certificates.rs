//! Certificates that change while the server runs: new connections get the new ones, old connections go on, and files that
//! cannot be used change nothing.

use std::fs;
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use http_body::Body as _;
use tetrion::protocol::pb;
use tetrion::protocol::pb::environment_service_client::EnvironmentServiceClient;
use tonic::body::Body;
use tonic::codegen::http;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Identity};
use tower::{Service, ServiceExt};

use crate::access::Logged;
use crate::support::Command;
use tetrion_service_testing::Client;

/// Reads a file of tests/data/tls.
fn text(name: &str) -> String {
    fs::read_to_string(format!("{}/tests/data/tls/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The names there: a server's certificate, its key, and the authority of the clients.
type Names = [&'static str; 3];

const OLD: Names = ["cert.pem", "key.pem", "client-ca.pem"];
const NEW: Names = ["renewed.pem", "renewed-key.pem", "renewed-ca.pem"];

/// A server, and the files that it has its certificates from.
struct Server {
    logged: Logged,
    files: [String; 3],
}

impl Server {
    fn start(test: &str) -> Server {
        let file = |number| format!("{}/certificates_{test}_{number}.pem", env!("CARGO_TARGET_TMPDIR"));
        let files = [file(1), file(2), file(3)];
        write(&files, OLD);
        let [certificate, key, authority] = &files;
        let flags = ["--tls-cert", certificate, "--tls-key", key, "--tls-client-ca", authority];
        Server { logged: Logged::start(&flags), files }
    }

    /// A client that trusts the server's authority, and has this certificate of its own.
    async fn client(&self, authority: &str, identity: [&str; 2]) -> Option<Client> {
        let mut client = EnvironmentServiceClient::new(self.channel(authority, identity).await?);
        // Only now has the server seen the client's certificate.
        is_served(&mut client).await.then_some(client)
    }

    async fn channel(&self, authority: &str, [certificate, key]: [&str; 2]) -> Option<Channel> {
        let settings = ClientTlsConfig::new()
            .ca_certificate(Certificate::from_pem(text(authority)))
            .identity(Identity::from_pem(text(certificate), text(key)))
            .domain_name("localhost");
        let endpoint = Channel::from_shared(format!("https://{}", self.logged.process.address)).unwrap();
        endpoint.tls_config(settings).unwrap().connect().await.ok()
    }

    /// What the metrics say of the end of the certificate.
    async fn expiry_metric(&self, authority: &str, identity: [&str; 2]) -> String {
        let mut channel = self.channel(authority, identity).await.unwrap();
        let request = http::Request::get("/metrics").body(Body::empty()).unwrap();
        let mut body = channel.ready().await.unwrap().call(request).await.unwrap().into_body();
        let mut text = Vec::new();
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            text.extend(frame.unwrap().into_data().unwrap_or_default());
        }
        let text = String::from_utf8(text).unwrap();
        let line =
            text.lines().find_map(|line| line.strip_prefix("tetrion_certificate_expiry_time_seconds "));
        line.unwrap_or_else(|| panic!("{text}")).to_owned()
    }

    /// Which of the server's certificates a newcomer meets, and which clients' it takes: the old ones or the new ones.
    async fn meets(&self) -> Names {
        let old = self.client("ca.pem", ["client.pem", "client-key.pem"]).await.is_some();
        let new = self.client("renewed-ca.pem", ["renewed.pem", "renewed-key.pem"]).await.is_some();
        let mixed = [
            self.client("ca.pem", ["renewed.pem", "renewed-key.pem"]).await.is_some(),
            self.client("renewed-ca.pem", ["client.pem", "client-key.pem"]).await.is_some(),
        ];
        assert_eq!(mixed, [false; 2], "the old ones and the new ones at the same time");
        assert_ne!(old, new, "neither the old ones nor the new ones, or both");
        if old { OLD } else { NEW }
    }
}

fn write(files: &[String; 3], names: Names) {
    files.iter().zip(names).for_each(|(file, name)| fs::write(file, text(name)).unwrap());
}

async fn is_served(client: &mut Client) -> bool {
    client.get_server_info(pb::GetServerInfoRequest::default()).await.is_ok()
}

#[tokio::test]
async fn changed_certificates_are_taken_up_and_open_connections_go_on() {
    let mut server = Server::start("changed");
    assert_eq!(server.meets().await, OLD);
    let mut open = server.client("ca.pem", ["client.pem", "client-key.pem"]).await.expect("the old ones");
    write(&server.files, NEW);
    server.logged.wait_for("certificates read again");
    assert_eq!(server.meets().await, NEW);
    // It could not connect again.
    assert!(is_served(&mut open).await, "a connection from before");
}

#[cfg(unix)] // SIGHUP, so that the test need not wait
#[tokio::test]
async fn certificates_that_cannot_be_used_are_logged_once_and_change_nothing() {
    let mut server = Server::start("unusable");
    let [certificate, key, authority] = server.files.clone();
    let cut = |name| text(name).lines().take(2).collect::<Vec<_>>().join("\n") + "\n";
    for (file, broken, problem) in [
        (&certificate, text("README.md"), "holds no CERTIFICATE"),
        (&certificate, cut("cert.pem") + "-----END CERTIFICATE-----\n", "the certificate cannot be used"),
        (&certificate, text("expired.pem"), "the certificate expired at 2021-01-01T00:00:00Z"),
        (&key, cut("key.pem"), "the key cannot be used"),
        (&key, text("renewed-key.pem"), "the key does not belong to the certificate"),
        (&authority, cut("client-ca.pem"), "the client CAs cannot be used"),
    ] {
        fs::write(file, broken).unwrap();
        server.logged.hang_up();
        let line = server.logged.wait_for("the certificates cannot be used; the previous ones stay");
        assert!(line.contains(file) && line.contains(problem), "{problem}: {line}");
        assert_eq!(server.meets().await, OLD, "{problem}");
        write(&server.files, OLD);
        server.logged.hang_up();
        server.logged.wait_for("certificates read again");
    }
    fs::remove_file(&key).unwrap();
    let line = server.logged.wait_for("the certificates cannot be used; the previous ones stay");
    assert!(line.contains(&format!("cannot read {key}")), "{line}");
    // The file is looked at a few times more, and it is still gone.
    tokio::time::sleep(Duration::from_millis(3500)).await;
    assert_eq!(server.meets().await, OLD);
    let log = server.logged.end();
    assert_eq!(log.matches("cannot read").count(), 1, "{log}");
    assert!(!log.contains("PRIVATE KEY-----"), "{log}");
}

/// What a server says that cannot start with this certificate.
fn refusal(certificate: &str) -> String {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tls");
    let (certificate, key) = (format!("{data}/{certificate}"), format!("{data}/key.pem"));
    let flags = ["serve", "--listen", "127.0.0.1:0", "--tls-cert", &certificate, "--tls-key", &key];
    let output = Command::new(env!("CARGO_BIN_EXE_tetrion")).args(flags).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn no_server_starts_with_a_certificate_that_has_expired() {
    let said = refusal("expired.pem");
    assert!(said.contains("expired.pem: the certificate expired at 2021-01-01T00:00:00Z"), "{said}");
}

#[tokio::test]
async fn the_log_and_the_metrics_say_when_a_certificate_ends_and_the_log_when_it_begins() {
    let mut server = Server::start("dates");
    let mut client = server.client("ca.pem", ["client.pem", "client-key.pem"]).await.expect("the old ones");
    // 28 October 2126, 01:57:01.
    let metric = server.expiry_metric("ca.pem", ["client.pem", "client-key.pem"]).await;
    assert_eq!(metric, "4948826221");
    let file = server.files[0].clone();
    fs::write(&file, text("early.pem")).unwrap();
    let line = server.logged.wait_for("certificates read again");
    assert!(line.contains(&file) && line.contains("2126-01-01T00:00:00Z"), "{line}");
    let line = server.logged.wait_for("the certificate is not valid yet; clients refuse it");
    assert!(line.contains("WARN") && line.contains("2125-01-01T00:00:00Z"), "{line}");
    assert!(is_served(&mut client).await, "a connection from before");
    write(&server.files, NEW);
    let line = server.logged.wait_for("certificates read again");
    assert!(line.contains("2126-10-29T12:58:41Z"), "{line}");
    let metric = server.expiry_metric("renewed-ca.pem", ["renewed.pem", "renewed-key.pem"]).await;
    assert_eq!(metric, "4948952321");
}
