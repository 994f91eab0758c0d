//! Which methods work with the records that a modem sent.

use serde::Serialize;
use sounding_diag::LogCode;
use sounding_kpi::{Direction, channel_codes, grant_codes, rlc_codes};
use sounding_link::Method;

use super::listen::{Heard, Quantity, codes, named};
use super::{Check, More};
use crate::kinds::Kind;
use crate::session_report::names;
use crate::skipped::counted;

/// A method with a modem's records, for programs.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MethodCheck {
    /// The value for `--device`.
    device: String,
    /// Not known if its records did not come.
    works: Option<bool>,
    /// The records that it goes by, with their versions.
    by: Vec<String>,
}

impl MethodCheck {
    /// Whether nothing is known about it.
    pub(super) fn is_unknown(&self) -> bool {
        self.works.is_none()
    }
}

/// What the records of one network, LTE or NR, are good for.
enum Verdict {
    Works(Vec<String>),
    /// Records came, and no version of them is read.
    Unreadable(Vec<String>),
    /// No record came that has it.
    Absent(&'static str),
}

const LTE: usize = 0;
const NR: usize = 1;

const DESCRIBE: &str = "`sounding decode --coverage` lists the versions that are read; `sounding record PORT drive.qmdl` keeps such \
                        records, with which this one can be described (CONTRIBUTING.md, \"Adding a log version\")";

const UNTOLD: &str = "if the modem refuses to tell its mask, `sounding record --set-untold-mask` sets one, which then stays";

const TRAFFIC: &str = "send and receive something meanwhile, as `ping -i 0.1 HOST` or a download; if nothing comes then either, the \
                       modem does not log it";

/// Checks for each kind of record, then for each method, then for NR.
pub(super) fn checks(device: &str, heard: &Heard) -> Vec<Check> {
    let mut checks: Vec<Check> = heard.kinds.iter().map(|(key, kind)| record(key, kind)).collect();
    if !heard.is_set {
        let found = Err("none was set: only records that were on already could come".into());
        checks.push(super::check("records", "log mask", found, UNTOLD));
    }
    checks.extend(absent(heard));
    for direction in [Direction::Uplink, Direction::Downlink] {
        for method in Method::ALL {
            // No device reports the channel that it sends on.
            if method != Method::Cqi || direction == Direction::Downlink {
                let needs = needs(method, direction);
                checks.push(judged(device, heard, &format!("{direction} {method}"), &needs));
            }
        }
    }
    checks.push(judged(device, heard, "uplink delays", &[Quantity::Repeats]));
    checks.push(judged(device, heard, "RLC delays", &[Quantity::Pdus]));
    checks.push(nr(device, heard));
    checks
}

fn record((code, version): &(LogCode, Option<u32>), kind: &Kind) -> Check {
    let counts = &kind.counts;
    let all = counts.read() + counts.unknown() + counts.corrupt;
    let came = counted(all, "record", "records");
    let name = code.name().map(|name| format!(", {name}")).unwrap_or_default();
    let (ok, detail) = match counts.read() {
        0 => (false, format!("not readable: {came}{name}{}", kind.without())),
        read if read == all && counts.partly == 0 => (true, format!("readable: {came}{name}")),
        read if read == all => (true, format!("readable in part: {came}{name}{}", kind.without())),
        read => (true, format!("readable: {read} of {came}{name}{}", kind.without())),
    };
    Check {
        area: "records",
        name: named(*code, *version),
        ok,
        detail,
        cure: if ok { String::new() } else { DESCRIBE.into() },
        more: Some(More::Record { record: kind.json(*code, *version) }),
    }
}

/// The records that were asked for and did not come, in one line.
fn absent(heard: &Heard) -> Vec<Check> {
    let line = |name: &str, codes: &[LogCode], why: &str| Check {
        area: "records",
        name: name.into(),
        ok: true,
        detail: format!("{}: {why}", names(codes).join(", ")),
        cure: String::new(),
        more: None,
    };
    let silent: Vec<LogCode> = codes()
        .into_iter()
        .filter(|code| heard.came(*code).is_none())
        .filter(|code| !heard.unknown.contains(code) && !heard.switched_off.contains(code))
        .collect();
    let lists = [
        ("not sent", &silent, "none of these came"),
        ("not known", &heard.unknown, "the modem does not know these"),
        ("switched off", &heard.switched_off, "the modem sent more than 4 Mbit/s"),
    ];
    lists
        .into_iter()
        .filter(|(_, codes, _)| !codes.is_empty())
        .map(|(name, codes, why)| line(name, codes, why))
        .collect()
}

/// The quantities that a method is made of.
fn needs(method: Method, direction: Direction) -> Vec<Quantity> {
    match method {
        Method::Grants => vec![Quantity::Grants(direction)],
        Method::Formula | Method::Cell | Method::Prb | Method::Mcs => {
            vec![Quantity::Blocks(direction)]
        }
        Method::Cqi => vec![Quantity::Grants(direction), Quantity::Channel],
        Method::Rsrp => vec![Quantity::Grants(direction), Quantity::Signal],
    }
}

/// The records of one network that may have a quantity, and what it is called.
fn sources(quantity: Quantity, network: usize) -> (Vec<LogCode>, &'static str) {
    let of_network = |codes: &[LogCode]| -> Vec<LogCode> {
        codes.iter().copied().filter(|code| code.is_nr() == (network == NR)).collect()
    };
    match quantity {
        Quantity::Grants(direction) => {
            (grant_codes(direction)[network].to_vec(), "lists what was granted")
        }
        Quantity::Blocks(direction) => {
            (grant_codes(direction)[network].to_vec(), "has the granted resource blocks")
        }
        // MAC's records do not mark repeats.
        Quantity::Repeats => {
            let codes = grant_codes(Direction::Uplink)[network];
            let marking = if network == LTE { &codes[..1] } else { codes };
            (marking.to_vec(), "marks repeats")
        }
        Quantity::Channel => (of_network(&channel_codes()[..3]), "reports a CQI"),
        Quantity::Signal => (of_network(&channel_codes()[3..]), "reports an RSRP"),
        Quantity::Pdus => (of_network(rlc_codes()), "has PDUs of RLC"),
    }
}

fn verdict(heard: &Heard, needs: &[Quantity], network: usize) -> Verdict {
    let mut by = Vec::new();
    for &quantity in needs {
        let (codes, about) = sources(quantity, network);
        let came = |code: &LogCode| heard.came(*code);
        let has: Vec<String> = codes
            .iter()
            .filter(|code| heard.has(**code, quantity))
            .filter_map(came)
            .map(|(name, _)| name)
            .collect();
        if has.is_empty() {
            let came: Vec<(String, bool)> = codes.iter().filter_map(came).collect();
            // A record that is read may have been idle.
            return match came.is_empty() || came.iter().any(|(_, is_read)| *is_read) {
                true => Verdict::Absent(about),
                false => Verdict::Unreadable(came.into_iter().map(|(name, _)| name).collect()),
            };
        }
        by.extend(has.into_iter().filter(|name| !by.contains(name)).collect::<Vec<_>>());
    }
    Verdict::Works(by)
}

fn judged(device: &str, heard: &Heard, name: &str, needs: &[Quantity]) -> Check {
    let verdicts = [LTE, NR].map(|network| verdict(heard, needs, network));
    let mut by: Vec<String> = Vec::new();
    let mut is_unread = false;
    let words = verdicts.iter().zip(["LTE", "NR"]).map(|(verdict, network)| match verdict {
        Verdict::Works(records) => {
            by.extend(records.clone());
            format!("{network} by {}", records.join(", "))
        }
        Verdict::Unreadable(records) => {
            is_unread = true;
            format!("{network} comes as {}, which is not readable", records.join(", "))
        }
        Verdict::Absent(about) => format!("no record of {network} came that {about}"),
    });
    let words = words.collect::<Vec<_>>().join("; ");
    let works = if !by.is_empty() { Some(true) } else { is_unread.then_some(false) };
    let (word, cure) = match works {
        Some(true) => ("works", ""),
        Some(false) => ("does not work", DESCRIBE),
        None => ("not known", TRAFFIC),
    };
    Check {
        area: "methods",
        name: name.into(),
        ok: works == Some(true),
        detail: format!("{word}: {words}"),
        cure: cure.into(),
        more: Some(More::Method(MethodCheck { device: device.into(), works, by })),
    }
}

/// A line about NR, whatever the methods say.
fn nr(device: &str, heard: &Heard) -> Check {
    let codes = codes().into_iter().filter(|code| code.is_nr());
    let (mut read, mut unread) = (Vec::new(), Vec::new());
    for (name, is_read) in codes.filter_map(|code| heard.came(code)) {
        if is_read { read.push(name) } else { unread.push(name) }
    }
    let grants = [Direction::Uplink, Direction::Downlink].iter().any(|way| {
        grant_codes(*way)[NR].iter().any(|code| heard.has(*code, Quantity::Grants(*way)))
    });
    let (works, detail, cure) = match (grants, unread.is_empty(), read.is_empty()) {
        (true, true, _) => (Some(true), format!("grants of NR are read: {}", read.join(", ")), ""),
        (true, false, _) => (
            Some(true),
            format!(
                "grants of NR are read ({}), but these records are not: {}",
                read.join(", "),
                unread.join(", ")
            ),
            "",
        ),
        (false, false, _) => (
            Some(false),
            format!(
                "records of NR come in versions that are not readable ({}): a rate here is LTE's alone, and too low while NR carries data",
                unread.join(", ")
            ),
            DESCRIBE,
        ),
        (false, true, false) => {
            (None, format!("records of NR came without a grant: {}", read.join(", ")), TRAFFIC)
        }
        (false, true, true) => (
            None,
            "no record of NR came: the modem was on LTE alone, or does not log NR".into(),
            "repeat it where the device shows 5G, with traffic",
        ),
    };
    let by = if grants { read } else { Vec::new() };
    Check {
        area: "methods",
        name: "NR".into(),
        ok: works == Some(true),
        detail,
        cure: cure.into(),
        more: Some(More::Method(MethodCheck { device: device.into(), works, by })),
    }
}
