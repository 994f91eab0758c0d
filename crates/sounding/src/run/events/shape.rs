//! What becomes of shapers.

use serde_json::json;
use sounding_kpi::Direction;
use sounding_link::LinkEstimate;
use sounding_qdisc::Error;
use sounding_serve::{News, Shaped};
use sounding_shape::{Decision, Queue, Reason};
use sounding_units::{HostInstant, Rate};

use super::Events;
use crate::offload::{self, Bypass};
use crate::run::news;
use crate::{screen, session_report};

/// What happened to a shaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) enum ShapeNews {
    LeftAlone,
    Gone,
    Back,
    Failed,
}

impl Events {
    /// A shaper is taken or made. Without one, rates are only observed.
    pub(in crate::run) fn shaping(
        &mut self,
        direction: Direction,
        device: Option<&str>,
        shaper: Option<&str>,
        [min, base, max]: [Rate; 3],
    ) {
        let event = json!({
            "event": "shaping",
            "direction": direction.to_string(),
            "device": device,
            "shaper": shaper,
            "min_bits_per_sec": min.bits_per_sec(),
            "base_bits_per_sec": base.bits_per_sec(),
            "max_bits_per_sec": max.bits_per_sec(),
        });
        self.say(&event, || {
            let what = match (device, shaper) {
                (Some(device), Some(shaper)) => {
                    format!(
                        "{} follows the modem by {}",
                        screen::inline(device),
                        screen::inline(shaper)
                    )
                }
                _ => "rates are printed, and nothing is changed".into(),
            };
            Some(format!("{direction}: {what}, from {min} to {max}, and {base} without the modem"))
        });
    }

    /// A fast path leads past the shaper of a device. It is said once, for both directions.
    pub(in crate::run) fn bypass(&mut self, device: &str, bypass: &Bypass) {
        let Bypass { flowtable, why } = bypass;
        let (table, cure) = (flowtable.to_string(), offload::cure(flowtable));
        let devices = &flowtable.devices;
        let event = json!({
            "event": "bypass",
            "device": device,
            "flowtable": table,
            "devices": devices,
            "why": why,
            "cure": cure,
        });
        self.say_once(&event, || {
            let [device, table, cure] = [device, &table, &cure].map(screen::inline);
            Some(format!("{device}: packets skip its shaper by flowtable {table}: {why}; {cure}"))
        });
    }

    /// It is not known whether one does.
    pub(in crate::run) fn bypasses_unknown(&mut self, device: &str, error: &Error) {
        let why = error.to_string();
        let event = json!({ "event": "bypass", "device": device, "flowtable": null, "why": why });
        self.say_once(&event, || {
            let [device, why] = [device, &why].map(screen::inline);
            Some(format!("{device}: whether packets skip its shaper is not known: {why}"))
        });
    }

    /// A rate was decided. `tell` says that people read it too.
    pub(in crate::run) fn shaped(
        &mut self,
        at: HostInstant,
        direction: Direction,
        decision: Decision,
        estimate: &LinkEstimate,
        queue: Option<Queue>,
        tell: bool,
    ) {
        let Decision { rate, reason } = decision;
        let mut event = json!({
            "event": "shaped",
            "at_ns": at.as_nanos(),
            "direction": direction.to_string(),
            "rate_bits_per_sec": rate.bits_per_sec(),
            "reason": reason.to_string(),
            "estimate": session_report::estimate(estimate),
        });
        if let Some(queue) = queue {
            event["waiting_bytes"] = queue.waiting.count().into();
            event["waiting_packets"] = queue.packets.into();
        }
        news::tell(|| {
            News::Shaped(Shaped {
                modem: self.modem.clone().unwrap_or_else(|| "modem".into()),
                direction: if direction == Direction::Uplink { "uplink" } else { "downlink" },
                at,
                rate_bits_per_sec: rate.bits_per_sec(),
                reason: reason.to_string(),
                waiting_bytes: queue.map(|queue| queue.waiting.count()),
                sent_bytes: queue.map(|queue| queue.sent.count()),
            })
        });
        self.say(&event, || {
            tell.then(|| match reason {
                Reason::Base => format!("{direction}: {rate}, the base: the modem is not heard"),
                reason => format!("{direction}: {rate}, {}", because(reason)),
            })
        });
    }

    /// What the link carried is not read, or not kept for the next start.
    pub(in crate::run) fn base_not_kept(&mut self, direction: Direction, why: &str) {
        let direction = direction.to_string();
        let event = json!({ "event": "base_not_kept", "direction": direction, "reason": why });
        self.say(&event, || {
            let why = screen::inline(why);
            Some(format!("{direction}: {why}: --base gives a rate that is always used"))
        });
    }

    /// Something happened to a shaper.
    pub(in crate::run) fn shaper(
        &mut self,
        direction: Direction,
        device: &str,
        news: ShapeNews,
        why: &str,
    ) {
        let name = match news {
            ShapeNews::LeftAlone => "left_alone",
            ShapeNews::Gone => "gone",
            ShapeNews::Back => "back",
            ShapeNews::Failed => "failed",
        };
        let direction = direction.to_string();
        let event = json!({
            "event": "shaper",
            "direction": direction,
            "device": device,
            "what": name,
            "why": why,
        });
        self.say(&event, || {
            // A reason of the kernel's part begins with the device too.
            let why = why.strip_prefix(&format!("{device}: ")).unwrap_or(why);
            let (device, why) = (screen::inline(device), screen::inline(why));
            Some(match news {
                ShapeNews::LeftAlone => format!("{device}: {why}; it is left alone from now on"),
                ShapeNews::Gone => format!("{device}: {why}; looked for again"),
                ShapeNews::Back => format!("{device} is back, and shaped by {why}"),
                ShapeNews::Failed => format!("{device}: {why}"),
            })
        });
    }
}

/// A reason in words.
fn because(reason: Reason) -> &'static str {
    match reason {
        Reason::Capacity => "what the radio has",
        Reason::Probing => "more is tried: the radio took all, and data waits here",
        Reason::Demand => "held: the senders or another link are the limit",
        Reason::Backlog => "held: the modem holds enough data",
        Reason::Silence => "held: data waits, and the radio grants nothing",
        Reason::Handover => "held: the device changes its cell",
        Reason::Idle => "held: nothing is sent",
        _ => "no estimate",
    }
}
