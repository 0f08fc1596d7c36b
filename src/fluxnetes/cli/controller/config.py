"""Reads the file that configures queues: YAML written by hand, so every value is validated.

The shape is that of `queue.config.SchedulerConfig`, field by field, and the type of a field says
which values it may have. So a setting that is added there can be used in files at once. The store
writes configurations in the same shape (`store.codec.config`), but trusts what it wrote itself.

For a Kubernetes cluster, the file also says which nodes and pods count (`cluster.scope`), and
amounts are in the units of their resource (`cluster.config_units`); the queue, and the store, have
those of the graph.
"""

from __future__ import annotations

import json
import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from fluxnetes.cli.controller.cluster_config import CLUSTER_KEYS
from fluxnetes.cluster.config_units import in_graph_units
from fluxnetes.cluster.scope import SCOPE_SETTINGS, WHOLE_CLUSTER, ClusterScope, read_scope
from fluxnetes.common.yaml_text import YamlError, load_yaml
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.input_limits import LARGEST
from fluxnetes.store.codec.config import decode_config

_OF_CLUSTER = (*SCOPE_SETTINGS, *sorted(CLUSTER_KEYS))
"""Settings of a file that are not about its queues."""
_LEAST = {
    "reservations": 1,
    "depth": 1,
    "default_walltime": 1,
    "max_walltime": 1,
    "grace": 0,
    "running": 0,
    "pending": 0,
    "age_cap": 1,
    "half_life": 1,
    "amount": 0,
    "period": 1,
}
"""Minimum of each number, by the name of its field."""

_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """What a file says for a Kubernetes cluster."""

    scheduler: SchedulerConfig = field(default_factory=SchedulerConfig)
    scope: ClusterScope = WHOLE_CLUSTER


def read_config(path: Path | None) -> SchedulerConfig:
    """Queues, limits and shares, in the units of the graph; without a file, one queue.

    ValueError says what is wrong where.
    """
    return SchedulerConfig() if path is None else _decode(_load(path), path)


def read_cluster_config(path: Path | None) -> ClusterConfig:
    """The same for a Kubernetes cluster, in its units, and which nodes and pods count."""
    if path is None:
        return ClusterConfig()
    content = _load(path)
    scope, rest = WHOLE_CLUSTER, content
    try:
        if isinstance(content, dict):
            scope = read_scope(content)
            rest = {key: each for key, each in content.items() if key not in _OF_CLUSTER}
        rest = in_graph_units(rest)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return ClusterConfig(_decode(rest, path, _OF_CLUSTER), scope)


def _load(path: Path) -> Any:
    try:
        content = load_yaml(path.read_bytes())
    except YamlError as error:
        raise ValueError(f"{path} is not YAML: {error}") from None
    return {} if content is None else content


def _decode(content: Any, path: Path, others: tuple[str, ...] = ()) -> SchedulerConfig:
    """The settings of the queues; `others` are those of the file that were read before."""
    wrong = next(_problems_at_top(content, others), None)
    if wrong is not None:
        raise ValueError(f"{path}: {wrong}")
    try:
        config = decode_config(json.dumps(content))
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    _check_queues(config, path)
    return config


def _check_queues(config: SchedulerConfig, path: Path) -> None:
    names = [queue.name for queue in config.queues]
    if not names:
        raise ValueError(f"{path}: queues: expected at least one, found none")
    for number, queue in enumerate(config.queues):
        where = f"{path}: queues[{number}]"
        if queue.name in names[:number]:
            raise ValueError(f"{where}.name: another queue is already named {queue.name}")
        maximum, default = queue.max_walltime, queue.default_walltime
        if maximum is not None and default is not None and default > maximum:
            raise ValueError(
                f"{where}.default_walltime: {default} is more than max_walltime, {maximum}"
            )


# --- valid values ------------------------------------------------------------------------------


def _problems_at_top(content: Any, others: tuple[str, ...]) -> Iterator[str]:
    known = {*others, *(each.name for each in fields(SchedulerConfig))}
    for name in content if isinstance(content, dict) else ():
        if name not in known:
            yield f"{name}: there is no such setting; there is {', '.join(sorted(known))}"
    yield from _problems(content, SchedulerConfig, "")


def _problems(value: Any, kind: Any, path: str) -> Iterator[str]:
    """A message for each thing that is wrong with a value that should be of some type."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        plain = [each for each in inner if each is not type(None)]
        if value is not None and len(plain) == 1:
            yield from _problems(value, plain[0], path)
        elif value is not None and not isinstance(value, dict):
            # Which of several kinds of constraints it is, is decided by the store's decoder.
            yield f"{path}: expected settings, found {value!r}"
    elif is_dataclass(kind):
        yield from _problems_of_fields(value, kind, path)
    elif origin is tuple:
        yield from _problems_of_list(value, inner[0], path)
    elif origin is Mapping:
        yield from _problems_of_mapping(value, inner, path)
    elif isinstance(kind, type) and issubclass(kind, Enum):
        known = [each.value for each in kind]
        if value not in known:
            yield f"{path}: expected one of {', '.join(known)}, found {value!r}"
    elif kind in _WORDS:
        yield from _problems_of_plain(value, kind, path)


def _problems_of_fields(value: Any, kind: Any, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path or 'top level'}: expected settings, found {value!r}"
        return
    known, hints = {each.name: each for each in fields(kind)}, get_type_hints(kind)
    for name, content in value.items():
        where = f"{path}.{name}".lstrip(".")
        if name not in known:
            yield f"{where}: there is no such setting; there is {', '.join(sorted(known))}"
        else:
            yield from _problems(content, hints[name], where)
    for name, each in known.items():
        has_default = each.default is not MISSING or each.default_factory is not MISSING
        if name not in value and not has_default:
            yield f"{path}.{name}: expected a value, found none"


def _problems_of_list(value: Any, kind: Any, path: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{path}: expected a list, found {value!r}"
        return
    for number, each in enumerate(value):
        yield from _problems(each, kind, f"{path}[{number}]")


def _problems_of_mapping(value: Any, kinds: tuple[Any, ...], path: str) -> Iterator[str]:
    key, content = kinds
    if key is not str:
        yield from _problems_of_rows(value, len(get_args(key)), content, path)
    elif not isinstance(value, dict):
        yield f"{path}: expected names with a value each, found {value!r}"
    else:
        for name, each in value.items():
            yield from _problems(each, content, f"{path}.{name}")


def _problems_of_rows(value: Any, keys: int, kind: Any, path: str) -> Iterator[str]:
    """A mapping whose keys are several names is written as rows: the names, then the value."""
    for number, row in enumerate(value) if isinstance(value, list) else [(0, value)]:
        where = f"{path}[{number}]"
        if not isinstance(row, list) or len(row) != keys + 1:
            yield f"{where}: expected a list of {keys} names and a value, found {row!r}"
        else:
            yield from _problems(row[-1], kind, where)


def _problems_of_plain(value: Any, kind: Any, path: str) -> Iterator[str]:
    accepted = (int, float) if kind is float else kind
    is_other = not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool)
    if is_other or value != value:  # only nan is unlike itself
        yield f"{path}: expected {_WORDS[kind]}, found {value!r}"
        return
    least = _LEAST.get(path.rpartition(".")[2])
    if least is not None and not value >= least:
        yield f"{path}: expected {least} or more, found {value!r}"
    if kind in (int, float) and abs(value) > LARGEST:
        yield f"{path}: expected at most {LARGEST}, found {value!r}"
    if value == "":
        yield f"{path}: expected text, found none"
