//! `sounding background`: a command whose transfers use what the cell leaves over.

mod by_sockets;
mod cgroup;
mod child;
pub(crate) mod keeper;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use miette::{Context, Diagnostic, IntoDiagnostic};
use sounding_bpf::{Background, BackgroundConfig, BackgroundCounts, BackgroundError, LoadError};
use sounding_host::caller::{Caller, NoCaller};

use crate::output::write_text;
use crate::screen;
use by_sockets::BySockets;
use cgroup::Transient;
use child::{Running, Signals};
use keeper::Keeper;

/// Run a command whose transfers use what the cell leaves over, and yield to all other users of the
/// cell.
///
/// COMMAND runs as without `sounding background`, as `nice` does it: as the user who called sudo,
/// with the same files, terminal and exit status. Its TCP connections send by the algorithm
/// `background` of this kernel: it sends while it has the cell to itself, and is silent while
/// another user of the cell has data. No modem is needed.
///
/// It works on a server, for any phone at the other end, and on a laptop, for its uploads. The
/// other end sends the downloads of COMMAND, by its own algorithm; with --downloads the receive
/// windows here limit them. Connections to this machine itself are left alone.
///
/// Beside other traffic of this machine over the same network device, such as a call, an upload
/// leaves no queue at the radio. It uses at most five eighths of the cell then.
///
/// It yields in a cell that serves its users in turn, as LTE and NR do. On a wire, where all flows
/// share one queue, it yields when the buffer is full, and late if it never is. If the receiver's
/// time stamps are missing or coarser than 2 ms, a connection goes by delay, as LEDBAT++; a message
/// at the end says so.
///
/// With root's rights the connections of COMMAND, and of all that it starts, are chosen by a cgroup
/// that exists as long as they do. Without, `background` has to be loaded by `sudo sounding run
/// --background`. Then this program finds the sockets of COMMAND and chooses for each, 20 ms after
/// it was made at the latest.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// Run COMMAND as root, with all rights of root. By default it runs as the user who called
    /// sudo
    #[arg(long)]
    as_root: bool,

    /// Choose for the sockets of COMMAND one by one, as without rights. The algorithm has to be
    /// loaded under this name
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = LOADED, require_equals = true)]
    loaded: Option<String>,

    /// Make the downloads of COMMAND background too, from any server, by the receive windows of
    /// its sockets
    #[arg(long, conflicts_with = "loaded")]
    downloads: bool,

    /// Write what became of the connections to FILE as JSON, when COMMAND has ended; `-` is
    /// standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Program to run, with its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

/// What `sounding run --background` calls it, unless told otherwise.
const LOADED: &str = "background";

const EXAMPLES: &str = "\
Examples:
  A backup that leaves the cell to its other users:
    sudo sounding background -- rsync -a photos/ backup@example.com:photos/

  A server whose answers yield, to whichever phone they go:
    sudo sounding background -- python3 -m http.server 8000

  A download from any server:
    sudo sounding background --downloads -- curl --remote-name https://example.com/film.mp4

  Once as root, and from then on without rights:
    sudo sounding run --background &
    sounding background -- curl --upload-file film.mp4 https://example.com/

  A program's own choice for one socket:
    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, \"background\", 10)

Exit status: that of COMMAND; 128+N if signal N ended it; 1 if it could not be started.";

