"""Opens every ipk and apk by its format: tar and gzip, as opkg and apk read them. Neither is in Debian."""

import gzip
import hashlib
import io
import os
import struct
import tarfile
import unittest
import zlib
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE.parent
PACKAGES = Path(os.environ["PACKAGES"])
VERSION = os.environ["VERSION"]
EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
# The number of the machine in an ELF file.
MACHINES = {"x86_64": ("x86_64", 62)} | {
    f"aarch64_{cpu}": ("aarch64", 183) for cpu in ("generic", "cortex-a53", "cortex-a72", "cortex-a76")
}
FILES = {
    "usr/bin/soundingd": 0o755,
    "etc/init.d/sounding": 0o755,
    "etc/hotplug.d/tty/50-sounding": 0o644,
    "usr/lib/sounding/uci-to-toml": 0o755,
    "usr/lib/sounding/keys": 0o644,
    "lib/upgrade/keep.d/soundingd": 0o644,
    "etc/config/sounding": 0o600,
    "usr/share/doc/soundingd/LICENSE-APACHE": 0o644,
    "usr/share/doc/soundingd/LICENSE-MIT": 0o644,
    "usr/share/doc/soundingd/THIRD-PARTY-NOTICES": 0o644,
}
APK_LISTS = {f"lib/apk/packages/soundingd.{kind}": 0o644 for kind in ("list", "conffiles", "conffiles_static")}
SAME_AS_SOURCE = {
    "etc/init.d/sounding": "sounding.init",
    "etc/hotplug.d/tty/50-sounding": "sounding.hotplug",
    "usr/lib/sounding/uci-to-toml": "uci-to-toml",
    "lib/upgrade/keep.d/soundingd": "sounding.keep",
    "etc/config/sounding": "sounding.config",
}


