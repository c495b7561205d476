"""Plays tasks with their oracles over OpenEnv's client, and fails unless the rewards of each episode add up to 1.

python validation/oracle.py [URL [NUMBER OF TASKS]]
"""

import sys

import tetrion
from openenv.core.generic_client import GenericEnvClient


def main() -> None:
    """Plays them one after the other."""
    url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 21
    tasks = tetrion.Client()
    with GenericEnvClient(base_url=url).sync() as env:
        for index in range(count):
            task = tasks.task("test", index)
            result = env.reset(split="test", index=index)
            reward = 0.0
            for text in [task.oracle_formula] if task.oracle_formula else oracle_texts(tasks, task):
                result = env.step({"text": text})
                reward += result.reward
            if abs(reward - 1.0) > 1e-9 or not result.done:
                sys.exit(f"task {index}, {task.group}: the oracle's rewards add up to {reward}, expected 1")
    print(f"the oracle reached 1 in {count} of {count} tasks")


def oracle_texts(client: tetrion.Client, task: tetrion.tasks.Task) -> list[str]:
    """The oracle's actions as names such as `0@2`."""
    with client.create_session(rules=task.rules) as session:
        session.restore_state([task.state])
        digits = [session.decode_actions([action]) for action in task.oracle_actions]
    return [f"{int(digit['orientation'][0])}@{int(digit['column'][0])}" for digit in digits]


if __name__ == "__main__":
    main()
