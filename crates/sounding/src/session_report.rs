//! The results of a session with a modem, as JSON for programs and as sentences for people.

use std::time::Duration;

use serde_json::{Value as Json, json};
use sounding_diag::LogCode;
use sounding_diag::session::{Beside, Event, Identity};
use sounding_link::LinkEstimate;
use sounding_units::{Bytes, Rate};

use crate::screen;
use crate::skipped::counted;

/// Reports a session's events on standard error. Standard output is for the modem's data.
pub(crate) fn tell(mut poll_event: impl FnMut() -> Option<Event>) {
    while let Some(event) = poll_event() {
        eprintln!("sounding: {}", sentence(&event));
    }
}

/// An estimate as a JSON object. Unknown values are null.
pub(crate) fn estimate(estimate: &LinkEstimate) -> Json {
    let fair = estimate.known_fair();
    json!({
        "direction": estimate.direction.to_string(),
        "rate_bits_per_sec": estimate.known_rate().map(Rate::bits_per_sec),
        "bound": estimate.known_bound().map(|bound| bound.to_string()),
        "state": estimate.known_state().map(|state| state.to_string()),
        "age_us": micros(Some(estimate.age)),
        "backlog_bytes": estimate.backlog.map(Bytes::count),
        "fair_share_bits_per_sec": fair.map(|fair| fair.rate.bits_per_sec()),
        "users": fair.map(|fair| fair.users),
        "carriers": fair.map(|fair| fair.carriers),
    })
}

/// A time in microseconds, or null.
pub(crate) fn micros(time: Option<Duration>) -> Json {
    time.and_then(|time| u64::try_from(time.as_micros()).ok()).into()
}

/// An event as a JSON object.
pub(crate) fn json(event: &Event) -> Json {
    match event {
        Event::Mute => json!({ "event": "no_answer" }),
        Event::Echoes => json!({ "event": "echoes" }),
        Event::Answers(Identity { compiled, build, protocol }) => json!({
            "event": "answers",
            "compiled": compiled,
            "build": build,
            "protocol": protocol,
        }),
        Event::Ready { codes, missing, kept, events, messages } => json!({
            "event": "logging",
            "codes": codes,
            "codes_missing": names(missing),
            "masks_kept": kept,
            "events_on": events,
            "messages_on": messages,
        }),
        Event::Unanswered(step) => json!({ "event": "unanswered", "request": step.to_string() }),
        Event::Refused { step, why } => json!({
            "event": "refused",
            "request": step.to_string(),
            "reason": why.to_string(),
        }),
        Event::OverBudget { bytes_per_sec, budget_bytes_per_sec, off, others_per_sec } => json!({
            "event": "over_budget",
            "bytes_per_sec": bytes_per_sec,
            "budget_bytes_per_sec": budget_bytes_per_sec,
            "codes_switched_off": names(off),
            "others_bytes_per_sec": others_per_sec,
        }),
        Event::Recalled => json!({ "event": "recalled" }),
        Event::Forgone { port } => json!({ "event": "forgone", "device": port }),
        Event::Unkept { why } => json!({ "event": "unkept", "reason": why }),
        Event::Restored => json!({ "event": "restored" }),
        Event::Stays { codes } => json!({ "event": "stays_on", "codes": names(codes) }),
        Event::Beside(Beside::Lacks { budget, unknown, kept }) => json!({
            "event": "lacks",
            "codes_over_budget": names(budget),
            "codes_missing": names(unknown),
            "codes_kept": names(kept),
        }),
        Event::Beside(Beside::Lost { records }) => json!({ "event": "lost", "records": records }),
        Event::Beside(Beside::Closed) => json!({ "event": "closed_beside" }),
        Event::Beside(Beside::Reopened) => json!({ "event": "reopened_beside" }),
    }
}

/// An event as a sentence of one line, even if it contains text of the modem.
pub(crate) fn sentence(event: &Event) -> String {
    screen::inline(&words(event)).into_owned()
}

