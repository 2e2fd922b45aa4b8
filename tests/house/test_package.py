"""What pyproject.toml promises to those who install the package, with some of its extras or none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

import pytest

from ..support.commands import ROOT, called, environment_with

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
# Somebody else, who may read everything (root's own Python, too) and write only what is theirs.
AS_NOBODY = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups",
             "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"] if os.getuid() == 0 else []  # fmt: skip
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


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The source distribution, and the wheel that is made of it alone."""
    folder = tmp_path_factory.mktemp("built")
    venv = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    subprocess.run([venv / "bin/pip", "install", "--quiet", "flit_core>=3.12,<4"], check=True)
    build = "import sys; from flit_core.buildapi import build_{0}; build_{0}(sys.argv[1])"
    subprocess.run([venv / "bin/python", "-c", build.format("sdist"), folder], cwd=ROOT, check=True)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (source,) = (path for path in folder.iterdir() if path.is_dir() and path != venv)
    subprocess.run([venv / "bin/python", "-c", build.format("wheel"), folder], cwd=source, check=True)
    (wheel,) = folder.glob("*.whl")
    return source, wheel


@pytest.mark.slow
def test_the_source_distribution_has_what_the_repository_has(built):
    source, _ = built
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    expected = {name for name in listed if not name.startswith((".", "output/"))}
    assert expected - {str(path.relative_to(source)) for path in source.rglob("*")} == set()


@pytest.mark.slow
def test_the_wheel_in_an_empty_environment_serves_a_user_who_is_not_root(built, tmp_path_factory):
    """In /tmp, which every user may enter."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        home, venv = Path(folder, "home"), Path(folder, "venv")
        home.mkdir()
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin/pip", "install", "--quiet", f"{built[1]}[web]"], check=True)
        if os.getuid() == 0:
            shutil.chown(home, "nobody")

        def used(*words):
            return subprocess.run(
                [*AS_NOBODY, venv / "bin/knights-tours", *words], cwd=home, check=False, capture_output=True, text=True,
                env={"HOME": str(home), "PATH": os.environ["PATH"]},
            )  # fmt: skip

        done = used("--size", "5", "--max", "0", "--workers", "2")
        assert done.returncode == 0, done.stderr
        assert "1,728 directed open tours = OEIS A165134" in done.stdout
        assert used("verify", "output/open-5x5").stdout.startswith("sound: ")
        assert used("report", "output/open-5x5").returncode == 0
        assert "<svg" in (home / "open-5x5.html").read_text(encoding="utf-8")
        assert (home / "output/open-5x5/tours.sql").exists()
        assert used("--help").stdout.startswith("Usage: knights-tours ")
