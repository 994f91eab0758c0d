//! 0xB087, 0xB097, 0xB0A4, 0xB0B4.

use super::{MODE, list, ours, record, same, text};
use crate::agree::Rule;

fn statistics(totals: Vec<Rule>, counters: Vec<Rule>) -> Vec<Rule> {
    let mut bearer = vec![
        same("rb_config", "Rb Cfg Idx"),
        text("mode", "Mode", MODE),
        same("header_len_bytes", "PDCP Hdr Len"),
        same("resets", "Num RST"),
    ];
    bearer.extend(counters);
    let mut packet = vec![
        same("id", "Subpacket ID"),
        same("version", "Subpacket Version"),
        same("len_bytes", "Subpacket Size"),
        same("bearer_count", "Num RBs"),
        list("bearers", "RBs", bearer),
    ];
    packet.extend(totals);
    record(vec![same("sub_packet_count", "Num Subpkt"), list("sub_packets", "Subpackets", packet)])
}

pub(super) fn rlc_downlink() -> Vec<Rule> {
    let totals =
        vec![same("pdcp_queue_full", "RLC PDCP Q Full Count"), same("errors", "RLCDL Error Count")];
    let counters = vec![
        same("complete_nacks", "Num Complete NACK"),
        same("complete_nacks_since_reset", "Num Complete NACK Rst"),
        same("ctrl_pdus", "Num Ctrl PDU"),
        same("ctrl_pdus_since_reset", "Num Ctrl PDU Rst"),
        same("data_pdu_bytes", "Data PDU Bytes"),
        same("data_pdu_bytes_since_reset", "Data PDU Bytes Rst"),
        same("data_pdus", "Num Data PDU"),
        same("data_pdus_since_reset", "Num Data PDU Rst"),
        same("dropped_pdu_bytes", "Dropped PDU Bytes"),
        same("dropped_pdu_bytes_fc", "Dropped PDU Bytes FC"),
        same("dropped_pdu_bytes_fc_since_reset", "Dropped PDU Bytes FC Rst"),
        same("dropped_pdu_bytes_since_reset", "Dropped PDU Bytes Rst"),
        same("dropped_pdus", "Num Dropped PDU"),
        same("dropped_pdus_fc", "Num Dropped PDU FC"),
        same("dropped_pdus_fc_since_reset", "Num Dropped PDU FC Rst"),
        same("dropped_pdus_since_reset", "Num Dropped PDU Rst"),
        same("dup_pdu_bytes", "Dup PDU Bytes"),
        same("dup_pdu_bytes_since_reset", "Dup PDU Bytes Rst"),
        same("dup_pdus", "Num Dup PDU"),
        same("dup_pdus_since_reset", "Num Dup PDU Rst"),
        same("invalid_pdu_bytes", "Invalid PDU Bytes"),
        same("invalid_pdu_bytes_since_reset", "Invalid PDU Bytes Rst"),
        same("invalid_pdus", "Num Invalid PDU"),
        same("invalid_pdus_since_reset", "Num Invalid PDU Rst"),
        same("missed_um_pdus", "Num Missed UM PDU"),
        same("missed_um_pdus_since_reset", "Num Missed UM PDU Rst"),
        same("nonseq_sdus", "Num NonSeq SDU"),
        same("nonseq_sdus_since_reset", "Num NonSeq SDU Rst"),
        same("retx_pdu_bytes", "Retx PDU Bytes"),
        same("retx_pdu_bytes_since_reset", "Retx PDU Bytes Rst"),
        same("retx_pdus", "Num Retx PDU"),
        same("retx_pdus_since_reset", "Num Retx PDU Rst"),
        same("sdu_bytes", "Num SDU Bytes"),
        same("sdu_bytes_since_reset", "Num SDU Bytes Rst"),
        same("sdus", "Num SDU"),
        same("sdus_since_reset", "Num SDU Rst"),
        same("segments_nacks", "Num Segments NACK"),
        same("segments_nacks_since_reset", "Num Segments NACK Rst"),
        same("status_rxed_bytes", "Status Rxed Bytes"),
        same("status_rxed_bytes_since_reset", "Status Rxed Bytes Rst"),
        same("status_rxeds", "Num Status Rxed"),
        same("status_rxeds_since_reset", "Num Status Rxed Rst"),
        same("t_reorder_expired", "Num t_reorder Expired"),
        same("t_reorder_expired_since_reset", "Num t_reorder Expired Rst"),
        same("t_reorder_start", "Num t_reorder Start"),
        same("t_reorder_start_since_reset", "Num t_reorder Start Rst"),
    ];
    statistics(totals, counters)
}

