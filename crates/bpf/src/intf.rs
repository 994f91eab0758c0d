//! `bpf/intf.h` in Rust. The skeleton carries what clang made of it; the two must agree byte for
//! byte.

use sounding_laws::biscay;

use crate::skel::types;
use crate::skel_peers::types as peer_types;

/// "SDNG": the page is a feed.
pub(crate) const MAGIC: u32 = 0x5344_4e47;
/// Layout of the page.
pub(crate) const VERSION: u32 = 1;

/// `LAW_MAX_RATE` of arith.h, bytes/s: no radio carries more.
pub(crate) const MAX_RATE: u64 = sounding_estimate::MAX_RATE.bytes_per_sec();

/// Checks a mirror against what clang compiled: size, and the offset of each field.
macro_rules! mirrors {
    ($ours:ty = $theirs:ty { $($field:ident),+ $(,)? }) => {
        const _: () = {
            assert!(size_of::<$ours>() == size_of::<$theirs>());
            assert!(align_of::<$ours>() == align_of::<$theirs>());
            $(assert!(
                core::mem::offset_of!($ours, $field) == core::mem::offset_of!($theirs, $field)
            );)+
        };
    };
}
pub(crate) use mirrors;

/// One published estimate: half of the latch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct WireEstimate {
    pub(crate) rate_bytes_per_sec: u64,
    pub(crate) sampled_at_ns: u64,
    pub(crate) epoch: u64,
    pub(crate) bound: u32,
    pub(crate) valid: u32,
    pub(crate) agreeing: u32,
    pub(crate) other_flows: u32,
    pub(crate) lull: u32,
    pub(crate) state: u32,
    pub(crate) fair_bytes_per_sec: u64,
    pub(crate) users: u32,
    pub(crate) carriers: u32,
}
mirrors!(
    WireEstimate = types::sounding_estimate {
        rate_bytes_per_sec,
        sampled_at_ns,
        epoch,
        bound,
        valid,
        agreeing,
        other_flows,
        lull,
        state,
        fair_bytes_per_sec,
        users,
        carriers,
    }
);

/// 64-bit words of one estimate.
pub(crate) const ESTIMATE_WORDS: usize = size_of::<WireEstimate>() / 8;

impl WireEstimate {
    /// The estimate as the words the latch moves.
    pub(crate) fn words(&self) -> [u64; ESTIMATE_WORDS] {
        let pair = |low: u32, high: u32| {
            if cfg!(target_endian = "little") {
                u64::from(high) << 32 | u64::from(low)
            } else {
                u64::from(low) << 32 | u64::from(high)
            }
        };
        [
            self.rate_bytes_per_sec,
            self.sampled_at_ns,
            self.epoch,
            pair(self.bound, self.valid),
            pair(self.agreeing, self.other_flows),
            pair(self.lull, self.state),
            self.fair_bytes_per_sec,
            pair(self.users, self.carriers),
        ]
    }
}

/// What each law publishes of a flow.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct WireStatus {
    pub(crate) since_ns: u64,
    pub(crate) share_bytes_per_sec: u64,
    pub(crate) pacing_bytes_per_sec: u64,
    pub(crate) delivery_bytes_per_sec: u64,
    pub(crate) phase: u32,
    pub(crate) reason: u32,
    pub(crate) cwnd: u32,
    pub(crate) transitions: u32,
    pub(crate) n_flows: u32,
    pub(crate) reserved: u32,
}
mirrors!(
    WireStatus = types::flow_status {
        since_ns,
        share_bytes_per_sec,
        pacing_bytes_per_sec,
        delivery_bytes_per_sec,
        phase,
        reason,
        cwnd,
        transitions,
        n_flows,
        reserved,
    }
);

/// What a law remembers beside it, for itself alone: `LAW_STATE_BYTES` without the status.
const MEMORY_WORDS: usize = (core::mem::offset_of!(types::sounding_flow, e2e_bytes_per_sec)
    - size_of::<types::flow_status>())
    / 8;

/// A socket's storage.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct WireFlow {
    pub(crate) status: WireStatus,
    pub(crate) memory: [u64; MEMORY_WORDS],
    pub(crate) e2e_bytes_per_sec: u64,
    pub(crate) shadow_pacing: u64,
    pub(crate) shadow_cwnd: u32,
    pub(crate) set_cwnd: u32,
    pub(crate) events: u32,
    pub(crate) marked: u32,
    pub(crate) acks: u64,
    pub(crate) law_ran_at_ns: u64,
    pub(crate) bbr_mode: u32,
    pub(crate) rtt_min_us: u32,
}
mirrors!(
    WireFlow = types::sounding_flow {
        e2e_bytes_per_sec,
        shadow_pacing,
        shadow_cwnd,
        set_cwnd,
        events,
        marked,
        acks,
        law_ran_at_ns,
        bbr_mode,
        rtt_min_us,
    }
);

