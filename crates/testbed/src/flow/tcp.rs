use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use socket2::{SockRef, Socket};
use sounding_emu::{Direction, Emulation, EnterError, Flow, monotonic_now};
use sounding_sim::Device;
use sounding_sim::world::Traffic;
use sounding_units::{Bytes, HostInstant, Rate};

use super::connection::{CONNECT, accept, await_greeting, choose, connect, greet, listen, local};
use super::traffic::Source;
use super::{Ends, FlowError, TcpInfo, is_timeout, sleep_until, thread_cpu};

/// Bytes of one write, as iperf3 does.
const WRITE: usize = 128 * 1024;

/// Interval at which blocked calls check whether they should end.
const LOOK: Duration = Duration::from_millis(100);

/// Called by the sampler with the sender's socket, next to every [`TcpSample`].
pub type SampleHook = Arc<dyn Fn(RawFd) + Send + Sync>;

/// A transfer over one TCP connection. The near end always connects, as a device does.
#[derive(Clone)]
pub struct TcpFlow {
    /// The device whose radio it passes.
    pub device: Device,
    /// Direction of the data.
    pub direction: Direction,
    /// Congestion control of the sender; `None` for the namespace's default.
    pub congestion: Option<String>,
    /// Whether the congestion control is chosen only once there is a connection, as iperf3 does.
    /// The socket then begins with the namespace's default. If that one paces (BBR does), the
    /// kernel continues to pace under the chosen one.
    pub choose_late: bool,
    /// The traffic. Responses are sent only when requested.
    pub traffic: Traffic,
    /// How long data is sent; `None` means until it has arrived or the transfer is stopped.
    pub duration: Option<Duration>,
    /// When the connection is opened; `None` at once.
    pub connect_at: Option<HostInstant>,
    /// Bytes that the near end sends first and the far end reads first: iperf3's cookie has 37.
    pub greeting: usize,
    /// When the first byte is written; `None` as soon as there is a connection.
    pub send_at: Option<HostInstant>,
    /// Interval of samples of the connection.
    pub sample_every: Duration,
    /// A function that is called with each sample.
    pub hook: Option<SampleHook>,
}

impl fmt::Debug for TcpFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpFlow")
            .field("direction", &self.direction)
            .field("congestion", &self.congestion)
            .field("duration", &self.duration)
            .finish_non_exhaustive()
    }
}

/// The connection at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSample {
    /// When.
    pub at: HostInstant,
    /// The kernel's error.
    pub info: TcpInfo,
}

/// The result of a transfer.
#[derive(Clone, Debug)]
pub struct TcpResult {
    /// The sender's congestion control, as the kernel reports it.
    pub congestion: String,
    /// Ports as packets with data carry them.
    pub flow: Flow,
    /// When the first byte was written.
    pub began: HostInstant,
    /// When the last write returned.
    pub ended: HostInstant,
    /// Bytes that the receiver's application had read by then.
    pub received: Bytes,
    /// Received bytes over the time from beginning to end.
    pub goodput: Rate,
    /// The sender's connection at the end.
    pub last: TcpInfo,
    /// Least round-trip time the kernel saw.
    pub min_rtt: Duration,
    /// Mean of the smoothed round-trip time over the samples.
    pub mean_rtt: Duration,
    /// CPU time of the thread that wrote.
    pub sender_cpu: Duration,
    /// The sender's connection over time.
    pub samples: Vec<TcpSample>,
}

/// A running transfer.
#[derive(Debug)]
pub struct RunningTcp {
    stop: Arc<AtomicBool>,
    socket: RawFd,
    flow: Flow,
    sender: Task<SenderEnd>,
    receiver: Task<Bytes>,
    sampler: Task<Vec<TcpSample>>,
    /// Both ends stay open until all threads have ended: closing one would break the other's last
    /// call.
    held: [Arc<Socket>; 2],
}

type Task<T> = JoinHandle<Result<Result<T, FlowError>, EnterError>>;

