"""The package's scripts under busybox' ash, at their own paths in a root of their own. OpenWrt's libraries are stood in."""

import glob
import gzip
import io
import os
import random
import shutil
import signal
import socket
import stat
import subprocess
import tarfile
import tempfile
import threading
import tomllib
import unittest
from pathlib import Path

from convert import quoted, uci_of, with_all_keys, without_empty

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[2]
PACKAGES = Path(os.environ["PACKAGES"])
SOUNDINGD = os.environ["SOUNDINGD"]
BUSYBOX = os.environ["BUSYBOX"]

DAEMON = "config daemon 'daemon'\n\toption enabled '1'\n"
# What somebody would write: quotes of each kind, none, a comment, two commands in a line, an anonymous section.
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
BY_HAND_TOML = {
    "modem": [
        {"name": "lte", "device": "/dev/ttyUSB2", "mask": False, "interfaces": ["wwan0", "wwan1"]},
        {"name": "nr", "device": "tcp:192.168.1.5:9000", "interfaces": ["wwan2"]},
    ],
    "shape": [
        {"modem": "lte", "manage": True, "uplink": {"min": "1 Mbit/s", "max": "20Mbit"}},
        {"modem": "nr", "observe": True, "downlink": {}},
    ],
    "serve": {"address": "192.168.1.1:8080", "hosts": ["router.lan"]},
    "feed": {"name": "live", "mode": "0666"},
}
ONE_MODEM = DAEMON + "config modem\n\toption device '/dev/ttyUSB2'\nconfig serve\n\toption address '127.0.0.1:8080'\n"


