"""Every view of the console: its heading, its layout at five widths, and axe, light and dark."""

from playwright.sync_api import expect

import console
import support
from support import check, eventually


def test_views(options, running, url, made, scheme):
    with console.page(
        running, viewport={"width": 1440, "height": 900}, color_scheme=scheme
    ) as shown:
        origins = set()
        shown.on("request", lambda sent: origins.add("/".join(sent.url.split("/")[:3])))
        console.open_console(shown, url, "nowhere")
        for place, heading in console.views(made).items():
            console.go(shown, place, heading)
            # Another query of the same view leaves the focus where it is.
            if "?" not in place:
                expect(shown.locator("main h1")).to_be_focused()
            # The heading of the overview changes when the reports have come.
            h1 = shown.locator("main h1")
            eventually(
                lambda h1=h1: shown.title() == f"{h1.inner_text()} · Belfry",
                f"{place} has its heading for a title",
            )
            for width in console.WIDTHS:
                console.resize(shown, width)
                # One scheme is enough for what does not depend on color.
                if scheme == "light":
                    console.check_layout(shown, f"{place} has its place at {width} pixels")
                if width in (360, 1440):
                    support.check_accessibility(
                        shown, f"axe finds nothing in {place}, {scheme}, {width}"
                    )
                    console.picture(options, shown, place, width, scheme)
        origins = {one for one in origins if not one.startswith("data:")}
        check(origins == {url}, "no request leaves for another origin", origins)


def test_numbers(running, url):
    """The figures of the page are those of /metrics: both are read while nothing moves."""
    with console.page(running, viewport={"width": 1440, "height": 900}) as shown:
        console.open_console(shown, url)
        metrics = dict(
            line.rsplit(" ", 1)
            for line in support.text(f"{url}/metrics").splitlines()
            if not line.startswith("#")
        )
        for tile, name in (
            ("Queue", "belfry_queue_entries"),
            ("Held", "belfry_held_notifications"),
        ):
            figure = shown.locator(".tile", has_text=tile).first.locator(".v")
            expect(figure).to_have_text(metrics[name])
        check(True, "the tiles have the figures of /metrics")


def test_prefix(running, url):
    """The page asks for its files, and for the API, relative to where it is itself."""
    with console.page(running) as shown:
        shown.route(
            "**/some/prefix/**",
            lambda route: route.continue_(url=route.request.url.replace("/some/prefix", "")),
        )
        # What is asked for at the root would not get through a proxy with a prefix.
        asked = []
        shown.route_web_socket("**/some/prefix/v1/ws", lambda line: asked.append(line.url))
        shown.on("request", lambda sent: asked.append(sent.url))
        shown.goto(f"{url}/some/prefix/#observers")
        expect(shown.locator("main h1")).to_have_text("Observers")
        rooted = [
            one for one in asked if "/some/prefix/" not in one and not one.startswith("data:")
        ]
        check(not rooted, "behind a path prefix nothing is asked for beside it", rooted)


def main():
    options = support.arguments(__doc__)
    with support.broker(options) as url, support.browser(options) as running:
        made = console.populate(url)
        for scheme in ("light", "dark"):
            test_views(options, running, url, made, scheme)
        test_numbers(running, url)
        test_prefix(running, url)


if __name__ == "__main__":
    main()
