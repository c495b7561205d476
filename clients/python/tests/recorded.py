"""What tests of recordings share: random games, the program that replays their files, and a reader of its pictures."""

import struct
import subprocess
import zlib

import numpy as np

import tetrion
from tetrion._transport.server import find_program


def program(*arguments):
    """Runs the server program; returns its exit code and what it printed."""
    command = [*find_program(), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout + done.stderr


def check_file(path):
    """The program replays a file to what it says."""
    code, printed = program("replay", path)
    assert code == 0, printed
    assert "the replay is as recorded" in printed


def three_pieces(client, **kwargs):
    """The recording of a game under way."""
    env = tetrion.PlacementEnv(address=client, **kwargs)
    recorder = tetrion.Recorder(env)
    env.reset(seed=5)
    for action in (0, 3, 6):
        env.step(action)
    return recorder.recording()


def random_actions(rng, masks):
    """An allowed action of each row."""
    return (rng.random(masks.shape) * masks).argmax(axis=1)


def read_png(data):
    """The pixels of a PNG with eight bits each of a palette or of red, green and blue, uint8 [height, width, 3]."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    place, chunks = 8, {}
    while place < len(data):
        (size,) = struct.unpack(">I", data[place : place + 4])
        kind = data[place + 4 : place + 8]
        chunks[kind] = chunks.get(kind, b"") + data[place + 8 : place + 8 + size]
        place += 12 + size
    width, height, depth, colours = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert depth == 8
    size = {2: 3, 3: 1}[colours] * width
    raw = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, size + 1)
    above = np.zeros(size, np.int64)
    rows = []
    for line in raw:
        row = unfiltered(line[0], line[1:].astype(np.int64), above)
        rows.append(row)
        above = row
    if colours == 2:
        return np.array(rows).reshape(height, width, 3)
    return np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)[np.array(rows)]


def unfiltered(kind, line, above):
    if kind == 0:
        return line
    if kind == 2:
        return (line + above) % 256
    row = line.copy()
    for x in range(len(row)):
        left, corner = (row[x - 1], above[x - 1]) if x else (0, 0)
        guess = left + above[x] - corner
        nearest = min((left, above[x], corner), key=lambda value: abs(guess - value))
        row[x] = (row[x] + {1: left, 3: (left + above[x]) // 2, 4: nearest}[int(kind)]) % 256
    return row
