//! Constants of the link abstraction: block error curves as the SINR at error rates of 50, 10 and 1
//! %, from published simulations, and for what those left out, curves moved from the nearest that
//! they have.

use std::collections::BTreeMap;

use crate::csv::{array, decimal, numbers, rate_2048, rows};

pub(crate) fn tables() -> String {
    let mut code = String::new();
    let nr = nr_curves();
    code += &array("NR", "[[([f32; 3], bool); 5]; 29]", &nr);
    let lte = lte_curves(&nr);
    code += &array("LTE", "[([f32; 3], u32, bool); 34]", &lte);
    let cqi =
        ["ts36213_7.2.3-1_cqi", "ts36213_7.2.3-2_cqi_256qam"].map(|cqi| lte_thresholds(&lte, cqi));
    code += &array("LTE_CQI", "[f32; 15]", &cqi);

    for (name, file) in
        [("CQI_AWGN", "link_ltesim_cqi_awgn_bler"), ("CQI_TU", "link_ltesim_cqi_tu_bler")]
    {
        let known: Vec<Known> = rows(file).iter().map(|row| known(&row[1..4])).collect();
        let efficiencies = vec![1.0; known.len()];
        let curves: Vec<Points> = filled(&known, &efficiencies).iter().map(|c| c.0).collect();
        code += &array(name, "[f32; 3]", &curves);
    }

    let beta: Vec<Vec<f32>> = rows("link_eesm_beta")
        .iter()
        .map(|row| row[1..].iter().map(|cell| cell.parse().unwrap_or(0.0)).collect())
        .collect();
    code += &array("EESM_BETA", "[f32; 2]", &beta);
    code += &mutual_information();

    // 1 / (1 + e^y) for y = 0, 1/32, ... 20.
    let sigmoid: Vec<f32> =
        (0..=640).map(|i| (1.0 / (1.0 + (f64::from(i) / 32.0).exp())) as f32).collect();
    code + &array("FALLING", "f32", &sigmoid)
}

/// SINR in dB at 50, 10 and 1 %.
type Points = [f32; 3];
/// The same; `None` is unknown.
type Known = [Option<f64>; 3];

fn known(cells: &[String]) -> Known {
    [0, 1, 2].map(|at| (!cells[at].is_empty()).then(|| decimal(&cells[at])))
}

/// SINR in dB at which the capacity of a channel with Gaussian inputs is this many bits per symbol.
fn capacity_db(efficiency: f64) -> f64 {
    10.0 * (efficiency.exp2() - 1.0).log10()
}

/// Completes the curves of one table, in order of their index, and says which are as they were
/// published.
///
/// A missing point keeps the distance to the points before it that the nearest whole curve has; a
/// missing curve keeps the distance to capacity of the nearest whole curve.
fn filled(curves: &[Known], efficiencies: &[f64]) -> Vec<(Points, bool)> {
    let whole = |at: &usize| curves[*at].iter().all(Option::is_some);
    (0..curves.len())
        .map(|at| {
            let near = (0..curves.len())
                .filter(whole)
                .min_by_key(|other| other.abs_diff(at))
                .expect("a whole curve");
            let point = |i: usize| curves[near][i].expect("it is whole");
            let moved = capacity_db(efficiencies[at]) - capacity_db(efficiencies[near]);
            let half = curves[at][0].unwrap_or(point(0) + moved);
            let tenth = curves[at][1].unwrap_or(half + point(1) - point(0));
            let hundredth = curves[at][2].unwrap_or(tenth + point(2) - point(1));
            ([half as f32, tenth as f32, hundredth as f32], near == at)
        })
        .collect()
}

/// Modulation order and code rate x 1024 become bits per symbol.
fn efficiency(row: &[String]) -> Option<f64> {
    let order = decimal(&row[1]);
    (!row[2].is_empty()).then(|| order * f64::from(rate_2048(&row[2])) / 2048.0)
}

const BLOCK_BITS: [&str; 5] = ["24", "100", "500", "1000", "2000"];

type NrCurves = Vec<[[(Points, bool); 5]; 29]>;

