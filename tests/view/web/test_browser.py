"""The pages in a real Chromium. Every complaint in the browser's console fails a test: the policy is never violated."""

from __future__ import annotations

import re

import pytest

from enumerate.catalog.reader import Run
from enumerate.search.strategy import resolve
from enumerate.view.web.report import report_of

from ...support.commands import serving, wait_for
from ...support.contrast import CONTRAST
from ...support.runs import run_serially

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}


def make_run(folder, **values):
    return run_serially(resolve({**values, "output": str(folder), "executor": "serial"}))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    make_run(folder / "both-3x10", size="3x10", variant="both", start="a1,b1,b2,c3", max=0)
    make_run(folder / "closed-6x6", size="6x6", variant="closed", max=30_000)
    return folder


@pytest.fixture(scope="module")
def address(runs):
    """Where a real server shows two runs."""
    with serving("view", runs) as address:
        yield address


@pytest.fixture(scope="module")
def report(runs):
    """The address of a report on disk."""
    path = runs.parent / "report.html"
    path.write_text(report_of(str(runs / "closed-6x6"))[1], encoding="utf-8")
    return path.as_uri()


def shown_path(page):
    """The path that the player shows, as names of squares, read from the picture's points."""
    points = page.locator(".stage .path").first.get_attribute("points") or ""
    places = [tuple(map(float, point)) for point in re.findall(r"([\d.]+)[, ]([\d.]+)", points)]
    rows = round((float(page.locator(".stage svg").get_attribute("viewBox").split()[3]) - 44) / 40)
    return [f"{'abcdefghij'[int((x - 42) / 40)]}{rows - int((y - 42) / 40)}" for x, y in places]


def names(runs, run, number, *which):
    source = Run(runs / run)
    return [source.board.name(square) for square in source.squares(number, *which).tolist()]


# The explorer.


def test_from_the_list_to_a_square_to_a_tour_and_back(address, open_page, runs):
    page = open_page(address)
    page.get_by_role("link", name="closed-6x6").click()
    page.get_by_role("link", name=re.compile("^b2: ")).click()
    assert page.get_by_role("heading", level=1).inner_text() == "Tours from b2"
    page.get_by_role("link", name="last found").click()
    page.get_by_role("link", name="next ›").click()
    here = page.url
    assert "start=b2" in here
    page.locator(".gallery a").nth(2).click()
    tours = next(Run(runs / "closed-6x6").tours("b2"))
    expected = [Run(runs / "closed-6x6").board.name(square) for square in tours[-15].tolist()]
    assert shown_path(page) == expected
    page.get_by_role("link", name="tours from b2").click()
    assert page.url == here


def test_filters_narrow_the_gallery(address, open_page, runs):
    page = open_page(f"{address}/runs/closed-6x6/tours")
    page.get_by_role("navigation", name="Which tours").get_by_role("link", name="closed-90").click()
    count = Run(runs / "closed-6x6").totals()["closed_90"]
    assert page.get_by_role("status").inner_text().startswith(f"{count} tour")
    assert page.locator(".gallery li").count() == min(count, 12)
    assert page.locator(".gallery .caption", has_text="closed-90").count() == min(count, 12)


def test_the_map_shows_another_measure_and_the_link_keeps_it(address, open_page):
    page = open_page(f"{address}/runs/closed-6x6")
    page.get_by_role("link", name="time to the first tour").click()
    assert page.url.endswith("?by=first")
    assert re.search(r"\d (µs|ms|s)", page.locator(".heat").text_content())


@pytest.mark.parametrize("ending", ["svg", "png", "txt", "json"])
def test_a_tour_can_be_kept(address, open_page, ending):
    page = open_page(f"{address}/runs/closed-6x6/tour?start=b2&number=2")
    with page.expect_download() as kept:
        page.get_by_role("link", name=ending.upper(), exact=True).click()
    assert kept.value.suggested_filename == f"closed-6x6-b2-closed-2.{ending}"
    assert kept.value.path().stat().st_size > 100


@pytest.mark.parametrize(("ending", "width"), [("svg", 284), ("png", 568)])
def test_the_browser_can_show_what_is_kept(address, open_page, ending, width):
    page = open_page(f"{address}/runs/closed-6x6/tour?start=b2&number=2")
    measured = page.evaluate(
        """async (source) => {
            const image = new Image();
            image.src = source;
            await image.decode();
            return [image.naturalWidth, image.naturalHeight];
        }""",
        f"/runs/closed-6x6/tour.{ending}?start=b2&number=2",
    )
    assert measured == [width, width]


