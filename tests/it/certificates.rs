//! Certificates that change while the server runs: new connections get the new ones, old connections go on, and files that
//! cannot be used change nothing.

use std::fs;
use std::time::Duration;

use tetrion::wire::pb;
use tetrion::wire::pb::environment_service_client::EnvironmentServiceClient;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Identity};

use crate::access::Logged;
use crate::support::Client;

/// A text of tests/data/tls.
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
    async fn client(&self, authority: &str, [certificate, key]: [&str; 2]) -> Option<Client> {
        let settings = ClientTlsConfig::new()
            .ca_certificate(Certificate::from_pem(text(authority)))
            .identity(Identity::from_pem(text(certificate), text(key)))
            .domain_name("localhost");
        let endpoint = Channel::from_shared(format!("https://{}", self.logged.process.address)).unwrap();
        let channel = endpoint.tls_config(settings).unwrap().connect().await.ok()?;
        let mut client = EnvironmentServiceClient::new(channel);
        // Only now has the server seen the client's certificate.
        is_served(&mut client).await.then_some(client)
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
        (&key, cut("key.pem"), "the key cannot be used"),
        (&key, text("renewed-key.pem"), "the key is not that of the certificate"),
        (&authority, cut("client-ca.pem"), "the authorities of clients cannot be used"),
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
