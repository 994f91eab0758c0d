//! Equation 1 on real captures: the size that the tables give for resource blocks, modulation and
//! code rate is the size that the modem reports.

use sounding_diag::capture::{Capture, Located};
use sounding_diag::packet::Packet;
use sounding_kpi::{Direction, Kpi, Layer};

/// First transmissions on PUSCH, and how many of them the formula gives exactly.
fn exact_sizes(file: &str) -> Option<(usize, usize)> {
    let path = sounding_testdata::shared(&format!("captures/lgs96__mobileinsight_core/{file}"))?;
    let bytes = std::fs::read(path).expect("readable");
    let mut capture = Capture::new(&bytes).expect("a capture");
    let (mut all, mut exact) = (0, 0);
    while let Some(packet) = capture.poll_packet() {
        let Ok(Located { packet: Packet::Log(record), .. }) = packet else { continue };
        let read = sounding_kpi::extract(&record, |kpi| {
            if let Kpi::Grant(grant) = kpi
                && (grant.direction, grant.layer) == (Direction::Uplink, Layer::Phy)
                && !grant.retransmission
            {
                all += 1;
                let formula = grant.allocation.and_then(|allocation| allocation.size());
                exact += usize::from(formula == Some(grant.size));
            }
        });
        read.expect("every KPI record of these captures is described");
    }
    Some((all, exact))
}

/// Channel quality reports take channel bits from the block, so that its code rate can point to the
/// row beside.
#[test]
fn the_tables_give_at_least_98_percent_of_uplink_block_sizes_exactly() {
    for file in [
        "diag_log_20211220_003916.mi2log",
        "diag_log_20211220_004448.mi2log",
        "diag_log_20211220_004729.mi2log",
        "diag_log_20211220_080503.mi2log",
        "diag_log_20211220_111534.mi2log",
    ] {
        let Some((all, exact)) = exact_sizes(file) else { continue };
        assert!(all > 100, "{file}: {all} transmissions");
        assert!(exact * 100 >= all * 98, "{file}: {exact} of {all}");
    }
}
