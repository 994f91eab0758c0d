use sounding_units::{Bytes, HostInstant};

/// What a shaper holds and has sent, as its kernel counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Packets that wait.
    pub packets: u64,
    /// Their bytes.
    pub waiting: Bytes,
    /// Bytes that left since it was made. A smaller number than before is a new shaper.
    pub sent: Bytes,
}

/// A shaper that holds more packets than this makes data wait. Fewer are the packets that arrive
/// while one is sent: chosen.
const FEW: u64 = 2;

/// What two looks at a shaper show.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Looks {
    last: Option<(HostInstant, Queue)>,
    /// Since when each look found data that waited.
    waits_since: Option<HostInstant>,
}

impl Looks {
    pub(crate) fn handle(&mut self, now: HostInstant, queue: Queue) {
        let is_new = self.last.is_some_and(|(_, last)| queue.sent < last.sent);
        if queue.packets <= FEW || is_new {
            self.waits_since = None;
        } else if self.waits_since.is_none() {
            self.waits_since = Some(now);
        }
        self.last = Some((now, queue));
    }

    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Whether data waited at this look and at the one before.
    pub(crate) fn is_busy(&self) -> bool {
        match (self.waits_since, self.last) {
            (Some(since), Some((last, _))) => since < last,
            _ => false,
        }
    }

    /// Whether nothing waits that a faster shaper would have sent. True without a look.
    pub(crate) fn is_empty(&self) -> bool {
        self.last.is_none_or(|(_, queue)| queue.packets <= FEW)
    }
}