def test_a_run_that_grows_is_seen_to_grow_and_the_focus_stays(tmp_path, open_page):
    values = {"size": "3x10", "variant": "both", "start": "a1,b1", "slice-iterations": 1_000}
    make_run(tmp_path / "run", **values, max=3_000)
    with serving("view", tmp_path / "run") as address:
        page = open_page(address)
        before = page.get_by_role("status").inner_text()
        page.get_by_role("link", name=re.compile("^b1: ")).focus()
        make_run(tmp_path / "run", **values, max=0)
        total = Run(tmp_path / "run").totals()
        now = f"{total['tours_open'] + total['tours_closed']:,} tours in {total['iterations']:,} iterations"
        assert before != now
        page.get_by_text(now).wait_for()
        assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("b1: ")
        assert "exhausted" in page.locator(".state").inner_text()


def test_a_run_that_is_damaged_and_a_server_that_ends_are_told_and_what_was_seen_stays(tmp_path, open_page):
    values = {"size": "3x10", "variant": "both", "start": "a1,b1", "slice-iterations": 1_000, "max": 3_000}
    make_run(tmp_path / "run", **values)
    manifest = tmp_path / "run" / "_run" / "run.json"
    sound = manifest.read_bytes()
    with serving("view", tmp_path / "run") as address:
        page = open_page(address)
        before = page.get_by_role("status").inner_text()
        manifest.write_text("{", encoding="utf-8")
        page.get_by_text(re.compile("^damaged")).wait_for()
        manifest.write_bytes(sound)
        make_run(tmp_path / "run", **{**values, "max": 6_000})
        wait_for(lambda: page.get_by_role("status").inner_text() != before)
        assert page.get_by_role("alert").count() == 0
    page.get_by_text("The server does not answer").wait_for()
    assert page.get_by_role("status").inner_text() != before
    assert {text.partition(":")[0] for text in open_page.complaints} <= {"Failed to load resource", "net"}
    open_page.complaints.clear()


# The player.


def test_the_player_steps_goes_back_and_jumps(address, open_page, runs):
    page = open_page(f"{address}/runs/both-3x10/tour?start=c3&variant=open&number=7")
    tour = names(runs, "both-3x10", 7, "c3", "open")
    assert shown_path(page) == tour
    page.get_by_role("button", name="To the first square").click()
    assert shown_path(page) == tour[:1]
    for _ in range(3):
        page.get_by_role("button", name="One square forward").click()
    page.get_by_role("button", name="One square back").click()
    assert shown_path(page) == tour[:3]
    assert page.locator("[data-shown]").inner_text() == f"3 of 30, {tour[2]}"
    page.get_by_role("slider", name="square").fill("20")
    assert shown_path(page) == tour[:20]
    page.get_by_role("button", name="To the last square").click()
    assert shown_path(page) == tour


def test_the_player_plays_pauses_and_ends(address, open_page, runs):
    page = open_page(f"{address}/runs/both-3x10/tour?start=c3&variant=open&number=7#move=1&speed=3")
    tour = names(runs, "both-3x10", 7, "c3", "open")
    page.get_by_role("button", name="Play", exact=True).click()
    wait_for(lambda: len(shown_path(page)) >= 4)
    page.get_by_role("button", name="Pause").click()
    length = len(shown_path(page))
    assert 4 <= length < 30
    page.wait_for_timeout(300)
    assert shown_path(page) == tour[:length]
    page.get_by_role("slider", name="speed").fill("60")
    page.get_by_role("button", name="Play", exact=True).click()
    wait_for(lambda: len(shown_path(page)) == 30)
    page.get_by_role("button", name="Play", exact=True).wait_for()
    assert shown_path(page) == tour


def test_at_once_shows_the_whole_tour_at_once(address, open_page):
    page = open_page(f"{address}/runs/both-3x10/tour?start=c3#move=1&speed=60")
    page.keyboard.press("+")
    assert page.locator("[data-pace]").inner_text() == "at once"
    page.keyboard.press("Space")
    assert len(shown_path(page)) == 30
    page.keyboard.press("-")
    assert page.locator("[data-pace]").inner_text() == "60 a second"


def test_the_link_of_a_view_leads_back_to_it(address, open_page):
    page = open_page(f"{address}/runs/both-3x10/tour?start=c3&number=2")
    page.keyboard.press("Home")
    for _ in range(11):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    again = open_page(page.url)
    assert shown_path(again) == shown_path(page)
    assert len(shown_path(again)) == 12
    assert again.locator("[data-pace]").inner_text() == "7 a second"


def test_a_closed_tour_shows_its_closing_move_at_the_end_only(address, open_page):
    page = open_page(f"{address}/runs/closed-6x6/tour?start=b2")
    closing = page.locator(".stage path.path")
    assert closing.get_attribute("d")
    page.keyboard.press("ArrowLeft")
    assert closing.get_attribute("d") is None


# Without a mouse, on a phone, in the dark, on paper.


