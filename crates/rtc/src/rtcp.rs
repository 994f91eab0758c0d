//! Corrected feedback inside compound RTCP packets (RFC 3550, §6.1), for stacks that show them
//! before encryption or after decryption.

use crate::feedback::{FORMAT, PACKET_TYPE};
use crate::{Feedback, Tick};

/// The packets of a compound packet, headers included. A packet that is cut ends it.
fn packets(compound: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = compound;
    core::iter::from_fn(move || {
        let &[_, _, high, low] = rest.first_chunk::<4>()?;
        let length = (usize::from(u16::from_be_bytes([high, low])) + 1) * 4;
        let (packet, after) = rest.split_at_checked(length)?;
        rest = after;
        Some(packet)
    })
}

/// Corrects the feedback of one sender of feedback, packet after packet.
///
/// Corrected arrivals keep the order of the arrivals, also from one feedback to the next.
#[derive(Clone, Debug, Default)]
pub struct Rewriter {
    /// The latest arrival so far, as it was and as it was given.
    last: Option<(Tick, Tick)>,
}

impl Rewriter {
    /// The compound packet with all its feedback corrected. `corrected` receives the transport-wide
    /// sequence number and the arrival of each packet. Packets that are malformed or no
    /// feedback stay unchanged.
    pub fn rewrite(
        &mut self,
        compound: &[u8],
        mut corrected: impl FnMut(u16, Tick) -> Tick,
    ) -> Vec<u8> {
        let mut written = Vec::with_capacity(compound.len() + 16);
        let mut read = 0;
        for packet in packets(compound) {
            read += packet.len();
            let is_feedback = packet.first().is_some_and(|first| first & 0x1F == FORMAT)
                && packet[1] == PACKET_TYPE;
            let feedback = is_feedback.then(|| Feedback::parse(packet).ok()).flatten();
            match feedback.and_then(|feedback| self.correct(feedback, &mut corrected)) {
                Some(feedback) => written.extend(feedback.emit()),
                None => written.extend(packet),
            }
        }
        written.extend(&compound[read..]);
        written
    }

    /// One feedback corrected; `None` if the result could not be written.
    fn correct(
        &mut self,
        mut feedback: Feedback,
        corrected: &mut impl FnMut(u16, Tick) -> Tick,
    ) -> Option<Feedback> {
        let mut arrivals: Vec<(Tick, u16, Tick)> = feedback
            .packets()
            .filter_map(|(sequence, at)| at.map(|at| (at, sequence, corrected(sequence, at))))
            .collect();
        arrivals.sort_by_key(|&(at, ..)| at);
        let mut last = self.last;
        for (at, _, given) in &mut arrivals {
            // One that overtook the last feedback's packets has no order to keep with them.
            if let Some((_, floor)) = last.filter(|(before, _)| before <= at) {
                *given = (*given).max(floor);
            }
            if last.is_none_or(|(before, _)| before <= *at) {
                last = Some((*at, *given));
            }
        }
        arrivals.sort_by_key(|&(_, sequence, _)| sequence.wrapping_sub(feedback.base));
        let mut given = arrivals.into_iter().map(|(_, _, given)| given);
        feedback.correct(|_, at| given.next().unwrap_or(at)).ok()?;
        self.last = last;
        Some(feedback)
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn feedback(base: u16, arrivals: &[i64]) -> Feedback {
        let arrivals = arrivals.iter().map(|&at| Some(Tick::from_steps(at))).collect();
        Feedback::new((1, 2), base, 0, arrivals).expect("the arrivals are close")
    }

    fn arrivals(bytes: &[u8]) -> Vec<i64> {
        let feedback = Feedback::parse(bytes).expect("it was written");
        feedback.packets().filter_map(|(_, at)| at.map(Tick::steps)).collect()
    }

    const REPORT: [u8; 8] = [0x80, 201, 0, 1, 0, 0, 0, 9];

    #[test]
    fn the_other_packets_of_a_compound_stay_as_they_are() {
        let first = feedback(7, &[100, 200]);
        let broken = [0x8F, 205, 0, 1, 1, 2, 3, 4];
        let compound = [&REPORT[..], &first.emit(), &broken, &[1, 2, 3]].concat();
        let mut rewriter = Rewriter::default();
        let written = rewriter.rewrite(&compound, |sequence, at| {
            at.without(if sequence == 8 { Duration::from_millis(10) } else { Duration::ZERO })
        });
        assert_eq!(written[..8], REPORT);
        assert_eq!(arrivals(&written[8..]), [100, 160]);
        assert!(written.ends_with(&[&broken[..], &[1, 2, 3]].concat()));
        assert_eq!(Rewriter::default().rewrite(&compound, |_, at| at), compound);
    }

    #[test]
    fn arrivals_keep_their_order_within_and_between_feedback() {
        let mut rewriter = Rewriter::default();
        let late = |of| {
            move |sequence, at: Tick| {
                at.without(if sequence == of { Duration::from_millis(25) } else { Duration::ZERO })
            }
        };
        // The packet 2 overtook the packet 1.
        let written = rewriter.rewrite(&feedback(0, &[100, 160, 150, 170]).emit(), late(1));
        assert_eq!(arrivals(&written), [100, 150, 150, 170]);
        let written = rewriter.rewrite(&feedback(4, &[180, 200]).emit(), late(4));
        assert_eq!(arrivals(&written), [170, 200]);
    }

    proptest! {
        #[test]
        fn no_bytes_are_lost_or_end_in_a_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            with_header: bool,
        ) {
            let mut bytes = bytes;
            if with_header && bytes.len() > 24 {
                bytes[..4].copy_from_slice(&[0x8F, 205, 0, 5]);
            }
            let same = Rewriter::default().rewrite(&bytes, |_, at| at);
            prop_assert!(packets(&same).count() == packets(&bytes).count());
            Rewriter::default().rewrite(&bytes, |sequence, at| {
                at.without(Duration::from_millis(u64::from(sequence)))
            });
        }
    }
}
