"""The game and the watcher in a real Chromium. Every complaint in the browser's console fails a test."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest

from enumerate.model.batch import batch_arrays
from enumerate.model.board import Board
from enumerate.model.config import Config
from enumerate.model.jobs import Job
from enumerate.model.theorems import are_near
from enumerate.search.strategy import make_search, strategy_of

from ...support.commands import serving, wait_for
from ...support.contrast import CONTRAST

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}
CALM = {"reduced_motion": "reduce"}


@pytest.fixture(scope="module")
def address():
    """Where a real server plays."""
    with serving("play") as address:
        yield address


def shown_path(page):
    """The path on the board, as names of squares, read from the picture's points."""
    points = page.locator(".stage .path").first.get_attribute("points") or ""
    places = [tuple(map(float, point)) for point in re.findall(r"([\d.]+)[, ]([\d.]+)", points)]
    rows = round((float(page.locator(".stage svg").get_attribute("viewBox").split()[3]) - 44) / 40)
    return [f"{'abcdefghijklmnopqrst'[int((x - 42) / 40)]}{rows - int((y - 42) / 40)}" for x, y in places]


def square(page, name):
    return page.get_by_role("button", name=re.compile(rf"^{name}(,|$)"))


def allowed(page):
    labels = page.evaluate("[...document.querySelectorAll('.stage .square')].map(e => e.getAttribute('aria-label'))")
    return {label.split(",")[0] for label in labels if label.endswith(", allowed")}


def said(page):
    return page.locator("[data-said]").inner_text()


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def is_tour(board, names):
    path = [board.square(name) for name in names]
    steps = pairwise(path)
    return sorted(path) == list(range(board.squares)) and all(are_near(*step, board.cols) for step in steps)


# The game.

# A tour of 5x5 in which some moves, the last ones among them, are the only ones allowed.
TOUR = ["a1", "c2", "e1", "d3", "e5", "c4", "a5", "b3", "d2", "b1", "a3", "b5", "d4", "e2", "c1", "a2", "b4", "d5",
        "e3", "d1", "b2", "a4", "c5", "e4", "c3"]  # fmt: skip


def test_the_tour_of_these_tests_is_one():
    assert is_tour(Board(5, 5), TOUR)


def test_a_whole_game_with_auto_moves(address, open_page):
    page = open_page(f"{address}/play?size=5x5", **CALM)
    board, path, clicks = Board(5, 5), [], 0
    while len(path) < 25:
        square(page, TOUR[len(path)]).click()
        clicks += 1
        path = shown_path(page)
        assert path == TOUR[: len(path)]
        here, seen = board.square(path[-1]), {board.square(name) for name in path}
        ways = {board.name(other) for other in board.neighbours[here] if other not in seen}
        assert allowed(page) == ways
        assert len(ways) != 1  # else the knight would have moved on
    assert clicks < 25
    assert said(page).endswith("An open tour of all 25 squares!")
    assert page.locator("[data-count]").inner_text() == "25 of 25"


def test_without_auto_move_each_square_is_chosen(address, open_page):
    page = open_page(f"{address}/play?size=5x5", **CALM)
    page.get_by_label("move automatically").uncheck()
    for number, name in enumerate(TOUR, 1):
        square(page, name).click()
        assert shown_path(page) == TOUR[:number]
    page.reload()
    assert not page.get_by_label("move automatically").is_checked()


def test_undo_takes_back_the_moves_made_by_itself_and_redo_brings_them_again(address, open_page):
    page = open_page(f"{address}/play?size=3x4", **CALM)
    square(page, "a1").click()
    square(page, "c2").click()  # then there is one way only, to a3, and one from there
    after = shown_path(page)
    assert after[:4] == ["a1", "c2", "a3", "b1"]
    press(page, "Undo")
    assert shown_path(page) == ["a1"]
    page.keyboard.press("r")
    assert shown_path(page) == after
    press(page, "Undo")
    press(page, "Undo")
    assert shown_path(page) == []
    assert page.get_by_role("button", name="Undo", exact=True).is_disabled()
    page.keyboard.press("Control+y")
    page.keyboard.press("Control+Shift+z")
    assert shown_path(page) == after


def test_a_move_after_undo_ends_what_could_be_redone(address, open_page):
    page = open_page(f"{address}/play?size=6x6", **CALM)
    for name in ("a1", "b3", "c5"):
        square(page, name).click()
    press(page, "Undo")
    square(page, "d4").click()
    assert page.get_by_role("button", name="Redo", exact=True).is_disabled()
    assert shown_path(page) == ["a1", "b3", "d4"]


