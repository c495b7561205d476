"""TRL's contract, called as `GRPOTrainer` calls it: made without arguments, reset with columns, public methods are tools."""

import inspect
import re

import tetrion

from tetrion_openenv import Tetris
from tetrion_openenv.trl import score_reward, success_reward


def tools_of(environment):
    methods = inspect.getmembers(type(environment), predicate=inspect.isfunction)
    return {name: getattr(environment, name) for name, _ in methods if name != "reset" and not name.startswith("_")}


def called(tool, **arguments):
    """A tool's answer, or its exception as text, which is what the model gets."""
    try:
        return str(tool(**arguments))
    except Exception as error:
        return str({"error": str(error)})


def test_every_public_method_has_types_and_a_description_of_each_argument():
    tools = tools_of(Tetris())
    assert set(tools) == {"place", "peek", "evaluate_formula"}
    for name, tool in tools.items():
        described = inspect.getdoc(tool).split("Args:\n")[1].split("\n\n")[0]
        parameters = inspect.signature(tool, eval_str=True).parameters.values()
        assert [p.name for p in parameters] == re.findall(r"^    (\w+): ", described, re.M), name
        assert all(p.annotation in (str, int) for p in parameters), name


def test_columns_of_the_data_set_choose_the_task_and_instances_are_used_again():
    environment, client = Tetris(), tetrion.Client()
    for index in (1, 2, 6):
        task = client.task("train", index)
        columns = {"prompt": [{"role": "user", "content": ""}], "split": "train", "index": index, "level": None}
        assert environment.reset(**columns) == task.prompt
        assert score_reward([environment]) == [0.0]


def test_a_mistake_comes_back_as_text_and_a_solution_is_rewarded():
    solved, failed, client = Tetris(), Tetris(), tetrion.Client()
    task = client.task("train", 6)
    for environment in (solved, failed):
        environment.reset(split="train", index=6)
    assert 'did you mean "holes"?' in called(tools_of(failed)["place"], action="-hole")
    assert "The episode has ended with the score 1.000." in called(tools_of(solved)["place"], action=task.oracle_formula)
    environments = [solved, failed]
    assert score_reward(environments=environments, prompts=[], completions=[]) == [1.0, 0.0]
    assert success_reward(environments=environments, prompts=[], completions=[]) == [1.0, 0.0]
    assert "the episode has ended" in called(tools_of(solved)["place"], action="a")