/// By MCS table, I_MCS and size of code block. Tables of 28 rows repeat their last.
fn nr_curves() -> NrCurves {
    let simulated = rows("link_sionna_nr_awgn_bler");
    [
        ("PDSCH_table1", "ts38214_5.1.3.1-1_mcs_64qam"),
        ("PDSCH_table2", "ts38214_5.1.3.1-2_mcs_256qam"),
        ("PDSCH_table3", "ts38214_5.1.3.1-3_mcs_64qam_lowse"),
        ("PDSCH_table4", "ts38214_5.1.3.1-4_mcs_1024qam"),
        ("PUSCH_table1", "ts38214_6.1.4.1-1_mcs_pusch_tp"),
        ("PUSCH_table2", "ts38214_6.1.4.1-2_mcs_pusch_tp_lowse"),
    ]
    .map(|(series, mcs)| {
        let efficiencies: Vec<f64> = rows(mcs).iter().filter_map(|row| efficiency(row)).collect();
        let by_size = BLOCK_BITS.map(|bits| {
            let mut curves = vec![[None; 3]; efficiencies.len()];
            for row in simulated.iter().filter(|row| row[0] == series && row[3] == bits) {
                curves[row[2].parse::<usize>().expect("an I_MCS")] = known(&row[4..7]);
            }
            filled(&curves, &efficiencies)
        });
        let last = efficiencies.len() - 1;
        std::array::from_fn(|i_mcs| std::array::from_fn(|size| by_size[size][i_mcs.min(last)]))
    })
    .to_vec()
}

/// The simulations of LTE have 25 resource blocks of 150 resource elements.
const LTE_PRB: usize = 25;
const LTE_ELEMENTS: f64 = 3750.0;

/// By modulation (QPSK, 16QAM, 64QAM, 256QAM) and I_TBS, with the code blocks of the simulated
/// transport block. Rows that no MCS table combines with the modulation are filled like the others.
fn lte_curves(nr: &NrCurves) -> Vec<[(Points, u32, bool); 34]> {
    let tbs = numbers("ts36213_7.1.7.2.1-1_tbs");
    let bits = |row: usize| f64::from(tbs[row][LTE_PRB]);
    // TS 36.212 §5.1.2.
    let blocks = |row: usize| match bits(row) + 24.0 {
        small if small <= 6144.0 => 1,
        large => (large / (6144.0 - 24.0)).ceil() as u32,
    };
    let efficiencies: Vec<f64> = (0..34).map(|row| bits(row) / LTE_ELEMENTS).collect();

    // The second series, which has one more MCS, repeats I_MCS 27 for 28 and has long tails.
    let mut found: BTreeMap<u32, Vec<Known>> = BTreeMap::new();
    let mcs = numbers("ts36213_7.1.7.1-1_mcs_dl");
    for row in rows("link_oai_lte_awgn_bler").iter().filter(|row| row[0] == "Perf_Curves_Abs") {
        let [_, order, i_tbs, ..] = mcs[row[1].parse::<usize>().expect("an I_MCS")][..] else {
            panic!("an MCS has three columns")
        };
        assert_eq!(decimal(&row[2]), bits(i_tbs as usize), "I_MCS {}", row[1]);
        found.entry(order).or_insert(vec![[None; 3]; 34])[i_tbs as usize] = known(&row[4..7]);
    }
    // There is no simulation of LTE's 256QAM: this is NR's at the same efficiency, shifted by the
    // difference between the two at the highest rate of 64QAM that both have.
    let top = 25;
    let highest = found[&6][top].map(|point| point.expect("I_MCS 27 was simulated"));
    let moved =
        highest[0] - nr_half(&nr[0][17..29], "ts38214_5.1.3.1-1_mcs_64qam", 17, efficiencies[top]);
    let of_nr = |row: usize| {
        let half =
            nr_half(&nr[1][20..28], "ts38214_5.1.3.1-2_mcs_256qam", 20, efficiencies[row]) + moved;
        ([0, 1, 2].map(|i| (half + highest[i] - highest[0]) as f32), blocks(row), false)
    };

    let mut all: Vec<[(Points, u32, bool); 34]> = found
        .values()
        .map(|curves| {
            let curves = filled(curves, &efficiencies);
            std::array::from_fn(|row| (curves[row].0, blocks(row), curves[row].1))
        })
        .collect();
    all.push(std::array::from_fn(of_nr));
    all
}

