//! Whose sockets have a port of this host. A datagram does not say who sent it, and any user can
//! take a port that is free.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};

/// The kernel's lists of UDP sockets of the network namespace, IPv6's with those that receive IPv4
/// too.
const LISTS: [&str; 2] = ["/proc/thread-self/net/udp", "/proc/thread-self/net/udp6"];

/// The users that a service on this host may be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trusted {
    own: u32,
    named: Option<u32>,
}

impl Trusted {
    /// Root, the user of this process, and one more if it is named.
    pub(super) fn besides(named: Option<u32>) -> Self {
        Self { own: nix::unistd::geteuid().as_raw(), named }
    }

    fn trusts(self, user: u32) -> bool {
        user == 0 || user == self.own || self.named == Some(user)
    }

    /// An error unless every UDP socket on this port is a trusted user's, and there is one.
    ///
    /// The address does not matter: a socket at any address of this host may send in the name of
    /// another one (`IP_PKTINFO`).
    pub(super) fn check(self, port: u16) -> Result<(), String> {
        let unknown = |error| format!("the owner of UDP port {port} is unknown: {error}");
        let mut found = false;
        for list in LISTS {
            let lines = match File::open(list) {
                Ok(file) => BufReader::new(file).lines(),
                // A kernel without IPv6.
                Err(error) if error.kind() == io::ErrorKind::NotFound && list != LISTS[0] => {
                    continue;
                }
                Err(error) => return Err(unknown(error)),
            };
            for line in lines.skip(1) {
                let line = line.map_err(unknown)?;
                match user_at(&line, port) {
                    Some(user) if !self.trusts(user) => {
                        return Err(format!(
                            "user {user} has a socket on UDP port {port}: any user can take it, so only root and this user are \
                             believed; --sniffer-user names another"
                        ));
                    }
                    user => found |= user.is_some(),
                }
            }
        }
        if found { Ok(()) } else { Err(format!("no socket of this host is on UDP port {port}")) }
    }
}

/// The user of the socket in a line of the list, if it is on that port.
fn user_at(line: &str, port: u16) -> Option<u32> {
    let mut words = line.split_ascii_whitespace();
    let (_, at) = words.nth(1)?.rsplit_once(':')?;
    if u16::from_str_radix(at, 16).ok()? != port {
        return None;
    }
    // Behind the other end, state, queues, timer and retransmissions.
    words.nth(5)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn a_line_of_the_kernels_list_has_a_port_and_a_user() {
        let line = " 1206: 0100007F:1A6F 00000000:0000 07 00000000:00000000 00:00000000 00000000  1000        0 8021 2 0 0";
        assert_eq!((user_at(line, 6767), user_at(line, 6768)), (Some(1000), None));
        let line = " 77: 00000000000000000000000001000000:1A6F 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 \
                    00000000 64123 0 9 2 0 0";
        assert_eq!(user_at(line, 6767), Some(64_123));
        assert_eq!(user_at("sl local_address", 6767), None);
    }

    #[test]
    fn the_users_of_a_port_are_those_of_all_its_sockets() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let port = socket.local_addr().expect("bound").port();
        let trusted = Trusted::besides(None);
        assert_eq!(trusted.check(port), Ok(()));
        drop(socket);
        assert!(trusted.check(port).is_err(), "no owner");
        for place in ["127.0.0.77", "[::1]"] {
            let bind = || UdpSocket::bind(format!("{place}:0"));
            let Some(theirs) = sounding_testdata::as_stranger(bind) else { return };
            let theirs = theirs.expect("a socket");
            let port = theirs.local_addr().expect("bound").port();
            let error = trusted.check(port).expect_err("a stranger's");
            assert!(error.contains("user 4242421") && error.contains("--sniffer-user"), "{error}");
            assert_eq!(Trusted::besides(Some(sounding_testdata::STRANGER)).check(port), Ok(()));
            // Beside another's.
            let _own = UdpSocket::bind(("127.0.0.1", port)).expect("free there");
            assert!(trusted.check(port).is_err());
        }
    }
}
