//! Shared helpers of the tests of real emulations.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::time::{Duration, Instant};

use sounding_emu::{DirectionReport, Emulation};

/// A machine under load may need this time for any step. No test asserts a shorter time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// One UDP socket at either end, the near one connected to the far one and the other way round.
pub(crate) fn sockets(emulation: &Emulation) -> (UdpSocket, UdpSocket) {
    let bind = |address: Ipv4Addr| {
        let socket = UdpSocket::bind(SocketAddrV4::new(address, 0)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket
    };
    let near = emulation.near().enter(|| bind(emulation.near_address())).unwrap();
    let far = emulation.far().enter(|| bind(emulation.far_address())).unwrap();
    near.connect(far.local_addr().unwrap()).unwrap();
    far.connect(near.local_addr().unwrap()).unwrap();
    (near, far)
}

/// A datagram whose IP packet has this size.
pub(crate) fn datagram(packet_size: usize) -> Vec<u8> {
    vec![7; packet_size - 28]
}

/// Whether every packet that entered is accounted for, and none was lost outside the model.
#[track_caller]
pub(crate) fn assert_conserved(way: &DirectionReport) {
    let settled = way.delivered + way.dropped + way.refused + way.unbuffered + way.queued;
    assert_eq!(way.arrived, settled, "{way:?}");
    assert_eq!(way.refused + way.unbuffered + way.kernel.total(), 0, "{way:?}");
}

/// Waits until `done`. Returns false after a timeout.
pub(crate) fn eventually(mut done: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if done() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    done()
}
