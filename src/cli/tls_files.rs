//! Certificate and key files, which the server reloads when they change.

use std::path::{Path, PathBuf};

use tracing::{info, warn};

use super::follow::follow;
use super::options::{pem, read_server_file};
use tetrion_server::{Tls, TlsError, TlsFiles, Validity, date};

/// Paths of the certificate files.
#[derive(Clone, Debug)]
pub struct TlsPaths {
    /// The server's certificate and its chain.
    pub certificates: PathBuf,
    /// The key of the certificate.
    pub key: PathBuf,
    /// The CA certificates for clients, if clients need certificates.
    pub client_authorities: Option<PathBuf>,
}

/// Certificates, and the files from which they are reloaded.
#[derive(Debug)]
pub struct FiledTls {
    pub tls: Tls,
    paths: TlsPaths,
    files: TlsFiles,
}

impl TlsPaths {
    /// Reads the certificates at the server's start.
    ///
    /// # Errors
    /// With the file's name, if a file cannot be read or used.
    pub fn open(self) -> anyhow::Result<FiledTls> {
        let files = self.read()?;
        let tls = Tls::new(&files).map_err(|error| self.named(error))?;
        self.report(&tls, "certificates read");
        Ok(FiledTls { tls, paths: self, files })
    }

    fn read(&self) -> anyhow::Result<TlsFiles> {
        let read = |path: &Path, label| pem(path, label, read_server_file(path)?);
        let authorities = self.client_authorities.as_deref();
        Ok(TlsFiles {
            certificates: read(&self.certificates, "CERTIFICATE")?,
            key: read(&self.key, "PRIVATE KEY")?,
            client_authorities: authorities.map(|path| read(path, "CERTIFICATE")).transpose()?,
        })
    }

    /// Adds the name of the unusable file to the error.
    fn named(&self, error: TlsError) -> anyhow::Error {
        let (certificates, key) = (self.certificates.display(), self.key.display());
        let file = match &error {
            TlsError::Certificates(_) | TlsError::Expired(_) => certificates.to_string(),
            TlsError::Key(_) => key.to_string(),
            TlsError::Pair => format!("{certificates}, {key}"),
            TlsError::ClientAuthorities(_) => {
                self.client_authorities.iter().map(|path| path.display().to_string()).collect()
            }
        };
        anyhow::Error::new(error).context(file)
    }

    /// Logs the certificate in use, with a warning if it is not valid yet.
    fn report(&self, tls: &Tls, event: &str) {
        let (file, Validity { begins, ends }) = (self.certificates.display(), tls.validity());
        info!(%file, expires = date(ends), "{event}");
        if let Some(begins) = begins.map(date) {
            warn!(%file, begins, "the certificate is not valid yet; clients refuse it");
        }
    }

    /// Loads the files. If one of them cannot be used, the previous certificates stay.
    fn take_up(&self, tls: &Tls, files: &Result<TlsFiles, String>) {
        let files = files.as_ref().map_err(Clone::clone);
        let replaced =
            files.and_then(|files| tls.replace(files).map_err(|error| format!("{:#}", self.named(error))));
        match replaced {
            Ok(()) => self.report(tls, "certificates read again"),
            Err(problem) => warn!(problem, "the certificates cannot be used; the previous ones stay"),
        }
    }
}

impl FiledTls {
    /// Starts a task that follows changes of the files. It replaces all certificates together, because a new
    /// certificate may need a new key.
    ///
    /// # Errors
    /// If the process cannot listen for SIGHUP.
    pub fn follow(self) -> std::io::Result<()> {
        let FiledTls { tls, paths, files } = self;
        let read = {
            let paths = paths.clone();
            move || paths.read().map_err(|error| format!("{error:#}"))
        };
        follow(Ok(files), read, move |files| paths.take_up(&tls, files))
    }
}
