use core::time::Duration;

use sounding_estimate::Source;

/// What a controller asks of those who read the modem for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Needs {
    /// How far back its rate should look. `None` for an estimator's default, the 100 ms of
    /// BISCAY's paper.
    pub span: Option<Duration>,
    /// The method of estimation that it is made for. `None` for an estimator's default, granted
    /// bytes.
    pub method: Option<Source>,
    /// How often a device reports to it. `None` for as often as the device has an estimate.
    pub every: Option<Duration>,
    /// Whether it uses the delays that the radio made, and no estimate.
    pub delays: bool,
    /// Whether it runs at the far end of a downlink, and uses what the receiving device reports.
    pub remote: bool,
    /// Whether it is a law of its own without all this too, and not another controller.
    pub optional: bool,
}

impl Needs {
    /// Estimates as an estimator makes them by itself.
    pub const ESTIMATES: Self = Self {
        span: None,
        method: None,
        every: None,
        delays: false,
        remote: false,
        optional: false,
    };
    /// The delays that the radio made.
    pub const DELAYS: Self = Self { delays: true, ..Self::ESTIMATES };

    /// The same with rates over this span.
    #[must_use]
    pub const fn over(self, span: Duration) -> Self {
        Self { span: Some(span), ..self }
    }

    /// The same with rates by this method, which a receiving device reports.
    #[must_use]
    pub const fn reported(self, method: Source) -> Self {
        Self { method: Some(method), remote: true, ..self }
    }

    /// The same of a controller that has a law without them too.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    /// The same with reports at this interval.
    #[must_use]
    pub const fn every(self, interval: Duration) -> Self {
        Self { every: Some(interval), ..self }
    }

    /// The needs of several that share one modem. Where those that use estimates differ, it is an
    /// estimator's default.
    pub fn of_all(all: impl IntoIterator<Item = Self>) -> Self {
        let mut shared: Option<Self> = None;
        let (mut delays, mut remote, mut any) = (false, true, false);
        for one in all {
            any = true;
            delays |= one.delays;
            remote &= one.remote;
            if one.delays {
                continue;
            }
            shared = Some(shared.map_or(one, |before| Self {
                span: before.span.filter(|_| before.span == one.span),
                method: before.method.filter(|_| before.method == one.method),
                every: before.every.filter(|_| before.every == one.every),
                ..before
            }));
        }
        Self { delays, remote: remote && any, ..shared.unwrap_or_default() }
    }
}
