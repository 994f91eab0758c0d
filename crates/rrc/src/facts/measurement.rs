//! The measurements that a device reports, in the usual units.

use alloc::vec::Vec;

use serde::Serialize;

use crate::Value;

/// A report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// The identifier of the measurement that the network asked for.
    pub id: u8,
    /// The cells, those that serve first.
    pub cells: Vec<MeasuredCell>,
}

/// A cell in a report. Levels are the lower ends of their steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeasuredCell {
    /// The radio access technology of the cell.
    pub rat: Rat,
    /// Whether it serves the device.
    pub serving: bool,
    /// Physical cell identity; LTE leaves out that of the cell that serves.
    pub pci: Option<u16>,
    /// Reference signal received power, in dBm.
    pub rsrp_dbm: Option<f32>,
    /// Reference signal received quality, in dB.
    pub rsrq_db: Option<f32>,
    /// Signal to interference and noise, in dB.
    pub sinr_db: Option<f32>,
}

/// A kind of network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rat {
    /// E-UTRA.
    Lte,
    /// New Radio.
    Nr,
}

impl Measurement {
    /// `MeasResults` of TS 36.331 §6.3.5 and TS 38.331 §6.3.2.
    pub(super) fn of(value: &Value<'_>, nr: bool) -> Option<Self> {
        let id = value.get("measId")?.integer()? as u8;
        let mut cells = Vec::new();
        if nr {
            for serving in value.get("measResultServingMOList").map_or(&[][..], Value::items) {
                cells.extend(serving.get("measResultServingCell").map(|cell| nr_cell(cell, true)));
                let neighbour = serving.get("measResultBestNeighCell");
                cells.extend(neighbour.map(|cell| nr_cell(cell, false)));
            }
        } else if let Some(cell) = value.get("measResultPCell") {
            let sinr = value.at(&["measResultPCell-v1310", "rs-sinr-Result-r13"]);
            cells.push(MeasuredCell { sinr_db: sinr.and_then(sinr_db), ..lte_cell(cell, true) });
        }
        match value.get("measResultNeighCells").and_then(Value::chosen) {
            Some(("measResultListEUTRA", list)) => {
                let cell = |item| Some(lte_cell(item, false));
                cells.extend(list.items().iter().filter_map(cell));
            }
            Some(("measResultListNR", list)) => {
                cells.extend(list.items().iter().map(|item| nr_cell(item, false)));
            }
            Some(("measResultNeighCellListNR-r15", list)) => {
                cells.extend(list.items().iter().map(nr_neighbour_of_lte));
            }
            _ => {}
        }
        Some(Self { id, cells })
    }
}

fn lte_cell(value: &Value<'_>, serving: bool) -> MeasuredCell {
    // A neighbour has its levels one further in.
    let levels = value.get("measResult").unwrap_or(value);
    let either =
        |of: [&str; 2]| of.iter().find_map(|name| levels.get(name)).and_then(Value::integer);
    // TS 36.133 Tables 9.1.4-1 and 9.1.7-1: step 1 is −140 to −139 dBm, and −19.5 to −19 dB.
    let rsrp = either(["rsrpResult", "rsrp"]).map(|step| step as f32 - 141.0);
    let rsrq = either(["rsrqResult", "rsrq"]).map(|step| step as f32 / 2.0 - 20.0);
    let sinr = levels.get("rs-sinr-Result-r13").or(levels.get("sinr")).and_then(sinr_db);
    let pci = value.get("physCellId").or(value.get("eutra-PhysCellId"));
    MeasuredCell {
        rat: Rat::Lte,
        serving,
        pci: pci.and_then(Value::integer).map(|pci| pci as u16),
        rsrp_dbm: rsrp,
        rsrq_db: rsrq,
        sinr_db: sinr,
    }
}

fn nr_cell(value: &Value<'_>, serving: bool) -> MeasuredCell {
    let results = value.at(&["measResult", "cellResults"]);
    let levels = ["resultsSSB-Cell", "resultsCSI-RS-Cell"];
    let levels = results.and_then(|results| levels.iter().find_map(|name| results.get(name)));
    let level = |name: &str| levels?.get(name);
    MeasuredCell {
        rat: Rat::Nr,
        serving,
        pci: value.get("physCellId").and_then(Value::integer).map(|pci| pci as u16),
        rsrp_dbm: level("rsrp").and_then(nr_rsrp_dbm),
        rsrq_db: level("rsrq").and_then(nr_rsrq_db),
        sinr_db: level("sinr").and_then(sinr_db),
    }
}

fn nr_neighbour_of_lte(value: &Value<'_>) -> MeasuredCell {
    let level = |name: &str| value.get("measResultCell-r15")?.get(name);
    MeasuredCell {
        rat: Rat::Nr,
        serving: false,
        pci: value.get("pci-r15").and_then(Value::integer).map(|pci| pci as u16),
        rsrp_dbm: level("rsrpResult-r15").and_then(nr_rsrp_dbm),
        rsrq_db: level("rsrqResult-r15").and_then(nr_rsrq_db),
        sinr_db: level("rs-sinr-Result-r15").and_then(sinr_db),
    }
}

/// TS 38.133 Table 10.1.6.1-1: step 1 is −156 to −155 dBm.
fn nr_rsrp_dbm(value: &Value<'_>) -> Option<f32> {
    value.integer().map(|step| step as f32 - 157.0)
}

/// TS 38.133 Table 10.1.11.1-1: step 1 is −43 to −42.5 dB.
fn nr_rsrq_db(value: &Value<'_>) -> Option<f32> {
    value.integer().map(|step| step as f32 / 2.0 - 43.5)
}

/// TS 38.133 Table 10.1.16.1-1, and TS 36.133 Table 9.1.17.1-1: step 1 is −23 to −22.5 dB.
fn sinr_db(value: &Value<'_>) -> Option<f32> {
    value.integer().map(|step| step as f32 / 2.0 - 23.5)
}
