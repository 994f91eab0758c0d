//! Rules of nftables for one device, in a table that the kernel removes with the socket that made
//! it, however this process ends.
//!
//! No setting of the machine changes: the kernel forwards what arrives at a device whose own
//! `forwarding` is set, and that setting goes with the device. Answers arrive at another device,
//! which may not forward. So a rule sends each answer on as a packet of this machine.
//!
//! ```text
//! prerouting  -310  from the device with another source: dropped
//! prerouting   -90  to the near end, from another device: sent on if it answers, and dropped
//! forward     -500  the trial packet is counted
//! postrouting -500  the trial packet is counted and dropped
//! postrouting  100  from the near end to another device: masquerade
//! ```

use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;

use nix::errno::Errno;
use nix::sys::socket::SockProtocol;
use sounding_qdisc::netlink::{Attributes, Message, Refusal, Socket};

/// The protocol number of trial packets (RFC 3692: for experiments).
pub(super) const TRIAL: u8 = 253;

/// `NFNL_SUBSYS_NFTABLES`.
const NFTABLES: u8 = 10;
/// `NFT_MSG_NEWTABLE` and the others, of `linux/netfilter/nf_tables.h` of Linux 6.18. All numbers
/// below are from there too.
const NEW_TABLE: u16 = 0;
const NEW_CHAIN: u16 = 3;
const NEW_RULE: u16 = 6;
const GET_RULE: u16 = 7;
/// `struct nfgenmsg` of IPv4.
const IPV4: [u8; 4] = [2, 0, 0, 0];
/// `NFT_TABLE_F_OWNER`: since Linux 5.12.
const OWNED: u32 = 2;

/// Where a chain hooks in: `NF_INET_PRE_ROUTING` and the others.
const PREROUTING: u32 = 0;
const FORWARD: u32 = 2;
const POSTROUTING: u32 = 4;

/// `NFT_META_IIF`, `NFT_META_OIF`.
const FROM_DEVICE: u32 = 4;
const TO_DEVICE: u32 = 5;
/// `NFT_CT_STATE`, and in it `NF_CT_STATE_BIT` of an established and a related packet.
const STATE: u32 = 0;
const ANSWERS: u32 = 1 << 1 | 1 << 2;
/// `NFT_CMP_EQ`, `NFT_CMP_NEQ`.
const EQUAL: u32 = 0;
const DIFFERENT: u32 = 1;
/// Offsets in the header of IPv4.
const PROTOCOL: u32 = 9;
const SOURCE: u32 = 12;
const DESTINATION: u32 = 16;

/// The table of a device.
#[derive(Debug)]
pub(super) struct Table {
    socket: Socket,
    name: String,
}

/// How many trial packets came to two places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Trial {
    pub(super) entered: u64,
    pub(super) left: u64,
}

