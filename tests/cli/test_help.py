"""What help shows on terminals of any width, and what shells complete."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from enumerate.cli.app import make_app
from enumerate.model.settings import GROUPS, SETTINGS

from ..support.commands import called

COMMANDS = sorted(name for name in make_app([]) if not name.startswith("-"))


def help_of(*words, width=80, **environment):
    done = called(*words, "--help", cwd=".", environment={"COLUMNS": str(width), **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_flags_stand_in_groups_in_one_order_with_examples_at_the_end():
    text = help_of()
    titles = re.findall(r"^╭─ (.*?) ─", text, re.MULTILINE)
    assert titles == ["Commands", *GROUPS, "What is printed"]
    examples = text.split("Examples:\n")[1].strip().splitlines()
    assert len(examples) == 5
    assert all(line.strip().startswith("python -m enumerate ") for line in examples)
    for setting in SETTINGS:
        assert re.search(rf"--(no-)?{setting.name} ", text)


@pytest.mark.parametrize("name", ["", *COMMANDS])
@pytest.mark.parametrize("width", [80, 60, 40])
def test_no_line_is_longer_than_the_terminal_and_none_is_cut(name, width):
    text = help_of(*filter(None, [name]), width=width)
    body = text.split("Examples:\n")[0]  # commands to paste are not folded
    assert max(map(len, body.splitlines())) <= width
    assert "…" not in body
    if width == 80:
        assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_no_default_is_empty_or_said_twice(name):
    text = " ".join(re.sub("[│╭╮╰╯─]", " ", help_of(*filter(None, [name]))).split())
    assert 'default: ""' not in text
    assert not re.search(r"\[default: [^\]]*\] \[default:", text)


def test_choices_are_shown_as_choices():
    text = " ".join(re.sub("[│]", " ", help_of()).split())
    assert "[choices: open, closed, both]" in text
    assert "[choices: structured, symmetric]" in text


@pytest.mark.parametrize("called_as", ["./run.sh", "knights-tours", ""])
def test_help_names_the_program_as_the_user_did(called_as):
    text = help_of(KNIGHTS_TOURS_CALLED=called_as)
    name = called_as or "python -m enumerate"
    assert text.startswith(f"Usage: {name} COMMAND")
    assert f"  {name} verify output/closed-8x8" in text


def completions(words):
    """What a real bash offers for the last word."""
    script = called("completion", "bash", cwd=".").stdout
    typed = " ".join(f"'{word}'" for word in words)
    ask = f"""
    COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; COMPREPLY=()
    name=$(complete -p knights-tours | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
    "$name"; printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "--norc", "-c", script + ask], check=True, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_commands_flags_and_choices():
    assert completions(["knights-tours", "ver"]) == ["verify"]
    assert completions(["knights-tours", "--vari"]) == ["--variant"]
    assert completions(["knights-tours", "--variant", ""]) == ["open", "closed", "both"]
    assert set(completions(["knights-tours", "--strategy", ""])) == {"warnsdorff", "backtrack", "greedy", "divide"}
    assert "--json" in completions(["knights-tours", "count", "--"])


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script_too(shell):
    script = called("completion", shell, cwd=".").stdout
    assert "knights-tours" in script
    assert "variant" in script
    if not shutil.which(shell):
        pytest.skip(f"its syntax cannot be checked: no {shell} here")
    subprocess.run([shell, "-n"], input=script, check=True, text=True)
