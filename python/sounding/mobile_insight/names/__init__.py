"""MobileInsight's names for the fields of each record: one file for a family of records, one table for a record.

A new record needs a table in one of the files and a line in its `RECORDS`.
"""

from . import lte_mac, lte_measurement, lte_pdcch, lte_pdsch, lte_pusch

#: By log code.
RECORDS = {
    record.code: record
    for family in (lte_mac, lte_measurement, lte_pdcch, lte_pdsch, lte_pusch)
    for record in family.RECORDS
}
