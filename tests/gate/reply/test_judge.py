"""A judging model may refuse what every rule accepted, never accept what a rule refused."""

from dataclasses import dataclass, field
from pathlib import Path

import orjson
import pytest

from tallystick.gate.reply.support.scorer import Judged, Verdict
from tallystick.providers.local.judge import LocalJudge
from tallystick.providers.local.letters import margin_of
from tallystick.providers.models.store import ModelStore
from tests.gate.reply.small_workspace import Check

SCENE = "Story/Scenes/SCN-05.md"
SAID = "Marta counts eleven lanterns on the pier."
LINE = f'Evidence: "{SAID}" {SCENE}'


@dataclass
class Scripted:
    """Gives the same verdict on every pair and keeps what it was asked."""

    verdict: Verdict
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def judge(self, claim: str, source: str) -> Judged:
        self.asked.append((claim, source))
        return Judged(claim=claim, source=source, verdict=self.verdict, model="scripted", margin=-900)


@pytest.fixture
def told(check: Check) -> Check:
    check.write(SCENE, f"# The Lantern\n\n{SAID}\n")
    return check


@pytest.mark.promise("reply.judge-only-refuses")
@pytest.mark.parametrize(
    ("verdict", "fault", "unsure"),
    [("supported", None, 0), ("contradicted", "judged_unsupported", 0), ("unsure", None, 1)],
)
def test_the_verdict_decides_about_a_claim_that_the_rules_accept(
    told: Check, verdict: Verdict, fault: str | None, unsure: int
) -> None:
    scorer = Scripted(verdict)
    findings = told(f"Marta counts eleven lanterns.\n\n{LINE}", scorer=scorer)
    assert (findings.ok, findings.fault, len(findings.unsure)) == (fault is None, fault, unsure)
    [(claim, source)] = scorer.asked
    assert claim == "Marta counts eleven lanterns."
    assert SAID in source
    recorded = findings.evidence_record()["judged"]
    assert recorded == [{"claim": claim, "source": source, "verdict": verdict, "model": "scripted", "margin": -900}]


@pytest.mark.promise("reply.judge-only-refuses")
def test_a_claim_that_a_rule_refuses_is_not_put_to_the_model(told: Check) -> None:
    scorer = Scripted("supported")
    findings = told(f"Marta counts twelve lanterns.\n\n{LINE}", scorer=scorer)
    assert (findings.ok, findings.fault, scorer.asked) == (False, "number_unsupported", [])


@pytest.mark.promise("reply.judge-only-refuses")
def test_claims_beyond_the_twentieth_are_shown_as_unsure(told: Check) -> None:
    scorer = Scripted("supported")
    findings = told(f"{'Marta counts eleven lanterns. ' * 25}\n\n{LINE}", scorer=scorer)
    assert (findings.ok, len(scorer.asked), len(findings.unsure)) == (True, 20, 5)


@pytest.mark.promise("reply.judge-only-refuses")
def test_a_model_that_is_not_there_leaves_the_claim_unsure(told: Check, tmp_path: Path) -> None:
    findings = told(
        f"Marta counts eleven lanterns.\n\n{LINE}", scorer=LocalJudge("qwen2.5-coder-1.5b", ModelStore(tmp_path))
    )
    assert findings.ok
    assert [item.code for item in findings.unsure] == ["judged_unsure"]
    assert findings.judged[0].margin is None


@pytest.mark.parametrize(
    ("likely", "margin"),
    [
        ({"A": -0.2, "B": -1.9, "The": -6.0}, 1700),
        ({" B": -0.1, "A": -2.5}, -2400),
        ({"B": -0.1}, -19_900),
        ({"The": -0.1}, None),
    ],
)
def test_the_margin_is_read_from_the_likeliest_answers(likely: dict[str, float], margin: int | None) -> None:
    top = [{"token": token, "logprob": logprob} for token, logprob in likely.items()]
    answer = {"choices": [{"logprobs": {"content": [{"token": "A", "top_logprobs": top}]}}]}
    assert margin_of(orjson.dumps(answer)) == margin


@pytest.mark.parametrize("body", [b"", b"{}", b'{"choices": []}', b'{"choices": [{"logprobs": null}]}', b"[1]"])
def test_an_answer_without_likelihoods_has_no_margin(body: bytes) -> None:
    assert margin_of(body) is None