/// SINR at 50 % of a code block of 2000 bits at an efficiency, from rows of an NR table.
fn nr_half(curves: &[[(Points, bool); 5]], table: &str, first: usize, wanted: f64) -> f64 {
    let points: Vec<(f64, f64)> = rows(table)[first..]
        .iter()
        .filter_map(|row| efficiency(row))
        .zip(curves.iter().map(|sizes| f64::from(sizes[4].0[0])))
        .collect();
    between(&points, wanted)
}

/// The SINR at an efficiency between two of known SINR; beyond the ends with the distance to
/// capacity that the end has.
fn between(points: &[(f64, f64)], wanted: f64) -> f64 {
    let beyond = |(known, sinr): (f64, f64)| sinr + capacity_db(wanted) - capacity_db(known);
    if wanted <= points[0].0 {
        return beyond(points[0]);
    }
    match points.windows(2).find(|pair| wanted <= pair[1].0) {
        None => beyond(points[points.len() - 1]),
        Some(pair) => {
            let [(below, low), (above, high)] = [pair[0], pair[1]];
            low + (high - low) * (wanted - below) / (above - below)
        }
    }
}

/// By CQI the SINR at which a block of its modulation and code rate in the CQI reference resource,
/// which has 120 resource elements in a block, is lost once in ten times.
fn lte_thresholds(curves: &[[(Points, u32, bool); 34]], cqi: &str) -> [f32; 15] {
    const REFERENCE_ELEMENTS: f64 = LTE_PRB as f64 * 120.0;
    let tbs = numbers("ts36213_7.1.7.2.1-1_tbs");
    let mut rows = rows(cqi).into_iter().skip(1);
    std::array::from_fn(|_| {
        let row = rows.next().expect("fifteen rows");
        let order: usize = row[1].parse().expect("a modulation order");
        let points: Vec<(f64, f64)> = I_TBS_OF[order / 2 - 1]
            .clone()
            .map(|i_tbs| {
                let bits = f64::from(tbs[i_tbs][LTE_PRB]);
                (bits / LTE_ELEMENTS, f64::from(curves[order / 2 - 1][i_tbs].0[1]))
            })
            .collect();
        let bits = efficiency(&row).expect("a code rate") * REFERENCE_ELEMENTS - 24.0;
        between(&points, bits / LTE_ELEMENTS) as f32
    })
}

/// The rows of sizes that downlinks send by each modulation (TS 36.213 Tables 7.1.7.1-1,
/// 7.1.7.1-1A).
const I_TBS_OF: [std::ops::RangeInclusive<usize>; 4] = [0..=9, 9..=15, 15..=26, 27..=33];

/// LENA's code block errors by mutual information: for each code rate the modulation order, the
/// I_MCS and (b, c) by block size. A size that was not simulated there (-1) takes the values of the
/// next larger size that was.
fn mutual_information() -> String {
    let mut rates: BTreeMap<usize, MiRate> = BTreeMap::new();
    for row in rows("link_ns3_lena_mi_bler") {
        let number = |at: usize| row[at].parse::<f32>().expect("a number");
        let rate = rates.entry(row[0].parse().expect("an index")).or_insert(MiRate {
            order: number(1) as u8,
            code_rate: number(2),
            i_mcs: row[3].parse().unwrap_or(u8::MAX),
            sizes: Vec::new(),
        });
        rate.sizes.push((number(4) as u32, (number(5), number(6))));
    }
    let sizes: Vec<u32> = rates[&0].sizes.iter().map(|size| size.0).collect();
    let heads: Vec<(u8, f32, u8)> =
        rates.values().map(|rate| (rate.order, rate.code_rate, rate.i_mcs)).collect();
    let fits: Vec<Vec<(f32, f32)>> =
        rates.values().map(|rate| (0..sizes.len()).map(|at| rate.fit(at)).collect()).collect();
    array("MI_SIZES", "u32", &sizes)
        + &array("MI_RATES", "(u8, f32, u8)", &heads)
        + &array("MI_FITS", "[(f32, f32); 9]", &fits)
}

/// A code rate, and (b, c) by code block size.
struct MiRate {
    order: u8,
    code_rate: f32,
    i_mcs: u8,
    sizes: Vec<(u32, (f32, f32))>,
}

impl MiRate {
    fn fit(&self, at: usize) -> (f32, f32) {
        let simulated = |size: &&(u32, (f32, f32))| size.1.1 > 0.0;
        let above = self.sizes[at..].iter().find(simulated);
        above.or_else(|| self.sizes.iter().rfind(simulated)).expect("one size was simulated").1
    }
}
