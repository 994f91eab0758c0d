//! Numbers of the kernel's interface that `libc` does not have.
//!
//! Source: `include/uapi/linux/pkt_sched.h`, `pkt_cls.h`, `gen_stats.h`, `netlink.h` and
//! `tc_act/tc_mirred.h` of Linux 6.18. They never change.

/// Everything begins at a multiple of this.
pub(crate) const ALIGN: usize = 4;
/// `struct nlmsghdr`.
pub(crate) const HEADER_BYTES: usize = 16;
/// `struct tcmsg`.
pub(crate) const TCMSG_BYTES: usize = 20;
/// `struct ifinfomsg`.
pub(crate) const IFINFO_BYTES: usize = 16;

/// A device's root.
pub(crate) const ROOT: u32 = 0xffff_ffff;
/// The parent of `ingress` and `clsact`.
pub(crate) const INGRESS: u32 = 0xffff_fff1;
/// The handle of `ingress` and `clsact`.
pub(crate) const INGRESS_HANDLE: u32 = 0xffff_0000;
/// The parent of filters on arriving packets.
pub(crate) const INGRESS_FILTERS: u32 = 0xffff_fff2;
/// The parent of filters on leaving packets at `clsact`.
pub(crate) const EGRESS_FILTERS: u32 = 0xffff_fff3;

pub(crate) const TCA_KIND: u16 = 1;
pub(crate) const TCA_OPTIONS: u16 = 2;
pub(crate) const TCA_STATS2: u16 = 7;
pub(crate) const TCA_STAB: u16 = 8;
pub(crate) const TCA_INGRESS_BLOCK: u16 = 13;
pub(crate) const TCA_EGRESS_BLOCK: u16 = 14;

pub(crate) const TCA_STATS_BASIC: u16 = 1;
pub(crate) const TCA_STATS_QUEUE: u16 = 3;
pub(crate) const TCA_STATS_PKT64: u16 = 8;

pub(crate) const TCA_CAKE_BASE_RATE64: u16 = 2;
pub(crate) const TCA_CAKE_DIFFSERV_MODE: u16 = 3;
pub(crate) const TCA_CAKE_OVERHEAD: u16 = 6;
pub(crate) const TCA_CAKE_RTT: u16 = 7;
pub(crate) const TCA_CAKE_TARGET: u16 = 8;
pub(crate) const TCA_CAKE_AUTORATE: u16 = 9;
pub(crate) const TCA_CAKE_NAT: u16 = 11;
pub(crate) const TCA_CAKE_INGRESS: u16 = 15;
/// `CAKE_DIFFSERV_BESTEFFORT`.
pub(crate) const CAKE_BESTEFFORT: u32 = 3;

pub(crate) const TCA_HTB_PARMS: u16 = 1;
pub(crate) const TCA_HTB_INIT: u16 = 2;
pub(crate) const TCA_HTB_RATE64: u16 = 6;
pub(crate) const TCA_HTB_CEIL64: u16 = 7;
/// `TC_HTB_PROTOVER`.
pub(crate) const HTB_VERSION: u32 = 3;
/// `TC_LINKLAYER_ETHERNET`: the kernel computes with the rate itself, without a table.
pub(crate) const LINKLAYER_ETHERNET: u8 = 1;

pub(crate) const TCA_MATCHALL_ACT: u16 = 2;
pub(crate) const TCA_U32_SEL: u16 = 5;
pub(crate) const TCA_U32_ACT: u16 = 7;
/// `TC_U32_TERMINAL`.
pub(crate) const U32_TERMINAL: u8 = 1;
pub(crate) const TCA_ACT_KIND: u16 = 1;
pub(crate) const TCA_ACT_OPTIONS: u16 = 2;
/// `NLA_F_NESTED`, which `tc` sets for options of an action alone.
pub(crate) const NESTED: u16 = 0x8000;
pub(crate) const TCA_MIRRED_PARMS: u16 = 2;
/// `TCA_EGRESS_REDIR`.
pub(crate) const EGRESS_REDIRECT: u32 = 1;
/// `TC_ACT_STOLEN`.
pub(crate) const STOLEN: u32 = 4;

/// `NLMSGERR_ATTR_MSG`.
pub(crate) const ERROR_WORDS: u16 = 1;
/// `NLM_F_CAPPED`: the error does not repeat the request.
pub(crate) const CAPPED: u16 = 0x100;
/// `NLM_F_ACK_TLVS`: attributes follow the error.
pub(crate) const HAS_WORDS: u16 = 0x200;
/// `RTEXT_FILTER_SKIP_STATS`.
pub(crate) const SKIP_STATS: u32 = 8;

/// `NFNL_MSG_BATCH_BEGIN`.
pub(crate) const BATCH_BEGIN: u16 = 0x10;
/// `NFNL_MSG_BATCH_END`.
pub(crate) const BATCH_END: u16 = 0x11;