#[derive(Debug)]
struct SenderEnd {
    congestion: String,
    began: HostInstant,
    ended: HostInstant,
    last: TcpInfo,
    cpu: Duration,
}

impl TcpFlow {
    /// All it can from or to the first device, with the default congestion control, until stopped,
    /// sampled ten times a second.
    pub fn new(direction: Direction) -> Self {
        Self {
            device: Device::default(),
            direction,
            traffic: Traffic::Bulk,
            congestion: None,
            choose_late: false,
            duration: None,
            connect_at: None,
            greeting: 0,
            send_at: None,
            sample_every: Duration::from_millis(100),
            hook: None,
        }
    }

    /// Connects and begins to send. Returns once there is a connection.
    pub fn start(self, emulation: &Emulation) -> Result<RunningTcp, FlowError> {
        let ends = Ends::of(emulation, self.device)?;
        self.start_between(ends)
    }

    /// The same between other namespaces, whatever is between them.
    pub fn start_between(self, ends: Ends<'_>) -> Result<RunningTcp, FlowError> {
        let (near, near_address) = ends.near;
        let (far, far_address) = ends.far;
        let early = self.congestion.clone().filter(|_| !self.choose_late);
        let listener = far.enter(|| listen(far_address, early.as_deref()))??;
        let address = local(&listener)?;
        sleep_until(self.connect_at.unwrap_or_default());
        let (late_near, late_far) = match (self.direction, &self.congestion) {
            (Direction::Uplink, Some(name)) if self.choose_late => (Some(name.clone()), None),
            (Direction::Downlink, Some(name)) if self.choose_late => (None, Some(name)),
            _ => (None, None),
        };
        let greeting = self.greeting;
        let (told, connected) = mpsc::channel();
        near.spawn_thread("flow-connect", move || {
            let connection = connect(near_address, address, early.as_deref());
            let greeted = connection.and_then(|socket| {
                late_near.iter().try_for_each(|name| choose(&socket, name))?;
                greet(&socket, greeting)?;
                Ok(socket)
            });
            // If accepting has failed, the receiver does not exist.
            let _ = told.send(greeted);
        })?;
        let far_end = accept(&listener)?;
        late_far.iter().try_for_each(|name| choose(&far_end, name))?;
        let waited = connected.recv_timeout(CONNECT);
        let near_end =
            waited.map_err(|_| FlowError::NoConnection { seconds: CONNECT.as_secs() })??;
        await_greeting(&far_end, greeting)?;

        let (sending, receiving) = match self.direction {
            Direction::Uplink => (near_end, far_end),
            Direction::Downlink => (far_end, near_end),
        };
        let flow = Flow {
            protocol: libc::IPPROTO_TCP as u8,
            source: local(&sending)?.port(),
            destination: local(&receiving)?.port(),
        };
        self.run(ends, sending, receiving, flow)
    }

    fn run(
        self,
        ends: Ends<'_>,
        sending: Socket,
        receiving: Socket,
        flow: Flow,
    ) -> Result<RunningTcp, FlowError> {
        let [(sender, _), (receiver, _)] = ends.in_order(self.direction);
        let stop = Arc::new(AtomicBool::new(false));
        let (sending, receiving) = (Arc::new(sending), Arc::new(receiving));
        let socket = sending.as_raw_fd();
        let held = [sending.clone(), receiving.clone()];
        let sampled = sending.clone();
        let (receiver_stop, sampler_stop, sender_stop) = (stop.clone(), stop.clone(), stop.clone());
        let Self { traffic, duration, send_at, sample_every, hook, .. } = self;
        let receiver =
            receiver.spawn_thread("flow-receiver", move || receive(&receiving, &receiver_stop))?;
        let sampler = sender.spawn_thread("flow-sampler", move || {
            sample(&sampled, sample_every, hook.as_ref(), &sampler_stop)
        })?;
        let sender = sender.spawn_thread("flow-sender", move || {
            let end = send(&sending, Source::new(traffic), send_at, duration, &sender_stop);
            sender_stop.store(true, Ordering::Relaxed);
            end
        })?;
        Ok(RunningTcp { stop, socket, flow, sender, receiver, sampler, held })
    }
}

