"""The uplink of a capture, second by second, from Parquet: granted bytes, used bytes, and the number of blocks.

    sounding convert drive.mi2log drive.parquet
    python parquet_to_pandas.py drive.parquet

Needs pandas and pyarrow, and nothing of `sounding`.
"""

import sys
from pathlib import Path

import pandas

SAMPLE = "sub_packets.samples"


def uplink(folder):
    # A row is a transport block, so sums need no care.
    blocks = pandas.read_parquet(folder / "0xB064.parquet")
    granted = blocks[f"{SAMPLE}.grant_bytes"]
    table = pandas.DataFrame(
        {
            "granted_kB": granted / 1000,
            "used_kB": (granted - blocks[f"{SAMPLE}.padding_bytes"]) / 1000,
            "blocks": 1,
        }
    )
    return table.groupby(blocks["record_time"].dt.floor("s")).sum()


if __name__ == "__main__":
    print(uplink(Path(sys.argv[1])).to_string())
