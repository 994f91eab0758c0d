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
    # A capture with records of one code is a file instead of a folder.
    path = folder / "0xB064.parquet" if folder.is_dir() else folder
    rows = pandas.read_parquet(path)
    # A row is a subheader of a block; fields of the block itself are repeated in each row.
    blocks = rows.drop_duplicates(["offset", "sub_packets.item", f"{SAMPLE}.item"])
    granted = blocks[f"{SAMPLE}.grant_bytes"]
    table = pandas.DataFrame(
        {
            "granted_kB": granted / 1000,
            "used_kB": (granted - blocks[f"{SAMPLE}.padding_bytes"]) / 1000,
            "blocks": 1,
        }
    )
    return table.groupby(blocks["time"].dt.floor("s")).sum()


if __name__ == "__main__":
    print(uplink(Path(sys.argv[1])).to_string())
