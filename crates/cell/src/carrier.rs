//! A component carrier: its slots, the sizes of its blocks, and its users.

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};
use core::time::Duration;

use rand_chacha::ChaCha8Rng;
use sounding_kpi::Direction;
use sounding_phy::lte;
use sounding_phy::nr::{BandwidthPart, RbgConfiguration};
use sounding_units::{HostInstant, Prb};

use crate::block_sizes::BlockSizes;
use crate::config::{CarrierConfig, InvalidConfig, Rat, SUB_BANDS};
use crate::control_users::ControlUsers;
use crate::frame::{Frame, SlotKind};
use crate::ids::{CarrierId, SlotId, User};
use crate::wake_schedule::{NEVER, WakeSchedule};

/// Number of slots that can be scheduled in advance; offsets are below 32 slots (TS 38.214
/// §6.1.2.1).
const AHEAD: usize = 64;

/// All carriers of a network.
#[derive(Debug)]
pub(crate) struct Carriers(Vec<Carrier>);

impl Carriers {
    pub(crate) const fn new(all: Vec<Carrier>) -> Self {
        Self(all)
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Carrier> {
        self.0.get(index)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Carrier> {
        self.0.iter()
    }

    /// Shows how each slot of all of them is used from now on.
    pub(crate) fn show_use(&mut self) {
        self.0.iter_mut().for_each(|carrier| carrier.shown = carrier.next);
    }

    /// The carrier with the next slot that has an event, and the beginning of that slot.
    pub(crate) fn next_slot(&self) -> Option<(CarrierId, HostInstant)> {
        let slots = self.0.iter().map(|carrier| (carrier.id, carrier.next_at()));
        slots.filter(|(_, at)| *at < NEVER).min_by_key(|(_, at)| *at)
    }

    /// A device becomes active at `now`, on the carriers of these users.
    pub(crate) fn activate(
        &mut self,
        users: impl Iterator<Item = (CarrierId, User)>,
        now: HostInstant,
    ) {
        for (carrier, user) in users {
            let carrier = &mut self[carrier];
            carrier.skip_to(now);
            carrier.activate(user);
        }
    }
}

impl Index<CarrierId> for Carriers {
    type Output = Carrier;

    #[inline]
    fn index(&self, id: CarrierId) -> &Carrier {
        &self.0[usize::from(id.0)]
    }
}

impl IndexMut<CarrierId> for Carriers {
    #[inline]
    fn index_mut(&mut self, id: CarrierId) -> &mut Carrier {
        &mut self.0[usize::from(id.0)]
    }
}

/// A carrier.
#[derive(Debug)]
pub(crate) struct Carrier {
    pub(crate) id: CarrierId,
    pub(crate) config: CarrierConfig,
    pub(crate) frame: Frame,
    down: BlockSizes,
    /// Block sizes in a special subframe, which is shorter.
    down_special: Option<BlockSizes>,
    pub(crate) up: BlockSizes,
    /// All that can be on this carrier.
    pub(crate) attached: Vec<User>,
    /// The users that have something to send, to request or to wait for, in order.
    active: Vec<User>,
    /// When the channels of `attached` are due.
    pub(crate) measuring: WakeSchedule,
    /// When their signals, their neighbours and their traffic are.
    pub(crate) upkeep: WakeSchedule,
    pub(crate) rng: ChaCha8Rng,
    /// Share of the downlink's resource blocks that were used lately.
    load: f32,
    /// Whether a device on it is given carriers by the share that it has of them.
    pub(crate) counts_shares: bool,
    /// Resource blocks of the downlink that were sent in this slot.
    pub(crate) sent: u16,
    /// The first slot whose use is not shown yet, if it is shown.
    shown: u64,
    /// Resource blocks of each sub-band.
    pub(crate) bands: [u16; SUB_BANDS],
    /// Actions due in coming slots, by slot number modulo [`AHEAD`].
    due: Vec<DueInSlot>,
    pub(crate) control_users: ControlUsers,
    origin: HostInstant,
    next: u64,
}

/// Events that are due in a slot.
#[derive(Debug, Default)]
pub(crate) struct DueInSlot {
    /// Downlink blocks whose feedback comes.
    pub(crate) feedback: Vec<HarqFeedback>,
    /// Uplink blocks that are sent.
    pub(crate) grants: Vec<UplinkGrant>,
}

/// Feedback for a downlink block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HarqFeedback {
    pub(crate) user: User,
    pub(crate) harq: u8,
    pub(crate) arrived: bool,
}

/// An uplink grant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UplinkGrant {
    pub(crate) user: User,
    pub(crate) harq: u8,
    pub(crate) again: bool,
    pub(crate) mcs: u8,
    pub(crate) prb: u16,
    pub(crate) first_prb: u16,
    pub(crate) bands: u32,
    pub(crate) size: u32,
}

impl Carrier {
    pub(crate) fn new(
        id: CarrierId,
        config: CarrierConfig,
        origin: HostInstant,
        rng: ChaCha8Rng,
    ) -> Result<Self, InvalidConfig> {
        config.check()?;
        let frame = config.frame()?;
        let mut bands = [config.prb / SUB_BANDS as u16; SUB_BANDS];
        for band in bands.iter_mut().take(usize::from(config.prb) % SUB_BANDS) {
            *band += 1;
        }
        let control_users = ControlUsers::new(config.control_users_per_sec, origin);
        Ok(Self {
            id,
            frame,
            down: BlockSizes::new(&config, Direction::Downlink),
            down_special: BlockSizes::in_special(&config),
            up: BlockSizes::new(&config, Direction::Uplink),
            config,
            attached: Vec::new(),
            active: Vec::new(),
            measuring: WakeSchedule::default(),
            upkeep: WakeSchedule::default(),
            rng,
            load: 0.0,
            counts_shares: false,
            sent: 0,
            shown: 0,
            bands,
            due: (0..AHEAD).map(|_| DueInSlot::default()).collect(),
            control_users,
            origin,
            next: 0,
        })
    }

