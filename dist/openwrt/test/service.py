"""The service, hotplug and the package's scripts under busybox' ash, at their own paths. Calls of procd are recorded."""

import os
import shutil
import signal
import socket
import stat
import subprocess
import threading
import tomllib
import unittest

from root import BY_HAND, DAEMON, HERE, ONE_MODEM, InRoot


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

    def test_a_source_that_is_no_serial_port_is_not_waited_for(self):
        for source in "tcp:192.168.1.5:9000", "/dev/wwan0qcdm0":
            self.root.configure(ONE_MODEM.replace("/dev/ttyUSB2", source))
            self.service("start")
            self.assertEqual(self.root.calls(), self.instance())
            self.service("stop")
            self.root.calls()

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

    def event(self, **variables: str) -> bool:
        """Whether it started the service."""
        self.root.run("hotplug-call tty", **variables)
        return "procd_open_instance" in self.root.calls()

    def test_the_port_of_a_modem_starts_the_service(self):
        self.plug("ttyUSB2")
        for name in "ttyUSB2", "/dev/ttyUSB2":
            self.assertTrue(self.event(ACTION="add", DEVNAME=name), name)

    def test_a_port_without_framing_starts_it_too(self):
        self.root.configure(ONE_MODEM.replace("/dev/", "non-hdlc:/dev/"))
        self.plug("ttyUSB2")
        self.assertTrue(self.event(ACTION="add", DEVNAME="ttyUSB2"))

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
            self.assertFalse(self.event(**variables), variables)
        self.assertFalse((self.root.path / "tmp/owned").exists())

    def test_a_service_that_is_disabled_is_not_started(self):
        self.service("disable")
        self.plug("ttyUSB2")
        self.assertFalse(self.event(ACTION="add", DEVNAME="ttyUSB2"))


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