class Root:
    """A root with the files of the ipk, busybox, and the stand-ins."""

    def __init__(self):
        self.path = Path(tempfile.mkdtemp())
        (package,) = glob.glob(f"{PACKAGES}/soundingd_*_{os.uname().machine}.ipk")
        with tarfile.open(package) as outer:
            for member, folder in ("data", "."), ("control", "scripts"):
                archive = gzip.decompress(outer.extractfile(f"./{member}.tar.gz").read())
                with tarfile.open(fileobj=io.BytesIO(archive)) as inner:
                    inner.extractall(self.path / folder)
                    names = [entry.name[1:] for entry in inner if not entry.isdir()]
                if member == "data":
                    self.put("usr/lib/opkg/info/soundingd.list", "\n".join(names) + "\n")
        for folder in "bin", "sbin", "dev", "tmp", "proc":
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

    def printed(self, toml: str) -> str:
        """The configuration as the program understands it."""
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(toml)
            file.flush()
            command = [SOUNDINGD, "run", "--config", file.name, "--print-config"]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Conversion(InRoot):
    def test_the_example_as_uci_becomes_the_same_configuration(self):
        example = subprocess.run([SOUNDINGD, "run", "--example-config"], capture_output=True, text=True, check=True).stdout
        self.root.configure(uci_of(without_empty(tomllib.loads(example))))
        self.assertEqual(self.printed(self.root.toml()), self.printed(example))

    def test_every_key_that_the_example_mentions_keeps_its_value_and_its_kind(self):
        example = subprocess.run([SOUNDINGD, "run", "--example-config"], capture_output=True, text=True, check=True).stdout
        config = without_empty(with_all_keys(example))
        self.assertGreater(sum(len(section) for section in config.values()), 30)
        self.root.configure(uci_of(config))
        self.assertEqual(tomllib.loads(self.root.toml()), config)

    def test_a_configuration_by_hand_becomes_its_toml_and_comes_back(self):
        self.root.configure(BY_HAND)
        toml = self.root.toml()
        self.assertEqual(tomllib.loads(toml), BY_HAND_TOML)
        self.root.configure(uci_of(BY_HAND_TOML))
        self.assertEqual(self.printed(self.root.toml()), self.printed(toml))

    def test_a_key_that_does_not_exist_is_refused_by_the_program_with_its_line(self):
        self.root.configure(ONE_MODEM + "\toption adress 'x'\n")
        toml = self.root.toml()
        line = toml.splitlines().index('adress = "x"') + 1
        self.root.put("tmp/wrong.toml", toml)
        error = self.root.run("soundingd run --config /tmp/wrong.toml --check-config", fails=True).stderr
        self.assertIn("unknown field `adress`", error)
        self.assertIn(f"line {line}", error)

    def test_values_of_another_kind_are_left_to_the_program(self):
        for key, value in ("mask", "perhaps"), ("mask", "true\nbudget = \"1bit\""), ("interfaces", "a b"):
            self.root.configure(f"config modem\n\toption {key} {quoted(value)}\n")
            said = tomllib.loads(self.root.toml())
            self.assertEqual(said, {"modem": {key: [value] if key == "interfaces" else value}})

    def test_a_section_of_another_name_is_kept_as_it_is(self):
        self.root.configure("config lan]x.y\n\toption a '1'\nconfig 2\n\toption b '2'\n")
        self.assertEqual(tomllib.loads(self.root.toml()), {"lan]x.y": {"a": "1"}, "2": {"b": "2"}})

    def test_no_hostile_value_becomes_a_key_or_a_command(self):
        values = [
            "'", '"', '"""', "\\", "\\\\\"", "\\n", "\\u0041", "\n", "a\n[serve]\nopen = true\n", '"\nopen = true #',
            "$(touch /tmp/owned)", "`touch /tmp/owned`", "; touch /tmp/owned", "' ; touch /tmp/owned '", "${IFS}", "$1",
            "*", "?", "[a-z]", "~", "%s%n", "-n", "-e \\t", "a\tb", "a\r\nb", "\x01\x1b[31m\x7f", " ", "  two  ", "#", "=",
            "=1", "]", "}", ", ", "ä€😀", "config modem\n\toption mask '0'", "'''",
        ]
        chance = random.Random(7)
        signs = "'\"\\\n\t $`;=[]{}#,()*?é\x02nutx0"
        values += ["".join(chance.choices(signs, k=chance.randint(1, 30))) for _ in range(200)]
        items = "".join(f"\tlist hosts {quoted(value)}\n" for value in values)
        self.root.configure(f"config serve\n{items}\toption address {quoted(values[8])}\nconfig modem\n")
        said = tomllib.loads(self.root.toml())
        self.assertEqual(said, {"serve": {"hosts": values, "address": values[8]}, "modem": {}})
        self.assertEqual(os.listdir(self.root.path / "tmp"), [])

    def test_a_value_that_is_no_text_ends_in_an_error_of_the_program(self):
        self.root.configure(ONE_MODEM + "\tlist hosts 'a\udcff\udcc3'\n")
        self.root.put("tmp/wrong.toml", self.root.toml())
        error = self.root.run("soundingd run --config /tmp/wrong.toml --check-config", fails=True).stderr
        self.assertIn("invalid utf-8", error)

    def test_no_hostile_number_or_weight_becomes_another_key(self):
        values = ["1\nopen = true", "1 }", "1, x = 2", "1#", "0x\"", "", "inf", "--", "$(id)"]
        items = "".join(f"\tlist weights {quoted(f'port:{at}={value}')}\n" for at, value in enumerate(values))
        self.root.put("usr/lib/sounding/keys", "cc weights map\ndownlink exid number\n")
        self.root.configure(f"config cc\n{items}config downlink\n\toption exid {quoted(values[0])}\n")
        said = tomllib.loads(self.root.toml())
        # The last "=" divides: a cgroup may have one in its name.
        weights = dict(f"port:{at}={value}".rsplit("=", 1) for at, value in enumerate(values))
        self.assertEqual(said, {"cc": {"weights": weights}, "downlink": {"exid": values[0]}})

    def test_a_file_that_is_no_uci_is_refused_with_its_line(self):
        self.root.configure("config modem\n\toption device '/dev/ttyUSB2'\n\tnonsense 'x'\n")
        error = self.root.run("/usr/lib/sounding/uci-to-toml", fails=True).stderr
        self.assertIn("line 3", error)
        self.assertIn("/etc/config/sounding cannot be read", error)

    def test_a_name_that_is_no_file_of_uci_is_refused(self):
        for name in "../shadow", "none", "a b":
            error = self.root.run(f"/usr/lib/sounding/uci-to-toml '{name}'", fails=True).stderr
            self.assertIn("uci-to-toml: ", error)
            self.assertIn(name, error)


