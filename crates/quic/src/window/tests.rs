//! What both adapters have of the window.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sounding_baselines::Maker;
use sounding_cc::{Ack, Controller, Loss, Start};
use sounding_units::{Bytes, HostInstant, Rate};

use super::*;
use crate::{EstimateHandle, Factory};

/// Wants nothing to leave for a while.
#[derive(Debug)]
struct Silent(HostInstant);

impl Controller for Silent {
    fn handle_ack(&mut self, _: &Ack) {}
    fn handle_loss(&mut self, _: &Loss) {}
    fn handle_timeout(&mut self, _: HostInstant) {}
    fn not_before(&self) -> Option<HostInstant> {
        Some(self.0)
    }
    fn cwnd(&self) -> Bytes {
        Bytes::new(50_000)
    }
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    fn state(&self) -> &'static str {
        "silent"
    }
}

/// A stack's adapter, which answers for its window.
type Adapted = Box<dyn Fn() -> u64>;

/// A silence closes the window of a stack and ends without an event. `more` is what the stack needs
/// above a window to fill it.
fn silence_ends(adapted: impl Fn(Factory, Instant) -> Adapted, more: u64) {
    const LASTS: Duration = Duration::from_millis(100);
    let make: Maker =
        Arc::new(|start: &Start| -> Box<dyn Controller> { Box::new(Silent(start.now + LASTS)) });
    let calls = Arc::new(Mutex::new(Vec::new()));
    let kept = calls.clone();
    let factory = Factory::making("silent", make, EstimateHandle::new());
    let waking = factory.clone().waking(Arc::new(move |span| kept.lock().unwrap().push(span)));
    let begin = Instant::now();
    let (trickles, closed) = (adapted(factory, begin), adapted(waking, begin));
    if begin.elapsed() < LASTS / 2 {
        assert_eq!((trickles(), closed()), (2400 + more, 1 + more));
    }
    assert_eq!(*calls.lock().unwrap(), [LASTS]);
    std::thread::sleep((begin + LASTS) - Instant::now());
    assert_eq!((trickles(), closed()), (50_000 + more, 50_000 + more));
}

#[cfg(feature = "quinn")]
#[test]
fn a_silence_closes_quinns_window_and_ends_without_an_event() {
    use quinn_proto::congestion::ControllerFactory;
    let adapted = |factory: Factory, now| -> Adapted {
        let controller = ControllerFactory::build(Arc::new(factory), now, 1200);
        Box::new(move || controller.window())
    };
    silence_ends(adapted, 1);
}

#[cfg(feature = "noq")]
#[test]
fn a_silence_closes_noqs_window_and_ends_without_an_event() {
    use noq_proto::congestion::ControllerFactory;
    let adapted = |factory: Factory, now| -> Adapted {
        let controller = ControllerFactory::build(Arc::new(factory), now, 1200);
        Box::new(move || controller.window())
    };
    silence_ends(adapted, 0);
}
