"""Tools: plain typed functions, told to a model by their signature and docstring.

What a model wrote as arguments is untrusted: it is checked and converted before a function sees
it, and whatever goes wrong becomes a result that the model can read.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, TypeAlias, get_type_hints

import msgspec

from rireki.agent.threads import in_thread
from rireki.errors import RirekiError
from rireki.history.inputs import with_images
from rireki.providers import plain

__all__ = ["Output", "Tool", "ToolError", "gather_tools", "tool"]

#: What every provider takes as the name of a tool.
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SECTION = re.compile(r"^(args|arguments|parameters|returns?|raises|yields|examples?):\s*$", re.I)
_PARAMETER = re.compile(r"^\s*(?::param\s+)?\*{0,2}(\w+)(?:\s*\([^)]*\))?\s*:\s*(.*)$")


class ToolError(Exception):
    """Raised by a tool to tell the model, in its own words, that it did not work."""


class Output(msgspec.Struct, frozen=True):
    """What a tool gives back: a text, pictures (as `add_tool_result` takes them), success or not."""

    text: str
    images: list[Any] = []
    is_error: bool = False


class Tool(msgspec.Struct, frozen=True):
    """A tool as a model is told of it, and what runs when it is called."""

    name: str
    description: str
    #: JSON schema of the arguments: an object.
    schema: dict[str, Any]
    #: Takes the arguments that the model wrote.
    run: Callable[[dict[str, Any]], Awaitable[Any]]

    async def call(self, arguments: Any) -> Output:
        """Run it. Errors come back as outputs; only cancelling gets through."""
        if not isinstance(arguments, dict):
            return Output(f"Error: the arguments of {self.name} are not a JSON object", [], True)
        try:
            return output_of(await self.run(arguments))
        except ToolError as error:
            return Output(str(error) or f"Error: {self.name} failed", [], True)
        except msgspec.ValidationError as error:
            return Output(f"Error: wrong arguments for {self.name}: {error}", [], True)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the model is to see it
            return Output(f"Error: {type(error).__name__}: {error}", [], True)


Given: TypeAlias = "Tool | Callable[..., Any]"


def tool(function: Callable[..., Any]) -> Tool:
    """A function, sync or async, as a tool; so is a `functools.partial`, or an object with a call.

    The first paragraph of its docstring describes it, a section `Args:` (or `:param x:`) its
    parameters; parameters with a default need not be given.
    """
    name = _name(function)
    accepted = _accepted(function, name)
    summary, parameters = _documented(inspect.getdoc(_written(function)) or "")
    schema = _schema(accepted, name)
    for parameter, said in parameters.items():
        if parameter in schema["properties"]:
            schema["properties"][parameter].setdefault("description", said)

    async def run(arguments: dict[str, Any]) -> Any:
        # Models write "3" for 3, and Gemini 3.0: what can be read as the type is taken.
        read = msgspec.convert(arguments, accepted, strict=False)
        given = {field: getattr(read, field) for field in accepted.__struct_fields__}
        if inspect.iscoroutinefunction(function):
            return await function(**given)
        # What is not written as a coroutine function may still return a coroutine.
        made = await in_thread(lambda: function(**given))
        return await made if inspect.isawaitable(made) else made

    return Tool(_checked(name), summary or name, schema, run)


def gather_tools(given: Iterable[Given]) -> dict[str, Tool]:
    """Tools and functions, by name."""
    found: dict[str, Tool] = {}
    for one in given:
        made = one if isinstance(one, Tool) else tool(one)
        if made.name in found:
            raise RirekiError("two-tools-of-one-name", name=made.name)
        found[made.name] = made
    return found


def output_of(value: Any) -> Output:
    """What a function returned, as text for the model."""
    if isinstance(value, Output):
        # A picture that cannot be kept is this tool's error, not one of all that ran with it.
        images = plain(with_images([], value.images))
        return Output(_text(value.text), images, value.is_error)
    return Output(_text(value))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "(no output)" if value is None else msgspec.json.encode(plain(value)).decode()


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise RirekiError("bad-tool-name", name=name)
    return name


def _written(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it was written, with a docstring and types."""
    if isinstance(function, partial):
        return _written(function.func)
    if hasattr(function, "__name__"):
        return function
    written: Callable[..., Any] = type(function).__call__
    return written


