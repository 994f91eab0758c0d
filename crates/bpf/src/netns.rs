//! Which network namespace a thread is in.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

/// asm-generic/socket.h, since Linux 5.14.
const SO_NETNS_COOKIE: libc::c_int = 71;

/// The identifier of this thread's network namespace (SO_NETNS_COOKIE).
pub(crate) fn cookie() -> io::Result<u64> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let mut cookie = 0u64;
    let mut len = size_of_val(&cookie) as libc::socklen_t;
    // SAFETY: pointer and length describe `cookie`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &mut len,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(cookie) }
}
