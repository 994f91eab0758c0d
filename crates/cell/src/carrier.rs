//! A component carrier: its slots, the sizes of its blocks, and who is on it.

use alloc::vec::Vec;
use core::time::Duration;

use rand_chacha::ChaCha8Rng;
use sounding_phy::lte;
use sounding_phy::nr::{BandwidthPart, RbgConfiguration};
use sounding_units::{HostInstant, Prb};

use crate::coding::Sizes;
use crate::config::{CarrierConfig, InvalidConfig, Rat};
use crate::control::ControlUsers;
use crate::event::{CarrierId, Direction, SlotId};
use crate::frame::{Frame, SlotKind};
use crate::leg::SUB_BANDS;

/// How far ahead of a slot something can be due in it; offsets are below 32 slots (TS 38.214 §6.1.2.1).
const AHEAD: usize = 64;

/// A carrier.
#[derive(Debug)]
pub(crate) struct Carrier {
    pub(crate) id: CarrierId,
    pub(crate) config: CarrierConfig,
    pub(crate) frame: Frame,
    down: Sizes,
    /// Of blocks in a special subframe, where they are shorter.
    down_special: Option<Sizes>,
    pub(crate) up: Sizes,
    /// Device and leg of everyone who can be on this carrier.
    pub(crate) attached: Vec<(u16, u8)>,
    pub(crate) rng: ChaCha8Rng,
    /// Share of the downlink's resource blocks that were used lately.
    load: f32,
    /// Resource blocks of each sub-band.
    pub(crate) bands: [u16; SUB_BANDS],
    /// What is due in the slots to come, by slot number modulo [`AHEAD`].
    due: Vec<Due>,
    pub(crate) control: ControlUsers,
    origin: HostInstant,
    next: u64,
}

/// What is due in a slot.
#[derive(Debug, Default)]
pub(crate) struct Due {
    /// Downlink blocks whose feedback comes.
    pub(crate) feedback: Vec<Answer>,
    /// Uplink blocks that are sent.
    pub(crate) grants: Vec<Grant>,
}

/// Feedback for a downlink block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) device: u16,
    pub(crate) leg: u8,
    pub(crate) harq: u8,
    pub(crate) arrived: bool,
}

/// An uplink grant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant {
    pub(crate) device: u16,
    pub(crate) leg: u8,
    pub(crate) harq: u8,
    pub(crate) again: bool,
    pub(crate) mcs: u8,
    pub(crate) prb: u16,
    pub(crate) first_prb: u16,
    pub(crate) bands: u32,
    pub(crate) size: u32,
}

/// How the time of a carrier is cut.
pub(crate) fn frame(config: &CarrierConfig) -> Result<Frame, InvalidConfig> {
    Ok(match (config.rat, &config.tdd) {
        (Rat::Lte, None) => Frame::lte_fdd(),
        (Rat::Lte, Some(configuration)) => Frame::lte_tdd(configuration)?,
        (Rat::Nr, None) => Frame::nr_fdd(config.numerology),
        (Rat::Nr, Some(pattern)) => Frame::nr_tdd(config.numerology, pattern)?,
    })
}

impl Carrier {
    pub(crate) fn new(
        id: CarrierId,
        config: CarrierConfig,
        origin: HostInstant,
        rng: ChaCha8Rng,
    ) -> Result<Self, InvalidConfig> {
        config.check()?;
        let frame = frame(&config)?;
        let mut bands = [config.prb / SUB_BANDS as u16; SUB_BANDS];
        for band in bands.iter_mut().take(usize::from(config.prb) % SUB_BANDS) {
            *band += 1;
        }
        let control = ControlUsers::new(config.control_users_per_sec, origin);
        Ok(Self {
            id,
            frame,
            down: Sizes::new(&config, Direction::Downlink),
            down_special: Sizes::in_special(&config),
            up: Sizes::new(&config, Direction::Uplink),
            config,
            attached: Vec::new(),
            rng,
            load: 0.0,
            bands,
            due: (0..AHEAD).map(|_| Due::default()).collect(),
            control,
            origin,
            next: 0,
        })
    }

    /// Sizes of the downlink's blocks in a slot.
    pub(crate) fn down(&self, slot: u64) -> &Sizes {
        let special = self.frame.kind(slot) == SlotKind::Special;
        self.down_special.as_ref().filter(|_| special).unwrap_or(&self.down)
    }

    /// When the next slot begins.
    pub(crate) fn next_at(&self) -> HostInstant {
        self.begin(self.next)
    }

    /// When a slot begins.
    pub(crate) fn begin(&self, slot: u64) -> HostInstant {
        let nanos = self.frame.slot().as_nanos() as u64 * slot;
        self.origin + Duration::from_nanos(nanos)
    }

    /// Goes on to the next slot.
    pub(crate) fn advance(&mut self) -> SlotId {
        let slot = self.next;
        self.next += 1;
        SlotId { carrier: self.id, slot, at: self.begin(slot) }
    }

    pub(crate) fn due(&mut self, slot: u64) -> &mut Due {
        &mut self.due[slot as usize % AHEAD]
    }
}

impl Carrier {
    /// Resource blocks that are assigned together (TS 36.213 Table 7.1.6.1-1, TS 38.214 Table 5.1.2.2.1-1,
    /// configuration 1).
    pub(crate) fn rbg(&self) -> u16 {
        let size = Prb::new(self.config.prb);
        match self.config.rat {
            Rat::Lte => lte::rbg_size(size),
            Rat::Nr => BandwidthPart { start: 0, size }.rbg_size(RbgConfiguration::One),
        }
    }

    /// Share of the downlink's resource blocks that were used in the last tenth of a second or so. Range 0..=1.
    pub(crate) fn load(&self) -> f32 {
        self.load
    }

    /// So many resource blocks of a slot were used.
    pub(crate) fn handle_use(&mut self, prb: u16) {
        const SLOTS: f32 = 100.0;
        let used = f32::from(prb) / f32::from(self.config.prb);
        self.load += (used - self.load) / SLOTS;
    }
}
