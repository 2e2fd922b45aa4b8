"""One config from flags and files: bad values get one line that shows them, good ones a folder and an identity."""

from dataclasses import replace

import pytest

from enumerate.cli.request import config_of
from enumerate.model.board import Board
from enumerate.model.config import Config
from enumerate.model.errors import BadRequest
from enumerate.model.settings import SETTINGS
from enumerate.model.values import parse_whole, read_toml
from enumerate.search.strategy import identity_of, resolve, settled

LARGEST = 10**18


def refusal(make, *arguments, **values):
    with pytest.raises(BadRequest) as caught:
        make(*arguments, **values)
    line = str(caught.value)
    assert line
    assert "\n" not in line
    return line


@pytest.fixture
def from_file(tmp_path):
    """A function from the text of a config file, and flags, to the config."""

    def resolved(text, **flags):
        path = tmp_path / "some.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return config_of({"config": str(path), **{name.replace("_", "-"): value for name, value in flags.items()}})

    return resolved


def standard(**values):
    """The default run with other values."""
    return replace(resolve({}), **values)


# Bad values


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("size", "0"),
        ("size", "8x"),
        ("size", "10000x10000"),
        ("size", -1),
        ("size", 0),
        ("size", 8193),
        ("size", 8.0),
        ("size", True),
        ("size", [5, 6]),
        ("variant", "opne"),
        ("variant", "Open"),
        ("variant", ""),
        ("variant", "a\nb"),
        ("variant", 1),
        ("start", 5),
        ("start", ["a1", "d4"]),
        ("executor", "ray"),
        ("executor", "thread"),
        ("executor", False),
        ("prune", "yes"),
        ("prune", 1),
        ("h-prob", 2),
        ("h-prob", -0.5),
        ("h-prob", 1.0000001),
        ("h-prob", float("nan")),
        ("h-prob", float("inf")),
        ("h-prob", "0.5"),
        ("h-prob", True),
        ("max", -1),
        ("max", 10**30),
        ("max", LARGEST + 1),
        ("max", 1.5),
        ("max", 1e6),
        ("max", "500 or so"),
        ("max", True),
        ("tours", -1),
        ("tours", 10**30),
        ("seed", -1),
        ("seed", LARGEST + 1),
        ("seed", 0.0),
        ("workers", -1),
        ("workers", 1025),
        ("workers", "all"),
        ("slice-iterations", 0),
        ("slice-iterations", -5),
        ("slice-iterations", LARGEST + 1),
        ("slice-tours", -1),
        ("slice-tours", 2**20 + 1),
        ("output", 5),
        ("output", ["a"]),
    ],
)
def test_a_bad_value_is_refused_in_one_line_that_names_the_key_and_shows_the_value(key, value):
    line = refusal(resolve, {key: value})
    shown = repr(value) if isinstance(value, str) else str(value)
    assert shown in line
    assert key in line or key == "size"


@pytest.mark.parametrize(
    ("key", "value"),
    [("max", 0), ("max", LARGEST), ("tours", LARGEST), ("seed", LARGEST), ("workers", 1024), ("slice-iterations", 1),
     ("slice-iterations", LARGEST), ("slice-tours", 2**20), ("h-prob", 0.0), ("h-prob", 1.0), ("prune", False)],
)  # fmt: skip
def test_the_ends_of_each_range_are_good(key, value):
    assert getattr(resolve({key: value}), key.replace("-", "_")) == value


@pytest.mark.parametrize(("word", "meant"), [("opne", "open"), ("close", "closed"), ("bot", "both")])
def test_a_misspelt_variant_gets_a_hint(word, meant):
    assert refusal(Config.checked, variant=word).endswith(f"{word!r}; did you mean {meant!r}?")


def test_a_word_like_no_variant_gets_no_hint():
    assert refusal(Config.checked, variant="xyz") == "variant must be open, closed or both, got 'xyz'"


@pytest.mark.parametrize(
    ("key", "meant"), [("sizee", "size"), ("varient", "variant"), ("h_prob", "h-prob"), ("slice_tours", "slice-tours")]
)
def test_an_unknown_key_gets_a_hint(key, meant):
    assert refusal(resolve, {key: 1}) == f"unknown key: {key!r}; did you mean {meant!r}?"


