//! Certificates and keys on disk, which are read again when they change.

use std::path::{Path, PathBuf};

use tracing::{info, warn};

use super::follow::follow;
use super::options::{pem, read_server_file};
use crate::server::{Tls, TlsError, TlsFiles, Validity, date};

/// Where they are.
#[derive(Clone, Debug)]
pub struct TlsPaths {
    /// The certificate to show, and those that vouch for it.
    pub certificates: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// The authorities of clients, if clients need certificates.
    pub client_authorities: Option<PathBuf>,
}

/// Certificates, and where they came from.
#[derive(Debug)]
pub struct FiledTls {
    /// The certificates in use.
    pub tls: Tls,
    paths: TlsPaths,
    files: TlsFiles,
}

impl TlsPaths {
    /// Reads the certificates that a server begins with.
    ///
    /// # Errors
    /// With the file's name, if one cannot be read or used.
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

    /// Names the file that cannot be used.
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

    /// Logs which certificate is in use now, and whether clients will take it.
    fn report(&self, tls: &Tls, event: &str) {
        let (file, Validity { begins, ends }) = (self.certificates.display(), tls.validity());
        info!(%file, expires = date(ends), "{event}");
        if let Some(begins) = begins.map(date) {
            warn!(%file, begins, "clients refuse the certificate until its time begins");
        }
    }

    /// Uses the files as they are now. If one of them cannot be used, all stay as they were.
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
    /// Starts a task that follows changes of the files, all of them together: a new certificate may come with a new key.
    ///
    /// # Errors
    /// If SIGHUP cannot be listened to.
    pub fn follow(self) -> std::io::Result<()> {
        let FiledTls { tls, paths, files } = self;
        let read = {
            let paths = paths.clone();
            move || paths.read().map_err(|error| format!("{error:#}"))
        };
        follow(Ok(files), read, move |files| paths.take_up(&tls, files))
    }
}
