//! The same of a call to the device. Both ends are unmodified: a program in the device's kernel
//! corrects when packets came.

use sounding_experiment::plan::Run;
use sounding_testbed::call::call_down;

use super::{Calls, FILES, MediaFlags};
use crate::experiment::{Card, Experiment, Host, Needs, Outcome};
use crate::paper::PaperItem;

/// A video call of libwebrtc to a phone, whose kernel says when packets came without what the radio
/// added lately
///
/// Both ends are libwebrtc from npm. In each scene the receiver reads the kernel's times of arrival
/// (stock), and times that a program in the kernel has corrected by the modem's records so far
/// (corrected). In some scenes the cell's rate falls below the video's. Node and npm must be
/// installed.
#[derive(clap::Args)]
pub(crate) struct DownlinkFlags {
    #[command(flatten)]
    media: MediaFlags,
}

/// The item.
pub(crate) struct DownlinkItem;

const DOWN: PaperItem = FILES
    .called("gandalf/webrtc-downlink", "webrtc-downlink")
    .about("a video call to a phone, whose kernel corrects when packets came")
    .lasts("6 min");

impl Experiment for DownlinkItem {
    type Flags = DownlinkFlags;

    fn card(&self) -> Card {
        DOWN.card().needs(Needs::Root)
    }

    fn run(&self, flags: DownlinkFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let caller = flags.media.caller(host)?;
        let media = flags.media.media();
        let one = |run: &Run, way: usize| call_down(run, &caller, way == 1, &media);
        let (files, about, ways) = (DOWN, DOWN.about, &["stock", "corrected"]);
        // Below the video's rate, as 7 dB are in the uplink.
        let calls = Calls { files, about, direction: "down", after_db: 0.0, ways, call: &one };
        calls.make(flags.media, host)
    }
}
