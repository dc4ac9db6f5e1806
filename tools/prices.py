"""The prices rireki knows: `python -m tools.prices FILE…` writes them from the price files of LiteLLM.

FILE is `model_prices_and_context_window_backup.json` out of the package `litellm` on PyPI, and each has its
name before it: `1.109.1=FILE`. A model that stands in several counts as the first says; older files have
models that are no longer sold. The result is looked at before it is committed.
"""

from __future__ import annotations

import json
import re
import sys
from datetime import date
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "src" / "rireki" / "model" / "prices.json"
SOURCE = "https://pypi.org/project/litellm/{}/ (model_prices_and_context_window_backup.json)"
#: Whose models are taken, by the name of the provider there, and how their names begin.
MAKERS = {
    "anthropic": ("Anthropic", ("claude-",)),
    "openai": ("OpenAI", ("gpt-", "o1", "o3", "o4", "codex-", "chatgpt-")),
    "gemini": ("Google", ("gemini-",)),
    "xai": ("xAI", ("grok-",)),
    "dashscope": ("Qwen", ("qwen", "qwq")),
    "deepseek": ("DeepSeek", ("deepseek-",)),
    "mistral": (
        "Mistral",
        ("mistral-", "codestral", "devstral", "magistral", "ministral", "pixtral"),
    ),
}
#: What no agent writes code with.
_OTHER = re.compile(
    r"audio|image|tts|realtime|search|research|robotics|lyria|live|vision|computer-use|omni|exp-?\d|experimental|-beta|gv2|multi-agent|daybreak|rosalind"
)
_DATED = re.compile(r"-(\d{8}|\d{4}-\d\d-\d\d)$")
_CLASSES = {
    "input": "input_cost_per_token{}",
    "output": "output_cost_per_token{}",
    "cache_read": "cache_read_input_token_cost{}",
    "cache_write": "cache_creation_input_token_cost{}",
    "cache_write_1h": "cache_creation_input_token_cost_above_1hr{}",
}
_TIER = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")


def main() -> None:
    models: dict[str, dict[str, Any]] = {}
    for argument in sys.argv[1:]:
        version, _, file = argument.partition("=")
        for name, price in _priced(json.loads(Path(file).read_text(encoding="utf-8"))):
            models.setdefault(name, {**price, "source": version})
    for name in list(models):
        # A dated name means what the name without its date means, unless it says something else.
        short = _DATED.sub("", name)
        if short != name and models.get(short) == models[name]:
            del models[name]
    versions = {argument.partition("=")[0] for argument in sys.argv[1:]}
    told = {
        "date": date.today().isoformat(),
        "unit": "US dollars per million tokens",
        "sources": {version: SOURCE.format(version) for version in sorted(versions)},
        "models": dict(sorted(models.items(), key=lambda each: (each[1]["maker"], each[0]))),
    }
    TARGET.write_text(_spelled(told), encoding="utf-8")
    print(f"{len(models)} models in {TARGET}")


def _priced(known: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for full, entry in known.items():
        maker, begins = MAKERS.get(entry.get("litellm_provider", ""), ("", ()))
        name = full.rpartition("/")[2]
        chats = entry.get("mode") in ("chat", "responses") and not full.startswith("ft:")
        if not maker or not chats or not name.startswith(begins) or _OTHER.search(name):
            continue
        tiers = _tiers(entry)
        base = tiers.pop(0, None)
        if base and base.get("input") and base.get("output"):
            price = {"maker": maker, **base}
            if maker == "Anthropic" and price.get("cache_write_1h") != round(2 * base["input"], 6):
                # Twice the input, says their page of prices; a few entries have another model's.
                price.pop("cache_write_1h", None)
            if terms := _terms(entry):
                price["terms"] = terms
            if tiers:
                price["above"] = {str(size): tiers[size] for size in sorted(tiers)}
            found.append((name, price))
    return found


def _tiers(entry: dict[str, Any]) -> dict[int, dict[str, float]]:
    """What each class costs, by the size of the prompt above which it costs that."""
    if ranges := entry.get("tiered_pricing"):
        return {int(one["range"][0]): _classes(one, "") for one in ranges if "range" in one}
    sizes = [int(found[1]) for name in entry if (found := _TIER.fullmatch(name))]
    above = {size * 1000: _classes(entry, f"_above_{size}k_tokens") for size in sizes}
    return {0: _classes(entry, ""), **above}


def _classes(entry: dict[str, Any], suffix: str) -> dict[str, float]:
    costs = {name: entry.get(field.format(suffix)) for name, field in _CLASSES.items()}
    return {name: round(cost * 1e6, 6) for name, cost in costs.items() if cost is not None}


def _terms(entry: dict[str, Any]) -> dict[str, float]:
    said = entry.get("provider_specific_entry") or {}
    return {name: float(said[name]) for name in ("fast", "us") if name in said}


def _spelled(told: dict[str, Any]) -> str:
    """A line per model, so that a difference can be read."""
    lines = [
        f"  {json.dumps(name)}: {json.dumps(price)}" for name, price in told.pop("models").items()
    ]
    head = json.dumps(told, indent=1).removesuffix("\n}")
    return head + ',\n "models": {\n' + ",\n".join(lines) + "\n }\n}\n"


if __name__ == "__main__":
    main()