def test_choosing_a_visited_square_goes_back_to_it(address, open_page):
    page = open_page(f"{address}/play?size=6x6", **CALM)
    for name in ("a1", "b3", "c5", "e6"):
        square(page, name).click()
    square(page, "b3").click()
    assert shown_path(page) == ["a1", "b3"]
    press(page, "Undo")
    assert shown_path(page) == ["a1", "b3", "c5", "e6"]


def test_a_square_that_is_not_allowed_is_refused(address, open_page):
    page = open_page(f"{address}/play?size=6x6", **CALM)
    square(page, "a1").click()
    square(page, "a2").click()
    assert said(page) == "No knight's move leads from a1 to a2."
    assert shown_path(page) == ["a1"]


def test_a_dead_end_ends_the_game(address, open_page):
    page = open_page(f"{address}/play?size=5x5", **CALM)
    page.get_by_label("move automatically").uncheck()
    path = ["e2", "c1", "a2", "b4", "d5", "e3", "d1", "b2", "a4", "c5", "e4", "d2", "b1", "a3", "c2", "a1", "b3", "a5",
            "c4", "e5", "d3", "e1"]  # fmt: skip
    for name in path:
        square(page, name).click()
    assert said(page).endswith("Game over: you visited 22 of 25 squares.")
    press(page, "Hint")
    assert said(page) == "Game over: you visited 22 of 25 squares."


def test_the_knight_goes_by_itself_square_by_square(address, open_page):
    page = open_page(f"{address}/play?size=6x6")
    press(page, "Finish it for me")
    lengths = set()
    wait_for(lambda: lengths.add(len(shown_path(page))) or 36 in lengths)
    assert len(lengths) > 5
    assert is_tour(Board(6, 6), shown_path(page))


def test_by_keyboard_alone(address, open_page):
    page = open_page(f"{address}/play?size=5x5", **CALM)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skip to the content
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "a1"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert shown_path(page) == ["a1"]
    page.keyboard.press("n")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "c2, allowed"
    assert page.locator(".cursor").get_attribute("visibility") == "visible"
    page.keyboard.press("n")
    page.keyboard.press("Space")
    assert shown_path(page) == ["a1", "b3"]
    page.keyboard.press("u")
    assert shown_path(page) == ["a1"]
    page.keyboard.press("h")
    wait_for(lambda: "Hint" in said(page))


def test_a_hint_leads_to_a_tour_each_time(address, open_page):
    page = open_page(f"{address}/play?size=5x5", **CALM)
    path = []
    while len(path) < 25:
        press(page, "Hint")
        wait_for(lambda: "It leads to a tour." in said(page))
        name = re.match(r"Hint: (\w+)\.", said(page))[1]
        assert page.locator(".marks .hint").count() == 1
        square(page, name).click()
        path = shown_path(page)
    assert is_tour(Board(5, 5), path)


def test_a_warning_when_no_tour_is_left(address, open_page):
    page = open_page(f"{address}/play?size=5x5", **CALM)
    page.get_by_label("warn me").check()
    square(page, "b1").click()  # of the wrong colour
    wait_for(lambda: "No tour is left from here" in said(page))
    assert "colour of its corners" in said(page)
    press(page, "Start over")
    square(page, "a1").click()
    page.wait_for_timeout(300)
    assert said(page) == "From a1."
    press(page, "Finish it for me")
    wait_for(lambda: len(shown_path(page)) == 25)
    assert shown_path(page)[0] == "a1"
    assert is_tour(Board(5, 5), shown_path(page))


def test_a_board_without_tours_says_so(address, open_page):
    page = open_page(f"{address}/play?size=4x4", **CALM)
    press(page, "Finish it for me")
    wait_for(lambda: said(page).startswith("This board has no tour"))
    assert shown_path(page) == []


