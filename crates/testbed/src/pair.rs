//! Two namespaces with a veth pair between them, and one bulk transfer across it.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use sounding_bpf::{Bound, DelayFeed, Feed, FeedEstimate};
use sounding_emu::{EnterError, Netns, monotonic_now};
use sounding_host::tool;
use sounding_kpi::Direction;
use sounding_link::{DelayKind, DelayUpdate, RanDelay};
use sounding_units::{Bytes, HostInstant, Rate};

use crate::cpu::{Busy, ReadError, stay_on, this_thread};

const NEAR: Ipv4Addr = Ipv4Addr::new(100, 64, 1, 1);
const FAR: Ipv4Addr = Ipv4Addr::new(100, 64, 1, 2);
/// Bytes of one write, as iperf3 does.
const WRITE: usize = 128 * 1024;
/// Interval at which the feed is written.
const FEED_PERIOD: Duration = Duration::from_millis(10);
const GRANTED_EVERY: Duration = Duration::from_millis(3);
/// Less than an RTT of the pair, so that corrected RTTs are still some.
const WAIT: Duration = Duration::from_micros(20);
const KNOWN_AFTER: Duration = Duration::from_millis(20);

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
    /// A socket call failed, or a thread was refused.
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
pub struct Pair {
    near: Netns,
    far: Netns,
}

/// The sender and its algorithm.
pub struct Sender<'a> {
    /// Its congestion control.
    pub congestion: &'a str,
    /// Its pacing rate, if that is limited.
    pub limit: Option<Rate>,
    /// What its congestion control is fed with.
    pub fed: Option<Fed<'a>>,
}

/// What the daemon would report meanwhile.
pub enum Fed<'a> {
    /// The constant estimate of a law.
    Estimate {
        /// Where it is written.
        feed: &'a Feed,
        /// Its rate.
        rate: Rate,
        /// What that is.
        bound: Bound,
    },
    /// Copa's feed: a wait for a grant in each `GRANTED_EVERY`, known `KNOWN_AFTER` its end.
    Delays(&'a mut DelayFeed),
}

/// The cost of one transfer, between two times.
#[derive(Debug)]
pub struct Spent {
    /// The sender's, after its end.
    pub socket: TcpStream,
    /// What the receiver had.
    pub received: Bytes,
    /// How long that took.
    pub took: Duration,
    /// CPU time of the sending thread.
    pub sender: Duration,
    /// CPU time of the machine, without the feed's.
    pub total: Duration,
}

impl Pair {
    /// Makes them.
    pub fn new() -> Result<Self, RigError> {
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
    pub fn run(
        &self,
        sender: Sender<'_>,
        warm_up: Duration,
        span: Duration,
    ) -> Result<Spent, RigError> {
        let listener = self.far.enter(|| TcpListener::bind((FAR, 0)))?.map_err(socket("listen"))?;
        let address =
            SocketAddrV4::new(FAR, listener.local_addr().map_err(socket("ask for a port"))?.port());
        let near = self.near.enter(|| connect(address, &sender))??;
        let (far, _) = listener.accept().map_err(socket("accept"))?;
        let Some(fed) = sender.fed else { return transfer((near, far), None, warm_up, span) };
        let feeding = &Feeding::default();
        thread::scope(|scope| {
            thread::Builder::new()
                .spawn_scoped(scope, move || feeding.run(fed))
                .map_err(socket("start a thread"))?;
            // It ends with the transfer, however that ends.
            let _end = feeding.end();
            transfer((near, far), Some(feeding), warm_up, span)
        })
    }
}

fn transfer(
    (near, far): (TcpStream, TcpStream),
    feeding: Option<&Feeding>,
    warm_up: Duration,
    span: Duration,
) -> Result<Spent, RigError> {
    let kept = near.try_clone().map_err(socket("keep the socket"))?;
    let received = Arc::new(AtomicU64::new(0));
    let spent = Arc::new(AtomicU64::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let (count, busy, stopped) = (received.clone(), spent.clone(), stop.clone());
    // Whether two ends share a cache makes more of a difference than any congestion control.
    let receiver = thread::Builder::new().spawn(move || {
        stay_on(1);
        receive(far, &count);
    });
    let receiver = receiver.map_err(socket("start a thread"))?;
    let sending = thread::Builder::new().spawn(move || {
        stay_on(0);
        send(near, &busy, &stopped);
    });
    let sending = sending.map_err(socket("start a thread"))?;

    thread::sleep(warm_up);
    let busy = || Duration::from_nanos(spent.load(Ordering::Relaxed));
    // The daemon's part is not the congestion control's.
    let feeder = || feeding.map_or(Duration::ZERO, Feeding::spent);
    let bytes = received.load(Ordering::Relaxed);
    let (began, sender_before, feeder_before) = (Busy::begin()?, busy(), feeder());
    thread::sleep(span);
    let ((took, total), sender_after, feeder_after) = (began.end()?, busy(), feeder());
    let result = Spent {
        socket: kept,
        received: Bytes::new(received.load(Ordering::Relaxed) - bytes),
        took,
        sender: sender_after.saturating_sub(sender_before),
        total: (total + feeder_before).saturating_sub(feeder_after),
    };
    stop.store(true, Ordering::Relaxed);
    sending.join().map_err(|_| RigError::Panicked)?;
    receiver.join().map_err(|_| RigError::Panicked)?;
    Ok(result)
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
#[derive(Default)]
struct Feeding {
    stop: AtomicBool,
    spent_ns: AtomicU64,
}

/// Ends it when dropped.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Feeding {
    /// Until its end, and then takes back what it reported.
    fn run(&self, fed: Fed<'_>) {
        match fed {
            Fed::Estimate { feed, rate, bound } => {
                self.repeat(|now| {
                    feed.publish(&FeedEstimate { rate, sampled_at: now, bound, other_flows: 0 });
                    feed.heartbeat(now);
                });
                feed.invalidate();
            }
            Fed::Delays(delays) => {
                let mut from = monotonic_now();
                self.repeat(|now| report(delays, &mut from, now));
                delays.forget();
            }
        }
    }

    fn repeat(&self, mut feed: impl FnMut(HostInstant)) {
        while !self.stop.load(Ordering::Relaxed) {
            feed(monotonic_now());
            self.spent_ns.store(this_thread().as_nanos() as u64, Ordering::Relaxed);
            thread::sleep(FEED_PERIOD);
        }
    }

    fn end(&self) -> End<'_> {
        End(&self.stop)
    }

    fn spent(&self) -> Duration {
        Duration::from_nanos(self.spent_ns.load(Ordering::Relaxed))
    }
}

/// The waits from `from` on that are known now.
fn report(delays: &mut DelayFeed, from: &mut HostInstant, now: HostInstant) {
    let until = now.saturating_before(KNOWN_AFTER);
    let mut events = Vec::new();
    while *from < until {
        let to = *from + GRANTED_EVERY;
        events.push(
            RanDelay::new(Direction::Uplink, DelayKind::Scheduling, *from, to)
                .with_amount(WAIT)
                .with_age(now - to),
        );
        *from = to;
    }
    let (up_until, down_until) = (Some(until), Some(until));
    delays.handle_update(
        DelayUpdate::new(now, events).with_up_until(up_until).with_down_until(down_until),
    );
}