class Service(InRoot):
    def instance(self) -> list[str]:
        return [
            "procd_open_service <sounding> </etc/init.d/sounding>",
            "procd_open_instance",
            "procd_set_param <command> </usr/bin/soundingd> <run> <--quiet> <--config> </var/run/sounding/sounding.toml>",
            "procd_set_param <file> </var/run/sounding/sounding.toml>",
            "procd_set_param <reload_signal> <HUP>",
            "procd_set_param <respawn> <3600> <10> <0>",
            "procd_set_param <env> <SOUNDING_RUN_DIR=/var/run/sounding> <SOUNDING_STATE_DIR=/etc/sounding>",
            "procd_set_param <user> <root>",
            "procd_set_param <limits> <core=0 0>",
            "procd_set_param <stdout> <1>",
            "procd_set_param <stderr> <1>",
            "procd_set_param <term_timeout> <10>",
            "procd_close_instance",
            "procd_add_reload_trigger <sounding>",
            "procd_close_service <set>",
        ]

    def no_instance(self) -> list[str]:
        return [self.instance()[0], *self.instance()[-2:]]

    def test_an_enabled_service_with_its_port_has_one_instance(self):
        self.root.configure(ONE_MODEM)
        self.plug("ttyUSB2")
        self.service("start")
        self.assertEqual(self.root.calls(), self.instance())
        self.assertEqual(self.root.log(), "")
        toml = self.root.path / "tmp/run/sounding/sounding.toml"
        self.assertEqual(stat.S_IMODE(toml.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(toml.parent.stat().st_mode), 0o755)
        self.assertEqual(tomllib.loads(toml.read_text())["modem"], {"device": "/dev/ttyUSB2"})
        self.root.run("soundingd run --quiet --config /var/run/sounding/sounding.toml --check-config")

    def test_another_folder_for_state_is_one_word(self):
        self.root.configure(ONE_MODEM.replace("enabled '1'", "enabled 'on'\n\toption state_dir '/mnt/a b; $(id)'"))
        self.plug("ttyUSB2")
        self.service("start")
        wanted = "procd_set_param <env> <SOUNDING_RUN_DIR=/var/run/sounding> <SOUNDING_STATE_DIR=/mnt/a b; $(id)>"
        self.assertIn(wanted, self.root.calls())

    def test_the_packages_own_configuration_starts_nothing_and_says_how(self):
        self.plug("ttyUSB0")
        self.service("start")
        self.assertEqual(self.root.calls(), self.no_instance())
        self.assertIn("uci set sounding.daemon.enabled=1", self.root.log())

    def test_without_its_port_it_waits_and_says_for_which(self):
        self.root.configure(ONE_MODEM.replace("/dev/", "non-hdlc:/dev/"))
        self.service("start")
        self.assertEqual(self.root.calls(), self.no_instance())
        self.assertIn("waits for a modem's port: /dev/ttyUSB2", self.root.log())

    def test_one_port_of_two_is_enough(self):
        self.root.configure(BY_HAND.replace("tcp:192.168.1.5:9000", "/dev/ttyUSB4"))
        self.plug("ttyUSB4")
        self.service("start")
        self.assertEqual(self.root.calls(), self.instance())

    def test_a_source_that_is_no_file_is_not_waited_for(self):
        self.root.configure(ONE_MODEM.replace("/dev/ttyUSB2", "tcp:192.168.1.5:9000"))
        self.service("start")
        self.assertEqual(self.root.calls(), self.instance())

    def test_a_wrong_configuration_starts_nothing_and_the_log_has_the_programs_error(self):
        self.root.configure(ONE_MODEM + "\toption adress 'x'\n")
        self.plug("ttyUSB2")
        said = self.service("start").stderr
        self.assertEqual(self.root.calls(), self.no_instance())
        for text in said, self.root.log():
            self.assertIn("unknown field `adress`", text)
        self.assertTrue((self.root.path / "tmp/run/sounding/sounding.toml.new").exists())

    def test_a_running_service_keeps_its_configuration_if_the_new_one_is_wrong(self):
        self.root.configure(ONE_MODEM)
        self.plug("ttyUSB2")
        self.service("start")
        toml = self.root.path / "tmp/run/sounding/sounding.toml"
        before = toml.read_bytes()
        self.root.calls()
        for wrong in ONE_MODEM + "\toption adress 'x'\n", "nonsense\n":
            self.root.configure(DAEMON + wrong)
            self.service("reload")
            self.assertEqual(self.root.calls(), self.instance())
            self.assertEqual(toml.read_bytes(), before)
            self.assertNotEqual(self.root.log(), "")

    def test_a_running_service_whose_port_went_is_not_ended_by_a_reload(self):
        self.root.configure(ONE_MODEM)
        self.plug("ttyUSB2")
        self.service("start")
        (self.root.path / "dev/ttyUSB2").unlink()
        self.root.configure(ONE_MODEM.replace("8080", "8081"))
        self.root.calls()
        self.service("reload")
        self.assertEqual(self.root.calls(), self.instance())
        self.assertIn("8081", (self.root.path / "tmp/run/sounding/sounding.toml").read_text())

    def test_after_its_stop_nothing_is_left_of_the_configuration(self):
        self.root.configure(ONE_MODEM)
        self.plug("ttyUSB2")
        self.service("start")
        self.root.calls()
        self.service("stop")
        self.assertEqual(self.root.calls(), ["procd_kill <sounding>"])
        self.assertEqual(os.listdir(self.root.path / "tmp/run/sounding"), [])


    def test_the_instance_runs_reads_a_new_configuration_at_its_signal_and_ends_in_time(self):
        """As procd does with the parameters of the instance. The modem is a silent one."""
        with socket.create_server(("127.0.0.1", 0)) as modem, socket.create_server(("127.0.0.1", 0)) as free:
            device = f"tcp:127.0.0.1:{modem.getsockname()[1]}"
            page = f"127.0.0.1:{free.getsockname()[1]}"
            free.close()
            config = DAEMON + f"config modem\n\toption device '{device}'\n\toption mask 0\n"
            self.root.configure(config + f"config serve\n\toption address '{page}'\n")
            self.service("start")
            said = dict(call.removeprefix("procd_set_param <").split("> ", 1) for call in self.root.calls()
                        if call.startswith("procd_set_param"))
            words = {name: text[1:-1].split("> <") for name, text in said.items()}
            with subprocess.Popen(
                [shutil.which("chroot"), self.root.path, *words["command"]],
                env=dict(one.split("=", 1) for one in words["env"]),
                stderr=subprocess.PIPE,
                text=True,
            ) as daemon:
                # It would be waited for at the end of this block, and while it says nothing.
                limit = threading.Timer(20, daemon.kill)
                limit.start()
                modem.settimeout(20)
                with modem.accept()[0]:
                    self.wait_for(daemon, "in /etc/sounding/serve.token")
                    self.wait_for(daemon, "lines started")
                    self.assertEqual(os.listdir(self.root.path / "etc/sounding"), ["serve.token"])
                    self.assertFalse((self.root.path / "run").exists())
                    self.root.configure(config + f"config serve\n\toption address '{page}'\n\tlist hosts 'router'\n")
                    self.service("reload")
                    daemon.send_signal(getattr(signal, f"SIG{words['reload_signal'][0]}"))
                    self.wait_for(daemon, "was read again; ended: serve")
                    daemon.terminate()
                    self.assertEqual(daemon.wait(int(words["term_timeout"][0])), 0)
                limit.cancel()

    def wait_for(self, daemon: subprocess.Popen, text: str):
        """Reads what it says up to a line with the text."""
        lines = []
        for line in daemon.stderr:
            lines.append(line)
            if text in line:
                return
        self.fail(f"no {text!r} in {lines}")


class Hotplug(InRoot):
    def setUp(self):
        super().setUp()
        self.root.configure(ONE_MODEM)
        self.service("enable")

    def event(self, subsystem: str, **variables: str) -> bool:
        """Whether it started the service."""
        self.root.run(f"hotplug-call {subsystem}", **variables)
        return "procd_open_instance" in self.root.calls()

    def test_the_port_of_a_modem_starts_the_service(self):
        self.plug("ttyUSB2")
        for subsystem, name in ("tty", "ttyUSB2"), ("wwan", "ttyUSB2"), ("tty", "/dev/ttyUSB2"):
            self.assertTrue(self.event(subsystem, ACTION="add", DEVNAME=name), (subsystem, name))

    def test_a_port_without_framing_starts_it_too(self):
        self.root.configure(ONE_MODEM.replace("/dev/", "non-hdlc:/dev/"))
        self.plug("ttyUSB2")
        self.assertTrue(self.event("tty", ACTION="add", DEVNAME="ttyUSB2"))

    def test_other_events_start_nothing(self):
        self.plug("ttyUSB2")
        for variables in (
            {"ACTION": "add", "DEVNAME": "ttyUSB3"},
            {"ACTION": "add", "DEVNAME": "ttyUSB22"},
            {"ACTION": "add", "DEVNAME": "$(touch /tmp/owned)"},
            {"ACTION": "remove", "DEVNAME": "ttyUSB2"},
            {"ACTION": "add"},
            {"DEVNAME": "ttyUSB2"},
        ):
            self.assertFalse(self.event("tty", **variables), variables)
        self.assertFalse((self.root.path / "tmp/owned").exists())

    def test_a_service_that_is_disabled_is_not_started(self):
        self.service("disable")
        self.plug("ttyUSB2")
        self.assertFalse(self.event("tty", ACTION="add", DEVNAME="ttyUSB2"))


class PackageScripts(InRoot):
    """opkg calls a script by its own file; apk calls one without the package's name."""

    def setUp(self):
        super().setUp()
        self.root.configure(ONE_MODEM)
        self.plug("ttyUSB2")
        for name in "postinst", "prerm":
            shutil.copy(self.root.path / "scripts" / name, self.root.path / f"usr/lib/opkg/info/soundingd.{name}")

    def starts(self) -> list[str]:
        known = {"procd_open_instance": "start", "procd_kill <sounding>": "stop"}
        return [known[call] for call in self.root.calls() if call in known]

    def test_opkg_installs_and_removes(self):
        self.root.run("/usr/lib/opkg/info/soundingd.postinst configure")
        self.assertEqual(self.starts(), ["start"])
        self.assertTrue((self.root.path / "etc/rc.d/S95sounding").is_symlink())
        self.root.run("/usr/lib/opkg/info/soundingd.prerm remove")
        self.assertEqual(self.starts(), ["stop"])
        self.assertEqual(os.listdir(self.root.path / "etc/rc.d"), [])

    def test_an_upgrade_by_opkg_stops_and_starts_once_and_stays_enabled_or_not(self):
        for is_enabled in True, False:
            self.service("enable" if is_enabled else "disable")
            self.root.run("/usr/lib/opkg/info/soundingd.prerm upgrade", PKG_UPGRADE="1")
            self.root.run("/usr/lib/opkg/info/soundingd.postinst configure", PKG_UPGRADE="1")
            self.assertEqual(self.starts(), ["stop", "start"])
            self.assertEqual((self.root.path / "etc/rc.d/S95sounding").is_symlink(), is_enabled)

    def test_apk_installs_upgrades_and_removes(self):
        listed = self.root.path / "usr/lib/opkg/info/soundingd.list"
        (self.root.path / "lib/apk/packages").mkdir(parents=True)
        listed.rename(self.root.path / "lib/apk/packages/soundingd.list")
        for name, wanted in ("postinst", ["start"]), ("post-upgrade", ["stop", "start"]), ("prerm", ["stop"]):
            shutil.copy(HERE.parent / name, self.root.path / "tmp/script")
            self.root.run("cd /tmp; ./script 0.1.0-r1")
            self.assertEqual(self.starts(), wanted, name)

    def test_without_openwrts_library_the_scripts_do_nothing(self):
        (self.root.path / "lib/functions.sh").unlink()
        for name in "postinst", "prerm":
            self.root.run(f"/usr/lib/opkg/info/soundingd.{name}")
        self.assertEqual(self.starts(), [])


if __name__ == "__main__":
    unittest.main(verbosity=1)
