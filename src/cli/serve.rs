//! `tetrion serve`: the server as a process. It reads flags, prints a line on stdout, logs to stderr, and handles
//! signals.

use std::io::Read;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tracing::{info, warn};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

use super::access::{Access, AccessArgs};
use super::computing::ComputingArgs;
use super::interrupt::INTERRUPTED;
#[cfg(unix)]
use super::interrupt::ignores_hang_up;
use super::limits::{self, LimitArgs};
use super::notify::{ServingState, notify};
use super::output::{self, print};
use crate::input::UsageError;
use tetrion_server::{Hosts, Origins, Server, ServerConfig, is_collector, log_panics};
use tetrion_service::ServerLimits;

/// The options of `tetrion serve`.
#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// Address to listen on, such as 127.0.0.1:50451, localhost:50451, or 0.0.0.0:50451 for all addresses of the
    /// machine; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:50451", value_parser = address)]
    pub listen: SocketAddr,

    #[command(flatten)]
    pub computing: ComputingArgs,

    #[command(flatten)]
    pub limits: LimitArgs,

    /// Seconds that open calls may continue after SIGTERM or Ctrl-C
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub drain_timeout: Duration,

    /// Folder to keep sessions in across restarts: the server writes them on exit, and the next server restores them
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,

    /// Exit when stdin closes, so that the server ends with the program that started it
    #[arg(long)]
    pub exit_on_stdin_eof: bool,

    #[command(flatten)]
    pub access: AccessArgs,

    /// Origin of web pages that may call the server, such as `https://lab.example`; repeat the flag for several, *
    /// allows all [default: pages on this machine]
    #[arg(long, value_name = "ORIGIN", value_delimiter = ',', value_parser = origin)]
    pub allow_origin: Vec<String>,

    /// Host name that requests may use, in addition to localhost and loopback addresses; repeat the flag for several, *
    /// allows all [default: all, if the server has tokens or listens beyond loopback]
    #[arg(long, value_name = "HOST", value_delimiter = ',', value_parser = host)]
    pub allow_host: Vec<String>,

    /// Do not serve the web page at /
    #[arg(long)]
    pub no_page: bool,

    /// URL of an OpenTelemetry collector (OTLP over gRPC) for traces, such as http://localhost:4317 [default:
    /// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT; without them, no traces]
    #[arg(long, value_name = "URL")]
    pub otlp: Option<String>,

    /// Log level on stderr, or levels per module such as info,tetrion=debug
    #[arg(long, value_name = "FILTER", default_value = "info")]
    pub log: String,

    /// Log format on stderr
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,
}

/// Form in which the log is written to stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// Plain text
    Text,
    /// One JSON object per line
    Json,
}

/// Parses a socket address. The only host name that it accepts is `localhost`.
fn address(text: &str) -> Result<SocketAddr, String> {
    let numbers = match text.split_once(':') {
        Some((name, port)) if name.eq_ignore_ascii_case("localhost") => format!("127.0.0.1:{port}"),
        _ => text.to_owned(),
    };
    numbers.parse().map_err(|_| {
        "expected IP:PORT, such as 127.0.0.1:50451, [::1]:50451, or 0.0.0.0:50451 for all addresses of the machine"
            .to_owned()
    })
}

fn seconds(text: &str) -> Result<Duration, String> {
    limits::time(text, Duration::ZERO)
}

/// Parses an origin in the form that browsers send, for byte-wise comparison.
fn origin(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let plain = |host: &str| {
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic() && !b"/?#@,\"".contains(&byte))
    };
    if text == "*" || host.is_some_and(plain) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err("expected SCHEME://HOST or SCHEME://HOST:PORT without a path, or *".to_owned())
    }
}

/// Parses a host name as in a URL, without a port.
fn host(text: &str) -> Result<String, String> {
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"/?#@,:[]\"".contains(&byte);
    let is_name = !text.is_empty() && text.bytes().all(plain);
    if is_name || text.parse::<std::net::IpAddr>().is_ok() {
        Ok(text.to_ascii_lowercase())
    } else {
        Err("expected a name without a scheme, a port or a path, or *".to_owned())
    }
}

