"""A root folder with the files of the ipk or of its sources, busybox, and stand-ins for OpenWrt's libraries."""

import glob
import gzip
import io
import os
import shutil
import stat
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).parent
# Without packages the root has the sources of what converts, and no program.
PACKAGES = os.environ.get("PACKAGES")
SOUNDINGD = os.environ["SOUNDINGD"]
BUSYBOX = os.environ["BUSYBOX"]

DAEMON = "config daemon 'daemon'\n\toption enabled '1'\n"
ONE_MODEM = DAEMON + "config modem\n\toption device '/dev/ttyUSB2'\nconfig serve\n\toption address '127.0.0.1:8080'\n"
# As a user writes it: quotes of each kind, none, a comment, two commands in a line, a section
# without a name.
BY_HAND = DAEMON + """
config modem 'wan'
	option name lte; option device "/dev/ttyUSB2"   # the second port
	list interfaces 'wwan0'
	option mask off
	list interfaces wwan1

config modem
	option name 'nr'
	option device 'tcp:192.168.1.5:9000'
	list interfaces 'wwan2'

config shape
	option modem 'lte'
	option manage 'yes'
config shape_uplink
	option min '1 Mbit/s'
	option max '20Mbit'

config shape
	option modem nr
	option observe 1
config shape_downlink

config serve 'page'
	option address '192.168.1.1:8080'
	list hosts router.lan

config feed
	option name 'live'
	option mode '0666'
"""


class Root:
    def __init__(self):
        self.path = Path(tempfile.mkdtemp())
        if PACKAGES:
            self.unpack()
        else:
            self.copy_converter()
        for folder in "bin", "sbin", "dev", "etc", "lib", "tmp", "proc":
            (self.path / folder).mkdir(exist_ok=True)
        (self.path / "var").symlink_to("tmp")
        for name, minor in ("null", 3), ("urandom", 9):
            os.mknod(self.path / "dev" / name, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        shutil.copy(BUSYBOX, self.path / "bin/busybox")
        for name, place in (
            ("functions.sh", "lib/functions.sh"),
            ("rc.common", "etc/rc.common"),
            ("hotplug-call", "sbin/hotplug-call"),
            ("uci", "sbin/uci"),
            ("uci.awk", "usr/lib/uci.awk"),
        ):
            shutil.copy(HERE / name, self.path / place)
        self.run("/bin/busybox --install -s /bin")

    def unpack(self):
        (package,) = glob.glob(f"{PACKAGES}/soundingd_*_{os.uname().machine}.ipk")
        with tarfile.open(package) as outer:
            for member, folder in ("data", "."), ("control", "scripts"):
                archive = gzip.decompress(outer.extractfile(f"./{member}.tar.gz").read())
                with tarfile.open(fileobj=io.BytesIO(archive)) as inner:
                    inner.extractall(self.path / folder)
                    names = [entry.name[1:] for entry in inner if not entry.isdir()]
                if member == "data":
                    self.put("usr/lib/opkg/info/soundingd.list", "\n".join(names) + "\n")

    def copy_converter(self):
        sources = HERE.parent
        self.put("usr/lib/sounding/uci-to-toml", (sources / "uci-to-toml").read_text())
        (self.path / "usr/lib/sounding/uci-to-toml").chmod(0o755)
        example = subprocess.run([SOUNDINGD, "run", "--example-config"], capture_output=True, check=True).stdout
        keys = ["awk", "-f", sources / "keys.awk"]
        keys = subprocess.run(keys, input=example, capture_output=True, check=True).stdout
        self.put("usr/lib/sounding/keys", keys.decode())

    def put(self, place: str, content: str):
        file = self.path / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode("utf-8", "surrogateescape"))

    def configure(self, content: str):
        self.put("etc/config/sounding", content)

    def run(self, command: str, fails: bool = False, **variables: str) -> subprocess.CompletedProcess:
        done = subprocess.run(
            ["chroot", self.path, "/bin/busybox", "sh", "-c", command],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **variables},
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=60,
        )
        if (done.returncode != 0) != fails:
            raise AssertionError(f"{command}: code {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def toml(self) -> str:
        return self.run("/usr/lib/sounding/uci-to-toml").stdout

    def calls(self) -> list[str]:
        """What was called since the last time, but for the log."""
        return [line for line in self.taken("calls") if not line.startswith("logger")]

    def log(self) -> str:
        return "\n".join(self.taken("log"))

    def taken(self, name: str) -> list[str]:
        file = self.path / "tmp" / name
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    def remove(self):
        shutil.rmtree(self.path)


class InRoot(unittest.TestCase):
    def setUp(self):
        self.root = Root()
        self.addCleanup(self.root.remove)

    def plug(self, *ports: str):
        for port in ports:
            self.root.put(f"dev/{port}", "")

    def service(self, action: str, **how) -> subprocess.CompletedProcess:
        return self.root.run(f"/etc/init.d/sounding {action}", **how)