impl RunningTcp {
    /// Ports as packets with data carry them.
    pub fn flow(&self) -> Flow {
        self.flow
    }

    /// The sender's socket, open until the transfer is waited for.
    pub fn sender_socket(&self) -> RawFd {
        self.socket
    }

    /// Whether the sender has ended.
    pub fn has_ended(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends the transfer and returns its result.
    pub fn stop(self) -> Result<TcpResult, FlowError> {
        self.stop.store(true, Ordering::Relaxed);
        self.wait()
    }

    /// The same, but aborts the connection and drops its unsent data. A closed connection could
    /// continue for minutes.
    pub fn abort(self) -> Result<TcpResult, FlowError> {
        for end in &self.held {
            let reset = Some(Duration::ZERO);
            end.set_linger(reset).map_err(FlowError::socket("have a connection reset"))?;
        }
        self.stop()
    }

    /// Waits until the transfer has lasted its time. One without a duration never ends by itself.
    pub fn wait(self) -> Result<TcpResult, FlowError> {
        let Self { sender, receiver, sampler, flow, held: _held, .. } = self;
        let end = join(sender)?;
        let received = join(receiver)?;
        let samples = join(sampler)?;
        let in_flow = samples.iter().filter(|sample| !sample.info.rtt.is_zero());
        let count = in_flow.clone().count();
        let total: Duration = in_flow.map(|sample| sample.info.rtt).sum();
        let mean_rtt = u32::try_from(count).ok().and_then(|count| total.checked_div(count));
        Ok(TcpResult {
            congestion: end.congestion,
            flow,
            began: end.began,
            ended: end.ended,
            received,
            goodput: received.per(end.ended - end.began),
            last: end.last,
            min_rtt: end.last.min_rtt,
            mean_rtt: mean_rtt.unwrap_or_default(),
            sender_cpu: end.cpu,
            samples,
        })
    }
}

fn join<T>(task: Task<T>) -> Result<T, FlowError> {
    task.join().map_err(|_| FlowError::Panicked)??
}

fn send(
    socket: &Socket,
    source: Source,
    send_at: Option<HostInstant>,
    duration: Option<Duration>,
    stop: &AtomicBool,
) -> Result<SenderEnd, FlowError> {
    socket.set_nonblocking(true).map_err(FlowError::socket("make a socket non-blocking"))?;
    sleep_until(send_at.unwrap_or_default());
    let began = monotonic_now();
    let block = vec![0x55; WRITE];
    let (mut left, mut sent) = (WRITE, 0);
    let in_time = || duration.is_none_or(|duration| monotonic_now() - began < duration);
    while !stop.load(Ordering::Relaxed) && in_time() {
        let elapsed = monotonic_now() - began;
        let available = source.available(elapsed).saturating_sub(sent);
        if available == 0 {
            let Some(next) = source.next(elapsed, sent) else { break };
            std::thread::sleep(next.min(LOOK));
            continue;
        }
        // Written to only when the kernel reports a third of the buffer free. A write that times
        // out and is tried again adds to the last packet of a full buffer without limit, so
        // the buffer would no longer limit the flow.
        if !is_writable(socket)? {
            continue;
        }
        sent += fill(socket, &block, &mut left, available)?;
    }
    // A finite transfer ends when all data has arrived.
    while !stop.load(Ordering::Relaxed) && in_time() && !is_acknowledged(socket)? {
        std::thread::sleep(LOOK / 20);
    }
    let ended = monotonic_now();
    let last = TcpInfo::of(socket.as_fd())
        .map_err(|error| FlowError::socket("read TCP_INFO")(io::Error::other(error)))?;
    let congestion = SockRef::from(socket)
        .tcp_congestion()
        .map_err(FlowError::socket("ask for the congestion control"))?;
    let congestion = String::from_utf8_lossy(&congestion).trim_end_matches('\0').to_owned();
    Ok(SenderEnd { congestion, began, ended, last, cpu: thread_cpu() })
}

/// Whether the receiver has acknowledged everything. The kernel counts a SYN among acknowledged
/// bytes at the end that connects alone, so that a count of them does not show it.
fn is_acknowledged(socket: &Socket) -> Result<bool, FlowError> {
    let mut left: libc::c_int = 0;
    // SAFETY: of a TCP socket this writes one int, to a valid place (tcp(7), SIOCOUTQ).
    let answer = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut left) };
    if answer != 0 {
        let error = io::Error::last_os_error();
        return Err(FlowError::socket("ask what is not acknowledged")(error));
    }
    Ok(left == 0)
}

