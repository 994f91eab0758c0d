//! Bulk flows of several users of one machine: what an application is on Android.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use nix::sys::socket::{setsockopt, sockopt::TcpCongestion};
use sounding_emu::{Emulation, EnterError};

/// A flow from a socket of some user, until it is dropped.
pub(crate) struct UsersFlow {
    socket: TcpStream,
    arrived: Arc<AtomicU64>,
    ends: Vec<JoinHandle<Result<(), EnterError>>>,
}

impl UsersFlow {
    pub(crate) fn start(emulation: &Emulation, user: u32, congestion: &str) -> Self {
        let far = emulation.far_address();
        let listener = emulation.far().enter(|| TcpListener::bind((far, 0)));
        let listener = listener.expect("the namespace is there").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let connected = emulation.near().enter(|| {
            // SAFETY: a plain system call that changes the calling thread alone, which ends with this.
            unsafe { libc::setfsuid(user) };
            TcpStream::connect(SocketAddrV4::new(far, port))
        });
        let socket = connected.expect("the namespace is there").expect("a connection");
        setsockopt(&socket, TcpCongestion, &OsString::from(congestion)).expect("a known name");
        let (mut sink, _) = listener.accept().expect("somebody connected");
        let arrived = Arc::new(AtomicU64::new(0));
        let (count, mut source) = (Arc::clone(&arrived), socket.try_clone().expect("a copy"));
        let receive = move || {
            let mut buffer = vec![0; 1 << 18];
            while let Ok(len @ 1..) = sink.read(&mut buffer) {
                count.fetch_add(len as u64, Ordering::Relaxed);
            }
        };
        let send = move || while source.write_all(&[0; 1 << 16]).is_ok() {};
        let ends = vec![
            emulation.far().spawn_thread("users-sink", receive).expect("a thread"),
            emulation.near().spawn_thread("users-source", send).expect("a thread"),
        ];
        Self { socket, arrived, ends }
    }

    /// Bytes that have arrived so far.
    pub(crate) fn arrived(&self) -> u64 {
        self.arrived.load(Ordering::Relaxed)
    }
}

impl Drop for UsersFlow {
    fn drop(&mut self) {
        let _ = self.socket.shutdown(Shutdown::Both);
        for end in self.ends.drain(..) {
            let _ = end.join();
        }
    }
}