pub(super) fn rlc_uplink() -> Vec<Rule> {
    let counters = vec![
        same("complete_nacks", "Num Complete NACK"),
        same("complete_nacks_since_reset", "Num Complete NACK Rst"),
        same("ctrl_pdu_bytes_tx", "Num Ctrl PDU Bytes Tx"),
        same("ctrl_pdu_bytes_tx_since_reset", "Num Ctrl PDU Bytes Tx Rst"),
        same("ctrl_pdus_rx", "Num Ctrl PDU Rx"),
        same("ctrl_pdus_rx_since_reset", "Num Ctrl PDU Rx Rst"),
        same("ctrl_pdus_tx", "Num Ctrl PDU Tx"),
        same("ctrl_pdus_tx_since_reset", "Num Ctrl PDU Tx Rst"),
        same("invalid_ctrl_pdus_rx", "Num Invalid Ctrl PDU Rx"),
        same("invalid_ctrl_pdus_rx_since_reset", "Num Invalid Ctrl PDU Rx Rst"),
        same("new_data_pdu_bytes", "Num New Data PDU Bytes"),
        same("new_data_pdu_bytes_since_reset", "Num New Data PDU Bytes Rst"),
        same("new_data_pdus", "Num New Data PDU"),
        same("new_data_pdus_since_reset", "Num New Data PDU Rst"),
        same("polls", "Num Poll"),
        same("polls_since_reset", "Num Poll Rst"),
        same("retx_pdu_bytes", "Num Retx PDU Bytes"),
        same("retx_pdu_bytes_since_reset", "Num Retx PDU Bytes Rst"),
        same("retx_pdus", "Num Retx PDU"),
        same("retx_pdus_since_reset", "Num Retx PDU Rst"),
        same("sdu_bytes", "Num SDU Bytes"),
        same("sdu_bytes_since_reset", "Num SDU Bytes Rst"),
        same("sdus", "Num SDU"),
        same("sdus_since_reset", "Num SDU Rst"),
        same("segm_nacks", "Num Segm NACK"),
        same("segm_nacks_since_reset", "Num Segm NACK Rst"),
        same("t_polls_retx_expiry", "Num T Poll Retx Expiry"),
        same("t_polls_retx_expiry_since_reset", "Num T Poll Retx Expiry Rst"),
    ];
    statistics(vec![same("errors", "RLCUL Error Count")], counters)
}

