"""Which browser the tests drive, how long they wait, and what no page may do."""

from __future__ import annotations

import re
import shutil
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# 3D is drawn by SwiftShader: no test depends on a graphics card.
FLAGS = (
    "--no-sandbox --disable-quic --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync --use-angle=swiftshader --enable-unsafe-swiftshader"
).split()
# Playwright's own, which a second such flag replaces; and the popups of the address bar. They are pages of the browser
# that it makes for each person that comes, and take more time than ours does.
_LEFT_OUT = (
    "AvoidUnnecessaryBeforeUnloadCheckSync DestroyProfileOnBrowserClose HttpsUpgrades HttpsFirstBalancedModeAutoEnable "
    "LensOverlay MediaRouter PaintHolding ThirdPartyStoragePartitioning AvoidCorsURLLoaderRestartOnRedirect "
    "OptimizationHints NetworkTimeServiceQuerying AimEnabled PreconnectToSearch Translate "
    "WebUIOmniboxPopup WebUIOmniboxAimPopup WebUIOmniboxFullPopup OmniboxPopupAim"
).split()
TEST_FLAGS = [*FLAGS, "--disable-gpu-compositing", f"--disable-features={','.join(_LEFT_OUT)}"]
"""For what is not measured: SwiftShader draws the robots, and not the pages around them, which would take half of all
processor time."""
NOT_RUN = "BROWSER TESTS WERE NOT RUN: no Chromium or Chrome is installed (Debian, Ubuntu: apt install chromium)"
_BROWSERS_OWN = "GPU stall due to ReadPixels"
"""What the browser says of how it brings a 3D picture to its pages, which --disable-gpu-compositing has it say."""
PATIENCE_S = 120.0
"""For whatever a test waits for [s]: each wait ends with the state that it awaits, however slow the machine is."""
PATIENCE_MS = 1e3 * PATIENCE_S


def browser_path() -> str | None:
    """The installed one; None: there is none."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def watch_over(page: Any, origin: str, complaints: list[str], *, allow: str = "") -> None:
    """Note what no page may do: errors and warnings in its console, and requests and sockets to other origins.

    Args:
        origin: of the editor's server: http://127.0.0.1:8420.
        complaints: what is noted.
        allow: regular expression of console messages that belong to the test, such as those about a dead server.
    """

    def say(message: Any) -> None:
        if _BROWSERS_OWN in message.text:
            return
        if message.type in ("error", "warning") and not (allow and re.search(allow, message.text)):
            complaints.append(message.text)

    def ask(url: str) -> None:
        if not url.startswith((f"{origin}/", f"{origin.replace('http', 'ws', 1)}/", "data:", "blob:")):
            complaints.append(f"asked {url}")

    page.set_default_timeout(PATIENCE_MS)
    page.on("console", say)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: ask(request.url))
    page.on("websocket", lambda socket: ask(socket.url))
