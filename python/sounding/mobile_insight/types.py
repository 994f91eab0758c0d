"""MobileInsight's names for log codes."""

from __future__ import annotations

#: Every type that MobileInsight has a name for, by log code. Some codes share a name, and one has two; the first
#: counts.
CODES: dict[str, int] = {
    "CDMA_Paging_Channel_Message": 0x1007,
    "1xEV_Connection_Attempt": 0x106E,
    "1xEV_Connection_Release": 0x1071,
    "1xEV_Signaling_Control_Channel_Broadcast": 0x107C,
    "1xEV_Connected_State_Search_Info": 0x118A,
    "Srch_TNG_1x_Searcher_Dump": 0x119B,
    "1xEV_Rx_Partial_MultiRLP_Packet": 0x1277,
    "1xEVDO_Multi_Carrier_Pilot_Sets": 0x12A1,
    "HDR_Pilot_Sets": 0x12B6,
    "GNSS_GPS_Measurement_Report": 0x1477,
    "GNSS_Glonass_Measurement_Report": 0x1480,
    "GNSS_BDS_Measurement_Report": 0x1756,
    "GNSS_GAL_Measurement_Report": 0x1886,
    "Modem_debug_message": 0x1FEB,
    "WCDMA_Search_Cell_Reselection_Rank": 0x4005,
    "WCDMA_RRC_States": 0x4125,
    "WCDMA_RRC_Serv_Cell_Info": 0x4127,
    "WCDMA_RRC_OTA_Packet": 0x412F,
    "GSM_Surround_Cell_BA_List": 0x5071,
    "GSM_RR_Signaling_Message": 0x512F,
    "GSM_RR_Cell_Reselection_Parameters": 0x5130,
    "GSM_RR_Cell_Information": 0x5134,
    "GSM_RR_Cell_Reselection_Meas": 0x51FC,
    "GSM_DSDS_RR_Signaling_Message": 0x5B2F,
    "GSM_DSDS_RR_Cell_Reselection_Parameters": 0x5B30,
    "GSM_DSDS_RR_Cell_Information": 0x5B34,
    "UMTS_NAS_GMM_State": 0x7130,
    "UMTS_NAS_MM_State": 0x7131,
    "UMTS_NAS_MM_REG_State": 0x7135,
    "UMTS_NAS_OTA_Packet": 0x713A,
    "LTE_MAC_Configuration": 0xB060,
    "LTE_MAC_Rach_Trigger": 0xB061,
    "LTE_MAC_Rach_Attempt": 0xB062,
    "LTE_MAC_DL_Transport_Block": 0xB063,
    "LTE_MAC_UL_Transport_Block": 0xB064,
    "LTE_MAC_UL_Buffer_Status_Internal": 0xB066,
    "LTE_MAC_UL_Tx_Statistics": 0xB067,
    "LTE_RLC_DL_Config_Log_Packet": 0xB081,
    "LTE_RLC_DL_AM_All_PDU": 0xB082,
    "LTE_RLC_DL_Stats": 0xB087,
    "LTE_RLC_UL_Config_Log_Packet": 0xB091,
    "LTE_RLC_UL_AM_All_PDU": 0xB092,
    "LTE_RLC_UL_Stats": 0xB097,
    "LTE_PDCP_DL_Config": 0xB0A0,
    "LTE_PDCP_DL_Ctrl_PDU": 0xB0A2,
    "LTE_PDCP_DL_Cipher_Data_PDU": 0xB0A3,
    "LTE_PDCP_DL_Stats": 0xB0A4,
    "LTE_PDCP_DL_SRB_Integrity_Data_PDU": 0xB0A5,
    "LTE_PDCP_UL_Config": 0xB0B0,
    "LTE_PDCP_UL_Data_PDU": 0xB0B1,
    "LTE_PDCP_UL_Ctrl_PDU": 0xB0B2,
    "LTE_PDCP_UL_Cipher_Data_PDU": 0xB0B3,
    "LTE_PDCP_UL_Stats": 0xB0B4,
    "LTE_PDCP_UL_SRB_Integrity_Data_PDU": 0xB0B5,
    "LTE_RRC_OTA_Packet": 0xB0C0,
    "LTE_RRC_MIB_Packet": 0xB0C1,
    "LTE_RRC_MIB_Message_Log_Packet": 0xB0C1,
    "LTE_RRC_Serv_Cell_Info": 0xB0C2,
    "LTE_NAS_ESM_OTA_Incoming_Packet": 0xB0E2,
    "LTE_NAS_ESM_OTA_Outgoing_Packet": 0xB0E3,
    "LTE_NAS_ESM_State": 0xB0E5,
    "LTE_NAS_EMM_OTA_Incoming_Packet": 0xB0EC,
    "LTE_NAS_EMM_OTA_Outgoing_Packet": 0xB0ED,
    "LTE_NAS_EMM_State": 0xB0EE,
    "LTE_PHY_Serving_Cell_COM_Loop": 0xB121,
    "LTE_PHY_PDSCH_Packet": 0xB126,
    "LTE_PHY_PDCCH_Decoding_Result": 0xB130,
    "LTE_PHY_PDSCH_Decoding_Result": 0xB132,
    "LTE_PHY_PUSCH_Tx_Report": 0xB139,
    "LTE_PHY_PUCCH_Tx_Report": 0xB13C,
    "LTE_PHY_PUCCH_CSF": 0xB14D,
    "LTE_PHY_PUSCH_CSF": 0xB14E,
    "LTE_PHY_PDCCH_PHICH_Indication_Report": 0xB16B,
    "LTE_PHY_PUSCH_Power_Control": 0xB16E,
    "LTE_PHY_PUCCH_Power_Control": 0xB16F,
    "LTE_PHY_PDSCH_Stat_Indication": 0xB173,
    "LTE_PHY_Connected_Mode_Intra_Freq_Meas": 0xB179,
    "LTE_PHY_Inter_RAT_CDMA_Measurement": 0xB185,
    "LTE_PHY_Inter_RAT_Measurement": 0xB187,
    "LTE_PHY_RLM_Report": 0xB18A,
    "LTE_PHY_System_Scan_Results": 0xB18E,
    "LTE_PHY_Idle_Neighbor_Cell_Meas": 0xB192,
    "LTE_PHY_Serv_Cell_Measurement": 0xB193,
    "LTE_PHY_Connected_Mode_Neighbor_Measurement": 0xB195,
    "LTE_RRC_CDRX_Events_Info": 0xB198,
    "LTE_PHY_Inter_Freq_Log": 0xB19E,
    "LTE_PHY_BPLMN_Cell_Request": 0xB1A1,
    "LTE_PHY_BPLMN_Cell_Confirm": 0xB1A2,
    "LTE_NB1_ML1_GM_DCI_Info": 0xB244,
    "LTE_NB1_ML1_GM_TX_Report": 0xB245,
    "LTE_NB1_ML1_GM_PDSCH_STAT_Ind": 0xB246,
    "LTE_NB1_ML1_CDRX_Events_Info": 0xB248,
    "LTE_NB1_ML1_Sum_Sys_Info": 0xB24B,
    "LTE_NB1_ML1_Cell_Resel": 0xB24C,
    "LTE_NB1_NBR_Cell_Meas": 0xB24E,
    "LTE_NB1_ML1_Search_PBCH_Decode": 0xB250,
    "LTE_NB1_ML1_DLM_Decode_Page": 0xB251,
    "5G_NR_NAS_SM_Plain_OTA_Incoming_Msg": 0xB800,
    "5G_NR_NAS_SM_Plain_OTA_Outgoing_Msg": 0xB801,
    "5G_NR_NAS_MM5G_State": 0xB80C,
    "5G_NR_RRC_OTA_Packet": 0xB821,
    "5G_NR_RLC_DL_Stats": 0xB84D,
    "5G_NR_PDCP_UL_Control_Pdu": 0xB861,
    "5G_NR_L2_UL_TB": 0xB872,
    "5G_NR_L2_UL_BSR": 0xB873,
    "5G_NR_MAC_UL_TB_Stats": 0xB881,
    "5G_NR_MAC_UL_Physical_Channel_Schedule_Report": 0xB883,
    "5G_NR_MAC_PDSCH_Stats": 0xB888,
    "5G_NR_MAC_RACH_Trigger": 0xB889,
    "5G_NR_LL1_FW_Serving_FTL": 0xB8DD,
    "5G_NR_ML1_Serving_Cell_Beam_Management": 0xB975,
    "5G_NR_ML1_Searcher_Measurement_Database_Update_Ext": 0xB97F,
}

#: Codes that share the name of another.
_SHARED = {0xB188: "LTE_PHY_Inter_RAT_Measurement"}


def _names() -> dict[int, str]:
    names: dict[int, str] = {}
    for name, code in CODES.items():
        names.setdefault(code, name)
    return names | _SHARED


NAMES = _names()


def type_of(code: int) -> str:
    """The name of a log code; for one that MobileInsight does not know, the code in hex."""
    return NAMES.get(code, f"0x{code:04X}")


def codes_of(types: list[str]) -> list[int]:
    """The log codes of these types."""
    codes = {CODES[name] for name in types if name in CODES}
    codes |= {code for code, name in _SHARED.items() if name in types}
    # A type that only we know is its code.
    codes |= {int(name, 16) for name in types if name.startswith("0x")}
    return sorted(codes)
