//! Counts the packets between a sender and its receiver, at the times of the kernel.

use std::io::IoSliceMut;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrIn, recvmsg, setsockopt, sockopt};

/// A packet of the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) at: Duration,
    /// Of the IP packet.
    pub(crate) bytes: u64,
    pub(crate) from: Ipv4Addr,
}

/// IPv4 and UDP.
const HEADERS: u64 = 28;

/// Forwards packets to the receiver, and its answers back. Without a receiver it is the receiver.
pub(crate) struct Meter {
    pub(crate) address: SocketAddr,
    packets: Arc<Mutex<Vec<Packet>>>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Meter {
    pub(crate) fn new(receiver: Option<SocketAddr>) -> Self {
        let sockets = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        let [front, back] = sockets.map(|socket| {
            socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
            Arc::new(socket)
        });
        let address = front.local_addr().unwrap();
        setsockopt(&*front, sockopt::ReceiveTimestampns, &true).unwrap();
        let packets: Arc<Mutex<Vec<Packet>>> = Arc::default();
        let stop = Arc::new(AtomicBool::new(false));
        let sender = Arc::new(Mutex::new(None));
        let there = {
            let (front, back, packets) = (front.clone(), back.clone(), packets.clone());
            let (stop, sender) = (stop.clone(), sender.clone());
            std::thread::spawn(move || {
                let mut buffer = vec![0; 1 << 16];
                while !stop.load(Ordering::Relaxed) {
                    let Some((packet, port)) = receive(&front, &mut buffer) else { continue };
                    packets.lock().unwrap().push(packet);
                    *sender.lock().unwrap() = Some(SocketAddr::new(IpAddr::V4(packet.from), port));
                    if let Some(receiver) = receiver {
                        let length = (packet.bytes - HEADERS) as usize;
                        // A receiver that is not there yet is the sender's trouble.
                        let _ = back.send_to(&buffer[..length], receiver);
                    }
                }
            })
        };
        let again = {
            let stop = stop.clone();
            std::thread::spawn(move || {
                let mut buffer = vec![0; 1 << 16];
                while !stop.load(Ordering::Relaxed) {
                    let Ok(length) = back.recv(&mut buffer) else { continue };
                    if let Some(sender) = *sender.lock().unwrap() {
                        let _ = front.send_to(&buffer[..length], sender);
                    }
                }
            })
        };
        Self { address, packets, stop, threads: vec![there, again] }
    }

    /// The number of packets so far.
    pub(crate) fn count(&self) -> usize {
        self.packets.lock().unwrap().len()
    }

    /// Those from this number on.
    pub(crate) fn since(&self, number: usize) -> Vec<Packet> {
        self.packets.lock().unwrap()[number..].to_vec()
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> Option<(Packet, u16)> {
    let mut space = nix::cmsg_space!(nix::libc::timespec);
    let mut parts = [IoSliceMut::new(buffer)];
    let flags = MsgFlags::empty();
    let message =
        recvmsg::<SockaddrIn>(socket.as_raw_fd(), &mut parts, Some(&mut space), flags).ok()?;
    let at = message.cmsgs().ok()?.find_map(|part| match part {
        ControlMessageOwned::ScmTimestampns(time) => Some(time),
        _ => None,
    })?;
    let from = message.address?;
    let packet = Packet {
        at: Duration::new(at.tv_sec() as u64, at.tv_nsec() as u32),
        bytes: message.bytes as u64 + HEADERS,
        from: from.ip(),
    };
    Some((packet, from.port()))
}

/// The largest amount by which packets are before a rate: the burst that a bucket needs to let all
/// of them pass.
pub(crate) fn burst(packets: &[Packet], bits_per_sec: u64) -> u64 {
    let (mut level, mut most) = (0.0_f64, 0.0_f64);
    let mut last = packets.first().map_or(Duration::ZERO, |packet| packet.at);
    for packet in packets {
        let time = packet.at.saturating_sub(last).as_secs_f64();
        level = (level - time * bits_per_sec as f64 / 8.0).max(0.0) + packet.bytes as f64;
        most = most.max(level);
        last = packet.at;
    }
    most as u64
}

/// The most that packets carry in any so long time, in bit/s.
pub(crate) fn best(packets: &[Packet], over: Duration) -> u64 {
    let (mut first, mut sum, mut most) = (0, 0, 0);
    for packet in packets {
        sum += packet.bytes;
        while packet.at - packets[first].at > over {
            sum -= packets[first].bytes;
            first += 1;
        }
        most = most.max(sum);
    }
    (most as f64 * 8.0 / over.as_secs_f64()) as u64
}
