"""MobileInsight's words for numbers that several records share."""

RNTI = {
    0: "C-RNTI",
    1: "SPS-RNTI",
    2: "P-RNTI",
    3: "RA-RNTI",
    4: "Temporary-C-RNTI",
    5: "SI-RNTI",
    6: "TPC-PUSCH-RNTI",
    7: "TPC-PUCCH-RNTI",
    8: "MBMS RNTI",
}
CARRIER = {0: "PCC", 1: "SCC", 2: "SCC-2"}
CELL = {0: "PCell", 1: "1_SCell", 2: "2_SCell"}
PASS = {0: "Fail", 1: "Pass"}
ACK = {0: "NACK", 1: "ACK"}
YES = {0: "No", 1: "Yes"}
ON = {0: "Off", 1: "On"}
TRUE = {0: "False", 1: "True"}
ENABLED = {0: "Disabled", 1: "Enabled"}
EXISTS = {0: "None", 1: "Exists"}
AGGREGATION = {0: "Agg1", 1: "Agg2", 2: "Agg4", 3: "Agg8", 6: "Agg16", 7: "Agg24"}
SEARCH_SPACE = {0: "Common", 1: "UE-specific"}
ORDINAL = {
    0: "First",
    1: "Second",
    2: "Third",
    3: "Fourth",
    4: "Fifth",
    5: "Sixth",
    6: "Seventh",
    7: "Eighth",
}