pub(super) fn pdcp_downlink() -> Vec<Rule> {
    let totals = vec![
        same("errors", "Num Errors"),
        same("offload_queue_full", "Num Offload Q Full Count"),
        same("packets_dropped_offload_queue_full", "Num Packet Dropped Offload Q Full"),
    ];
    let counters = vec![
        same("control_pdu_bytes_rx", "Control PDU Bytes Rx"),
        same("control_pdu_bytes_rx_since_reset", "Control PDU Bytes Rx Rst"),
        same("control_pdu_bytes_tx", "Control PDU Bytes Tx"),
        same("control_pdu_bytes_tx_since_reset", "Control PDU Bytes Rx Rst"),
        same("control_pdu_gen_bytes", "Num Control PDU Gen Bytes"),
        same("control_pdu_gen_bytes_since_reset", "Num Control PDU Gen Bytes Rst"),
        same("control_pdus_gen", "Num Control PDU Gen"),
        same("control_pdus_gen_since_reset", "Num Control PDU Gen Rst"),
        same("data_pdu_rx_bytes", "Num Data PDU Rx Bytes"),
        same("data_pdu_rx_bytes_since_reset", "Num Data PDU Rx Bytes Rst"),
        same("data_pdus_rx", "Num Data PDU Rx"),
        same("data_pdus_rx_since_reset", "Num Data PDU Rx Rst"),
        same("flow_ctrl_triggers", "Num Flow Ctrl Trigger"),
        same("flow_ctrl_triggers_since_reset", "Num Flow Ctrl Trigger Rst"),
        same("missing_sdus_from_ll", "Num Missing SDU From LL"),
        same("missing_sdus_from_ll_since_reset", "Num Missing SDU From LL Rst"),
        same("missing_sdus_from_ul", "Num Missing SDU From UL"),
        same("missing_sdus_from_ul_since_reset", "Num Missing SDU From UL Rst"),
        same("missing_sdus_to_ul", "Num Missing SDU To UL"),
        same("missing_sdus_to_ul_since_reset", "Num Missing SDU To UL Rst"),
        same("pdu_dups_bytes", "Num PDU Dups Bytes"),
        same("pdu_dups_bytes_since_reset", "Num PDU Dups Bytes Rst"),
        same("pdu_fc_drop_bytes", "Num PDU FC Drop Bytes"),
        same("pdu_fc_drop_bytes_since_reset", "Num PDU FC Drop Bytes Rst"),
        same("pdu_invalid_bytes", "Num PDU Invalid Bytes"),
        same("pdu_invalid_bytes_since_reset", "Num PDU Invalid Bytes Rst"),
        same("pdu_out_of_win_bytes", "Num PDU Out of Win Bytes"),
        same("pdu_out_of_win_bytes_since_reset", "Num PDU Out of Win Bytes Rst"),
        same("pdus_dups", "Num PDU Dups"),
        same("pdus_dups_since_reset", "Num PDU Dups Rst"),
        same("pdus_fc_drop", "Num PDU FC Drop"),
        same("pdus_fc_drop_since_reset", "Num PDU FC Drop Rst"),
        same("pdus_integrity_fail", "Num PDU Integrity Fail"),
        same("pdus_integrity_fail_since_reset", "Num PDU Integrity Fail Rst"),
        same("pdus_invalid", "Num PDU Invalid"),
        same("pdus_invalid_since_reset", "Num PDU Invalid Rst"),
        same("pdus_out_of_win", "Num PDU Out of Win"),
        same("pdus_out_of_win_since_reset", "Num PDU Out of Win Rst"),
        same("pdus_rohc_fail", "Num PDU ROHC Fail"),
        same("pdus_rohc_fail_since_reset", "Num PDU ROHC Fail Rst"),
        same("rohc_ctrl_pdus_rx", "Num ROHC Ctrl PDU Rx"),
        same("rohc_ctrl_pdus_rx_since_reset", "Num ROHC Ctrl PDU Rx Rst"),
        same("stat_rprt_ctrl_pdus_rx", "Num Stat Rprt Ctrl PDU Rx"),
        same("stat_rprt_ctrl_pdus_rx_since_reset", "Num Stat Rprt Ctrl PDU Rx Rst"),
    ];
    statistics(totals, counters)
}

/// The reference skips this one in the first half of version 26.
fn ue_udc_control(version: u8) -> Rule {
    match version {
        26 => ours("ue_udc_ctrl_pdus"),
        _ => same("ue_udc_ctrl_pdus", "Num ue Udc Ctrl Pdus"),
    }
}

