"""`openenv validate`, as far as it runs without Docker, and the oracle that `openenv.yaml` declares."""

import subprocess
import sys
from pathlib import Path

import yaml
from openenv.validation import Level, run_validation
from openenv.validation.types import ProviderCapability

ROOT = Path(__file__).parents[1]


class Here:
    """A provider whose subject is the server of these tests: unmodified graders, no image and no sandbox."""

    name = "loopback"
    capabilities = frozenset({ProviderCapability.IMAGE_BUILD})
    supported_network_modes = frozenset({"no-network"})

    def __init__(self, url):
        self.base_url = url

    def build(self, root, execution):
        return "sha256:" + "0" * 64

    def start(self, spec):
        return self

    def inspect(self):
        return {}

    def logs(self, max_bytes=65536):
        return ""

    def stop(self):
        pass


def test_the_package_and_the_server_pass_every_check_that_needs_no_docker(url):
    report = run_validation(ROOT, max_level=Level.SEMANTIC, provider=Here(url))
    statuses = {result.check_id: result.status.value for result in report.results}
    for check in ["static.manifest", "runtime.startup", "runtime.reward_well_formed", "runtime.observation_schema"]:
        assert statuses[check] == "pass", report
    assert statuses["runtime.state_contract"] == "pass"
    assert not [name for name, status in statuses.items() if status in ("fail", "error")], report


def test_the_running_server_passes(url):
    command = [Path(sys.executable).with_name("openenv"), "validate", "--url", url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Verdict: PASS" in done.stdout


def test_the_oracle_reaches_the_best_score_of_every_group(url):
    command = [sys.executable, ROOT / "validation/oracle.py", url, "42"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "the oracle reached 1 in 42 of 42 tasks\n", done.stdout + done.stderr


def test_the_manifest_has_what_the_suite_has():
    from tetrion import tasks

    declared = yaml.safe_load((ROOT / "openenv.yaml").read_text())["validation"]["capabilities"]
    assert declared["declared_task_count"] == dict.fromkeys(tasks.SPLITS, tasks.NUM_TASKS)
