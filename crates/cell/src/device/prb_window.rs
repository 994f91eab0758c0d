//! A device's recent part of a carrier's downlink, compared with the resource blocks that others
//! left to it.

use core::time::Duration;

use sounding_units::HostInstant;

/// Pieces of the window, each forgotten at once.
const PIECES: u64 = 10;

/// Resource blocks of the last span of time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PrbWindow([Piece; PIECES as usize]);

#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    number: u64,
    prbs: Prbs,
}

/// Resource blocks in slots: of NR they are as much in any numerology, the wider the shorter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Prbs {
    /// That the device had.
    pub(super) own: u64,
    /// That no device else had.
    pub(super) left: u64,
}

impl Prbs {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { own: self.own + other.own, left: self.left + other.left }
    }
}

impl PrbWindow {
    /// Adds those of a slot to a window of length `over`.
    pub(super) fn handle_slot(&mut self, now: HostInstant, over: Duration, slot: Prbs) {
        let number = piece(now, over);
        let piece = &mut self.0[(number % PIECES) as usize];
        if piece.number != number {
            *piece = Piece { number, prbs: Prbs::default() };
        }
        piece.prbs = piece.prbs.plus(slot);
    }

    /// The resource blocks of the last span.
    pub(super) fn sum(&self, now: HostInstant, over: Duration) -> Prbs {
        let newest = piece(now, over);
        let recent = self.0.iter().filter(|piece| newest - piece.number.min(newest) < PIECES);
        recent.fold(Prbs::default(), |sum, piece| sum.plus(piece.prbs))
    }
}

fn piece(now: HostInstant, over: Duration) -> u64 {
    let length = (over.as_nanos() as u64 / PIECES).max(1);
    now.as_nanos() / length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_older_than_the_window_does_not_count() {
        let over = Duration::from_millis(100);
        let at = |ms: u64| HostInstant::from_nanos(ms * 1_000_000);
        let mut window = PrbWindow::default();
        for ms in 0..1_000 {
            window.handle_slot(at(ms), over, Prbs { own: ms / 500, left: 2 });
        }
        assert_eq!(window.sum(at(999), over), Prbs { own: 100, left: 200 });
        assert_eq!(window.sum(at(1_040), over), Prbs { own: 50, left: 100 });
        assert_eq!(window.sum(at(1_200), over), Prbs::default());
    }
}
