"""TRL's `GRPOTrainer` trains on the environment: prompts, tools and rewards pass through TRL's own loop.

The models are of Qwen3's architecture, tiny and random, with TRL's copy of its chat template. Nothing is downloaded.
"""

import json
import os
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

import tetrion

os.environ["HF_HUB_OFFLINE"] = "1"  # read when the libraries are loaded

pytest.importorskip("trl", reason="TRL is not installed")

import torch
from datasets import Dataset
from tetrion_openenv import Tetris
from tetrion_openenv.trl import score_reward, success_reward
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from trl import GRPOConfig, GRPOTrainer

README = Path(__file__).parents[3] / "openenv/README.md"
# TRL and transformers warn about each other.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer for our prompts, trained on a few of them."""
    client = tetrion.Client()
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    trainer = trainers.BpeTrainer(vocab_size=600, initial_alphabet=alphabet, special_tokens=special, show_progress=False)
    trained.train_from_iterator((client.task("train", index).prompt for index in range(14)), trainer)
    template = resources.files("trl").joinpath("chat_templates/qwen3.jinja").read_text()
    return PreTrainedTokenizerFast(
        tokenizer_object=trained, eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template=template
    )


def config(tokenizer: PreTrainedTokenizerFast) -> Qwen3Config:
    """The smallest model of the architecture that TRL's template belongs to."""
    return Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=8,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )


def test_the_program_of_the_readme_trains(tokenizer, tmp_path):
    program = re.findall(r"```python\n(.*?)```", README.read_text(), re.S)[-1]
    tokenizer.save_pretrained(tmp_path / "model")
    Qwen3ForCausalLM(config(tokenizer)).save_pretrained(tmp_path / "model")
    for written, short in (
        ('"Qwen/Qwen3-1.7B"', '"model"'),
        ("max_completion_length=4096", "max_completion_length=32, max_steps=2, use_cpu=True, logging_steps=1"),
    ):
        assert program.count(written) == 1
        program = program.replace(written, short)
    program += "print(trainer.state.global_step, 'steps with', len(trainer.environments), 'games at once')"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("2 steps with 8 games at once\n")


def call(tool: str, **arguments: object) -> str:
    """A call of a tool, as Qwen3 writes it."""
    return f"<tool_call>\n{json.dumps({'name': tool, 'arguments': arguments})}\n</tool_call>"


def solution(task: tetrion.tasks.Task, client: tetrion.Client) -> list[str]:
    """The answers of a model that looks first and then solves the task."""
    if task.oracle_formula:
        look = call("evaluate_formula", formula=task.oracle_formula, games=2)
        return [look, call("place", action=task.oracle_formula), "Solved."]
    with client.create_session(rules=task.rules) as session:
        session.restore_state([task.state])
        digits = [session.decode_actions([action]) for action in task.oracle_actions]
    names = [f"{int(digit['orientation'][0])}@{int(digit['column'][0])}" for digit in digits]
    return [call("peek", action=names[0]), *(call("place", action=name) for name in names), "Solved."]


MISTAKE = [call("place", action="hole"), "I give up."]


class Player(Qwen3ForCausalLM):
    """A model that answers from a script instead of its weights: even rows solve their tasks, odd ones give up."""

    solutions: dict[str, list[str]]
    tokenizer: PreTrainedTokenizerFast

    def answer(self, row: int, text: str) -> str:
        """The next answer of a conversation."""
        prompt, *turns = text.split("<|im_start|>assistant\n")
        answered = turns[:-1]  # the last one is to come
        gives_up = answered[0].startswith(MISTAKE[0]) if answered else row % 2 == 1
        script = MISTAKE if gives_up else next(s for p, s in self.solutions.items() if p in prompt)
        return script[len(answered)]

    def generate(self, input_ids, **_):
        texts = enumerate(self.tokenizer.batch_decode(input_ids))
        answers = [self.answer(row, text) + self.tokenizer.eos_token for row, text in texts]
        ids = self.tokenizer(answers, padding=True, padding_side="right", return_tensors="pt")["input_ids"]
        return torch.cat([input_ids, ids], dim=1)


def test_tools_are_called_and_rewards_train(tokenizer, tmp_path):
    client = tetrion.Client()
    tasks = [client.task("train", index) for index in (1, 6)]
    assert [task.group for task in tasks] == ["play", "formula"]
    model = Player(config(tokenizer))
    model.tokenizer, model.solutions = tokenizer, {task.prompt: solution(task, client) for task in tasks}
    before = [parameter.detach().clone() for parameter in model.parameters()]
    conversations: list[tuple[int, float, list[dict[str, str]]]] = []

    def record(environments, completions, index, **_):
        conversations.extend(zip(index, score_reward(environments), completions, strict=True))
        return [0.0] * len(completions)

    message = [{"role": "user", "content": "Use the tools.\n\n"}]
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list([{"prompt": message, "split": "train", "index": index} for index in (1, 6)]),
        environment_factory=Tetris,
        reward_funcs=[success_reward, record],
        args=GRPOConfig(
            output_dir=str(tmp_path),
            num_generations=4,
            per_device_train_batch_size=8,
            max_completion_length=4096,
            max_steps=2,
            learning_rate=1e-3,
            logging_steps=1,
            use_cpu=True,
            report_to="none",
        ),
    )
    trainer.train()

    assert len(conversations) == 2 * 2 * 4
    for index, score, messages in conversations:
        answers = [message["content"] for message in messages if message["role"] == "tool"]
        if score == 0.0:
            (answer,) = answers
            assert ("did you mean" if index == 6 else "is not a legal action") in answer
        else:
            assert re.match(r"[\d.]+ lines per game" if index == 6 else r"\w \d@\d-\d: lines \d, holes \d", answers[0])
            assert answers[-1].endswith("The episode has ended with the score 1.000.")
    steps = [step for step in trainer.state.log_history if "reward" in step]
    # Half of the games are solved. Of each four, two solve in 4 or 2 calls and two fail in their only call.
    assert [step["reward"] for step in steps] == [0.5, 0.5]
    assert [step["tools/call_frequency"] for step in steps] == [2.0, 2.0]
    assert steps[0]["tools/failure_frequency"] == pytest.approx(4 / 16)
    assert any(not torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))
