/// The overhead of packets and blocks is counted in parts of a byte, so that a thousand packets are
/// wrong by less than one.
pub(super) const PARTS: i64 = 16;
/// What the headers of a packet take in blocks, and reports with it, before it is measured, in
/// bytes: PDCP, RLC and MAC (TS 36.321 §6.2, TS 38.321 §6.2). And the most that counts as such.
const USUAL: i64 = 8;
const MOST: i64 = 48;
/// Of so many stretches the newest count.
const MEMORY: f64 = 64.0;
/// Less than this part of the determinant's terms is what rounding leaves: all stretches have as
/// many packets a block.
const ALIKE: f64 = 1e-3;

/// What blocks carry beside packets: so much with each packet, and so much in each block, for its
/// own header, reports and status.
///
/// Known is only the sum, of each stretch from an empty buffer to the next. Stretches have more or
/// fewer packets a block, so that a line through them (least squares, the newest count most) says
/// both.
#[derive(Clone, Debug, Default)]
pub(super) struct Overhead {
    known: Option<(i64, i64)>,
    /// Sums of packets squared, packets by blocks, blocks squared, packets by bytes and blocks by
    /// bytes; each by packets.
    sums: [f64; 5],
}

impl Overhead {
    /// With a packet, in 16ths of a byte.
    pub(super) fn of_packet(&self) -> i64 {
        self.known.map_or(USUAL * PARTS, |(packet, _)| packet)
    }

    /// In a block, in 16ths of a byte.
    pub(super) fn of_block(&self) -> i64 {
        self.known.map_or(0, |(_, block)| block)
    }

    /// A stretch had so many packets and blocks, and so many bytes beside the packets.
    pub(super) fn learn(&mut self, packets: i64, blocks: i64, bytes: i64) {
        if packets == 0 || !(0..=MOST * packets).contains(&bytes) {
            return;
        }
        let [of, blocks, bytes] = [packets, blocks, bytes].map(|count| count as f64);
        let products = [of * of, of * blocks, blocks * blocks, of * bytes, blocks * bytes];
        for (sum, product) in self.sums.iter_mut().zip(products) {
            *sum += product / of - *sum / MEMORY;
        }
        let [pp, pb, bb, po, bo] = self.sums;
        let determinant = pp * bb - pb * pb;
        let alone = (po / pp, 0.0);
        let (packet, block) = if determinant > ALIKE * pp * bb {
            match ((po * bb - bo * pb) / determinant, (pp * bo - pb * po) / determinant) {
                (packet, _) if packet < 0.0 => (0.0, bo / bb),
                (_, block) if block < 0.0 => alone,
                both => both,
            }
        } else {
            alone
        };
        let parts = |bytes: f64| (bytes * PARTS as f64 + 0.5) as i64;
        self.known = Some((parts(packet), parts(block)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_that_differ_show_what_packets_and_what_blocks_take() {
        let mut overhead = Overhead::default();
        assert_eq!((overhead.of_packet(), overhead.of_block()), (8 * PARTS, 0));
        // Six with a packet, seven in a block.
        for (packets, blocks) in [(3, 2), (40, 5), (12, 3), (64, 4), (1, 1)] {
            overhead.learn(packets, blocks, 6 * packets + 7 * blocks);
        }
        assert_eq!((overhead.of_packet(), overhead.of_block()), (6 * PARTS, 7 * PARTS));
    }

    #[test]
    fn what_stretches_do_not_show_is_with_the_packets() {
        let mut overhead = Overhead::default();
        (0..9).for_each(|_| overhead.learn(10, 2, 80));
        assert_eq!((overhead.of_packet(), overhead.of_block()), (8 * PARTS, 0));
        // Data that the host did not hand over is no header.
        overhead.learn(10, 2, 4_800);
        overhead.learn(0, 2, 14);
        assert_eq!((overhead.of_packet(), overhead.of_block()), (8 * PARTS, 0));
    }

    #[test]
    fn nothing_is_less_than_no_header() {
        let mut overhead = Overhead::default();
        for (packets, bytes) in [(1, 40), (100, 100), (2, 60), (50, 60)] {
            overhead.learn(packets, packets, bytes);
            overhead.learn(packets, 1, bytes);
            assert!(overhead.of_packet() >= 0 && overhead.of_block() >= 0, "{overhead:?}");
        }
    }
}