/// One change of state, as the ring carries it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct WireTransition {
    pub(crate) at_ns: u64,
    pub(crate) cookie: u64,
    pub(crate) share_bytes_per_sec: u64,
    pub(crate) e2e_bytes_per_sec: u64,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) reason: u32,
    pub(crate) n_flows: u32,
    pub(crate) family: u32,
    pub(crate) local_port: u32,
    pub(crate) remote_port: u32,
    pub(crate) modem: u32,
}
// No map's value has this type, so the skeleton carries no twin to compare with; intf.h asserts the
// same size.
const _: () = assert!(size_of::<WireTransition>() == 64);

/// What the options of a peer come to.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct WireClaim {
    pub(crate) claimed: u64,
    pub(crate) rate: u64,
    pub(crate) fair: u64,
    pub(crate) known: u32,
    pub(crate) bound: u32,
    pub(crate) state: u32,
    pub(crate) users: u32,
    pub(crate) carriers: u32,
    pub(crate) age_ms: u32,
}
mirrors!(
    WireClaim = peer_types::peer_claim {
        claimed,
        rate,
        fair,
        known,
        bound,
        state,
        users,
        carriers,
        age_ms,
    }
);

/// A report of a peer, as the ring carries it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct WirePeerReport {
    pub(crate) at_ns: u64,
    pub(crate) delivered_bytes_per_sec: u64,
    pub(crate) claim: WireClaim,
    pub(crate) cause: u32,
    pub(crate) family: u32,
    pub(crate) local_port: u32,
    pub(crate) remote_port: u32,
    /// In network order; of IPv4 the first four.
    pub(crate) remote: [u8; 16],
}
// As for the transitions.
const _: () = assert!(size_of::<WirePeerReport>() == 96);

/// What a server keeps of a socket's peer. How far it is trusted, at the end, is the kernel's
/// business.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct WirePeer {
    pub(crate) heard_at_ns: u64,
    pub(crate) stated_at_ns: u64,
    pub(crate) claim: WireClaim,
    pub(crate) believed: u64,
    pub(crate) believed_fair: u64,
    pub(crate) delivered: u64,
    pub(crate) heard: u64,
    pub(crate) trust: [u64; 12],
    pub(crate) told: u32,
    pub(crate) delays: u32,
}
mirrors!(
    WirePeer = peer_types::sounding_peer {
        heard_at_ns,
        stated_at_ns,
        claim,
        believed,
        believed_fair,
        delivered,
        heard,
        trust,
        told,
        delays,
    }
);

const _: () = assert!(core::mem::offset_of!(types::sounding_feed, heartbeat_at_ns) == 8);
const _: () = assert!(core::mem::offset_of!(types::sounding_feed, seq) == 16);
const _: () = assert!(core::mem::offset_of!(types::sounding_feed, radio_delays) == 24);
const _: () = assert!(core::mem::offset_of!(types::sounding_feed, slot) == 64);

/// The settings as the object's read-only data holds them; spans and counts too large for their
/// fields saturate.
pub(crate) fn wire_config(config: &biscay::Config) -> types::law_config {
    let nanos = |span: core::time::Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
    types::law_config {
        max_age_ns: nanos(config.max_age),
        max_silence_ns: nanos(config.max_silence),
        narrow_for_ns: nanos(config.narrow_for),
        allowance_us: u32::try_from(config.allowance.as_micros()).unwrap_or(u32::MAX),
        pacing_gain_permille: config.pacing_gain_permille,
        narrow_permille: config.narrow_permille,
        wide_permille: config.wide_permille,
        narrow_rounds: config.narrow_rounds,
        wide_rounds: config.wide_rounds,
        narrow_loss_permille: config.narrow_loss_permille,
        min_cwnd: config.min_cwnd,
        max_cwnd: config.max_cwnd,
        settled_after: config.settled_after,
    }
}

/// The bytes of a map's value as a mirror of it, or `None` if there are fewer.
pub(crate) fn read<T: Plain>(bytes: &[u8]) -> Option<T> {
    if bytes.len() < size_of::<T>() {
        return None;
    }
    // SAFETY: the length was checked, the read needs no alignment, and `Plain` types are valid for
    // any bytes.
    Some(unsafe { core::ptr::read_unaligned(bytes.as_ptr().cast()) })
}

/// Types made of integers without padding.
///
/// # Safety
///
/// Every pattern of bytes must be a value.
pub(crate) unsafe trait Plain: Copy {}
// SAFETY: only integers.
unsafe impl Plain for WireFlow {}
// SAFETY: only integers.
unsafe impl Plain for WireTransition {}
// SAFETY: only integers.
unsafe impl Plain for WirePeerReport {}
// SAFETY: only integers.
unsafe impl Plain for WirePeer {}
