//! Bytes granted in the last stretch of modem time.

use core::time::Duration;

use sounding_units::{Bytes, ModemInstant};

use crate::recent::Recent;

/// Granted bytes by subframe.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    span: Duration,
    recent: Recent<Granted>,
}

/// What was granted within a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Granted {
    pub(crate) size: Bytes,
    pub(crate) padding: Bytes,
}

impl Window {
    pub(crate) fn new(span: Duration) -> Self {
        Self { span, recent: Recent::new(span.saturating_mul(2)) }
    }

    pub(crate) fn newest(&self) -> Option<ModemInstant> {
        self.recent.newest()
    }

    pub(crate) fn push(&mut self, at: ModemInstant, size: Bytes, padding: Bytes) {
        self.recent.push(at, Granted { size, padding });
    }

    /// What was granted in the span that ends at `end`, `end` included.
    pub(crate) fn granted(&self, end: ModemInstant) -> Granted {
        self.recent.within(end, self.span).fold(Granted::default(), |sum, entry| Granted {
            size: sum.size + entry.size,
            padding: sum.padding + entry.padding,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_padding_of_a_window_are_summed() {
        let mut window = Window::new(Duration::from_millis(100));
        let ms = |ms: u64| ModemInstant::from_nanos(ms * 1_000_000);
        for at in [1000, 1050, 1100, 1150] {
            window.push(ms(at), Bytes::new(10), Bytes::new(1));
        }
        let wanted = Granted { size: Bytes::new(20), padding: Bytes::new(2) };
        assert_eq!(window.granted(ms(1149)), wanted);
        assert_eq!(window.granted(ms(2000)), Granted::default());
    }
}
