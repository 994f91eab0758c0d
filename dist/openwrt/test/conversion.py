"""UCI becomes TOML, under busybox' ash: both ways, with every key, and with hostile values."""

import os
import random
import subprocess
import tempfile
import tomllib
import unittest

from convert import quoted, uci_of, with_all_keys, without_empty
from root import BY_HAND, ONE_MODEM, SOUNDINGD, InRoot

EXAMPLE = subprocess.run([SOUNDINGD, "run", "--example-config"], capture_output=True, text=True, check=True).stdout

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


class Conversion(InRoot):
    def asked(self, what: str, toml: str) -> subprocess.CompletedProcess:
        """What the program says of a configuration."""
        with tempfile.NamedTemporaryFile(suffix=".toml") as file:
            file.write(toml.encode("utf-8", "surrogateescape"))
            file.flush()
            command = [SOUNDINGD, "run", "--config", file.name, what]
            return subprocess.run(command, capture_output=True, text=True)

    def printed(self, toml: str) -> str:
        """The configuration as the program understands it."""
        done = self.asked("--print-config", toml)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, toml: str) -> str:
        """The program's error."""
        done = self.asked("--check-config", toml)
        self.assertNotEqual(done.returncode, 0, toml)
        return done.stderr

    def test_the_example_as_uci_becomes_the_same_configuration(self):
        # The example alone asks for no output, and would be refused.
        example = EXAMPLE.replace("[feed]\n", '[feed]\nname = "live"\n')
        self.root.configure(uci_of(without_empty(tomllib.loads(example))))
        self.assertEqual(self.printed(self.root.toml()), self.printed(example))

    def test_every_key_that_the_example_mentions_keeps_its_value_and_its_kind(self):
        config = without_empty(with_all_keys(EXAMPLE))
        self.assertGreater(sum(len(section) for section in config.values()), 20)
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
        error = self.refused(toml)
        self.assertIn("unknown field `adress`", error)
        self.assertIn(f"line {line}", error)

    def test_values_of_another_kind_are_left_to_the_program(self):
        for key, value in ("mask", "perhaps"), ("mask", "true\nbudget = \"1bit\""), ("interfaces", "a b"):
            self.root.configure(f"config modem\n\toption {key} {quoted(value)}\n")
            said = tomllib.loads(self.root.toml())
            self.assertEqual(said, {"modem": {key: [value] if key == "interfaces" else value}})

    def test_a_section_of_another_name_keeps_its_name(self):
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
        self.assertIn("invalid utf-8", self.refused(self.root.toml()))

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


if __name__ == "__main__":
    unittest.main(verbosity=1)