pub(super) fn pdcp_uplink(version: u8) -> Vec<Rule> {
    let counters = vec![
        same("buffered_packets", "Num Pdcp Ul Buffer Pkt"),
        same("buffered_bytes", "Num Pdcp Ul Buffer Pkt Bytes"),
        text("udc_state", "UDC Comp State", &[(0, "DISABLE COMP")]),
        same("control_pdu_tx_bytes", "Num Control PDU Tx Bytes"),
        same("control_pdu_tx_bytes_since_reset", "Num Control PDU Tx Bytes Rst"),
        same("control_pdus_tx", "Num Control PDU Tx"),
        same("control_pdus_tx_since_reset", "Num Control PDU Tx Rst"),
        same("data_bytes_from_ps", "Num Data Bytes from Ps"),
        same("data_bytes_from_ps_since_reset", "Num Data Bytes from Ps Rst"),
        same("data_pdu_tx_bytes", "Num Data PDU Tx Bytes"),
        same("data_pdu_tx_bytes_since_reset", "Num Data PDU Tx Bytes Rst"),
        same("data_pdus_tx", "Num Data PDU Tx"),
        same("data_pdus_tx_since_reset", "Num Data PDU Tx Rst"),
        same("discard_sdu_bytes", "Num Discard SDU Bytes"),
        same("discard_sdu_bytes_since_reset", "Num Discard SDU Bytes Rst"),
        same("discard_sdus", "Num Discard SDU"),
        same("discard_sdus_since_reset", "Num Discard SDU Rst"),
        same("enb_trigg_udc_resets", "Num Enb Trigg Udc Reset"),
        same("enb_trigg_udc_resets_since_reset", "Num Enb Trigg Udc Reset Rst"),
        same("enb_udc_ctrl_pdus", "Num Enb Udc Ctrl Pdus"),
        same("enb_udc_ctrl_pdus_since_reset", "Num Enb Udc Ctrl Pdus Rst"),
        same("flow_ctrl_triggers", "Num Flow Ctrl Trigger"),
        same("flow_ctrl_triggers_since_reset", "Num Flow Ctrl Trigger Rst"),
        same("pdu_ho_retx_bytes", "Num PDU HO ReTx Bytes"),
        same("pdu_ho_retx_bytes_since_reset", "Num PDU HO ReTx Bytes Rst"),
        same("pdus_ho_retx", "Num PDU HO ReTx"),
        same("pdus_ho_retx_since_reset", "Num PDU HO ReTx Rst"),
        same("piggybk_rohc_feedbk_rcvds", "Num Piggybk Rohc Feedbk Rcvd"),
        same("piggybk_rohc_feedbk_rcvds_since_reset", "Num Piggybk Rohc Feedbk Rcvd Rst"),
        same("rohc_ctrl_pdus_tx", "Num ROHC Ctrl PDU Tx"),
        same("rohc_ctrl_pdus_tx_since_reset", "Num ROHC Ctrl PDU Tx Rst"),
        same("rohc_fails", "Num ROHC Fail"),
        same("rohc_fails_since_reset", "Num ROHC Fail Rst"),
        same("rohc_pdu_drop_ho_bytes", "Num Rohc Pdu Drop Ho Bytes"),
        same("rohc_pdu_drop_ho_bytes_since_reset", "Num Rohc Pdu Drop Ho Bytes Rst"),
        same("rohc_pdus_drop_ho", "Num Rohc Pdu Drop Ho"),
        same("rohc_pdus_drop_ho_since_reset", "Num Rohc Pdu Drop Ho Rst"),
        same("status_reports", "Num Status Report"),
        same("status_reports_since_reset", "Num Status Report Rst"),
        same("udc_comp_packet_bytes", "Num Udc Comp Pkt Bytes"),
        same("udc_comp_packet_bytes_since_reset", "Num Udc Comp Pkt Bytes Rst"),
        same("udc_comp_packets", "Num Udc Comp Pkt"),
        same("udc_comp_packets_since_reset", "Num Udc Comp Pkt Rst"),
        same("udc_fc_uncomp_bytes", "Num Udc Fc Uncomp Bytes"),
        same("udc_fc_uncomp_bytes_since_reset", "Num Udc Fc Uncomp Pkt Bytes Rst"),
        same("udc_fc_uncomp_packets", "Num Udc Fc Uncomp Pkts"),
        same("udc_fc_uncomp_packets_since_reset", "Num Udc Fc Uncomp Pkt Rst"),
        ue_udc_control(version),
        same("ue_udc_ctrl_pdus_since_reset", "Num ue Udc Ctrl Pdus Rst"),
        same("uncomp_bytes_udc_off", "Num Uncomp Bytes Udc Off"),
        same("uncomp_bytes_udc_off_since_reset", "Num Uncomp Bytes Udc Off Rst"),
        same("uncomp_bytes_udc_on", "Num Uncomp Bytes Udc on"),
        same("uncomp_bytes_udc_on_since_reset", "Num Uncomp Bytes Udc on Rst"),
        same("uncomp_packets_udc_offs", "Num Uncomp Pkts Udc Off"),
        same("uncomp_packets_udc_offs_since_reset", "Num Uncomp Pkts Udc Off Rst"),
        same("uncomp_packets_udc_ons", "Num Uncomp Pkts Udc on"),
        same("uncomp_packets_udc_ons_since_reset", "Num Uncomp Pkts Udc on Rst"),
    ];
    statistics(vec![same("errors", "PDCPUL Errors")], counters)
}
