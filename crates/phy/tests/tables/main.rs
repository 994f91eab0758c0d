//! Every table of the crate, row by row, against the research notes that it was collected in,
//! through the functions that callers use. Reports a skip where the notes are absent.

mod csv;
mod hspa;
mod link;
mod lte;
mod nr;

/// The tables of the notes and the checks that hold them.
const CHECKED: &[&str] = &[
    "gandalf_tdd_retx_timing",
    "hspa_25214_7A_cqi",
    "hspa_25214_7B_cqi",
    "hspa_25214_7C_cqi",
    "hspa_25214_7D_cqi",
    "hspa_25214_7E_cqi",
    "hspa_25214_7F_cqi",
    "hspa_25214_7G_cqi",
    "hspa_ue_category_to_cqi_table",
    "link_eesm_beta",
    "link_ltesim_cqi_awgn_bler",
    "link_ltesim_cqi_tu_bler",
    "link_ns3_lena_mi_bler",
    "link_oai_lte_awgn_bler",
    "link_sionna_nr_awgn_bler",
    "lte_36101_nrb",
    "lte_36213_7.1.7.1-1A_mcs_dl_256qam",
    "lte_36213_7.1.7.1-1_mcs_dl_64qam",
    "lte_36213_7.1.7.2.1-1_tbs",
    "lte_36213_7.1.7.2.2-1_1to2layer",
    "lte_36213_7.1.7.2.2-1_rel12_extension_UNVERIFIED",
    "lte_36213_7.1.7.2.4-1_1to3layer",
    "lte_36213_7.1.7.2.5-1_1to4layer",
    "lte_36213_7.2.3-1_cqi",
    "lte_36213_7.2.3-2_cqi_256qam",
    "lte_36213_8.6.1-1_mcs_ul",
    "lte_36321_6.1.3.1-1_bsr",
    "lte_36321_6.1.3.1-2_bsr_extended",
    "lte_tdd_ul_dl_configs",
    "lte_timing_facts",
    "nr_38101_nrb",
    "nr_38211_numerology",
    "nr_38214_5.1.3.1-1_mcs_64qam",
    "nr_38214_5.1.3.1-2_mcs_256qam",
    "nr_38214_5.1.3.1-3_mcs_64qam_lowse",
    "nr_38214_5.1.3.1-4_mcs_1024qam",
    "nr_38214_5.1.3.2-1_tbs",
    "nr_38214_5.2.2.1-2_cqi_table1",
    "nr_38214_5.2.2.1-3_cqi_table2",
    "nr_38214_5.2.2.1-4_cqi_table3",
    "nr_38214_6.1.2.1.1-2_pusch_default_tdra",
    "nr_38214_6.1.2.1.1-4_j_delta",
    "nr_38214_6.1.4.1-1_mcs_pusch_tp",
    "nr_38214_6.1.4.1-2_mcs_pusch_tp_lowse",
    "nr_38214_pdsch_default_tdra",
    "nr_38321_6.1.3.1-1_bsr_5bit",
    "nr_38321_6.1.3.1-2_bsr_8bit",
    "nr_cqi_to_mcs_same_se",
    "nr_tdd_patterns",
    "nr_timing_facts",
    "tr38901_pathloss",
];

#[test]
fn every_table_of_the_notes_has_a_check() {
    let mut found: Vec<String> = sounding_testdata::shared_files("../notes/tables")
        .iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "csv"))
        .filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned()))
        .collect();
    found.sort();
    if !found.is_empty() {
        let mut checked = CHECKED.to_vec();
        checked.sort_unstable();
        assert_eq!(found, checked);
    }
}
