"""A recording and a watched session in a notebook: what cells show, and in a browser a recording's pixels and controls."""

import base64
import json
import re
import shutil
import subprocess

import pytest
from recorded import read_png

import tetrion

# The colours of I O T Z S J L.
PALETTES = {
    "usual": ["2fc6e0", "f2cf3c", "a95bd6", "e2484d", "53b94f", "3f6fe0", "ee8c2f"],
    "color-blind": ["56b4e9", "f0e442", "cc79a7", "d55e00", "009e73", "0072b2", "e69f00"],
}

CELLS = [
    "import tetrion",
    "recording = tetrion.Recording.load('game.tetrion')\nrecording",
    "from IPython.display import HTML, display\ndisplay(recording, HTML(recording.html(render_palette='color-blind')))",
]

# A learner that steps each time that a frame has been drawn, and ends its session after the last one.
WATCHING = [
    """
import tetrion
client = tetrion.Client()
session = client.create_session(2, rules={"width": 4, "height": 6}, piece_sequences="OIO", autoreset_mode="disabled")
class Frame(tetrion.WatchedFrame):
    def _repr_png_(self):
        drawn = super()._repr_png_()
        [session.reset, lambda: session.step([0, 2]), session.close][self.sequence_number]()
        return drawn
tetrion._watching.watching.WatchedFrame = Frame
client.watch(session, render_fps=60).show()
""",
    """
session = client.create_session(2, rules={"width": 4, "height": 6}, piece_sequences="OIO")
session.reset()
next(client.watch(session))
""",
]

# What a reader does with the two games on the page, and what each then shows: the text beside its controls, the number of
# its pixels in the colours of tetrominoes, and its words for screen readers.
SCRIPT = """
const games = [...document.querySelectorAll("[id^=tetrion-]")].map((host) => host.shadowRoot);
const seen = [];
const look = (root) => {
  const canvas = root.querySelector("canvas");
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const counts = COLOURS.map(() => 0);
  for (let place = 0; place < pixels.length; place += 4) {
    const hue = COLOURS.findIndex((colour) => colour.every((part, index) => part === pixels[place + index]));
    if (hue >= 0) counts[hue] += 1;
  }
  seen.push([root.querySelector(".count").textContent, counts, canvas.getAttribute("aria-label")]);
};
const [first, second] = games;
const press = (root, words) => root.querySelector(`button[aria-label="${words}"]`).click();
look(first);
press(first, "To the end"); look(first);
press(first, "A step back"); look(first);
press(first, "To the beginning"); press(first, "A step on"); look(first);
const scrub = first.querySelector("input");
scrub.value = 2; scrub.dispatchEvent(new Event("input")); look(first);
const key = (name) => first.querySelector(".game").dispatchEvent(new KeyboardEvent("keydown", { key: name }));
key("End"); key("ArrowLeft"); look(first);
const colours = first.querySelector('select[aria-label="Colours"]');
colours.value = "color-blind"; colours.dispatchEvent(new Event("change")); look(first);
look(second);
press(first, "To the beginning");
const speed = first.querySelector('select[aria-label="Speed"]');
speed.value = "64"; press(first, "Play");
setTimeout(() => {
  look(first);
  document.title = "done";
  document.body.dataset.seen = JSON.stringify({ seen, requests: performance.getEntriesByType("resource").length });
}, 2000);
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The HTML of what the cells show."""
    folder = tmp_path_factory.mktemp("notebook")
    env = tetrion.PlacementEnv(rules={"width": 4, "height": 6}, max_episode_steps=5)
    recorder = tetrion.Recorder(env, player="<b>me</b>")
    env.reset(options={"piece_sequence": "OOIOT"})
    for action in (0, 2, 0, 0, 2):
        env.step(action)
    recorder.recording().save(folder / "game.tetrion")
    return [output["data"] for output in run(CELLS, folder)]


def run(cells, folder):
    """What the cells of a notebook show."""
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    return [output for cell in notebook.cells for output in cell.outputs]


def test_cells_show_the_game_and_its_words(outputs):
    assert len(outputs) == 3
    assert outputs[0]["text/plain"] == "<tetrion.Recording by <b>me</b>: 5 pieces, 2 lines, out of pieces>"
    for output in outputs:
        assert "&lt;b&gt;me&lt;/b&gt;" in output["text/html"]
        assert "<b>me" not in output["text/html"]


@pytest.mark.parametrize("dark", [False, True])
def test_controls_in_a_browser(outputs, tmp_path, dark):
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("there is no chromium")
    colours = [list(bytes.fromhex(colour)) for colour in (*PALETTES["usual"], *PALETTES["color-blind"])]
    style = "background: #111; color: #ddd" if dark else ""
    html = "\n".join(output["text/html"] for output in outputs[1:])
    page = f'<!doctype html><meta charset="utf-8"><body style="{style}">{html}'
    page += f"<script>const COLOURS = {json.dumps(colours)};{SCRIPT}</script>"
    (tmp_path / "page.html").write_text(page)
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--virtual-time-budget=4000"]
    command = [browser, *flags, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", str(tmp_path / "page.html")]
    dom = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    found = re.search(r'data-seen="([^"]*)"', dom)
    assert found, dom[-2000:]
    seen = json.loads(found[1].replace("&quot;", '"'))
    assert seen["requests"] == 0
    texts, counts, words = zip(*seen["seen"], strict=True)
    assert texts == (
        "step 0 of 5",
        "step 5 of 5, out of pieces",
        "step 4 of 5",
        "step 1 of 5",
        "step 2 of 5",
        "step 4 of 5",
        "step 4 of 5",
        "step 0 of 5",
        "step 5 of 5, out of pieces",
    )
    assert words[0] == "Step 0 of 5: 1 pieces, 0 lines"
    assert words[1] == "Step 5 of 5: 5 pieces, 2 lines, out of pieces"
    # Which tetrominoes are there: at first an O; then two; an I fell beside them after that.
    usual = [[hue for hue in range(14) if some[hue] > 20] for some in counts]
    assert usual[0] == [1]
    assert usual[6] == [7 + hue for hue in usual[5]]
    assert usual[7] == [8]
    assert counts[8] == [0] * 7 + counts[8][7:]
    assert sum(counts[8]) == sum(counts[1])


def test_a_cell_shows_the_newest_frame_of_a_session(tmp_path):
    live, single = run(WATCHING, tmp_path)
    assert live["output_type"] == "display_data"
    assert single["output_type"] == "execute_result"
    assert live["data"]["text/plain"] == "<tetrion.WatchedFrame of 2 environments after call 2>"
    assert single["data"]["text/plain"] == "<tetrion.WatchedFrame of 2 environments after call 1>"
    usual = [list(bytes.fromhex(colour)) for colour in PALETTES["usual"]]
    # The O has landed and an I waits beside it; before that there was only an O that waited.
    for output, tetrominoes in ((live, "IO"), (single, "O")):
        picture = read_png(base64.b64decode(output["data"]["image/png"]))
        shown = "".join(
            letter for letter, colour in zip("IOTZSJL", usual, strict=True) if (picture == colour).all(axis=2).any()
        )
        assert shown == tetrominoes