impl Table {
    /// Makes the table for a device of this thread's network namespace, which is called `name` and
    /// has this index.
    pub(super) fn make(name: &str, index: u32, near: Ipv4Addr) -> Result<Self, Refusal> {
        let socket = Socket::open_for(SockProtocol::NetlinkNetFilter)
            .map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(libc::EPROTO)))?;
        // The index is never used again. The table of an emulator that has just ended may still be
        // there, and its device's name is free already.
        let table = Self { socket, name: format!("{name}-{index}") };
        let device = &index.to_ne_bytes()[..];
        let near = &near.octets()[..];
        let own = || Rule::default().meta(FROM_DEVICE).compare(EQUAL, device);
        let other = || Rule::default().meta(FROM_DEVICE).compare(DIFFERENT, device);
        let trial = |rule: Rule| rule.header(PROTOCOL, 1).compare(EQUAL, &[TRIAL]);
        let from_near = || Rule::default().header(SOURCE, 4).compare(EQUAL, near);
        let to_near = |rule: Rule| rule.header(DESTINATION, 4).compare(EQUAL, near);
        let away = |rule: Rule| rule.meta(TO_DEVICE).compare(DIFFERENT, device);
        let rules = [
            ("source", own().header(SOURCE, 4).compare(DIFFERENT, near).discard()),
            ("answers", to_near(other()).any_state(ANSWERS).send_on(near, device)),
            ("answers", to_near(other()).discard()),
            ("entered", trial(own()).count()),
            ("left", away(trial(from_near())).count().discard()),
            ("address", away(from_near()).masquerade()),
        ];
        let chains = [
            ("source", "filter", PREROUTING, -310),
            ("answers", "filter", PREROUTING, -90),
            ("entered", "filter", FORWARD, -500),
            ("left", "filter", POSTROUTING, -500),
            ("address", "nat", POSTROUTING, 100),
        ];
        let mut requests =
            vec![Self::request(NEW_TABLE, |it| it.text(1, &table.name).network(2, OWNED))];
        requests.extend(chains.map(|(chain, kind, hook, priority): (_, _, _, i32)| {
            Self::request(NEW_CHAIN, |it| {
                it.text(1, &table.name)
                    .text(3, chain)
                    .nested(4, |it| it.network(1, hook).network(2, priority.cast_unsigned()))
                    .text(7, kind)
            })
        }));
        requests.extend(rules.map(|(chain, rule)| {
            Self::request(NEW_RULE, |it| {
                it.text(1, &table.name).text(2, chain).attribute(4, &rule.0)
            })
        }));
        table.socket.commit(NFTABLES, requests)?;
        Ok(table)
    }

    fn request(kind: u16, fill: impl FnOnce(Message) -> Message) -> Message {
        const FLAGS: i32 = libc::NLM_F_REQUEST | libc::NLM_F_CREATE | libc::NLM_F_ACK;
        // Rules stand in the order of their messages.
        let flags = FLAGS | if kind == NEW_RULE { libc::NLM_F_APPEND } else { 0 };
        let flags = u16::try_from(flags).unwrap_or_default();
        fill(Message::new(u16::from(NFTABLES) << 8 | kind, flags).raw(&IPV4))
    }

    /// The socket whose end is that of the table.
    pub(super) fn into_socket(self) -> OwnedFd {
        self.socket.into()
    }

    /// The trial packets so far.
    pub(super) fn trial(&self) -> Result<Trial, Refusal> {
        let flags = u16::try_from(libc::NLM_F_REQUEST | libc::NLM_F_DUMP).unwrap_or_default();
        let request = Message::new(u16::from(NFTABLES) << 8 | GET_RULE, flags).raw(&IPV4);
        let mut trial = Trial::default();
        self.socket.ask(request.text(1, &self.name), |answer| {
            let rule = Attributes::after(answer.content, IPV4.len());
            if rule.text(1).as_deref() != Some(&self.name) {
                return;
            }
            let counted = rule.nested(4).find_map(|(_, data)| {
                let expression = Attributes(data);
                let is_counter = expression.text(1).as_deref() == Some("counter");
                // In the network's order.
                let packets = is_counter.then(|| expression.nested(2).get(2))??;
                Some(u64::from_be_bytes(packets.try_into().ok()?))
            });
            match (rule.text(2).as_deref(), counted) {
                (Some("entered"), Some(packets)) => trial.entered = packets,
                (Some("left"), Some(packets)) => trial.left = packets,
                _ => {}
            }
        })?;
        Ok(trial)
    }
}

/// Attributes with numbers in the network's order, as nftables has them.
trait Network {
    fn network(self, kind: u16, value: u32) -> Self;
}

impl Network for Message {
    fn network(self, kind: u16, value: u32) -> Self {
        self.attribute(kind, &value.to_be_bytes())
    }
}

/// The expressions of a rule. The first register holds what is compared.
#[derive(Default)]
struct Rule(Vec<u8>);

impl Rule {
    fn expression(mut self, name: &str, fill: impl FnOnce(Message) -> Message) -> Self {
        let one = Message::new(0, 0).nested(1, |it| it.text(1, name).nested(2, fill)).content();
        self.0.extend(one);
        self
    }

    fn meta(self, key: u32) -> Self {
        self.expression("meta", |it| it.network(1, 1).network(2, key))
    }

    /// Bytes of the IP header.
    fn header(self, offset: u32, length: u32) -> Self {
        self.expression("payload", |it| {
            it.network(1, 1).network(2, 1).network(3, offset).network(4, length)
        })
    }

    fn compare(self, how: u32, with: &[u8]) -> Self {
        self.expression("cmp", |it| {
            it.network(1, 1).network(2, how).nested(3, |it| it.attribute(1, with))
        })
    }

    /// The connection's state is one of these.
    fn any_state(self, states: u32) -> Self {
        let zero = 0_u32.to_ne_bytes();
        self.expression("ct", |it| it.network(1, 1).network(2, STATE))
            .expression("bitwise", |it| {
                it.network(1, 1)
                    .network(2, 1)
                    .network(3, 4)
                    .nested(4, |it| it.attribute(1, &states.to_ne_bytes()))
                    .nested(5, |it| it.attribute(1, &zero))
            })
            .compare(DIFFERENT, &zero)
    }

    fn immediate(self, register: u32, value: &[u8]) -> Self {
        self.expression("immediate", |it| {
            it.network(1, register).nested(2, |it| it.attribute(1, value))
        })
    }

    /// A copy leaves as if this machine had sent it.
    fn send_on(self, to: &[u8], device: &[u8]) -> Self {
        self.immediate(1, to)
            .immediate(2, device)
            .expression("dup", |it| it.network(1, 1).network(2, 2))
    }

    fn count(self) -> Self {
        self.expression("counter", |it| it)
    }

    fn masquerade(self) -> Self {
        self.expression("masq", |it| it)
    }

    /// `NF_DROP`, in the register of verdicts.
    fn discard(self) -> Self {
        self.expression("immediate", |it| {
            it.network(1, 0).nested(2, |it| it.nested(2, |it| it.network(1, 0)))
        })
    }
}
