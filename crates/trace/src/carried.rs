use alloc::vec::Vec;

use sounding_units::Bytes;

use crate::{InvalidTrace, MAX_MILLIS, MAX_OPPORTUNITIES, OPPORTUNITY_PAYLOAD, Trace};

/// Makes the trace of a link that carried so many bytes at these times. A packet may leave as soon
/// as the bytes since the last one are enough for it.
#[derive(Clone, Debug)]
pub struct Carried {
    /// Bytes that a packet takes.
    packet: Bytes,
    /// Bytes that are not enough for a packet yet.
    rest: Bytes,
    millis: Vec<u32>,
}

impl Carried {
    /// Nothing yet. A packet takes [`OPPORTUNITY_PAYLOAD`] and these bytes of headers.
    pub fn with_headers(headers: Bytes) -> Self {
        Self { packet: OPPORTUNITY_PAYLOAD + headers, rest: Bytes::ZERO, millis: Vec::new() }
    }

    /// The link carried `bytes` at a time, which is not before that of the last call.
    ///
    /// # Errors
    ///
    /// [`InvalidTrace`] if a trace has no room for it.
    pub fn handle_bytes(&mut self, millis: u64, bytes: Bytes) -> Result<(), InvalidTrace> {
        let index = self.millis.len();
        let millis = u32::try_from(millis).unwrap_or(u32::MAX);
        self.rest += bytes;
        let packets = self.rest.count() / self.packet.count();
        if packets == 0 {
            return Ok(());
        }
        if millis > MAX_MILLIS {
            return Err(InvalidTrace::TooLate { index, millis });
        }
        let room = MAX_OPPORTUNITIES - index;
        let packets = usize::try_from(packets).ok().filter(|packets| *packets <= room);
        let packets = packets.ok_or(InvalidTrace::TooMany)?;
        self.rest = Bytes::new(self.rest.count() % self.packet.count());
        self.millis.extend(core::iter::repeat_n(millis, packets));
        Ok(())
    }

    /// The trace, which begins so many milliseconds after zero.
    ///
    /// # Errors
    ///
    /// [`InvalidTrace`] if no packet could leave, or all could at once.
    pub fn finish(mut self, begins: u32) -> Result<Trace, InvalidTrace> {
        self.millis.iter_mut().for_each(|millis| *millis = millis.saturating_sub(begins));
        Trace::from_millis(self.millis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(headers: u64, carried: &[(u64, u64)]) -> Result<Trace, InvalidTrace> {
        let mut link = Carried::with_headers(Bytes::new(headers));
        carried.iter().try_for_each(|&(ms, bytes)| link.handle_bytes(ms, Bytes::new(bytes)))?;
        link.finish(0)
    }

    #[test]
    fn a_packet_leaves_when_there_are_bytes_enough_for_it() {
        let found = trace(0, &[(1, 700), (2, 700), (5, 100), (9, 3_100), (10, 1_399)]).unwrap();
        assert_eq!(found.millis(), [5, 9, 9]);
        let found = trace(8, &[(1, 1_507), (2, 1), (3, 3_016)]).unwrap();
        assert_eq!(found.millis(), [2, 3, 3]);
    }

    #[test]
    fn a_trace_begins_at_the_given_time() {
        let mut link = Carried::with_headers(Bytes::ZERO);
        [(500, 1_500), (507, 1_500)]
            .iter()
            .try_for_each(|&(ms, bytes)| link.handle_bytes(ms, Bytes::new(bytes)))
            .unwrap();
        assert_eq!(link.finish(500).unwrap().millis(), [0, 7]);
    }

    #[test]
    fn more_than_a_trace_holds_is_refused_before_it_takes_memory() {
        assert_eq!(trace(0, &[(1, u64::MAX / 2)]), Err(InvalidTrace::TooMany));
        assert!(matches!(
            trace(0, &[(u64::MAX, 1_500)]),
            Err(InvalidTrace::TooLate { millis: u32::MAX, .. })
        ));
        assert_eq!(trace(0, &[(1, 1_499)]), Err(InvalidTrace::Empty));
    }
}