def test_an_unfinished_game_is_saved_and_loaded(address, open_page, tmp_path):
    page = open_page(f"{address}/play?size=5x6", **CALM)
    for name in ("a1", "b3", "d4"):
        square(page, name).click()
    with page.expect_download() as kept:
        press(page, "Save to a file")
    assert kept.value.suggested_filename == "knight-5x6-3.json"
    kept.value.save_as(tmp_path / "game.json")
    content = json.loads((tmp_path / "game.json").read_text(encoding="utf-8"))
    assert (content["rows"], content["cols"], content["path"]) == (5, 6, ["a1", "b3", "d4"])
    other = open_page(f"{address}/play?size=8x8", **CALM)
    other.locator("#file").set_input_files(tmp_path / "game.json")
    wait_for(lambda: said(other).startswith("Loaded"))
    assert shown_path(other) == ["a1", "b3", "d4"]
    assert other.locator(".stage .square").count() == 30
    square(other, "f5").click()
    assert shown_path(other)[:4] == ["a1", "b3", "d4", "f5"]


GOOD = {"format": "knights-tour-game", "version": 1, "rows": 5, "cols": 5, "path": ["a1", "b3"]}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("nonsense", "not a saved game"),
        ("null", "not a saved game"),
        (json.dumps({**GOOD, "path": ["a1", "a2"]}), "move 2 of this game is not allowed: a2"),
        (json.dumps({**GOOD, "path": ["a1", "b3", "a1"]}), "move 3 of this game is not allowed: a1"),
        (json.dumps({**GOOD, "path": ["z9"]}), "move 1 of this game is not allowed: z9"),
        (json.dumps({**GOOD, "rows": 2}), "too small or too large"),
        (json.dumps({**GOOD, "version": 2}), "later version"),
    ],
)
def test_what_is_no_game_is_not_loaded(address, open_page, tmp_path, content, complaint):
    (tmp_path / "game.json").write_text(content, encoding="utf-8")
    page = open_page(f"{address}/play?size=6x6", **CALM)
    square(page, "c3").click()
    page.locator("#file").set_input_files(tmp_path / "game.json")
    wait_for(lambda: complaint in said(page))
    assert shown_path(page) == ["c3"]


def test_the_browser_keeps_the_game_of_each_board(address, open_page):
    page = open_page(f"{address}/play?size=5x5", **CALM)
    square(page, "a1").click()
    page.get_by_role("spinbutton", name="rows").fill("7")
    press(page, "Use this board")
    assert page.locator(".stage .square").count() == 35
    square(page, "b2").click()
    page.goto(f"{address}/play?size=5x5")
    assert shown_path(page) == ["a1"]
    page.goto(f"{address}/play")  # the last board that was played on
    assert page.locator(".stage .square").count() == 25
    page.goto(f"{address}/play?size=7x5")
    assert shown_path(page) == ["b2"]


def test_a_board_that_is_too_large_is_refused_on_the_page(address, open_page):
    page = open_page(f"{address}/play?size=5x5")
    page.get_by_role("spinbutton", name="columns").fill("21")
    press(page, "Use this board")
    assert said(page) == "A board has 3 to 20 rows and columns."
    assert page.locator(".stage .square").count() == 25


SPY = """() => {
    window.tones = 0;
    const start = OscillatorNode.prototype.start;
    OscillatorNode.prototype.start = function (...words) { window.tones += 1; return start.apply(this, words); };
}"""


def test_sounds_are_heard_until_they_are_switched_off(address, open_page):
    page = open_page(f"{address}/play?size=6x6", **CALM)
    page.evaluate(SPY)
    square(page, "a1").click()
    assert page.evaluate("window.tones") == 1
    page.get_by_label("sounds").uncheck()
    square(page, "b3").click()
    assert page.evaluate("window.tones") == 1


# The watcher.


def plain_search(size, strategy, start="a1", variant="both", number=1):
    """The placements of the kernel until its first tour, or a later one, without pruning, and the tour."""
    board = Board(size, size)
    config = Config(board=board, strategy=strategy, variant=variant, prune=False)
    search = make_search(config, Job(0, (board.square(start),)))
    search.resume((board.square(start),), 0)
    batch = batch_arrays(number, board, strategy_of(config).has_times)
    assert search.fill(batch, 0, 10**9) == number
    return int(batch.iterations[-1]), [board.name(one) for one in batch.tours[-1].tolist()]


STEPS = """async ([size, strategy, start, variant, moves]) => {
    const { makeSearch } = await import('/static/search.js');
    const { squareName } = await import('/static/board.js');
    const board = { rows: size, cols: size, missing: null };
    const first = Array.from({ length: size * size }, (_, s) => s).find((s) => squareName(board, s) === start);
    const search = makeSearch(board, first, { strategy, variant, moves });
    while (search.state === 'searching') search.step();
    return [search.placements, search.path.map((s) => squareName(board, s)), search.retreats];
}"""
ORDER = [[2, 1], [1, 2], [-1, 2], [-2, 1], [-2, -1], [-1, -2], [1, -2], [2, -1]]


