//! A viewer of a learner's session: reads the frames as fast as the server sends them.

use tokio::runtime::Runtime;
use tonic::transport::Channel;

use super::remote::RemoteError;
use tetrion_protocol::pb;
use tetrion_protocol::pb::environment_service_client::EnvironmentServiceClient;

/// A viewer with a separate thread and connection. Dropping it ends the watch.
#[derive(Debug)]
pub struct Viewer {
    _runtime: Runtime,
}

impl Viewer {
    /// Watches the first `num_envs` environments of a session on the server at `HOST:PORT`.
    ///
    /// # Errors
    /// If the server does not answer, or refuses.
    pub fn begin(
        address: &str,
        session: &str,
        num_envs: u32,
        max_frames_per_second: u32,
    ) -> Result<Viewer, RemoteError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let endpoint = Channel::from_shared(format!("http://{address}"))
            .map_err(|_| RemoteError::Answer("address"))?
            .tcp_nodelay(true);
        let request = pb::WatchSessionRequest {
            session: session.to_owned(),
            envs: Some(pb::EnvIds { ids: (0..num_envs).collect() }),
            max_frames_per_second,
        };
        let mut frames = runtime.block_on(async {
            let mut client = EnvironmentServiceClient::new(endpoint.connect().await?);
            Ok::<_, RemoteError>(client.watch_session(request).await?.into_inner())
        })?;
        runtime.spawn(async move { while matches!(frames.message().await, Ok(Some(_))) {} });
        Ok(Viewer { _runtime: runtime })
    }
}
