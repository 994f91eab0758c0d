//! Small datagrams that the far end returns, as pings: their round trips show the queues on their
//! way. ICMP is not used, so that a far end that blocks it is measured too.

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use sounding_emu::{EnterError, monotonic_now};
use sounding_units::HostInstant;

use crate::flow::{Ends, FlowError};

/// Interval at which blocked calls check whether they should end.
const LOOK: Duration = Duration::from_millis(50);

/// How long an answer is awaited after the last question.
const DRAIN: Duration = Duration::from_millis(1_500);

/// Datagrams at an interval.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Interval.
    pub every: Duration,
    /// Payload of a datagram in bytes; at least 16.
    pub size: usize,
}

/// A datagram's way to the far end and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probed {
    /// When it was sent.
    pub sent: HostInstant,
    /// Its round trip; `None` if no answer came.
    pub round_trip: Option<Duration>,
    /// Its way to the far end; `None` if no answer came.
    pub outward: Option<Duration>,
}

/// Probes that are being sent.
#[derive(Debug)]
pub struct Probing {
    /// Of the sender; the others end after it.
    stop: Arc<AtomicBool>,
    drained: Arc<AtomicBool>,
    sender: Task<Vec<HostInstant>>,
    receiver: Task<Vec<Answer>>,
    echo: Task<()>,
}

/// An answer that came back.
#[derive(Clone, Copy, Debug)]
struct Answer {
    /// Of the probe.
    number: u64,
    /// At the far end.
    turned: HostInstant,
    /// Back here.
    came: HostInstant,
}

type Task<T> = JoinHandle<Result<io::Result<T>, EnterError>>;

impl Probe {
    /// Begins to send.
    pub fn start(self, ends: Ends<'_>) -> Result<Probing, FlowError> {
        let ((near, near_address), (far, far_address)) = (ends.near, ends.far);
        let fail = |doing| FlowError::socket(doing);
        let open = |address| {
            let socket = UdpSocket::bind((address, 0))?;
            socket.set_read_timeout(Some(LOOK))?;
            Ok(socket)
        };
        let echo = far.enter(|| open(far_address))?.map_err(fail("bind an echo's socket"))?;
        let socket = near.enter(|| open(near_address))?.map_err(fail("bind a probe's socket"))?;
        let target = echo.local_addr().map_err(fail("ask for an address"))?;
        socket.connect(target).map_err(fail("connect a probe's socket"))?;
        let receiving = socket.try_clone().map_err(fail("share a socket"))?;
        let (stop, drained) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (sender_stop, receiver_stop, echo_stop) =
            (stop.clone(), drained.clone(), drained.clone());
        Ok(Probing {
            echo: far.spawn_thread("probe-echo", move || answer(&echo, &echo_stop))?,
            receiver: near
                .spawn_thread("probe-receiver", move || receive(&receiving, &receiver_stop))?,
            sender: near.spawn_thread("probe-sender", move || self.send(&socket, &sender_stop))?,
            stop,
            drained,
        })
    }

    fn send(self, socket: &UdpSocket, stop: &AtomicBool) -> io::Result<Vec<HostInstant>> {
        let mut datagram = vec![0; self.size.max(16)];
        let mut sent: Vec<HostInstant> = Vec::new();
        let mut next = monotonic_now();
        while !stop.load(Ordering::Relaxed) {
            datagram[..8].copy_from_slice(&(sent.len() as u64).to_le_bytes());
            sent.push(monotonic_now());
            // A datagram that the kernel does not take has no answer, and counts so.
            let _ = socket.send(&datagram);
            next = next + self.every;
            std::thread::sleep(next - monotonic_now());
        }
        Ok(sent)
    }
}

impl Probing {
    /// Sends no more, and waits for the last answers. Returns the probes in their order.
    pub fn stop(self) -> Result<Vec<Probed>, FlowError> {
        self.stop.store(true, Ordering::Relaxed);
        let sent = join(self.sender)?;
        std::thread::sleep(DRAIN);
        self.drained.store(true, Ordering::Relaxed);
        let received = join(self.receiver)?;
        join(self.echo)?;
        let unanswered = |&sent| Probed { sent, round_trip: None, outward: None };
        let mut probes: Vec<Probed> = sent.iter().map(unanswered).collect();
        for Answer { number, turned, came } in received {
            let probe = usize::try_from(number).ok().and_then(|number| probes.get_mut(number));
            if let Some(probe) = probe.filter(|probe| probe.round_trip.is_none()) {
                probe.round_trip = Some(came - probe.sent);
                probe.outward = Some(turned - probe.sent);
            }
        }
        Ok(probes)
    }
}

fn join<T>(task: Task<T>) -> Result<T, FlowError> {
    let ended = task.join().map_err(|_| FlowError::Panicked)??;
    ended.map_err(FlowError::socket("probe the path"))
}

fn answer(socket: &UdpSocket, stop: &AtomicBool) -> io::Result<()> {
    let mut buffer = [0; 2048];
    while !stop.load(Ordering::Relaxed) {
        if let Ok((count, from)) = socket.recv_from(&mut buffer) {
            if let Some(time) = buffer[..count].get_mut(8..16) {
                time.copy_from_slice(&monotonic_now().as_nanos().to_le_bytes());
            }
            let _ = socket.send_to(&buffer[..count], from);
        }
    }
    Ok(())
}

fn receive(socket: &UdpSocket, stop: &AtomicBool) -> io::Result<Vec<Answer>> {
    let mut received = Vec::new();
    let mut buffer = [0; 2048];
    while !stop.load(Ordering::Relaxed) {
        let Ok(count) = socket.recv(&mut buffer) else { continue };
        let ([first, second, ..], _) = buffer[..count].as_chunks() else { continue };
        let [number, turned] = [first, second].map(|bytes| u64::from_le_bytes(*bytes));
        let turned = HostInstant::from_nanos(turned);
        received.push(Answer { number, turned, came: monotonic_now() });
    }
    Ok(received)
}