/// Writes blocks until the send buffer is full, but only a few, and at most what there is; `left`
/// of the current block carries over. Returns how much it wrote.
///
/// Few and in blocks as iperf3 does, so that the buffer of a flow that it limits is filled alike.
fn fill(socket: &Socket, block: &[u8], left: &mut usize, available: u64) -> Result<u64, FlowError> {
    let mut sent = 0;
    for _ in 0..10 {
        let most = usize::try_from(available - sent).unwrap_or(usize::MAX);
        if most == 0 {
            break;
        }
        match socket.send_with_flags(&block[..most.min(*left)], libc::MSG_NOSIGNAL) {
            Ok(written) => {
                sent += written as u64;
                *left = if written == *left { block.len() } else { *left - written };
            }
            Err(error) if is_timeout(&error) => break,
            Err(error) => return Err(FlowError::socket("send")(error)),
        }
    }
    Ok(sent)
}

/// Waits for space in the send buffer, at most for the interval of checks.
fn is_writable(socket: &Socket) -> Result<bool, FlowError> {
    let mut polled = [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)];
    match ppoll(&mut polled, Some(LOOK.into()), None) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::EINTR) => Ok(false),
        Err(error) => Err(FlowError::socket("wait for room in the send buffer")(error.into())),
    }
}

fn receive(socket: &Socket, stop: &AtomicBool) -> Result<Bytes, FlowError> {
    socket.set_read_timeout(Some(LOOK)).map_err(FlowError::socket("set a timeout"))?;
    let mut received = 0;
    while !stop.load(Ordering::Relaxed) {
        // SAFETY: with MSG_TRUNC a TCP socket discards what it would return, so the null pointer is
        // not written to (tcp(7)); only the count is needed.
        let count = unsafe {
            libc::recv(socket.as_raw_fd(), std::ptr::null_mut(), 8 * WRITE, libc::MSG_TRUNC)
        };
        match count {
            0 => break,
            count if count > 0 => received += count as u64,
            _ => match io::Error::last_os_error() {
                error if is_timeout(&error) => {}
                error => return Err(FlowError::socket("receive")(error)),
            },
        }
    }
    Ok(Bytes::new(received))
}

fn sample(
    socket: &Socket,
    every: Duration,
    hook: Option<&SampleHook>,
    stop: &AtomicBool,
) -> Result<Vec<TcpSample>, FlowError> {
    let mut samples = Vec::new();
    let mut next = monotonic_now();
    while !stop.load(Ordering::Relaxed) {
        let info = TcpInfo::of(socket.as_fd())
            .map_err(|error| FlowError::socket("read TCP_INFO")(io::Error::other(error)))?;
        samples.push(TcpSample { at: monotonic_now(), info });
        if let Some(hook) = hook {
            hook(socket.as_raw_fd());
        }
        next = next + every;
        while !stop.load(Ordering::Relaxed) && monotonic_now() < next {
            sleep_until(next.min(monotonic_now() + LOOK));
        }
    }
    Ok(samples)
}