@pytest.mark.parametrize(
    ("size", "strategy", "start", "variant"),
    [
        (5, "warnsdorff", "a1", "both"),
        (5, "warnsdorff", "b2", "both"),
        (6, "warnsdorff", "c3", "closed"),
        (8, "warnsdorff", "a1", "open"),
        (8, "warnsdorff", "f3", "closed"),
        (5, "backtrack", "a1", "both"),
        (5, "backtrack", "c3", "both"),
        (6, "backtrack", "a1", "open"),
        (8, "backtrack", "a8", "both"),
        (5, "greedy", "a1", "both"),
        (6, "greedy", "c3", "open"),
        (8, "greedy", "d5", "both"),
        (20, "greedy", "a1", "both"),
    ],
)
def test_the_steps_are_those_of_the_kernel(address, open_page, size, strategy, start, variant):
    page = open_page(f"{address}/play/help")
    placements, tour, retreats = page.evaluate(STEPS, [size, strategy, start, variant, ORDER])
    assert (placements, tour) == plain_search(size, strategy, start, variant)
    if strategy != "greedy":
        assert retreats == placements - size * size


def fact(page, name):
    return page.locator(f'[data-fact="{name}"]').inner_text()


@pytest.mark.parametrize("strategy", ["greedy", "warnsdorff"])
def test_a_search_is_watched_to_its_end(address, open_page, strategy):
    page = open_page(f"{address}/watch?size=5x5&strategy={strategy}")
    page.get_by_role("slider", name="speed").fill("60")
    press(page, "Start")
    wait_for(lambda: 3 < len(shown_path(page)) < 25)
    wait_for(lambda: said(page) == "Found an open tour of the 5x5 board.")
    placements, tour = plain_search(5, strategy)
    assert shown_path(page) == tour
    assert fact(page, "placements") == f"{placements:,}"
    assert float(fact(page, "time").split()[0]) > 0.2


def test_retreats_are_seen_and_counted(address, open_page):
    page = open_page(f"{address}/watch?size=5x5&strategy=backtrack")
    seen = False
    for number in range(1, 60):
        press(page, "One step")
        placements, retreats = int(fact(page, "placements")), int(fact(page, "retreats"))
        assert placements + retreats == number
        assert len(shown_path(page)) == placements - retreats
        is_back = said(page).startswith("Back to")
        assert (page.locator(".retreat").get_attribute("d") is not None) == is_back
        seen = seen or is_back
    assert seen


def test_pause_reset_and_another_speed_while_it_runs(address, open_page):
    page = open_page(f"{address}/watch?size=8x8&strategy=backtrack")
    page.get_by_role("slider", name="speed").fill("1")
    press(page, "Start")
    wait_for(lambda: len(shown_path(page)) >= 2)
    page.keyboard.press("Escape")
    page.get_by_role("slider", name="speed").fill("60")
    wait_for(lambda: int(fact(page, "placements")) >= 90)  # at a speed of 1 that takes a minute and a half
    press(page, "Pause")
    path = shown_path(page)
    page.wait_for_timeout(300)
    assert shown_path(page) == path
    press(page, "Continue")
    wait_for(lambda: shown_path(page) != path)
    press(page, "Reset")
    assert shown_path(page) == []
    assert fact(page, "placements") == "0"
    assert fact(page, "time") == "0.0 s"


def test_the_real_search_offers_to_skip_to_its_answer(address, open_page):
    page = open_page(f"{address}/watch?size=8x8&strategy=backtrack&start=a8")
    press(page, "Start")
    page.get_by_role("button", name="Skip to the result").wait_for(timeout=60_000)
    offer = page.locator("[data-offer-said]").inner_text()
    placements, tour = plain_search(8, "backtrack", "a8")
    assert f"after {placements:,} placements" in offer
    assert re.search(r"would take about \d days", offer)
    press(page, "Skip to the result")
    assert shown_path(page) == tour
    assert fact(page, "placements") == f"{placements:,}"
    assert said(page) == "Found an open tour of the 8x8 board."
    assert not page.locator("[data-offer]").is_visible()
    page.get_by_role("slider", name="speed").fill("61")
    press(page, "Next tour")  # from there it goes on as if it had made every step itself
    wait_for(lambda: said(page).startswith("Found") and shown_path(page) != tour)
    placements, tour = plain_search(8, "backtrack", "a8", number=2)
    assert shown_path(page) == tour
    assert fact(page, "placements") == f"{placements:,}"


