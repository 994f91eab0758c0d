//! Every grant that a real LTE and NR stack logged on its device's side, recomputed: the size from
//! the tables and the procedure is the size that was sent. Reports a skip where the logs are
//! absent.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};

use lzma_rust2::XzReader;
use sounding_phy::lte::{self, TbsIndex};
use sounding_phy::nr::{self, Dmrs, DmrsType, Overhead, TbScaling};
use sounding_units::Prb;

/// The value of a key, up to the next separator; braces around lists of one are left out.
fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(key)?;
    let rest = rest.trim_start_matches('{');
    let end = rest.find([' ', ',', '}']).unwrap_or(rest.len());
    Some(&rest[..end])
}

fn number(line: &str, key: &str) -> Option<u32> {
    let text = field(line, key)?;
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The first and the last of a run, in brackets.
fn pair(line: &str, key: &str) -> Option<(u32, u32)> {
    let (_, rest) = line.split_once(key)?;
    let (first, rest) = rest.split_once(',')?;
    let (second, _) = rest.split_once(')')?;
    Some((first.parse().ok()?, second.parse().ok()?))
}

/// The worker that wrote a line, and its TTI: a control message and what it grants stand under the
/// same.
fn slot(line: &str) -> Option<(&str, u32)> {
    let (_, rest) = line.split_once('[')?;
    let (worker, rest) = rest.split_once(']')?;
    let (_, rest) = rest.split_once("] [")?;
    let (tti, _) = rest.split_once(']')?;
    Some((worker.trim(), tti.trim().parse().ok()?))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Grants {
    lte_downlink: u32,
    lte_uplink: u32,
    nr_downlink: u32,
    nr_uplink: u32,
    /// First uplink messages, whose grant is in the random access response and not logged.
    unlogged: u32,
}

#[derive(Debug, Default)]
struct Log {
    /// I_MCS by direction (downlink: true) and worker, with the TTI of the message.
    messages: HashMap<(bool, String), (u32, u8)>,
    grants: Grants,
}

impl Log {
    fn handle_line(&mut self, line: &str) {
        let Some((worker, tti)) = slot(line) else { return };
        let nr = worker.ends_with("-NR");
        if !worker.starts_with("PHY") {
            return;
        }
        if line.contains(" PDCCH: ") {
            let downlink = line.contains("dci=1_0") || line.contains(" f=1");
            let i_mcs = number(line, "mcs=").expect("a scheme") as u8;
            self.messages.insert((downlink, worker.to_owned()), (tti, i_mcs));
        } else if line.contains(" PDSCH: ") || line.contains(" PUSCH: ") {
            let downlink = line.contains(" PDSCH: ");
            let message = self.messages.get(&(downlink, worker.to_owned()));
            let Some(i_mcs) = message.filter(|(at, _)| *at == tti).map(|(_, i_mcs)| *i_mcs) else {
                assert!(!downlink, "a downlink without a message: {line}");
                self.grants.unlogged += 1;
                return;
            };
            let bytes = number(line, "tbs=").expect("a size");
            let bits = match (nr, downlink) {
                (false, true) => self.lte_downlink(line, i_mcs),
                (false, false) => self.lte_uplink(line, i_mcs),
                (true, _) => self.nr(line, i_mcs, downlink),
            };
            assert_eq!(bits, Some(bytes * 8), "{line}");
        }
    }

    fn lte_downlink(&mut self, line: &str, i_mcs: u8) -> Option<u32> {
        self.grants.lte_downlink += 1;
        let rnti = number(line, " rnti=")?;
        // Identities up to 60 are of random access, the last of system information (TS 36.321 Table
        // 7.1-1).
        if rnti <= 60 || rnti == 0xFFFF {
            return lte::tbs_bits_broadcast(i_mcs, true);
        }
        let (_, index) = lte::mcs(lte::McsTable::Downlink, i_mcs)?;
        lte::tbs_bits(index, Prb::new(number(line, "nof_prb=")? as u16), 1)
    }

    fn lte_uplink(&mut self, line: &str, i_mcs: u8) -> Option<u32> {
        self.grants.lte_uplink += 1;
        let (first, last) = pair(line, "rb=(")?;
        let (_, index): (_, TbsIndex) = lte::mcs(lte::McsTable::Uplink, i_mcs)?;
        lte::tbs_bits(index, Prb::new((last - first + 1) as u16), 1)
    }

    fn nr(&mut self, line: &str, i_mcs: u8, downlink: bool) -> Option<u32> {
        if downlink {
            self.grants.nr_downlink += 1;
        } else {
            self.grants.nr_uplink += 1;
        }
        let (first_block, last_block) = pair(line, "prb=(")?;
        let (first, last) = pair(line, "symb=(")?;
        let dmrs = Dmrs { kind: DmrsType::One, symbols: 3, cdm_groups: 2 };
        let elements = nr::resource_elements(
            Prb::new((last_block - first_block + 1) as u16),
            (last - first + 1) as u8,
            dmrs.elements(),
            Overhead::Xoh0,
        );
        let scheme = nr::mcs(nr::McsTable::Qam64, i_mcs)?;
        nr::tbs_bits(elements, scheme, 1, TbScaling::One)
    }
}

fn grants(run: &str) -> Option<Grants> {
    let path = sounding_testdata::shared(&format!("srsran/{run}/ue.log.xz"))?;
    let file = std::fs::File::open(path).expect("readable");
    let mut reader = BufReader::with_capacity(1 << 20, XzReader::new(file, true));
    let (mut log, mut line) = (Log::default(), Vec::new());
    while reader.read_until(b'\n', &mut line).expect("a sound log") > 0 {
        // Hex dumps make up most of a log; a line of the physical layer has its name early.
        if let Ok(text) = str::from_utf8(&line)
            && text.get(27..).is_some_and(|text| text.starts_with("[PHY"))
        {
            log.handle_line(text);
        }
        line.clear();
    }
    Some(log.grants)
}

#[test]
fn every_grant_of_lte_has_the_size_of_the_tables() {
    for (run, wanted) in [
        (
            "log25",
            Grants { lte_downlink: 39_867, lte_uplink: 33_213, unlogged: 1, ..Grants::default() },
        ),
        (
            "fade25",
            Grants { lte_downlink: 35_585, lte_uplink: 29_238, unlogged: 1, ..Grants::default() },
        ),
    ] {
        if let Some(found) = grants(run) {
            assert_eq!(found, wanted, "{run}");
        }
    }
}

#[test]
fn every_grant_of_nr_has_the_size_of_the_procedure() {
    let wanted = Grants {
        lte_downlink: 20,
        lte_uplink: 10,
        nr_downlink: 10_093,
        nr_uplink: 4_658,
        unlogged: 2,
    };
    if let Some(found) = grants("nsa") {
        assert_eq!(found, wanted);
    }
}
