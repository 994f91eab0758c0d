//! Bytes granted in the last span of modem time.

use core::time::Duration;

use sounding_units::{Bytes, ModemInstant};

use crate::recent::Recent;

/// Granted bytes by subframe.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    recent: Recent<Bytes>,
}

impl Window {
    pub(crate) fn new(span: Duration) -> Self {
        Self { recent: Recent::new(span.saturating_mul(2)) }
    }

    /// Rates over `span` are needed too.
    pub(crate) fn reach_back(&mut self, span: Duration) {
        self.recent.keep_for(span.saturating_mul(2));
    }

    pub(crate) fn newest(&self) -> Option<ModemInstant> {
        self.recent.newest()
    }

    pub(crate) fn push(&mut self, at: ModemInstant, size: Bytes) {
        self.recent.push(at, size);
    }

    /// Grants up to `at` no longer count.
    pub(crate) fn forget_until(&mut self, at: ModemInstant) {
        self.recent.forget_until(at);
    }

    /// The grants in `span` that ends at `end`, `end` included.
    pub(crate) fn granted(&self, end: ModemInstant, span: Duration) -> Bytes {
        self.recent.within(end, span).copied().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> ModemInstant {
        ModemInstant::from_nanos(ms * 1_000_000)
    }

    fn filled(times: &[u64]) -> Window {
        let mut window = Window::new(SPAN);
        for &t in times {
            window.push(ms(t), Bytes::new(10));
        }
        window
    }

    const SPAN: Duration = Duration::from_millis(100);

    #[test]
    fn only_the_last_span_counts() {
        let window = filled(&[1000, 1050, 1100, 1150]);
        assert_eq!(window.granted(ms(1150), SPAN), Bytes::new(20));
        assert_eq!(window.granted(ms(1100), SPAN), Bytes::new(20));
        assert_eq!(window.granted(ms(1149), SPAN), Bytes::new(20));
        assert_eq!(window.granted(ms(1150), SPAN / 4), Bytes::new(10));
        assert_eq!(window.granted(ms(2000), SPAN), Bytes::ZERO);
    }

    #[test]
    fn forgotten_grants_do_not_count() {
        let mut window = filled(&[1000, 1050, 1100]);
        window.forget_until(ms(1050));
        assert_eq!(window.granted(ms(1100), SPAN), Bytes::new(10));
    }
}