    /// BlockSizes of the downlink's blocks in a slot.
    #[inline]
    pub(crate) fn down(&self, slot: u64) -> &BlockSizes {
        let special = self.frame.kind(slot) == SlotKind::Special;
        self.down_special.as_ref().filter(|_| special).unwrap_or(&self.down)
    }

    /// A user that is on this carrier from now on. It counts as active.
    pub(crate) fn attach(&mut self, user: User) {
        self.attached.push(user);
        self.measuring.add();
        self.upkeep.add();
        self.activate(user);
    }

    /// A user becomes active.
    fn activate(&mut self, user: User) {
        if let Err(place) = self.active.binary_search(&user) {
            self.active.insert(place, user);
        }
    }

    /// The active users.
    #[inline]
    pub(crate) fn active(&self) -> &[User] {
        &self.active
    }

    /// Takes the active users; the caller returns them with [`set_active`](Self::set_active).
    pub(crate) fn take_active(&mut self) -> Vec<User> {
        core::mem::take(&mut self.active)
    }

    pub(crate) fn set_active(&mut self, active: Vec<User>) {
        self.active = active;
    }

    /// Beginning of the next slot with an event, if no packet enters before.
    #[inline]
    pub(crate) fn next_at(&self) -> HostInstant {
        self.begin(self.next_slot())
    }

    /// The next slot with an event. Slots in between are skipped.
    #[inline]
    fn next_slot(&self) -> u64 {
        if !self.active.is_empty() || self.config.control_users_per_sec > 0.0 {
            return self.next;
        }
        let due = self.measuring.soonest().min(self.upkeep.soonest());
        if due == NEVER { u64::MAX } else { self.next.max(self.slot_from(due)) }
    }

    /// The first slot that begins at `at` or later.
    fn slot_from(&self, at: HostInstant) -> u64 {
        let nanos = at.saturating_since(self.origin).as_nanos() as u64;
        nanos.div_ceil(self.frame.slot().as_nanos() as u64)
    }

    /// Skips slots without events until `now`.
    pub(crate) fn skip_to(&mut self, now: HostInstant) {
        let next = self.slot_from(now + Duration::from_nanos(1));
        self.skip(next.saturating_sub(self.next));
    }

    fn skip(&mut self, slots: u64) {
        // After this many empty slots the earlier load has no effect.
        const FORGOTTEN: u64 = 2_000;
        for slot in (self.next..self.next + slots).rev().take(FORGOTTEN as usize) {
            if self.frame.kind(slot).has_downlink() {
                self.handle_use(0);
            }
        }
        self.next += slots;
    }

    /// When a slot begins.
    #[inline]
    pub(crate) fn begin(&self, slot: u64) -> HostInstant {
        let nanos = (self.frame.slot().as_nanos() as u64).saturating_mul(slot);
        HostInstant::from_nanos(self.origin.as_nanos().saturating_add(nanos))
    }

    /// When a block is decoded that was sent in a slot that begins at `at`.
    pub(crate) fn decoded_at(&self, at: HostInstant) -> HostInstant {
        at + self.frame.slot() + self.config.decoding()
    }

    /// Advances to the next slot with an event.
    pub(crate) fn advance(&mut self) -> SlotId {
        let slot = self.next_slot();
        self.skip(slot - self.next);
        self.next += 1;
        SlotId { carrier: self.id, slot, at: self.begin(slot) }
    }

    /// The slots of the downlink before `slot` whose use is not shown yet: there was none. It and
    /// they are shown now.
    pub(crate) fn unused_before(&mut self, slot: u64) -> impl Iterator<Item = SlotId> {
        let from = core::mem::replace(&mut self.shown, slot + 1);
        let unused = (from..slot).filter(|&slot| self.frame.kind(slot).has_downlink());
        unused.map(|slot| SlotId { carrier: self.id, slot, at: self.begin(slot) })
    }

    pub(crate) fn due(&mut self, slot: u64) -> &mut DueInSlot {
        &mut self.due[slot as usize % AHEAD]
    }
}

impl Carrier {
    /// Resource blocks that are assigned together (TS 36.213 Table 7.1.6.1-1, TS 38.214 Table
    /// 5.1.2.2.1-1, configuration 1).
    pub(crate) fn rbg(&self) -> u16 {
        let size = Prb::new(self.config.prb);
        match self.config.rat {
            Rat::Lte => lte::rbg_size(size),
            Rat::Nr => BandwidthPart { start: 0, size }.rbg_size(RbgConfiguration::One),
        }
    }

    /// Share of the downlink's resource blocks that were used in the last tenth of a second or so.
    /// Range 0..=1.
    pub(crate) fn load(&self) -> f32 {
        self.load
    }

    /// Records how many resource blocks of a slot were used.
    pub(crate) fn handle_use(&mut self, prb: u16) {
        const SLOTS: f32 = 100.0;
        let used = f32::from(prb) / f32::from(self.config.prb);
        self.load += (used - self.load) / SLOTS;
    }
}
