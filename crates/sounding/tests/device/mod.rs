//! A device whose own stack reports what a test says of its link.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sounding_bpf::{Bound, Downlink, DownlinkConfig, Feed, OwnCgroup, Signal};
use sounding_emu::{Direction, Emulation};
use sounding_host::monotonic_now;
use sounding_link::{LinkEstimate, Source};
use sounding_units::{HostInstant, Rate};

/// Until it is stopped.
pub(crate) struct Device {
    downlink: Downlink,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Device {
    /// The device at the near end. `publish` is called every 5 ms.
    pub(crate) fn start(
        emulation: &Emulation,
        own: &OwnCgroup,
        exid: u16,
        publish: impl Fn(&Feed, HostInstant) + Send + 'static,
    ) -> Self {
        let config = DownlinkConfig {
            cgroup: Some(own.path().into()),
            signal: Signal::Option,
            exid,
            ..DownlinkConfig::default()
        };
        let downlink = emulation.near().enter(|| Downlink::load(&config)).expect("it is there");
        let downlink = downlink.unwrap_or_else(|error| panic!("{error}"));
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, feed) = (Arc::clone(&stop), downlink.feed().clone());
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                publish(&feed, monotonic_now());
                thread::sleep(Duration::from_millis(5));
            }
        });
        Self { downlink, stop, thread }
    }

    pub(crate) fn stop(self, emulation: &Emulation) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("it ends");
        // It puts sockets back of the namespace it is dropped in.
        emulation.near().enter(|| drop(self.downlink)).expect("it is there");
    }
}

/// The downlink of a device that receives, read by its cells.
pub(crate) fn downlink(rate: Rate) -> LinkEstimate {
    LinkEstimate::new(Direction::Downlink, rate, Bound::Capacity).with_source(Source::Cell)
}
