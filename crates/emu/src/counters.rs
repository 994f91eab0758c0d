//! The kernel's drops at a device, from `/proc/net/dev`.

use std::io::{self, Read};

use crate::device;
use crate::{KernelDrops, Netns};

/// Reads the counters of a TUN device in `netns`.
pub(crate) fn read(netns: &Netns, device: &str) -> io::Result<KernelDrops> {
    let text = netns
        .enter(|| {
            let mut text = String::new();
            device::counters_file()?.read_to_string(&mut text)?;
            io::Result::Ok(text)
        })
        .map_err(io::Error::other)??;
    parse(&text, device)
        .ok_or_else(|| io::Error::other(format!("{device} is not in /proc/net/dev")))
}

/// The columns are, for receiving and then for sending: bytes packets errs drop fifo frame/colls
/// compressed multicast/carrier, eight each (proc_pid_net(5)).
fn parse(text: &str, device: &str) -> Option<KernelDrops> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(device)?.strip_prefix(':'))?;
    let columns: Vec<u64> =
        line.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    Some(KernelDrops {
        before_link: *columns.get(11)? + *columns.get(10)?,
        after_link: *columns.get(3)? + *columns.get(2)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_and_errors_of_the_device_are_summed_per_way() {
        let text = "Inter-|   Receive                            |  Transmit\n \
                    face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop\n    \
                    lo: 1 2 9 9 0 0 0 0 1 2 9 9 0 0 0 0\nradio0: 10 20 1 2 0 0 0 0 30 40 3 4 0 0 0 0\n";
        assert_eq!(parse(text, "radio0"), Some(KernelDrops { before_link: 7, after_link: 3 }));
    }

    #[test]
    fn a_list_without_the_device_is_no_count() {
        assert_eq!(parse("lo: 1 2 3\n", "radio0"), None);
    }
}
