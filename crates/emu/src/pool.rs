use std::ops::Range;

use sounding_host::lock_into_memory;

use crate::Flow;

/// A packet in an emulation. A [`Pipe`](sounding_sim::Pipe) carries this instead of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub(crate) index: u32,
    pub(crate) len: u16,
    /// Its flow.
    pub flow: Flow,
}

/// Slots in one piece of memory. A power of two, so that a slot's place is a shift and a mask.
const CHUNK: usize = 1024;

/// The most slots: 2^22 packets of 1500 bytes are 6 GB. Chosen: an infinite queue is infinite only
/// in the model.
const MAX_SLOTS: usize = 1 << 22;

/// Buffers for packets. The pool grows and never shrinks. It reuses the last returned buffer first,
/// because it is still in the cache.
pub(crate) struct Pool {
    chunks: Vec<Box<[u8]>>,
    free: Vec<u32>,
    slot_size: usize,
    lock: bool,
}

impl Pool {
    /// Slots for packets of up to `packet_size` bytes, `warm` of them at once.
    pub(crate) fn new(packet_size: usize, warm: usize, lock: bool) -> Self {
        // Whole cache lines, so that no two packets share one.
        let slot_size = packet_size.next_multiple_of(64);
        let mut pool = Self { chunks: Vec::new(), free: Vec::new(), slot_size, lock };
        while pool.chunks.len() * CHUNK < warm {
            pool.grow();
        }
        pool
    }

    /// A free slot; `None` when there are too many packets inside.
    pub(crate) fn take(&mut self) -> Option<u32> {
        if self.free.is_empty() {
            self.grow();
        }
        self.free.pop()
    }

    /// Gives a slot back.
    pub(crate) fn give(&mut self, index: u32) {
        self.free.push(index);
    }

    /// The bytes of a slot.
    pub(crate) fn bytes(&self, index: u32) -> &[u8] {
        let (chunk, place) = self.place(index);
        &self.chunks[chunk][place]
    }

    /// The bytes of a slot, to be written.
    pub(crate) fn bytes_mut(&mut self, index: u32) -> &mut [u8] {
        let (chunk, place) = self.place(index);
        &mut self.chunks[chunk][place]
    }

    fn place(&self, index: u32) -> (usize, Range<usize>) {
        let (chunk, place) = (index as usize / CHUNK, index as usize % CHUNK);
        let start = place * self.slot_size;
        (chunk, start..start + self.slot_size)
    }

    fn grow(&mut self) {
        let first = self.chunks.len() * CHUNK;
        if first >= MAX_SLOTS {
            return;
        }
        // Written, not only reserved: a page that is touched first while packets flow costs them
        // its page fault.
        let chunk = vec![0xA5; CHUNK * self.slot_size].into_boxed_slice();
        if self.lock
            && let Err(error) = lock_into_memory(&chunk)
        {
            tracing::warn!(%error, "packet buffers are not locked into memory");
        }
        self.chunks.push(chunk);
        self.free.reserve(self.chunks.len() * CHUNK);
        self.free.extend((first as u32..(first + CHUNK) as u32).rev());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_do_not_overlap() {
        let mut pool = Pool::new(1500, 1, false);
        let slots: Vec<u32> = (0..3 * CHUNK).map_while(|_| pool.take()).collect();
        for &slot in &slots {
            pool.bytes_mut(slot).fill(slot as u8);
        }
        assert!(slots.iter().all(|&slot| pool.bytes(slot).iter().all(|&byte| byte == slot as u8)));
    }

    #[test]
    fn a_slot_given_back_is_the_next_one_taken() {
        let mut pool = Pool::new(1500, 1, false);
        let slot = pool.take().unwrap();
        pool.give(slot);
        assert_eq!(pool.take(), Some(slot));
    }
}
