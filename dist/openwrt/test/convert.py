"""TOML as UCI, for tests: the other direction of uci-to-toml."""

import re
import tomllib


def uci_of(config: dict) -> str:
    """The UCI configuration that means the same."""
    lines = []
    for name, content in config.items():
        for section in content if isinstance(content, list) else [content]:
            lines += section_of(name, section)
    return "\n".join(lines) + "\n"


def section_of(name: str, section: dict) -> list[str]:
    lines, inner = [f"config {name}"], []
    for key, value in section.items():
        if isinstance(value, dict) and all(isinstance(one, str) for one in value.values()):
            inner += section_of(f"{name}_{key}", value)
        elif isinstance(value, dict):
            lines += [f"\tlist {key} {quoted(f'{owner}={number}')}" for owner, number in value.items()]
        elif isinstance(value, list):
            lines += [f"\tlist {key} {quoted(item)}" for item in value]
        elif isinstance(value, bool):
            lines.append(f"\toption {key} '{int(value)}'")
        else:
            lines.append(f"\toption {key} {quoted(str(value))}")
    return lines + inner


def quoted(value: str) -> str:
    return "'" + value.replace("'", "'\\''") + "'"


def without_empty(config):
    """Without empty lists and maps: in UCI such a key does not exist, and it is the program's default."""
    if isinstance(config, list):
        return [without_empty(item) for item in config]
    if isinstance(config, dict):
        kept = {key: without_empty(value) for key, value in config.items()}
        return {key: value for key, value in kept.items() if value != [] and not (key == "weights" and value == {})}
    return config


def with_all_keys(example: str) -> dict:
    """The example with every section and key that it only mentions."""
    keys = re.compile(r'^# ((?:[a-z_]+|"[^"]+") = .*|\[[a-z_.]+\])$', re.MULTILINE)
    return tomllib.loads(keys.sub(r"\1", example))
