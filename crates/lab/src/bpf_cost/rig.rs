//! Two namespaces with a veth pair between them, and one bulk transfer across it.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use socket2::{Domain, Protocol, Socket, Type};
use sounding_bpf::{Bound, Feed, FeedEstimate};
use sounding_emu::{EnterError, Netns, monotonic_now};
use sounding_host::tool;
use sounding_units::{Bytes, Rate};

use super::cpu::{Busy, ReadError, this_thread};

const NEAR: Ipv4Addr = Ipv4Addr::new(100, 64, 1, 1);
const FAR: Ipv4Addr = Ipv4Addr::new(100, 64, 1, 2);
/// Bytes of one write, as iperf3 does.
const WRITE: usize = 128 * 1024;
/// Interval at which the feed is written.
const FEED_PERIOD: Duration = Duration::from_millis(10);

/// Why the transfer did not run.
#[derive(Debug, thiserror::Error)]
pub enum RigError {
    /// A namespace could not be made or entered.
    #[error("network namespace: {0}")]
    Netns(#[from] EnterError),
    /// A command of iproute2 failed.
    #[error("`ip {arguments}`: {what}")]
    Ip {
        /// Its arguments.
        arguments: String,
        /// Its output.
        what: String,
    },
    /// A socket call failed.
    #[error("cannot {doing}: {source}")]
    Socket {
        /// The failed step.
        doing: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// The kernel's accounting cannot be read.
    #[error(transparent)]
    Account(#[from] ReadError),
    /// A thread of the transfer panicked: a defect of this crate.
    #[error("a thread of the transfer panicked")]
    Panicked,
}

fn socket(doing: &'static str) -> impl Fn(io::Error) -> RigError {
    move |source| RigError::Socket { doing, source }
}

/// Two namespaces and the pair between them.
#[derive(Debug)]
pub(super) struct Pair {
    near: Netns,
    far: Netns,
}

/// The sender and its algorithm.
pub(super) struct Sender<'a> {
    pub(super) congestion: &'a str,
    pub(super) limit: Option<Rate>,
    pub(super) fed: Option<Fed<'a>>,
}

/// The constant estimate of a law.
pub(super) struct Fed<'a> {
    pub(super) feed: &'a Feed,
    pub(super) rate: Rate,
    pub(super) bound: Bound,
}

/// The cost of one transfer, between two times.
#[derive(Debug)]
pub(super) struct Spent {
    pub(super) received: Bytes,
    pub(super) took: Duration,
    pub(super) sender: Duration,
    pub(super) total: Duration,
}

impl Pair {
    pub(super) fn new() -> Result<Self, RigError> {
        let make = || Netns::new().map_err(socket("make a network namespace"));
        let (near, far) = (make()?, make()?);
        let peer = format!("/proc/{}/fd/{}", std::process::id(), far.as_fd().as_raw_fd());
        near.enter(|| {
            ip(&format!("link add near type veth peer name far netns {peer}"))?;
            ip(&format!("addr add {NEAR}/30 dev near"))?;
            ip("link set near up")
        })??;
        far.enter(|| {
            ip(&format!("addr add {FAR}/30 dev far"))?;
            ip("link set far up")
        })??;
        Ok(Self { near, far })
    }

