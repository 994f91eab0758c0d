use std::io;
use std::mem;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use socket2::{Domain, Protocol, Socket, Type};
use sounding_emu::{Direction, Emulation, EnterError, Flow, monotonic_now};
use sounding_sim::Device;
use sounding_units::{Bytes, HostInstant, Rate};

use super::arriving::{Arriving, UdpArrival};
use super::connection::local;
use super::{Ends, FlowError, any_port, sleep_until, thread_cpu};

/// Datagrams handed to the kernel, or taken from it, in one call.
const BATCH: usize = 64;

/// The least time between two calls: below it datagrams go in groups, because a sleep costs more
/// than a datagram.
const TICK: Duration = Duration::from_micros(250);

/// IP and UDP headers.
const HEADERS: u16 = 28;

/// Send buffer and receive buffer. They are large, so that the ends lose no packets.
const BUFFER: usize = 32 << 20;

/// Datagrams at a constant rate, each with a number and the time it was sent.
#[derive(Clone, Copy, Debug)]
pub struct UdpFlow {
    /// The device whose radio they pass.
    pub device: Device,
    /// Their direction.
    pub direction: Direction,
    /// Rate of IP packets.
    pub rate: Rate,
    /// Size of an IP packet, in bytes, 64..=9000.
    pub packet_size: u16,
    /// Duration of sending.
    pub duration: Duration,
    /// How long the receiver waits after the last packet was sent: at least the delay of the link
    /// and its queue.
    pub drain: Duration,
}

/// The result of a flow.
#[derive(Clone, Debug)]
pub struct UdpResult {
    /// Datagrams the kernel took from the sender.
    pub sent: u64,
    /// Datagrams that arrived.
    pub received: u64,
    /// Datagrams that arrived after one with a higher number.
    pub reordered: u64,
    /// Bytes of IP that arrived.
    pub received_bytes: Bytes,
    /// When the first was sent.
    pub began: HostInstant,
    /// When the last was sent.
    pub ended: HostInstant,
    /// CPU time of the sender.
    pub sender_cpu: Duration,
    /// CPU time of the receiver.
    pub receiver_cpu: Duration,
    /// Every arrival, in order.
    pub arrivals: Vec<UdpArrival>,
}

impl UdpResult {
    /// From the sender's stamp to the receiver's kernel, of each datagram that arrived. The two
    /// clocks are compared now, so both ends have to be on this machine.
    pub fn one_way(&self) -> Vec<Duration> {
        let real = clock_gettime(ClockId::CLOCK_REALTIME).map_or(Duration::ZERO, Duration::from);
        let ahead = real.saturating_sub(Duration::from_nanos(monotonic_now().as_nanos()));
        let delay = |arrival: &UdpArrival| {
            let received = Duration::from_nanos(arrival.received_realtime_ns).saturating_sub(ahead);
            HostInstant::from_nanos(received.as_nanos() as u64) - arrival.sent
        };
        self.arrivals.iter().map(delay).collect()
    }
}

/// A running flow.
#[derive(Debug)]
pub struct RunningUdp {
    stop: Arc<AtomicBool>,
    flow: Flow,
    sender: Task<Sent>,
    receiver: Task<Received>,
    packet_size: u16,
}

type Task<T> = JoinHandle<Result<Result<T, FlowError>, EnterError>>;

#[derive(Debug)]
struct Sent {
    count: u64,
    began: HostInstant,
    ended: HostInstant,
    cpu: Duration,
}

#[derive(Debug)]
struct Received {
    arrivals: Vec<UdpArrival>,
    reordered: u64,
    cpu: Duration,
}

impl UdpFlow {
    /// Full packets in this direction at this rate for this long.
    pub fn new(direction: Direction, rate: Rate, duration: Duration) -> Self {
        let drain = Duration::from_secs(1);
        Self { device: Device::default(), direction, rate, packet_size: 1500, duration, drain }
    }

    /// Begins to send.
    pub fn start(self, emulation: &Emulation) -> Result<RunningUdp, FlowError> {
        self.start_between(Ends::of(emulation, self.device)?)
    }

    /// The same between other namespaces, whatever is between them.
    pub fn start_between(self, ends: Ends<'_>) -> Result<RunningUdp, FlowError> {
        let [(sender, sender_address), (receiver, receiver_address)] =
            ends.in_order(self.direction);
        let receiving = receiver.enter(|| udp_socket(receiver_address))??;
        Arriving::ask(&receiving)?;
        let sending = sender.enter(|| udp_socket(sender_address))??;
        let target = receiving.local_addr().map_err(FlowError::socket("ask for an address"))?;
        sending.connect(&target).map_err(FlowError::socket("connect a UDP socket"))?;
        let flow = Flow {
            protocol: libc::IPPROTO_UDP as u8,
            source: local(&sending)?.port(),
            destination: local(&receiving)?.port(),
        };
        let ended = Arc::new(AtomicBool::new(false));
        let stop = Arc::new(AtomicBool::new(false));
        let (sender_ended, sender_stop) = (ended.clone(), stop.clone());
        let receiver = receiver
            .spawn_thread("udp-receiver", move || receive(&receiving, &ended, self.drain))?;
        let sender = sender.spawn_thread("udp-sender", move || {
            let sent = send(&sending, &self, &sender_stop);
            sender_ended.store(true, Ordering::Relaxed);
            sent
        })?;
        Ok(RunningUdp { stop, flow, sender, receiver, packet_size: self.packet_size })
    }
}

