use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use sounding_units::{Bytes, Rate};

/// Why a socket's state cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("TCP_INFO is refused: {0}")]
pub struct InfoError(#[from] io::Error);

/// The kernel's state of a TCP connection, with units. Fields that an older kernel does not fill in
/// are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Congestion window, in segments.
    pub cwnd: u32,
    /// Largest segment, in bytes of payload.
    pub mss: u32,
    /// Smoothed round-trip time.
    pub rtt: Duration,
    /// Least round-trip time of the kernel's window (300 s by default); zero before the first
    /// sample.
    pub min_rtt: Duration,
    /// Rate at which the kernel paces; [`Rate::MAX`] where it does not pace.
    pub pacing_rate: Rate,
    /// Newest delivery-rate sample.
    pub delivery_rate: Rate,
    /// Segments delivered so far.
    pub delivered: u32,
    /// Bytes acknowledged so far.
    pub acked: Bytes,
    /// Bytes sent so far, retransmissions included.
    pub sent: Bytes,
    /// Bytes retransmitted so far.
    pub retransmitted: Bytes,
    /// Segments retransmitted so far.
    pub retransmitted_segments: u32,
    /// Segments in flight.
    pub unacked: u32,
    /// Bytes that wait in the send buffer and were never sent.
    pub unsent: Bytes,
    /// Slow-start threshold, in segments.
    pub ssthresh: u32,
    /// The receive window that the other end advertised last.
    pub peer_window: Bytes,
    /// How long the receive window limited the sender.
    pub receive_window_limited: Duration,
    /// How long the send buffer limited the sender.
    pub send_buffer_limited: Duration,
}

impl TcpInfo {
    /// Asks the kernel.
    pub fn of(socket: BorrowedFd<'_>) -> Result<Self, InfoError> {
        let mut raw = Raw::default();
        let mut len = size_of::<Raw>() as libc::socklen_t;
        // SAFETY: the kernel writes at most `len` bytes into `raw`, for which any bytes are valid.
        let result = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                (&raw mut raw).cast(),
                &raw mut len,
            )
        };
        if result == 0 { Ok(raw.into()) } else { Err(io::Error::last_os_error().into()) }
    }
}

impl From<Raw> for TcpInfo {
    fn from(raw: Raw) -> Self {
        let micros = |micros: u32| Duration::from_micros(micros.into());
        let pacing_rate = match raw.pacing_rate {
            u64::MAX => Rate::MAX,
            bytes => Rate::from_bytes_per_sec(bytes),
        };
        Self {
            cwnd: raw.snd_cwnd,
            mss: raw.snd_mss,
            rtt: micros(raw.rtt),
            // The kernel reports ~0 before the first sample.
            min_rtt: if raw.min_rtt == u32::MAX { Duration::ZERO } else { micros(raw.min_rtt) },
            pacing_rate,
            delivery_rate: Rate::from_bytes_per_sec(raw.delivery_rate),
            delivered: raw.delivered,
            acked: Bytes::new(raw.bytes_acked),
            sent: Bytes::new(raw.bytes_sent),
            retransmitted: Bytes::new(raw.bytes_retrans),
            retransmitted_segments: raw.total_retrans,
            unacked: raw.unacked,
            unsent: Bytes::new(raw.notsent_bytes.into()),
            ssthresh: raw.snd_ssthresh,
            peer_window: Bytes::new(raw.snd_wnd.into()),
            receive_window_limited: Duration::from_micros(raw.rwnd_limited),
            send_buffer_limited: Duration::from_micros(raw.sndbuf_limited),
        }
    }
}

/// `struct tcp_info` of `linux/tcp.h` up to `snd_wnd` (Linux 5.4); the kernel only ever adds to its
/// end.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Raw {
    state: u8,
    ca_state: u8,
    retransmits: u8,
    probes: u8,
    backoff: u8,
    options: u8,
    window_scales: u8,
    flags: u8,
    rto: u32,
    ato: u32,
    snd_mss: u32,
    rcv_mss: u32,
    unacked: u32,
    sacked: u32,
    lost: u32,
    retrans: u32,
    fackets: u32,
    last_data_sent: u32,
    last_ack_sent: u32,
    last_data_recv: u32,
    last_ack_recv: u32,
    pmtu: u32,
    rcv_ssthresh: u32,
    rtt: u32,
    rttvar: u32,
    snd_ssthresh: u32,
    snd_cwnd: u32,
    advmss: u32,
    reordering: u32,
    rcv_rtt: u32,
    rcv_space: u32,
    total_retrans: u32,
    pacing_rate: u64,
    max_pacing_rate: u64,
    bytes_acked: u64,
    bytes_received: u64,
    segs_out: u32,
    segs_in: u32,
    notsent_bytes: u32,
    min_rtt: u32,
    data_segs_in: u32,
    data_segs_out: u32,
    delivery_rate: u64,
    busy_time: u64,
    rwnd_limited: u64,
    sndbuf_limited: u64,
    delivered: u32,
    delivered_ce: u32,
    bytes_sent: u64,
    bytes_retrans: u64,
    dsack_dups: u32,
    reord_seen: u32,
    rcv_ooopack: u32,
    snd_wnd: u32,
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    use nix::sys::socket::getsockopt;
    use nix::sys::socket::sockopt::RcvBuf;

    use super::*;

    #[test]
    fn the_kernel_and_this_structure_agree_on_a_loopback_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(&[7; 5000]).unwrap();
        server.read_exact(&mut [0; 5000]).unwrap();
        server.write_all(&[1]).unwrap();
        client.read_exact(&mut [0]).unwrap();
        let info = TcpInfo::of(client.as_fd()).unwrap();
        // The SYN counts as one of the bytes acknowledged.
        assert_eq!((info.acked, info.sent), (Bytes::new(5001), Bytes::new(5000)));
        assert!(info.cwnd > 0 && info.mss > 500 && info.retransmitted == Bytes::ZERO);
        // The server has read all data, and advertises its free space.
        let (window, room) = (info.peer_window.count(), getsockopt(&server, RcvBuf).unwrap());
        assert!(window > 5000 && window <= room as u64, "{window} of {room}");
    }

    #[test]
    fn a_descriptor_that_is_no_socket_is_refused() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(TcpInfo::of(file.as_fd()).is_err());
    }
}
