//! Flows of several users of one machine: what an application is on Android.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{Linger, TcpCongestion};
use sounding_emu::{Emulation, EnterError, Netns};
use sounding_units::Rate;

/// A user that no machine has.
pub(crate) const STRANGER: u32 = 4_242_421;

/// A flow from a socket of some user that always has more to send, until it is dropped.
pub(crate) struct UsersFlow {
    socket: TcpStream,
    sink: TcpStream,
    arrived: Arc<AtomicU64>,
    ends: Vec<JoinHandle<Result<(), EnterError>>>,
}

impl UsersFlow {
    /// From the near end of an emulation to its far end.
    pub(crate) fn start(emulation: &Emulation, user: u32, congestion: &str) -> Self {
        let ends = (emulation.near(), emulation.far());
        Self::between(ends, emulation.far_address(), user, congestion, None)
    }

    /// The same, which asks for all it can get and sends no faster than this.
    pub(crate) fn idling(emulation: &Emulation, user: u32, congestion: &str, most: Rate) -> Self {
        let ends = (emulation.near(), emulation.far());
        Self::between(ends, emulation.far_address(), user, congestion, Some(most))
    }

    /// From the near end to itself.
    pub(crate) fn idling_on_loopback(
        emulation: &Emulation,
        user: u32,
        congestion: &str,
        most: Rate,
    ) -> Self {
        let ends = (emulation.near(), emulation.near());
        Self::between(ends, Ipv4Addr::LOCALHOST, user, congestion, Some(most))
    }

    fn between(
        (from, to): (&Netns, &Netns),
        address: Ipv4Addr,
        user: u32,
        congestion: &str,
        most: Option<Rate>,
    ) -> Self {
        let listener = to.enter(|| TcpListener::bind((address, 0)));
        let listener = listener.expect("the namespace is there").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let connected = from.enter(|| {
            as_user(user);
            TcpStream::connect(SocketAddrV4::new(address, port))
        });
        let socket = connected.expect("the namespace is there").expect("a connection");
        if let Some(most) = most {
            limit(&socket, most);
        }
        setsockopt(&socket, TcpCongestion, &OsString::from(congestion)).expect("a known name");
        let (sink, _) = listener.accept().expect("somebody connected");
        let arrived = Arc::new(AtomicU64::new(0));
        let (count, mut source) = (Arc::clone(&arrived), socket.try_clone().expect("a copy"));
        let mut reads = sink.try_clone().expect("a copy");
        let receive = move || {
            let mut buffer = vec![0; 1 << 18];
            while let Ok(len @ 1..) = reads.read(&mut buffer) {
                count.fetch_add(len as u64, Ordering::Relaxed);
            }
        };
        let send = move || while source.write_all(&[0; 1 << 16]).is_ok() {};
        let ends = vec![
            to.spawn_thread("users-sink", receive).expect("a thread"),
            from.spawn_thread("users-source", send).expect("a thread"),
        ];
        Self { socket, sink, arrived, ends }
    }

    /// Bytes that have arrived so far.
    pub(crate) fn arrived(&self) -> u64 {
        self.arrived.load(Ordering::Relaxed)
    }
}

impl Drop for UsersFlow {
    fn drop(&mut self) {
        // Data in a socket that sends next to nothing would wait for hours.
        let at_once = libc::linger { l_onoff: 1, l_linger: 0 };
        let _ = setsockopt(&self.socket, Linger, &at_once);
        let _ = self.socket.shutdown(Shutdown::Both);
        let _ = self.sink.shutdown(Shutdown::Both);
        for end in self.ends.drain(..) {
            let _ = end.join();
        }
    }
}

/// Sockets that the calling thread makes from here on are this user's. It ends before long.
pub(crate) fn as_user(user: u32) {
    // SAFETY: a plain system call that changes the calling thread alone.
    unsafe { libc::setfsuid(user) };
}

/// Has the kernel send no faster from this socket, which any program may ask for.
fn limit(socket: &TcpStream, most: Rate) {
    let most = u32::try_from(most.bytes_per_sec()).expect("below 4 GB/s");
    // SAFETY: pointer and length describe `most`.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            (&raw const most).cast(),
            size_of_val(&most) as libc::socklen_t,
        )
    };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
}
