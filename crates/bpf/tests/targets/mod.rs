//! What the fuzz targets do with their input. The test `corpus` does the same with their seeds.

#[allow(dead_code, reason = "it is a part of the library")]
#[path = "../../src/downlink/sockets.rs"]
mod sockets;

use sockets::Sockets;

/// A process's claims in arbitrary bytes: they are invalid, or mean the same once they are written
/// again.
pub(crate) fn claims(data: &[u8]) -> bool {
    let Some((process, claimed)) = Sockets::from_text(&String::from_utf8_lossy(data)) else {
        return false;
    };
    let text = claimed.to_text(process);
    assert_eq!(Sockets::from_text(&text).as_ref(), Some(&(process, claimed.clone())), "{text}");
    assert!(claimed.overlap(&claimed) && !claimed.name().is_empty());
    true
}

/// Bytes of one `struct host_step` of `trust_host.c`, and of its answer.
pub(crate) const STEP: usize = 96;
pub(crate) const ANSWER: usize = 24;

/// A connection to a device with arbitrary reports and acknowledgements: no rate is used beyond the
/// claim, nor beyond three times what was delivered, except at a start. `ask` runs `trust.h`.
/// Returns the number of steps.
pub(crate) fn peers(data: &[u8], ask: impl FnOnce(&[u8]) -> Vec<u8>) -> usize {
    let (steps, _) = data.as_chunks::<STEP>();
    let answers = ask(steps.as_flattened());
    let (answers, rest) = answers.as_chunks::<ANSWER>();
    assert_eq!((answers.len(), rest.len()), (steps.len(), 0));
    for (step, answer) in steps.iter().zip(answers) {
        judge(&Met(step), &Met(answer));
    }
    steps.len()
}

/// The integers of a struct of C.
struct Met<'a>(&'a [u8]);

impl Met<'_> {
    fn long(&self, at: usize) -> u64 {
        u64::from_ne_bytes(self.0[at..at + 8].try_into().expect("eight bytes"))
    }

    fn int(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.0[at..at + 4].try_into().expect("four bytes"))
    }
}

fn judge(step: &Met<'_>, answer: &Met<'_>) {
    let [first, second, third] = [0, 8, 16].map(|at| answer.long(at));
    match step.int(92) {
        0 => {
            let (at_most, word) = (step.long(64), step.int(72));
            assert_eq!(first, u64::from(word & 0x7FFF_FFFF) * 125);
            assert_eq!((second, third), (first.min(at_most), u64::from(word >> 31 == 0)));
        }
        1 => {
            let [ack, una, nxt, max_window, lacks_stamp] =
                [72, 76, 80, 84, 88].map(|at| step.int(at));
            let under_way = nxt.wrapping_sub(una).cast_signed() >= 0
                && ack.wrapping_sub(una) <= nxt.wrapping_sub(una);
            if first == 0 {
                assert!(lacks_stamp == 0 && nxt.wrapping_sub(ack).cast_signed() >= 0);
            } else if under_way {
                // No path has half of the numbers in one window: they are then not in order.
                let span = u64::from(ack.wrapping_sub(una)) + u64::from(max_window);
                assert!(lacks_stamp != 0 || span >= 1 << 31);
            }
        }
        2 => assert_eq!((first, second, third), (0, 0, 0)),
        4 => {
            let (at_most, word) = (step.long(64), step.int(72));
            // A state that this version does not know.
            let is_unknown = step.int(76) >> 21 & 7 > 4;
            assert_eq!(first == u64::MAX, is_unknown);
            if !is_unknown {
                assert!(first <= 4_095 << 30 && second == first.min(at_most));
                assert_eq!(first == 0, word >> 16 == 0);
                assert!(third <= at_most && (third == 0) == (word & 0xFFFF == 0 || at_most == 0));
            }
        }
        5 => assert!(first <= step.long(0) && (second, third) == (0, 0)),
        _ => {
            let (claimed, delivered) = (step.long(0), step.long(8).min(12_500_000_000));
            let packet = u64::from(step.int(36).clamp(1, 65_535)) + 52;
            let proven = delivered * packet / (packet - 52) * 3;
            let [rtt_us, queue_us] = [40, 44].map(|at| u64::from(step.int(at).min(10_000_000)));
            let start = 128 * packet * 1_000_000 / (rtt_us + queue_us).max(1);
            assert!(first <= claimed && second <= 3 && third <= 16);
            let most = if second == 3 && delivered > 0 { proven } else { proven.max(start) };
            assert!(first <= most);
        }
    }
}