/// Why the command did not run.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub(crate) enum Failure {
    #[error("background cannot be loaded: {0}")]
    #[diagnostic(help("{}", .0.cure()))]
    Load(BackgroundError),
    #[error(
        "background cannot be loaded: {missing}; and no `{name}` is loaded, which a socket without rights could choose"
    )]
    #[diagnostic(help(
        "call it by sudo; or have `sudo sounding run --background` run once on this machine, and every user may run `sounding background` and choose `background` for a socket"
    ))]
    NoRights { missing: String, name: String },
    #[error("receive windows cannot be set: {missing}")]
    #[diagnostic(help(
        "call it by sudo, or leave --downloads out: then what COMMAND sends is background"
    ))]
    Downloads { missing: String },
    #[error("no congestion control `{name}` is loaded in this kernel")]
    #[diagnostic(help("load it by `sudo sounding run --background`"))]
    NotLoaded { name: String },
    #[error("a cgroup for the command: {0}")]
    #[diagnostic(help(
        "`sounding doctor` shows what is missing; with --loaded it works without a cgroup"
    ))]
    Cgroup(#[source] io::Error),
    #[error("the process that cleans up: {0}")]
    Keeper(#[source] io::Error),
    #[error("cannot run {command:?}: {source}")]
    Spawn { command: String, source: io::Error },
    #[error(transparent)]
    #[diagnostic(help("call it by sudo, or give --as-root for a command that is to run as root"))]
    Caller(#[from] NoCaller),
}

/// How the command's connections get the algorithm.
enum Form {
    /// All sockets of a cgroup.
    Cgroup { loaded: Box<Background>, keeper: Keeper, cgroup: Transient },
    /// Each socket by itself, when it is found.
    Sockets(BySockets),
}

/// Runs the verb.
pub(crate) fn run(args: &Args) -> miette::Result<ExitCode> {
    let user = if args.as_root { None } else { Caller::of_sudo().map_err(Failure::from)? };
    // Signals come first: none may interrupt a half-made cgroup.
    let signals = Signals::catch().into_diagnostic()?;
    let form = form(args.loaded.as_deref(), args.downloads)?;
    let procs = match &form {
        Form::Cgroup { cgroup, .. } => Some(cgroup.entrance().map_err(Failure::Cgroup)?),
        Form::Sockets(_) => None,
    };
    let name = args.command[0].to_string_lossy().into_owned();
    let running = Running::start(&args.command, procs.as_ref(), user)
        .map_err(|source| Failure::Spawn { command: name, source })?;
    let code = match form {
        Form::Cgroup { loaded, keeper, cgroup } => {
            let code = running.wait(&signals, None, || ()).into_diagnostic()?;
            let counts = loaded.counts();
            tell(&counts);
            if let Some(path) = &args.json {
                write_json(path, &as_json(loaded.name(), &counts, code))?;
            }
            drop(loaded);
            keeper.end(&cgroup);
            code
        }
        Form::Sockets(mut sockets) => {
            let every = Some(by_sockets::EVERY);
            let code = running.wait(&signals, every, || sockets.choose()).into_diagnostic()?;
            if let Some(path) = &args.json {
                write_json(path, &sockets.as_json(code))?;
            }
            code
        }
    };
    Ok(ExitCode::from(code))
}

/// Loads the algorithm for a cgroup, or finds it loaded.
fn form(loaded: Option<&str>, downloads: bool) -> Result<Form, Failure> {
    if let Some(name) = loaded {
        let not_loaded = || Failure::NotLoaded { name: name.into() };
        return BySockets::under(name).map(Form::Sockets).ok_or_else(not_loaded);
    }
    // Before a cgroup is made: without rights none can be.
    let missing = sounding_bpf::background_preflight(&unused_name());
    let missing = missing.into_iter().find(|check| !check.ok && check.name == "privileges");
    if let Some(check) = missing {
        return match BySockets::under(LOADED) {
            Some(_) if downloads => Err(Failure::Downloads { missing: check.detail }),
            Some(sockets) => {
                eprintln!(
                    "sounding: {}: sockets of the command are chosen one by one, within {} ms",
                    check.detail,
                    by_sockets::EVERY.as_millis()
                );
                Ok(Form::Sockets(sockets))
            }
            None => Err(Failure::NoRights { missing: check.detail, name: LOADED.into() }),
        };
    }
    let home = cgroup::home().map_err(Failure::Cgroup)?;
    cgroup::sweep(&home);
    // Before the cgroup: from its first moment on there is a process that removes it.
    let keeper = Keeper::start().map_err(Failure::Keeper)?;
    let cgroup = Transient::make(&home, |path| keeper.expect(path)).map_err(Failure::Cgroup)?;
    let load = || {
        let cgroup = Some(cgroup.path().to_path_buf());
        Background::load(&BackgroundConfig { name: unused_name(), cgroup, downloads })
    };
    let loaded = match load() {
        // Another one took the name meanwhile.
        Err(BackgroundError::Load(LoadError::NameTaken { .. })) => load(),
        loaded => loaded,
    };
    let loaded = loaded.map_err(Failure::Load)?;
    keeper.hold(&loaded, &cgroup).map_err(Failure::Keeper)?;
    Ok(Form::Cgroup { loaded: Box::new(loaded), keeper, cgroup })
}

/// Processes of two process namespaces may have one number, and the kernel's names are the same in
/// all.
fn unused_name() -> String {
    let registered = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let registered = registered.unwrap_or_default();
    let id = std::process::id();
    let names = (0..1000).map(|more| match more {
        0 => format!("bg_{id}"),
        _ => format!("bg_{id}_{more}"),
    });
    let mut unused = names.filter(|name| !registered.split_whitespace().any(|taken| taken == name));
    unused.next().unwrap_or_else(|| format!("bg_{id}"))
}

/// Reports connections that did not go as usual.
fn tell(counts: &BackgroundCounts) {
    notes(counts).iter().for_each(|note| eprintln!("sounding: {note}"));
}

/// Sentences about connections that did not go as usual.
pub(crate) fn notes(counts: &BackgroundCounts) -> Vec<String> {
    let BackgroundCounts { flows, by_delay, without_memory, refused, .. } = *counts;
    let by_delay = (by_delay > 0).then(|| {
        format!("{by_delay} of {flows} connections had no usable time stamps: they went by delay, as LEDBAT++")
    });
    let without_memory = (without_memory > 0).then(|| {
        format!("the kernel had no memory for {without_memory} connections: they were slow")
    });
    let refused = (refused > 0).then(|| {
        format!("{refused} connections kept another algorithm: the kernel refused background")
    });
    [by_delay, without_memory, refused].into_iter().flatten().collect()
}

fn as_json(name: &str, counts: &BackgroundCounts, code: u8) -> serde_json::Value {
    serde_json::json!({
        "event": "ended", "form": "cgroup", "name": name, "exit_code": code, "connections": counts.flows,
        "by_delay": counts.by_delay, "without_memory": counts.without_memory, "refused": counts.refused,
        "downloads": counts.received,
    })
}

fn write_json(path: &Path, value: &serde_json::Value) -> miette::Result<()> {
    write_text(path, &format!("{value}\n"))
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write {}", screen::path(path)))
}
