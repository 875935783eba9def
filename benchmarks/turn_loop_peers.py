"""The same turn in other agent loops: one tool call (or eleven) and the answer, with a model that answers at once.

Run by `turn_loop` with the Python of an environment that has them; prints one line of JSON.
"""

# ruff: noqa: PLC0415 - each of them is loaded only where it is measured

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import statistics
import sys
import time
import warnings

os.environ.setdefault("OPENAI_AGENTS_DISABLE_TRACING", "1")
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

RAW = '{"text": "hello world", "n": 7}'
EXPECTED = "hello world:7"
MILLISECONDS = 300.0


async def echo(text: str, n: int) -> str:
    """Echo."""
    return f"{text}:{n}"


def pydantic_ai(calls: int):
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    def answer(messages, _info):
        done = sum(1 for message in messages if isinstance(message, ModelResponse))
        if done < calls:
            return ModelResponse(parts=[ToolCallPart("echo", RAW, tool_call_id=f"c{done}")])
        return ModelResponse(parts=[TextPart("done")])

    agent = Agent(FunctionModel(answer))
    agent.tool_plain(echo)

    async def turn():
        return await agent.run("go")

    def good(result) -> bool:
        returned = [
            part.content
            for message in result.all_messages()
            for part in message.parts
            if part.part_kind == "tool-return"
        ]
        return result.output == "done" and returned == [EXPECTED] * calls

    return turn, good


def openai_agents(calls: int):
    from agents import Agent, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
    from agents.models.interface import Model
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    set_tracing_disabled(True)

    class Quick(Model):
        async def get_response(self, *args, **more):
            items = args[1] if len(args) > 1 else more["input"]
            done = 0 if isinstance(items, str) else sum(
                1 for item in items if isinstance(item, dict) and item.get("type") == "function_call_output"
            )  # fmt: skip
            if done < calls:
                out = [ResponseFunctionToolCall(type="function_call", call_id=f"c{done}", name="echo", arguments=RAW)]
            else:
                text = ResponseOutputText(type="output_text", text="done", annotations=[])
                out = [
                    ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
                ]
            return ModelResponse(output=out, usage=Usage(), response_id=None)

        def stream_response(self, *args, **more):
            raise NotImplementedError

    agent = Agent(name="bench", model=Quick(), tools=[function_tool(echo)])

    async def turn():
        return await Runner.run(agent, "go", max_turns=50)

    def good(result) -> bool:
        outputs = [item.output for item in result.new_items if item.type == "tool_call_output_item"]
        return result.final_output == "done" and outputs == [EXPECTED] * calls

    return turn, good


async def measure(rounds: int) -> dict[str, dict[str, dict[str, float]]]:
    cases = {}
    for name, make in (("pydantic-ai", pydantic_ai), ("openai-agents", openai_agents)):
        for calls in (1, 11):
            turn, good = make(calls)
            if not good(await turn()):
                message = f"{name}: unexpected result"
                raise RuntimeError(message)
            cases[name, str(calls)] = (turn, good, [], [])
    gc.collect()
    gc.disable()
    for number in range(rounds):
        for turn, _good, wall, cpu in list(cases.values())[:: 1 if number % 2 == 0 else -1]:
            await one_round(turn, wall, cpu)
            gc.collect()
    found: dict[str, dict[str, dict[str, float]]] = {}
    for (name, calls), (turn, good, wall, cpu) in cases.items():
        if not good(await turn()):
            message = f"{name}: unexpected result"
            raise RuntimeError(message)
        figures = {"median_us": round(statistics.median(wall), 1), "cpu_us": round(statistics.median(cpu), 1)}
        found.setdefault(name, {})[calls] = figures
    return found


async def one_round(turn, wall: list[float], cpu: list[float]) -> None:
    end = time.perf_counter() + MILLISECONDS / 1000
    began_cpu, runs = time.process_time(), 0
    while runs < 5 or time.perf_counter() < end:
        began = time.perf_counter()
        await turn()
        wall.append((time.perf_counter() - began) * 1e6)
        runs += 1
    cpu.append((time.process_time() - began_cpu) / runs * 1e6)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(int(sys.argv[1])))))
