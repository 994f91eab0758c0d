/// Folds events into one number, so that two runs can be compared without keeping either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Digest(u64);

impl Digest {
    /// Order counts: the same events in another order give another number.
    #[inline]
    pub(super) fn fold(&mut self, at: u64, what: u64) {
        // An odd multiplier makes each step a permutation: no earlier difference is ever lost.
        const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
        for word in [at, what] {
            self.0 = (self.0.rotate_left(29) ^ word).wrapping_mul(ODD);
        }
    }

    pub(super) fn value(self) -> u64 {
        self.0
    }
}