/// The collector's URL from the flag or from OpenTelemetry's standard variables.
///
/// The flag has no clap parser, because clap's errors quote the value, which may have a password.
fn otlp(args: &ServeArgs) -> Result<Option<String>, UsageError> {
    let from_flag = args.otlp.clone().map(|url| ("--otlp", url));
    let from_variable = |name| std::env::var(name).ok().filter(|url| !url.is_empty()).map(|url| (name, url));
    let found = from_flag
        .or_else(|| from_variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"))
        .or_else(|| from_variable("OTEL_EXPORTER_OTLP_ENDPOINT"));
    let Some((source, url)) = found else { return Ok(None) };
    if is_collector(&url) {
        return Ok(Some(url));
    }
    let shown = without_credentials(&url);
    Err(UsageError(format!(
        "{source}: {shown:?} is not a URL of a collector, expected http://HOST:PORT or https://HOST:PORT"
    )))
}

/// A URL, which may be malformed, without its user, password and query.
fn without_credentials(url: &str) -> String {
    let (address, query) = url.split_once('?').map_or((url, ""), |(address, _)| (address, "?..."));
    let Some((credentials, host)) = url.rsplit_once('@') else { return format!("{address}{query}") };
    let scheme = credentials.split_once("://").map_or(String::new(), |(scheme, _)| format!("{scheme}://"));
    let (host, query) = host.split_once('?').map_or((host, ""), |(host, _)| (host, "?..."));
    format!("{scheme}...@{host}{query}")
}

/// Serves until a signal stops it.
///
/// # Errors
/// If the server cannot start, or its socket fails.
pub fn run(args: ServeArgs) -> anyhow::Result<ExitCode> {
    start_log(&args)?;
    let access = args.access.open(args.listen)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(serve(access, &args));
    // Drops the connections that have not ended in time, with their tasks.
    runtime.shutdown_background();
    served.map(|()| ExitCode::SUCCESS)
}

async fn serve(mut access: Access, args: &ServeArgs) -> anyhow::Result<()> {
    let config = config(args, &access)?;
    let reloads = access.follow_files()?;
    let (stop, hurry) = (CancellationToken::new(), CancellationToken::new());
    stop_on_signal(stop.clone(), hurry.clone(), reloads)?;
    if args.exit_on_stdin_eof {
        stop_on_stdin_eof(stop.clone());
    }
    let limits = config.limits;
    warn_of_too_much(&limits);
    let server = Server::bind(config).await?;
    let address = server.local_addr();
    info!(%address, version = env!("CARGO_PKG_VERSION"), "listening");
    limits.log();
    // The only line on stdout, for programs that start a server and need its address.
    if let Err(error) = print(&format!("tetrion listening on {address}\n")) {
        warn!("{error:#}; serving anyway");
    }
    notify(ServingState::Ready);
    let asked_to_stop = async {
        stop.cancelled_owned().await;
        notify(ServingState::Stopping);
    };
    server.run_until(asked_to_stop, hurry.cancelled_owned()).await?;
    Ok(())
}

fn config(args: &ServeArgs, access: &Access) -> anyhow::Result<ServerConfig> {
    let origins = match args.allow_origin.as_slice() {
        [] => Origins::Loopback,
        listed if listed.iter().any(|origin| origin == "*") => Origins::Any,
        listed => Origins::Listed(listed.iter().map(|origin| origin.parse()).collect::<Result<_, _>>()?),
    };
    let hosts = match args.allow_host.as_slice() {
        [] if !args.listen.ip().is_loopback() || access.tokens.are_needed() => Hosts::Any,
        listed if listed.iter().any(|host| host == "*") => Hosts::Any,
        listed => Hosts::Local(listed.to_vec()),
    };
    args.computing.load_values()?;
    Ok(ServerConfig {
        listen: args.listen,
        num_threads: args.computing.threads as usize,
        kernel: args.computing.kernel()?,
        limits: args.limits.0,
        drain_timeout: args.drain_timeout,
        tokens: access.tokens.clone(),
        tls: access.tls(),
        origins,
        state: args.state.clone(),
        hosts,
        page: !args.no_page,
        training: None,
        otlp: otlp(args)?,
    })
}

/// Warns if the limits on memory add up to more than `--memory`.
fn warn_of_too_much(limits: &ServerLimits) {
    let all = limits.worst_case();
    if all > limits.memory {
        warn!("the limits on memory add up to {} MiB, more than --memory", all >> 20);
    }
}

fn start_log(args: &ServeArgs) -> Result<(), UsageError> {
    // A caller can make h2 warn about every frame, and the warnings would fill the disk. `--log h2=warn` shows them.
    let levels = ["h2=error"].into_iter().chain(args.log.split(',').filter(|level| !level.is_empty()));
    // The filter would take a misspelt level for a module name, and log nothing else.
    let is_level = |level: &str| level.contains('=') || level.parse::<LevelFilter>().is_ok();
    if let Some(level) = args.log.split(',').find(|level| !level.is_empty() && !is_level(level.trim())) {
        return Err(UsageError(format!(
            "--log: {level:?} is not a level, expected off, error, warn, info, debug, trace or MODULE=LEVEL"
        )));
    }
    let filter: Result<Targets, _> = levels.collect::<Vec<_>>().join(",").parse();
    let filter = filter.map_err(|error| UsageError(format!("--log: {error}")))?;
    let log = fmt::layer().with_writer(|| output::Log);
    let log = log.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()));
    let filtered = registry().with(filter);
    match args.log_format {
        LogFormat::Text => filtered.with(log).init(),
        LogFormat::Json => filtered.with(log.json()).init(),
    }
    log_panics();
    Ok(())
}

/// Cancels `stop` on the first signal and `hurry` on the second, and ends the process on the third.
///
/// SIGHUP comes when the server's terminal closes, and stops the server as well, unless the server `reloads` its files
/// on SIGHUP or was started to ignore it.
fn stop_on_signal(stop: CancellationToken, hurry: CancellationToken, reloads: bool) -> std::io::Result<()> {
    #[cfg(unix)]
    let mut signal = {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let mut quit = signal(SignalKind::quit())?;
        let mut hang_up =
            if reloads || ignores_hang_up() { None } else { Some(signal(SignalKind::hangup())?) };
        async move || {
            let hung_up = async {
                match &mut hang_up {
                    Some(hang_up) => hang_up.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
                _ = quit.recv() => {}
                _ = hung_up => {}
            }
        }
    };
    #[cfg(not(unix))]
    let (mut signal, _) = (async || drop(tokio::signal::ctrl_c().await), reloads);
    tokio::spawn(async move {
        signal().await;
        info!("asked to stop");
        stop.cancel();
        signal().await;
        warn!("asked again: open calls are dropped");
        hurry.cancel();
        signal().await;
        warn!("asked a third time: stopping at once");
        std::process::exit(INTERRUPTED.into());
    });
    Ok(())
}

/// Waits for the end of stdin on a separate thread; tokio's stdin would delay the end of the process.
fn stop_on_stdin_eof(stop: CancellationToken) {
    std::thread::spawn(move || {
        let mut ignored = [0; 1024];
        while std::io::stdin().read(&mut ignored).is_ok_and(|read| read > 0) {}
        info!("stdin has ended");
        stop.cancel();
    });
}
