"""What pyproject.toml promises to those who install the package, with some of its extras or none."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest

from ..support.commands import ROOT, called, environment_with

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
# As pip and uv write it.
CONSOLE_COMMAND = "import sys\nfrom {} import {}\nif __name__ == '__main__':\n    sys.exit({}())\n"


def test_the_console_command_searches_with_workers_and_hands_on_the_exit_code(tmp_path):
    module, function = PROJECT["scripts"]["knights-tours"].split(":")
    script = tmp_path / "knights-tours"
    script.write_text(CONSOLE_COMMAND.format(module, function, function))
    for words, code in ((("--size", "5", "--max", "0", "--workers", "1"), 0), (("--size", "nine"), 2)):
        done = subprocess.run([sys.executable, script, *words], cwd=tmp_path, env=environment_with(), check=False,
                              capture_output=True, text=True)  # fmt: skip
        assert done.returncode == code, done.stderr


@pytest.mark.parametrize("words", [("view",), ("play",), ("report", "run")], ids=" ".join)
@pytest.mark.parametrize("package", ["jinja2", "starlette", "uvicorn"])
def test_pages_without_their_extra_are_refused_with_what_to_install(tmp_path, monkeypatch, words, package):
    for name in [name for name in sys.modules if name.startswith("enumerate.view.web")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    done = called(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"error: pages need {package}: pip install 'knights-tour-enumerator[web]'\n"


def test_the_package_has_floors_and_no_caps():
    assert not [words for words in sum(EXTRAS.values(), PROJECT["dependencies"]) if re.search("<|==|~", words)]


@pytest.mark.parametrize("path", sorted(ROOT.glob("requirements*.lock")), ids=lambda path: path.name)
def test_a_lock_names_packages_and_hashes_only(path):
    assert not re.search(r"://|^-|file:", path.read_text(encoding="utf-8"), re.MULTILINE)