def entries(archive: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
    """The entries of a tar, which may be cut before its end as apk's first stream is."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return [(entry, tar.extractfile(entry).read() if entry.isfile() else b"") for entry in tar]


def streams(package: bytes) -> list[tuple[bytes, bytes]]:
    """The gzip streams that stand one after another: each packed and unpacked."""
    found = []
    while package:
        reader = zlib.decompressobj(31)
        unpacked = reader.decompress(package) + reader.flush()
        if not reader.eof:
            raise ValueError("a gzip stream is cut")
        found.append((package[: len(package) - len(reader.unused_data)], unpacked))
        package = reader.unused_data
    return found


def fields(text: str, separator: str) -> dict[str, str]:
    """The fields of a control file. A line that begins with a space continues the one before."""
    lines = text.replace("\n ", " ").strip().splitlines()
    return dict(line.split(separator, 1) for line in lines)


class Opened(unittest.TestCase):
    def check_data(self, data: list[tuple[tarfile.TarInfo, bytes]], wanted: dict[str, int], architecture: str):
        files = {entry.name.removeprefix("./"): (entry, content) for entry, content in data if not entry.isdir()}
        self.assertEqual({name: entry.mode for name, (entry, _) in files.items()}, wanted)
        folders = {entry.name.removeprefix("./").rstrip("/"): entry for entry, _ in data if entry.isdir()}
        parents = {str(parent) for name in wanted for parent in Path(name).parents if str(parent) != "."}
        self.assertEqual(set(folders), parents)
        self.assertEqual({entry.mode & 0o7777 for entry in folders.values()}, {0o755})
        for entry, _ in data:
            self.assertEqual((entry.uid, entry.gid, entry.uname, entry.gname), (0, 0, "root", "root"), entry.name)
            self.assertEqual(entry.mtime, EPOCH, entry.name)
            self.assertTrue(entry.isfile() or entry.isdir(), entry.name)
        for name, source in SAME_AS_SOURCE.items():
            self.assertEqual(files[name][1], (SOURCE / source).read_bytes(), name)
        self.assertIn(b"\nmodem mask bool\n", b"\n" + files["usr/lib/sounding/keys"][1])
        self.check_program(files["usr/bin/soundingd"][1], architecture)

    def check_program(self, program: bytes, architecture: str):
        """It is for the machine and static: OpenWrt has another C library."""
        self.assertEqual(program[:5], b"\x7fELF\x02")
        (machine,) = struct.unpack_from("<H", program, 18)
        self.assertEqual(machine, MACHINES[architecture][1])
        (headers,) = struct.unpack_from("<Q", program, 32)
        size, count = struct.unpack_from("<HH", program, 54)
        kinds = [struct.unpack_from("<I", program, headers + at * size)[0] for at in range(count)]
        self.assertIn(1, kinds, "nothing to load")
        self.assertNotIn(3, kinds, "it asks for a dynamic loader")

    def check_script(self, entry: tarfile.TarInfo, content: bytes, source: str):
        self.assertEqual(content, (SOURCE / source).read_bytes())
        self.assertEqual((entry.mode, entry.uid, entry.gid, entry.mtime), (0o755, 0, 0, EPOCH), entry.name)

    def test_each_architecture_has_an_ipk_and_an_apk_and_there_is_no_other(self):
        names = {file.name for file in PACKAGES.glob("soundingd_*.[ia]pk")}
        wanted = {f"soundingd_{VERSION}-r1_{one}.{kind}" for one in MACHINES for kind in ("ipk", "apk")}
        self.assertEqual(names, wanted)

    def test_every_ipk_is_a_tar_of_a_version_fields_and_files(self):
        for architecture in MACHINES:
            with self.subTest(architecture):
                package = (PACKAGES / f"soundingd_{VERSION}-r1_{architecture}.ipk").read_bytes()
                outer = entries(gzip.decompress(package))
                self.assertEqual(
                    [entry.name for entry, _ in outer], ["./debian-binary", "./control.tar.gz", "./data.tar.gz"]
                )
                self.assertEqual(outer[0][1], b"2.0\n")
                control = {entry.name: (entry, content) for entry, content in entries(gzip.decompress(outer[1][1]))}
                self.assertEqual(set(control), {"./control", "./conffiles", "./postinst", "./prerm"})
                said = fields(control["./control"][1].decode(), ": ")
                for name, value in (
                    ("Package", "soundingd"),
                    ("Version", f"{VERSION}-r1"),
                    ("Architecture", architecture),
                    ("License", "MIT OR Apache-2.0"),
                    ("Section", "net"),
                    ("SourceDateEpoch", str(EPOCH)),
                ):
                    self.assertEqual(said[name], value)
                self.assertNotIn("Depends", said)
                self.assertTrue(said["Maintainer"] and said["Description"])
                self.assertEqual(control["./conffiles"][1], b"/etc/config/sounding\n")
                self.check_script(*control["./postinst"], "postinst")
                self.check_script(*control["./prerm"], "prerm")
                self.check_data(entries(gzip.decompress(outer[2][1])), FILES, architecture)

    def test_every_apk_is_two_gzip_streams_with_a_checksum_of_each_file(self):
        for architecture in MACHINES:
            with self.subTest(architecture):
                package = (PACKAGES / f"soundingd_{VERSION}-r1_{architecture}.apk").read_bytes()
                (_, control), (packed, data) = streams(package)
                # The first one is cut: both together are one tar.
                self.assertNotEqual(control[-1024:], bytes(1024))
                self.assertEqual(data[-1024:], bytes(1024))
                together = [entry.name for entry, _ in entries(control + data)]
                parts = {entry.name: (entry, content) for entry, content in entries(control)}
                self.assertEqual(together[: len(parts)], list(parts))
                self.assertEqual(set(parts), {".PKGINFO", ".post-install", ".post-upgrade", ".pre-deinstall"})
                said = fields(parts[".PKGINFO"][1].decode(), " = ")
                for name, value in (
                    ("pkgname", "soundingd"),
                    ("pkgver", f"{VERSION}-r1"),
                    ("arch", architecture),
                    ("license", "MIT OR Apache-2.0"),
                    ("datahash", hashlib.sha256(packed).hexdigest()),
                ):
                    self.assertEqual(said[name], value)
                self.assertNotIn("depend", said)
                found = entries(data)
                self.assertEqual(said["size"], str(sum(entry.size for entry, _ in found if entry.isfile())))
                self.check_script(*parts[".post-install"], "postinst")
                self.check_script(*parts[".post-upgrade"], "post-upgrade")
                self.check_script(*parts[".pre-deinstall"], "prerm")
                self.check_data(found, FILES | APK_LISTS, architecture)
                for entry, content in found:
                    if entry.isfile():
                        checksum = entry.pax_headers.get("APK-TOOLS.checksum.SHA1")
                        self.assertEqual(checksum, hashlib.sha1(content).hexdigest(), entry.name)
                self.check_lists({entry.name: content.decode() for entry, content in found if entry.name in APK_LISTS})

    def check_lists(self, lists: dict[str, str]):
        listed, kept, checksums = (lists[f"lib/apk/packages/soundingd.{kind}"] for kind in
                                   ("list", "conffiles", "conffiles_static"))
        self.assertEqual(listed.splitlines(), sorted(f"/{name}" for name in FILES))
        self.assertEqual(kept, "/etc/config/sounding\n")
        checksum = hashlib.sha256((SOURCE / "sounding.config").read_bytes()).hexdigest()
        self.assertEqual(checksums, f"/etc/config/sounding {checksum}\n")

    def test_both_kinds_have_the_same_program(self):
        for architecture in MACHINES:
            base = PACKAGES / f"soundingd_{VERSION}-r1_{architecture}"
            outer = dict((entry.name, content) for entry, content in entries(gzip.decompress(Path(f"{base}.ipk").read_bytes())))
            ipk = {entry.name[2:]: content for entry, content in entries(gzip.decompress(outer["./data.tar.gz"]))}
            apk = {entry.name: content for entry, content in entries(streams(Path(f"{base}.apk").read_bytes())[1][1])}
            for name in FILES:
                self.assertEqual(ipk[name], apk[name], name)


if __name__ == "__main__":
    unittest.main(verbosity=1)
