//! Whether a server serves, by `grpc.health.v1` like load balancers and orchestrators; needs no token.

use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use super::connection::open;
use super::error::first;
use super::{ClientError, ConnectOptions};
use tetrion_protocol::pb::environment_service_server::SERVICE_NAME;

/// Checks whether a server takes calls.
///
/// # Errors
/// [`ClientError::NotServing`] if the server takes none; otherwise the error that prevented an answer.
pub async fn check_health(address: &str, options: &ConnectOptions) -> Result<(), ClientError> {
    let request = HealthCheckRequest { service: SERVICE_NAME.to_owned() };
    let answer = HealthClient::new(open(address, options).await?).check(request).await;
    let address = address.to_owned();
    match answer.map(|answer| answer.into_inner().status()) {
        Ok(ServingStatus::Serving) => Ok(()),
        Ok(_) => Err(ClientError::NotServing { address }),
        Err(status) if matches!(status.code(), Code::NotFound | Code::Unimplemented) => {
            let reason = format!("it knows nothing of the health of {SERVICE_NAME}");
            Err(ClientError::Foreign { address, reason })
        }
        Err(status) => Err(first(&address, &status)),
    }
}