impl RunningUdp {
    /// Ports as the datagrams carry them.
    pub fn flow(&self) -> Flow {
        self.flow
    }

    /// Whether the sender has ended.
    pub fn has_ended(&self) -> bool {
        self.sender.is_finished()
    }

    /// Sends no more, and waits for the last datagram.
    pub fn stop(self) -> Result<UdpResult, FlowError> {
        self.stop.store(true, Ordering::Relaxed);
        self.wait()
    }

    /// Waits for the last datagram.
    pub fn wait(self) -> Result<UdpResult, FlowError> {
        let sent = self.sender.join().map_err(|_| FlowError::Panicked)???;
        let received = self.receiver.join().map_err(|_| FlowError::Panicked)???;
        let count = received.arrivals.len() as u64;
        Ok(UdpResult {
            sent: sent.count,
            received: count,
            reordered: received.reordered,
            received_bytes: Bytes::new(count * u64::from(self.packet_size)),
            began: sent.began,
            ended: sent.ended,
            sender_cpu: sent.cpu,
            receiver_cpu: received.cpu,
            arrivals: received.arrivals,
        })
    }
}

fn udp_socket(address: std::net::Ipv4Addr) -> Result<Socket, FlowError> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))
        .map_err(FlowError::socket("make a UDP socket"))?;
    for option in [libc::SO_RCVBUFFORCE, libc::SO_SNDBUFFORCE] {
        set(&socket, option, BUFFER as libc::c_int).map_err(FlowError::socket("set a buffer"))?;
    }
    socket.bind(&any_port(address).into()).map_err(FlowError::socket("bind a UDP socket"))?;
    Ok(socket)
}

fn set(socket: &Socket, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    // SAFETY: the kernel reads an int.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn send(socket: &Socket, flow: &UdpFlow, stop: &AtomicBool) -> Result<Sent, FlowError> {
    let payload = usize::from(flow.packet_size.clamp(64, 9000) - HEADERS);
    let mut buffer = vec![0x5A; payload * BATCH];
    let size = Bytes::new(flow.packet_size.into());
    let began = monotonic_now();
    let mut count = 0;
    loop {
        let now = monotonic_now();
        let since = now - began;
        if since >= flow.duration || stop.load(Ordering::Relaxed) {
            return Ok(Sent { count, began, ended: now, cpu: thread_cpu() });
        }
        // The first is due at once.
        let due = (flow.rate * since).count() / size.count() + 1;
        while count < due {
            let group = usize::try_from(due - count).unwrap_or(BATCH).min(BATCH);
            let now = monotonic_now();
            for (number, datagram) in (count..).zip(buffer.chunks_exact_mut(payload).take(group)) {
                datagram[..8].copy_from_slice(&number.to_le_bytes());
                datagram[8..16].copy_from_slice(&now.as_nanos().to_le_bytes());
            }
            count += send_group(socket, &mut buffer, payload, group)?;
        }
        let next = Bytes::new(size.count() * due).time_at(flow.rate).unwrap_or(flow.duration);
        sleep_until((began + next).max(now + TICK));
    }
}

/// Passes a group to the kernel. Returns how many it took.
fn send_group(
    socket: &Socket,
    buffer: &mut [u8],
    payload: usize,
    group: usize,
) -> Result<u64, FlowError> {
    let mut vectors: Vec<libc::iovec> = buffer
        .chunks_exact_mut(payload)
        .take(group)
        .map(|datagram| libc::iovec { iov_base: datagram.as_mut_ptr().cast(), iov_len: payload })
        .collect();
    let mut messages: Vec<libc::mmsghdr> = vectors
        .iter_mut()
        .map(|vector| {
            // SAFETY: an all-zero mmsghdr is a valid one.
            let mut message: libc::mmsghdr = unsafe { mem::zeroed() };
            message.msg_hdr.msg_iov = vector;
            message.msg_hdr.msg_iovlen = 1;
            message
        })
        .collect();
    // SAFETY: every message points to one vector, and every vector to a datagram of the buffer, all
    // alive here.
    let sent = unsafe {
        libc::sendmmsg(socket.as_raw_fd(), messages.as_mut_ptr(), messages.len() as u32, 0)
    };
    match u64::try_from(sent) {
        Ok(sent) => Ok(sent),
        Err(_) => match io::Error::last_os_error() {
            // The device's queue is full: the emulator's counters include it.
            error if matches!(error.raw_os_error(), Some(libc::ENOBUFS | libc::EINTR)) => Ok(0),
            error => Err(FlowError::socket("send datagrams")(error)),
        },
    }
}

fn receive(socket: &Socket, ended: &AtomicBool, drain: Duration) -> Result<Received, FlowError> {
    let look = Some(Duration::from_millis(100));
    socket.set_read_timeout(look).map_err(FlowError::socket("set a timeout"))?;
    let mut arrivals = Vec::new();
    let (mut reordered, mut highest) = (0, None);
    let mut until = None;
    let mut arriving = Arriving::new();
    loop {
        if until.is_none() && ended.load(Ordering::Relaxed) {
            until = Some(monotonic_now() + drain);
        }
        if until.is_some_and(|until| monotonic_now() >= until) {
            return Ok(Received { arrivals, reordered, cpu: thread_cpu() });
        }
        for arrival in arriving.receive(socket)? {
            reordered += u64::from(highest.is_some_and(|highest| arrival.number < highest));
            highest = highest.max(Some(arrival.number));
            arrivals.push(arrival);
        }
    }
}