@pytest.mark.parametrize("key", ["qqq", "board", "", "a\nb"])
def test_an_unknown_key_like_no_other_gets_the_known_ones(key):
    line = refusal(resolve, {key: 1})
    known = {setting.name for setting in SETTINGS}
    assert line == f"unknown key: {key!r}; known are {', '.join(sorted(known))}"


# Config files


def test_a_file_sets_every_key(from_file):
    config = from_file(
        """
        size = "5x6"
        variant = "both"
        start = "a1,d4"
        prune = false
        h-prob = 0.5
        seed = 7
        slice-iterations = 1_000
        slice-tours = 10
        max = 0
        tours = 3
        output = "there"
        executor = "serial"
        workers = 2
        """
    )
    assert config == standard(
        board=Board(5, 6), variant="both", start="a1,d4", prune=False, h_prob=0.5, seed=7, slice_iterations=1_000,
        slice_tours=10, max=0, tours=3, output="there", executor="serial", workers=2,
    )  # fmt: skip


def test_an_empty_file_and_no_file_give_the_defaults(from_file):
    assert from_file("") == from_file("# nothing\n") == config_of({}) == resolve({})


def test_a_size_in_a_file_may_be_a_number_and_a_probability_whole(from_file):
    assert from_file("size = 6\nh-prob = 0") == standard(board=Board(6, 6), h_prob=0.0, output="output/open-6x6-h0")


def test_flags_beat_the_file_and_leave_the_rest_of_it(from_file):
    text = 'size = 6\nmax = 100\nvariant = "closed"\nprune = false\nh-prob = 0.5\n'
    config = from_file(text, size="5x6", max=0, prune=True, h_prob=0.0)
    assert config == standard(
        board=Board(5, 6), max=0, variant="closed", prune=True, h_prob=0.0, output="output/closed-5x6-h0"
    )


@pytest.mark.parametrize("text", ["max = -1", "max = 'many'", "max = []"])
def test_a_bad_value_in_the_file_is_refused_also_if_a_flag_beats_it(from_file, text):
    with pytest.raises(BadRequest, match="max must be"):
        from_file(text, max=5)


def test_numbers_may_have_units(from_file):
    assert from_file("max = '5M'").max == 5_000_000
    assert [parse_whole(text) for text in ("500k", "500_000", "5e5", "0.5M")] == [500_000] * 4
    for text in ("1.5", "k", "5 k", "1e-1", "5m", "1_000.5k1", "0x10"):
        with pytest.raises(BadRequest, match="whole number"):
            parse_whole(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sizee = 8", "unknown key: 'sizee'; did you mean 'size'?"),
        ("[size]\nrows = 8", "size must be a size such as 8 or '5x6', got {'rows': 8}"),
        ("[run]\nsize = 8", "unknown key: 'run'"),
        ("config = 'other.toml'", "unknown key: 'config'"),
        ("max = 1.5", "max must be a whole number, got 1.5"),
        ("max = 2024-01-01", "max must be a whole number, got "),
        ("max = -1", "max must be a whole number from 0"),
        ('start = ["a1"]', "start must be a string, got ['a1']"),
        ("size = 8\nsize = 8", "not valid TOML"),
        ("size = ", "not valid TOML"),
        ("size 8", "not valid TOML"),
        (b'variant = "\xff"', "not valid TOML"),
        (b"\x00", "not valid TOML"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(from_file, text, told):
    assert told in refusal(from_file, text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("max = " + "1" * 5_000, id="a number Python refuses to read"),
        pytest.param("max = 0x" + "f" * 5_000, id="a number Python refuses to print"),
        pytest.param("size = 0x" + "f" * 5_000, id="a size Python refuses to print"),
        pytest.param("h-prob = 1" + "0" * 400, id="a whole number too large for a float"),
        pytest.param("max = " + "[" * 10_000, id="lists in lists without end"),
    ],
)
def test_a_monstrous_value_is_refused_in_one_line_too(from_file, text):
    refusal(from_file, text)


def test_a_file_that_is_not_there_or_not_a_file_is_refused_with_its_name(tmp_path):
    assert refusal(read_toml, "none.toml") == "cannot read the config file: 'none.toml' (No such file or directory)"
    assert refusal(read_toml, str(tmp_path)) == f"cannot read the config file: {str(tmp_path)!r} (Is a directory)"


# Folders


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({}, "open-8x8"),
        ({"variant": "closed", "size": "5x6"}, "closed-5x6"),
        ({"start": "classes"}, "open-8x8-classes"),
        ({"start": "d4,a1"}, "open-8x8-a1+d4"),
        ({"start": "random:5", "seed": 3}, "open-8x8-random5-seed3"),
        ({"prune": False}, "open-8x8-plain"),
        ({"h-prob": 0.25, "seed": 7}, "open-8x8-h0.25-seed7"),
        ({"size": 6, "start": "a1", "prune": False, "h-prob": 0, "seed": 1}, "open-6x6-a1-plain-h0-seed1"),
    ],
)
def test_the_folder_is_named_after_the_search(values, name):
    assert resolve(values).output == f"output/{name}"


