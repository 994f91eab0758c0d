"""What scripts ask MobileInsight's compiled half: which types there are."""

from ...types import CODES

#: The names of all types.
log_packet_types = tuple(CODES)
#: The version of MobileInsight whose names these are.
version = "6.0.0"
