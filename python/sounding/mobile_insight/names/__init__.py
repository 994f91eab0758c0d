"""MobileInsight's names for the fields of each record: one file for a family of records, one table for a record.

A new record needs a table in one of the files and a line in its `RECORDS`.
"""

from . import (
    evdo,
    gsm,
    lte_cells,
    lte_mac,
    lte_mac_config,
    lte_measurement,
    lte_pdcch,
    lte_pdcp,
    lte_pdcp_stats,
    lte_pdsch,
    lte_pusch,
    lte_rach,
    lte_rlc,
    lte_rlc_stats,
    lte_rrc,
    lte_uplink_control,
    nb_iot,
    umts,
)

FAMILIES = (
    evdo,
    gsm,
    lte_cells,
    lte_mac,
    lte_mac_config,
    lte_measurement,
    lte_pdcch,
    lte_pdcp,
    lte_pdcp_stats,
    lte_pdsch,
    lte_pusch,
    lte_rach,
    lte_rlc,
    lte_rlc_stats,
    lte_rrc,
    lte_uplink_control,
    nb_iot,
    umts,
)

#: By log code.
RECORDS = {
    record.code: record
    for family in FAMILIES
    for record in family.RECORDS
}