    /// Sends for `warm_up` and `span`, and accounts for `span`.
    pub(super) fn run(
        &self,
        sender: &Sender<'_>,
        warm_up: Duration,
        span: Duration,
    ) -> Result<Spent, RigError> {
        let listener = self.far.enter(|| TcpListener::bind((FAR, 0)))?.map_err(socket("listen"))?;
        let address =
            SocketAddrV4::new(FAR, listener.local_addr().map_err(socket("ask for a port"))?.port());
        let near = self.near.enter(|| connect(address, sender))??;
        let (far, _) = listener.accept().map_err(socket("accept"))?;
        let feeding = sender.fed.as_ref().map(Feeding::start);

        let received = Arc::new(AtomicU64::new(0));
        let spent = Arc::new(AtomicU64::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let (count, busy, stopped) = (received.clone(), spent.clone(), stop.clone());
        let receiver = thread::spawn(move || {
            pin(1);
            receive(far, &count);
        });
        let sending = thread::spawn(move || {
            pin(0);
            send(near, &busy, &stopped);
        });

        thread::sleep(warm_up);
        let busy = || Duration::from_nanos(spent.load(Ordering::Relaxed));
        // The daemon's part is not the congestion control's.
        let feeder = || feeding.as_ref().map_or(Duration::ZERO, Feeding::spent);
        let bytes = received.load(Ordering::Relaxed);
        let (began, sender_before, feeder_before) = (Busy::begin()?, busy(), feeder());
        thread::sleep(span);
        let ((took, total), sender_after, feeder_after) = (began.end()?, busy(), feeder());
        let result = Spent {
            received: Bytes::new(received.load(Ordering::Relaxed) - bytes),
            took,
            sender: sender_after.saturating_sub(sender_before),
            total: (total + feeder_before).saturating_sub(feeder_after),
        };
        stop.store(true, Ordering::Relaxed);
        sending.join().map_err(|_| RigError::Panicked)?;
        receiver.join().map_err(|_| RigError::Panicked)?;
        drop(feeding);
        Ok(result)
    }
}

fn ip(arguments: &str) -> Result<(), RigError> {
    let fail = |what: String| RigError::Ip { arguments: arguments.into(), what };
    let output = Command::new(tool("ip"))
        .args(arguments.split(' '))
        .output()
        .map_err(|error| fail(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(fail(String::from_utf8_lossy(&output.stderr).trim().into()))
}

fn connect(to: SocketAddrV4, sender: &Sender<'_>) -> Result<TcpStream, RigError> {
    let near = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))
        .map_err(socket("make a socket"))?;
    near.set_tcp_congestion(sender.congestion.as_bytes())
        .map_err(socket("select the congestion control"))?;
    if let Some(limit) = sender.limit {
        limit_pacing(&near, limit).map_err(socket("limit the pacing rate"))?;
    }
    near.connect(&to.into()).map_err(socket("connect"))?;
    // A writer must not block forever in a write at its end.
    near.set_write_timeout(Some(Duration::from_secs(1))).map_err(socket("set a timeout"))?;
    Ok(near.into())
}

fn limit_pacing(near: &Socket, limit: Rate) -> io::Result<()> {
    let rate = limit.bytes_per_sec();
    // SAFETY: pointer and length describe `rate`.
    let result = unsafe {
        libc::setsockopt(
            near.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            (&raw const rate).cast(),
            size_of_val(&rate) as libc::socklen_t,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Keeps this thread on one processor, where there is such a one: whether two ends share a cache makes more of a
/// difference than any congestion control.
fn pin(processor: usize) {
    let mut set = CpuSet::new();
    if set.set(processor).is_ok() {
        let _ = sched_setaffinity(Pid::from_raw(0), &set);
    }
}

fn send(mut near: TcpStream, busy: &AtomicU64, stop: &AtomicBool) {
    let data = vec![0; WRITE];
    while !stop.load(Ordering::Relaxed) && near.write_all(&data).is_ok() {
        busy.store(this_thread().as_nanos() as u64, Ordering::Relaxed);
    }
    let _ = near.shutdown(std::net::Shutdown::Both);
}

fn receive(mut far: TcpStream, count: &AtomicU64) {
    let mut buffer = vec![0; 2 * WRITE];
    while let Ok(len @ 1..) = far.read(&mut buffer) {
        count.fetch_add(len as u64, Ordering::Relaxed);
    }
}

/// A daemon in little.
struct Feeding {
    stop: Arc<AtomicBool>,
    feed: Feed,
    spent: Arc<AtomicU64>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Feeding {
    fn start(&Fed { feed, rate, bound }: &Fed<'_>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let spent = Arc::new(AtomicU64::new(0));
        let (stopped, fed, own) = (stop.clone(), feed.clone(), spent.clone());
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let now = monotonic_now();
                fed.publish(&FeedEstimate { rate, sampled_at: now, bound, other_flows: 0 });
                fed.heartbeat(now);
                own.store(this_thread().as_nanos() as u64, Ordering::Relaxed);
                thread::sleep(FEED_PERIOD);
            }
        });
        Self { stop, feed: feed.clone(), spent, thread: Some(thread) }
    }

    fn spent(&self) -> Duration {
        Duration::from_nanos(self.spent.load(Ordering::Relaxed))
    }
}

impl Drop for Feeding {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.feed.invalidate();
    }
}
