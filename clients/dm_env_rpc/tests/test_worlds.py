"""Worlds from their making to their end, and the agents that join them."""

import time

import numpy as np
import pytest
import tetrion
from conftest import packed, refused
from dm_env_rpc.v1.dm_env_rpc_pb2 import INTERRUPTED, RUNNING, TERMINATED
from tetrion.errors import TetrionError

from tetrion_dm_env_rpc import serving
from tetrion_dm_env_rpc.worlds import Worlds


def eventually(call, seconds=30):
    """Waits until a call is refused no longer."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return call()
        except Exception:
            assert time.monotonic() < deadline, f"not within {seconds} s"
            time.sleep(0.01)


def test_a_world_is_created_joined_played_left_and_destroyed(links):
    link = links()
    world = link.play(seed=42, width=6, height=8)
    # The first step starts the episode, whatever it holds.
    state, seen = link.step(1_000_000)
    assert (state, seen["reward"], seen["seed"], seen["pieces"]) == (RUNNING, 0.0, 42, 0)
    while state == RUNNING:
        state, seen = link.step(np.flatnonzero(seen["action_mask"])[0])
    assert state == TERMINATED
    assert seen["pieces"] >= 4
    assert seen["end"] == tetrion.EpisodeEnd.TOPPED_OUT
    # And so does the one after the last, with the next pieces.
    state, seen = link.step()
    assert (state, seen["pieces"], seen["reward"]) == (RUNNING, 0, 0.0)
    assert seen["seed"] != 42
    link.leave()
    link.leave()  # without effect, and without an error
    link.destroy(world)
    with refused("NOT_FOUND", "SESSION_NOT_FOUND", f"there is no world '{world}'"):
        link.join(world)


def test_a_world_is_for_one_agent_at_a_time(links):
    first, second = links(), links()
    world, spare = first.create(), first.create()
    with refused("FAILED_PRECONDITION", "NOT_JOINED"):
        first.reset()
    specs = first.join(world)
    for other in (world, spare):
        with refused("FAILED_PRECONDITION", "ALREADY_JOINED"):
            first.join(other)
    with refused("FAILED_PRECONDITION", "WORLD_IN_USE"):
        second.join(world)
    for link in (first, second):
        with refused("FAILED_PRECONDITION", "WORLD_IN_USE"):
            link.destroy(world)
    second.specs = specs
    with refused("FAILED_PRECONDITION", "NOT_JOINED"):
        second.step()
    _, before = first.step()
    first.leave()
    # The next agent starts an episode of its own.
    assert second.join(world) == specs
    state, after = second.step(3)
    assert (state, after["pieces"]) == (RUNNING, 0)
    assert after["seed"] != before["seed"]


def test_resets_start_episodes(links):
    agent, other = links(), links()
    world = agent.play(seed=7)

    def pieces():
        seen = [agent.step(), *(agent.step(4) for _ in range(5))]
        assert [state for state, _ in seen] == [RUNNING] * 6
        return [int(observed["current"]) for _, observed in seen]

    first = pieces()
    assert agent.reset() == agent.specs
    second = pieces()
    agent.reset(seed=7)
    assert pieces() == first
    agent.reset()
    assert pieces() == second, "and the one after it as before"
    agent.reset(pieces="OISOLTZ")
    assert pieces() == [1, 0, 4, 1, 6, 2]
    # A reset from outside: the agent learns of it once, and then plays another episode.
    other.reset_world(world)
    state, seen = agent.step(0)
    assert (state, seen["reward"], seen["pieces"]) == (INTERRUPTED, 0.0, 5), "the last state of the episode that was cut"
    state, seen = agent.step(0)
    assert (state, seen["pieces"]) == (RUNNING, 0)
    # Where no episode is running, the agent learns nothing. The newest reset counts.
    agent.reset(seed=9)
    other.reset_world(world, seed=7)
    assert pieces() == first
    with refused("NOT_FOUND", "SESSION_NOT_FOUND"):
        other.reset_world("sessions/0")


def test_a_stream_that_ends_leaves_nothing_behind(client, links):
    with serving(client, "127.0.0.1:0", max_worlds=2) as address:
        creator, other = links(address), links(address)
        worlds = [creator.create(), creator.create()]
        with refused("RESOURCE_EXHAUSTED", "SESSION_LIMIT", "limit on worlds, 2"):
            other.create()
        creator.join(worlds[0])
        creator.step()
        # The second world has another agent: it stays for as long as that agent does.
        other.join(worlds[1])
        creator.channel.close()
        spare = eventually(other.create)
        with refused("RESOURCE_EXHAUSTED", "SESSION_LIMIT"):
            other.create()
        assert other.step()[0] == RUNNING
        with refused("FAILED_PRECONDITION", "ALREADY_JOINED"):
            other.join(spare)
        other.leave()
        with refused("NOT_FOUND", "SESSION_NOT_FOUND"):
            other.join(worlds[1])
        other.create()


def test_worlds_end_with_their_lease(client):
    now = 0.0
    worlds = Worlds(client, 3, clock=lambda: now)
    short, long = (worlds.create(packed(ttl_seconds=ttl)).name for ttl in (2.5, 60))
    for now in (2.0, 4.0):  # noqa: B007, the clock
        worlds.find(short)  # and renewed
    now = 7.0
    assert worlds.alive({short, long}) == {long}
    with pytest.raises(TetrionError) as caught:
        worlds.find(short)
    assert (caught.value.code, caught.value.reason) == ("NOT_FOUND", "SESSION_EXPIRED")
    busy = worlds.create(packed(ttl_seconds=1))
    with busy._lock:
        now = 50.0
        assert worlds.alive({busy.name}) == {busy.name}, "a call is in progress"
    now = 68.0
    newest = worlds.create({}).name
    assert worlds.alive({long, busy.name, newest}) == {newest}


def test_the_number_of_streams_has_a_bound(client, links):
    with serving(client, "127.0.0.1:0", max_streams=2) as address:
        first, second = links(address), links(address)
        world = first.play()
        second.leave()
        with pytest.raises(Exception, match="Concurrent RPC limit exceeded"):
            links(address).leave()
        second.channel.close()
        eventually(lambda: links(address).leave())
        assert first.step()[0] == RUNNING
        assert world.startswith("sessions/")