def _name(function: Callable[..., Any]) -> str:
    """Its own; that of its class if it is an object."""
    if isinstance(function, partial):
        return _name(function.func)
    return str(getattr(function, "__name__", type(function).__name__))


def _parameters(function: Callable[..., Any], name: str) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise RirekiError("no-tool", name=name, why=error) from error


def _accepted(function: Callable[..., Any], name: str) -> type[msgspec.Struct]:
    """The parameters of a function as a type that checks what is given."""
    parameters = _parameters(function, name)
    hints = get_type_hints(_written(function), include_extras=True)
    fields: list[Any] = []
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise RirekiError("bad-tool-parameter", name=name, parameter=parameter)
        kind = hints.get(parameter.name, Any)
        if parameter.default is parameter.empty:
            fields.append((parameter.name, kind))
        else:
            fields.append((parameter.name, kind, _default(parameter.default)))
    made: type[msgspec.Struct] = msgspec.defstruct(
        name, fields, forbid_unknown_fields=True, kw_only=True
    )
    return made


def _default(value: Any) -> Any:
    if isinstance(value, list | dict | set):
        return msgspec.field(default_factory=lambda: type(value)(value))
    return value


def _schema(accepted: type[msgspec.Struct], name: str) -> dict[str, Any]:
    try:
        whole = msgspec.json.schema(accepted)
    except TypeError as error:
        raise RirekiError("bad-tool-parameters", name=name, why=error) from error
    made: dict[str, Any] = _inlined(whole, whole.get("$defs", {}), (name,))
    made.pop("$defs", None)
    return made


def _inlined(value: Any, defs: dict[str, Any], above: tuple[str, ...]) -> Any:
    """Without references, which not every provider follows."""
    if isinstance(value, list):
        return [_inlined(one, defs, above) for one in value]
    if not isinstance(value, dict):
        return value
    reference = value.get("$ref")
    if isinstance(reference, str):
        target = reference.removeprefix("#/$defs/")
        if above.count(target) > 1 or (target in above[1:]):
            raise RirekiError("tool-parameters-nest", name=above[0], kind=target)
        return _inlined(defs[target], defs, (*above, target))
    kept = {key: one for key, one in value.items() if key not in ("$defs", "title")}
    if isinstance(value.get("properties"), dict):
        # Here `title` is the name of a parameter.
        kept["properties"] = dict(value["properties"])
    if "enum" in kept and all(isinstance(one, str) for one in kept["enum"]):
        kept = {"type": "string", **kept}
    return {key: _inlined_under(key, one, defs, above) for key, one in kept.items()}


def _inlined_under(key: str, value: Any, defs: dict[str, Any], above: tuple[str, ...]) -> Any:
    if key == "properties" and isinstance(value, dict):
        return {name: _inlined(one, defs, above) for name, one in value.items()}
    return value if key in ("default", "enum") else _inlined(value, defs, above)


def _documented(doc: str) -> tuple[str, dict[str, str]]:
    """What a docstring says of the function, and of each parameter."""
    said: list[str] = []
    parameters: dict[str, str] = {}
    section, latest = "", ""
    for line in doc.splitlines():
        heading = _SECTION.match(line)
        if heading:
            section, latest = heading.group(1).lower(), ""
            continue
        within = section in ("args", "arguments", "parameters")
        found = _PARAMETER.match(line) if within or line.lstrip().startswith(":param") else None
        if found:
            latest = found.group(1)
            parameters[latest] = found.group(2).strip()
        elif within and latest and line.strip():
            parameters[latest] += f" {line.strip()}"
        elif not section and not line.lstrip().startswith(":"):
            said.append(line)
    return "\n".join(said).strip(), parameters