fn words(event: &Event) -> String {
    match event {
        Event::Mute => {
            "no answer to requests: the port is read without changes, and its log mask left alone".into()
        }
        Event::Echoes => "this port sends requests back: it is a port for AT commands, not the modem's Diag; `sounding doctor` \
                          asks every port, and names the right one"
            .into(),
        Event::Answers(Identity { compiled, build, .. }) => format!(
            "a modem answers: {}, compiled {}",
            build.as_deref().unwrap_or("software unknown"),
            compiled.as_deref().unwrap_or("at a time unknown")
        ),
        Event::Ready { codes, missing, kept, events, messages } => {
            let mut text = match codes {
                0 if !kept.is_empty() => "no log mask is set".to_owned(),
                _ => format!("the modem logs {codes} kinds of records for this"),
            };
            if !missing.is_empty() {
                text += &format!(", and does not know {}", names(missing).join(", "));
            }
            if !kept.is_empty() {
                let kept: Vec<_> = kept.iter().map(ToString::to_string).collect();
                text += &format!(
                    "; it does not tell the log mask of equipment {}, which is left unchanged: the records that come are read, as with \
                     --no-mask; --set-untold-mask sets a mask, which then stays",
                    kept.join(", ")
                );
            }
            if events + messages > 0 {
                text += &format!(
                    "; {events} events and messages of {messages} subsystems are on besides, which is left as it was"
                );
            }
            text
        }
        Event::Unanswered(step) => format!("the modem does not answer {step}"),
        Event::Refused { step, why } => format!("the modem refuses {step}: {why}"),
        Event::OverBudget { bytes_per_sec, budget_bytes_per_sec, off, others_per_sec } => {
            let came = rate(*bytes_per_sec);
            let budget = rate(*budget_bytes_per_sec);
            if off.is_empty() {
                let others = rate(*others_per_sec);
                format!(
                    "{came} come from the modem, {budget} are allowed; {others} of it are messages, events and answers, \
                     which this does not switch: end the program that switched them on, or raise --budget"
                )
            } else {
                format!(
                    "{came} came from the modem, {budget} are allowed: switched off {}",
                    names(off).join(", ")
                )
            }
        }
        Event::Recalled => {
            "the modem still has the log mask of a program that was killed: what that one had found goes back at the end"
                .into()
        }
        Event::Forgone { port } => format!(
            "{port} is gone, and with it the way to give its modem the log mask back that an earlier program found and left \
             changed; a modem that restarts forgets it anyway"
        ),
        Event::Unkept { why } => format!(
            "the log mask found cannot be kept for the next start ({why}): if this program is killed, the modem keeps the mask \
             that it gets now"
        ),
        Event::Restored => "the modem's log mask is as it was".into(),
        Event::Stays { codes } => format!(
            "the modem did not tell its log mask, so it cannot be restored: {} on, of these codes: {}",
            counted(codes.len() as u64, "kind of records stays", "kinds of records stay"),
            names(codes).join(", ")
        ),
        Event::Beside(news) => beside(news),
    }
}

/// What the daemon that holds the port says to this reader.
fn beside(news: &Beside) -> String {
    match news {
        Beside::Lacks { budget, unknown, kept } => {
            let clause = |codes: &[LogCode], why: &str| {
                (!codes.is_empty()).then(|| format!("{why}: {}", names(codes).join(", ")))
            };
            let clauses = [
                clause(budget, "over the daemon's budget"),
                clause(unknown, "unknown to the modem"),
                clause(
                    kept,
                    "only if they are on already, because the daemon does not set their log mask",
                ),
            ];
            let clauses: Vec<String> = clauses.into_iter().flatten().collect();
            match clauses.is_empty() {
                true => "the modem logs everything that this needs".into(),
                false => format!("some records do not come: {}", clauses.join("; ")),
            }
        }
        Beside::Lost { .. } => {
            "this reader is too slow, and the daemon drops records for it: the end says how many"
                .into()
        }
        Beside::Closed => "the port closed, and the daemon waits for it".into(),
        Beside::Reopened => "the port is back".into(),
    }
}

fn rate(bytes_per_sec: u64) -> Rate {
    Rate::from_bits_per_sec(bytes_per_sec.saturating_mul(8))
}

pub(crate) fn names(codes: &[LogCode]) -> Vec<String> {
    codes.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use sounding_kpi::Direction;
    use sounding_link::{Config, Estimator, FairShare, State};
    use sounding_units::HostInstant;

    use super::*;

    #[test]
    fn an_estimate_has_no_age_before_the_first_record() {
        let estimator = Estimator::new(Config::new(Direction::Uplink));
        let none = estimator.estimate(HostInstant::default());
        assert!(estimate(&none)["age_us"].is_null());
        let some = none.with_age(Duration::from_millis(5));
        assert_eq!(estimate(&some)["age_us"], 5000);
    }

    #[test]
    fn an_estimate_has_its_fair_share_or_null() {
        let estimator = Estimator::new(Config::new(Direction::Downlink));
        let none = estimator.estimate(HostInstant::default()).with_state(State::Active);
        let names = ["fair_share_bits_per_sec", "users", "carriers"];
        assert!(names.iter().all(|name| estimate(&none)[name].is_null()));
        let rate = Rate::from_bits_per_sec(9_000_000);
        let some = none.with_fair(Some(FairShare::new(rate, 4, 2)));
        let told = estimate(&some);
        assert_eq!(names.map(|name| told[name].as_u64()), [Some(9_000_000), Some(4), Some(2)]);
    }
}