def test_nothing_is_offered_where_the_display_is_as_quick(address, open_page):
    page = open_page(f"{address}/watch?size=5x5&strategy=warnsdorff")
    page.get_by_role("slider", name="speed").fill("15")
    with page.expect_response("**/watch/answer.json*", timeout=60_000):
        press(page, "Start")
    wait_for(lambda: said(page).startswith("Found"))
    assert not page.locator("[data-offer]").is_visible()


def test_a_square_without_a_tour_is_searched_to_its_end(address, open_page):
    page = open_page(f"{address}/watch?size=3x4&strategy=backtrack&start=b2")
    page.get_by_role("slider", name="speed").fill("61")
    press(page, "Start")
    wait_for(lambda: said(page) == "There is no tour from b2: the search tried everything.")
    assert page.get_by_role("button", name="Next tour").is_disabled()


def test_the_search_begins_where_the_board_is_chosen_and_the_link_keeps_it(address, open_page):
    page = open_page(f"{address}/watch")
    page.get_by_role("spinbutton", name="rows").fill("5")
    page.get_by_role("spinbutton", name="columns").fill("7")
    page.get_by_role("spinbutton", name="columns").blur()
    page.get_by_role("combobox", name="strategy").select_option("greedy")
    page.get_by_role("combobox", name="tours").select_option("open")
    square(page, "c3").click()
    assert page.url.endswith("/watch?size=5x7&strategy=greedy&variant=open&start=c3")
    again = open_page(page.url)
    again.keyboard.press("Space")
    wait_for(lambda: shown_path(again)[:1] == ["c3"])
    assert again.locator(".stage .square").count() == 35


def test_what_cannot_be_searched_is_told(address, open_page):
    page = open_page(f"{address}/watch?size=8x8&start=h8")
    page.get_by_role("spinbutton", name="rows").fill("5")
    page.get_by_role("spinbutton", name="rows").blur()
    assert said(page) == "This board has no square named h8."
    assert page.get_by_role("button", name="Start").is_disabled()
    page.get_by_role("textbox", name="start").fill("h5")
    page.get_by_role("textbox", name="start").blur()
    assert page.get_by_role("button", name="Start").is_enabled()


# Both, on a phone, in each palette, for who cannot see them.

VIEWS = ["/play?size=5x5", "/play?size=20x20", "/play/help", "/watch?size=8x8"]


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_is_wider_than_a_phone(address, open_page, view):
    page = open_page(address + view, **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = page.evaluate(
        """[...document.querySelectorAll('button, select, input, .button')]
            .filter(e => e.offsetParent && e.getBoundingClientRect().height < 24).map(e => e.outerHTML)"""
    )
    assert small == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["/play?size=5x5", "/play/help", "/watch?size=5x5"])
def test_all_text_can_be_read(address, open_page, view, scheme):
    page = open_page(address + view, color_scheme=scheme, **CALM)
    for kind in ("", "won", "bad"):
        page.evaluate(f"document.querySelector('[data-said]')?.classList.add('{kind}' || 'plain')")
        for palette in ("wood", "sea", "safe", "contrast"):
            page.evaluate(f"document.documentElement.dataset.palette = '{palette}'")
            assert page.evaluate(CONTRAST) == [], (palette, kind)


def test_a_finger_plays(address, open_page):
    page = open_page(f"{address}/play?size=5x5", **PHONE, **CALM)
    square(page, "c3").tap()
    square(page, "d5").tap()
    assert shown_path(page)[:2] == ["c3", "d5"]


@pytest.mark.parametrize("view", VIEWS)
def test_everything_has_a_name_for_screen_readers(address, open_page, view):
    page = open_page(address + view)
    nameless = page.evaluate(
        """[...document.querySelectorAll('button, a, select, input, img, svg, [role="button"]')].filter(
            e => !(e.getAttribute('aria-label') || e.getAttribute('alt') !== null || e.textContent.trim()
              || e.labels?.length)).map(e => e.outerHTML)"""
    )
    assert nameless == []
    assert page.locator("h1").count() == 1
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