def test_output_is_the_folder_itself():
    assert Config(output="here/there", variant="closed").output == "here/there"


@pytest.mark.parametrize(("key", "value"), [("max", 1), ("tours", 5), ("workers", 3), ("executor", "serial")])
def test_a_call_with_another_budget_or_other_workers_meets_the_same_run(key, value):
    config = resolve({key: value})
    assert config != resolve({})
    assert config.output == resolve({}).output
    assert identity_of(config) == identity_of(Config())


@pytest.mark.parametrize(
    ("key", "one", "other"),
    [
        ("start", "a1,d4", "d4,a1"),
        ("start", "a1,d4", " A1 , D4 "),
        ("start", "a1,d4", "a1,\td4"),
        ("start", "classes", "Classes"),
        ("size", "8", "8x8"),
        ("size", "5x6", " 5X6 "),
        ("h-prob", 1, 1.0),
        ("h-prob", 0.0, -0.0),
    ],
)
def test_the_same_search_said_otherwise_has_the_same_identity_and_folder(key, one, other):
    one, other = resolve({key: one}), resolve({key: other})
    assert identity_of(one) == identity_of(other)
    assert one.output == other.output


def test_a_long_list_of_squares_makes_a_short_name_of_its_own():
    names = [Board(8, 8).name(square) for square in range(64)]
    folders = {resolve({"start": ",".join(names[:count])}).output for count in range(1, 65)}
    assert len(folders) == 64
    assert max(map(len, folders)) <= 60


# Identity


def test_the_identity_of_the_standard_run():
    assert identity_of(Config()) == {
        "format": 5,
        "search": 2,
        "size": "8x8",
        "missing-corner": False,
        "variant": "open",
        "strategy": "warnsdorff",
        "start": "all",
        "only": "",
        "write": True,
        "prune": True,
        "h-prob": 1.0,
        "seed": 0,
        "split": 1,
        "expand": False,
        "slice-iterations": 10_000_000,
        "slice-tours": 524_288,
    }


@pytest.mark.parametrize(
    ("key", "value"),
    [("size", "5x6"), ("variant", "closed"), ("start", "a1"), ("prune", False), ("h-prob", 0.5), ("seed", 1),
     ("slice-iterations", 5), ("slice-tours", 5), ("only", "structured"), ("write", False), ("missing-corner", True),
     ("split", 8), ("split", "by-size")],
)  # fmt: skip
def test_whatever_changes_the_tours_or_their_parts_changes_the_identity(key, value):
    changed = identity_of(resolve({key: value}))
    assert [name for name in changed if changed[name] != identity_of(Config())[name]] == [key]
    assert changed[key] == value


def test_a_config_is_rebuilt_from_its_identity():
    config = Config(board=Board(5, 6), variant="both", start="a1,d4", prune=False, h_prob=0.1, seed=7)
    assert identity_of(rebuilt(config)) == identity_of(config)


@pytest.mark.parametrize("values", [{"split": 7}, {"max": 0}, {"start": "classes", "expand": True}], ids=str)
def test_how_a_run_is_split_and_expanded_is_rebuilt_from_its_identity(values):
    config = Config(**values)
    assert identity_of(rebuilt(config)) == identity_of(config)
    assert (rebuilt(config).split, rebuilt(config).expand) == (settled(config).split, config.expand)


def rebuilt(config):
    return resolve({key: value for key, value in identity_of(config).items() if key not in ("format", "search")})


@pytest.mark.parametrize(
    ("size", "tours"), [("8", 524_288), ("9", 414_252), ("16", 131_072), ("17", 58_052), ("256", 256)]
)
def test_a_slice_holds_at_most_32_mebibytes_of_tours(size, tours):
    assert resolve({"size": size}).tours_in_slice == tours
