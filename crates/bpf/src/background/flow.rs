use std::fmt;
use std::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

use crate::skel_background::types;

/// What a background flow does. The names are those of its states in virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BackgroundPhase {
    /// The first burst.
    Opening,
    /// It sends nothing.
    Waiting,
    /// It sends until its share of the cell is known.
    Probing,
    /// The cell is its alone.
    Sending,
    /// The receiver has no usable clock.
    ByDelay,
}

impl BackgroundPhase {
    /// All of them, by their numbers in the kernel.
    pub const ALL: [Self; 5] =
        [Self::Opening, Self::Waiting, Self::Probing, Self::Sending, Self::ByDelay];

    /// Its name in tables, logs and `sounding sim`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Waiting => "waiting",
            Self::Probing => "probing",
            Self::Sending => "sending",
            Self::ByDelay => "by delay",
        }
    }
}

impl fmt::Display for BackgroundPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One flow under an instance, as of its last acknowledgement or departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackgroundFlow {
    /// What it does.
    pub phase: BackgroundPhase,
    /// Since when, on the kernel's monotonic clock.
    pub since: HostInstant,
    /// How long it was in each phase before this one, in the order of [`BackgroundPhase::ALL`].
    pub spent: [Duration; 5],
    /// Changes of phase.
    pub transitions: u32,
    /// The window of the law, whatever a wait holds back.
    pub cwnd: Bytes,
    /// Its share of the cell in thousandths, as last judged.
    pub share_permille: Option<u64>,
    /// What the cell gives it alone.
    pub capacity: Option<Rate>,
    /// The least round-trip time.
    pub least_rtt: Option<Duration>,
    /// A tick of the receiver's clock; `None` until it has been measured, and then 1 ms is
    /// assumed.
    pub tick: Option<Duration>,
}

impl BackgroundFlow {
    /// `None` if the value is another version's.
    pub(crate) fn read(value: &[u8]) -> Option<Self> {
        if value.len() != size_of::<types::background_flow>() {
            return None;
        }
        // SAFETY: the type is plain numbers, for which any bytes are valid, and the length is
        // right.
        let wire: types::background_flow =
            unsafe { value.as_ptr().cast::<types::background_flow>().read_unaligned() };
        let law = &wire.law;
        let share = &law.share;
        let phase = *BackgroundPhase::ALL.get(law.phase as usize)?;
        let micros = |us: u32| (us > 0).then(|| Duration::from_micros(us.into()));
        let known = [
            (share.seen > 0, share.heads),
            (share.most.at_ns[0] > 0, !share.most.best[0]),
            (share.has_reading > 0, share.reading),
        ];
        let capacity = known.iter().filter(|(is_known, _)| *is_known).map(|(_, rate)| *rate).max();
        let cwnd = match phase {
            BackgroundPhase::ByDelay => law.delay.cwnd,
            _ => law.window.cwnd,
        };
        Some(Self {
            phase,
            since: HostInstant::from_nanos(wire.since_ns),
            spent: wire.in_phase_ns.map(Duration::from_nanos),
            transitions: wire.transitions,
            cwnd: Bytes::new(cwnd),
            share_permille: (share.has_share > 0).then_some(share.share),
            capacity: capacity.map(Rate::from_bytes_per_sec),
            least_rtt: micros(law.least_rtt_us),
            tick: (wire.clock.tick_ns > 0).then(|| Duration::from_nanos(wire.clock.tick_ns)),
        })
    }
}

/// A socket whose receive window the law sets, as of the last segment that it sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackgroundReceiver {
    /// What the law does.
    pub phase: BackgroundPhase,
    /// Since when, on the kernel's monotonic clock.
    pub since: HostInstant,
    /// How long it was in each phase before this one, in the order of [`BackgroundPhase::ALL`].
    pub spent: [Duration; 5],
    /// Changes of phase.
    pub transitions: u32,
    /// The limit on the receive window; `None` while it is the kernel's own.
    pub window: Option<Bytes>,
    /// Its share of the cell in thousandths, as last judged.
    pub share_permille: Option<u64>,
    /// The least round-trip time.
    pub least_rtt: Option<Duration>,
}

impl BackgroundReceiver {
    /// `None` if the value is another version's.
    pub(crate) fn read(value: &[u8]) -> Option<Self> {
        if value.len() != size_of::<types::background_receiver>() {
            return None;
        }
        // SAFETY: the type is plain numbers, for which any bytes are valid, and the length is
        // right.
        let wire: types::background_receiver =
            unsafe { value.as_ptr().cast::<types::background_receiver>().read_unaligned() };
        let law = &wire.law;
        let least_rtt_us = u64::from(law.least_rtt_us);
        Some(Self {
            phase: *BackgroundPhase::ALL.get(law.phase as usize)?,
            since: HostInstant::from_nanos(wire.since_ns),
            spent: wire.in_phase_ns.map(Duration::from_nanos),
            transitions: wire.transitions,
            window: (wire.window > 0).then(|| Bytes::new(wire.window.into())),
            share_permille: (law.share.has_share > 0).then_some(law.share.share),
            least_rtt: (least_rtt_us > 0).then(|| Duration::from_micros(least_rtt_us)),
        })
    }
}