def tab_to(page, condition, limit=120):
    """Press Tab until the focused element is the wanted one."""
    for _ in range(limit):
        page.keyboard.press("Tab")
        if page.evaluate(f"(e => {condition})(document.activeElement)"):
            return
    raise AssertionError(f"never reached: {condition}")


def test_everything_can_be_done_by_keyboard(address, open_page):
    page = open_page(f"{address}/runs/closed-6x6")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    tab_to(page, "(e.getAttribute('aria-label') || '').startsWith('c2: ')")
    page.keyboard.press("Enter")
    page.wait_for_url("**/tours?start=c2")
    tab_to(page, "(e.getAttribute('aria-label') || '').startsWith('Tour 3:')")
    page.keyboard.press("Enter")
    page.wait_for_url("**/tour?start=c2&number=3")
    tab_to(page, "e.dataset.do === 'first'")
    page.keyboard.press("Enter")
    assert len(shown_path(page)) == 1
    tab_to(page, "e.dataset.do === 'step'")
    page.keyboard.press("Space")
    assert len(shown_path(page)) == 2
    tab_to(page, "e.matches('[data-move]')")
    page.keyboard.press("ArrowRight")
    assert len(shown_path(page)) == 3


VIEWS = ["/", "/runs/closed-6x6", "/runs/both-3x10?by=first", "/runs/closed-6x6/tours?start=b2",
         "/runs/closed-6x6/tour?start=b2", "/runs/none"]  # fmt: skip


@pytest.fixture
def views(address, open_page, report):
    """Opens each of the pages; one that is not found says so in the console, and may."""

    def opened(**settings):
        for view in VIEWS[:-1]:
            yield open_page(address + view, **settings)
        yield open_page(report, **settings)

    return opened


def test_nothing_is_wider_than_a_phone(views):
    for page in views(**PHONE):
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, page.url
        small = page.evaluate(
            """[...document.querySelectorAll('button, select, input, .button, .choice a')]
                .filter(e => e.offsetParent && e.getBoundingClientRect().height < 24).map(e => e.outerHTML)"""
        )
        assert small == [], page.url


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read(views, scheme):
    for page in views(color_scheme=scheme):
        for palette in ("wood", "sea", "safe", "contrast"):
            page.evaluate(f"document.documentElement.dataset.palette = '{palette}'")
            assert page.evaluate(CONTRAST) == [], (page.url, palette)


def test_everything_has_a_name_for_screen_readers(views):
    for page in views():
        nameless = page.evaluate(
            """[...document.querySelectorAll('button, a, select, input, img, svg[role="img"], [role="region"]')].filter(
                e => !(e.getAttribute('aria-label') || e.getAttribute('alt') !== null || e.textContent.trim()
                  || e.labels?.length || e.querySelector('title'))).map(e => e.outerHTML)"""
        )
        assert nameless == [], page.url
        assert page.locator("h1").count() == 1
        assert page.evaluate("document.documentElement.lang") == "en"
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
        assert len(ids) == len(set(ids))


def test_the_mode_is_remembered(address, open_page):
    page = open_page(address)
    page.get_by_text("Appearance").click()
    page.get_by_label("Mode").select_option("dark")
    page.get_by_label("Colours").select_option("safe")
    page.reload()
    assert page.evaluate("document.documentElement.dataset.mode") == "dark"
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == "dark"
    assert page.evaluate("document.documentElement.dataset.palette") == "safe"


def test_paper_shows_the_tour_in_light_colours_and_no_controls(address, open_page):
    page = open_page(f"{address}/runs/closed-6x6/tour?start=b2", color_scheme="dark")
    ground = "getComputedStyle(document.querySelector('.stage .card-ground')).fill"
    assert page.evaluate(ground) == "rgb(31, 34, 39)"
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(ground) == "rgb(251, 250, 247)"
    assert page.locator(".stage svg").is_visible()
    assert not page.locator(".controls").is_visible()
    assert not page.locator("header.top").is_visible()


# The report, from disk.


def test_the_report_opens_from_disk_and_asks_nobody(chromium, report):
    context = chromium.new_context()
    page = context.new_page()
    asked, complaints = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(report)
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_timeout(300)
    context.close()
    assert asked == [report]
    assert complaints == []


def test_a_picture_of_the_report_is_put_into_its_player(open_page, report):
    page = open_page(report)
    button = page.locator(".gallery button").nth(4)
    squares = page.evaluate("JSON.parse(document.querySelectorAll('.gallery button')[4].dataset.squares)")
    button.click()
    assert len(shown_path(page)) == 1
    page.keyboard.press("End")
    assert shown_path(page) == [f"{'abcdef'[square % 6]}{square // 6 + 1}" for square in squares]
