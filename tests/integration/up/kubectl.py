"""What kubectl does, as far as the documentation shows it, on machines that have no kubectl.

Tables are the API server's own: kubectl only lays out what the server gives it, and so do we.
"""

from __future__ import annotations

import http.client
import json
import re
import shlex
import ssl
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import yaml

from fluxnetes.plane.certificates import PlaneCertificate
from fluxnetes.plane.paths import PlanePaths

Object = dict[str, Any]

_PATHS = {
    "namespace": ("/api/v1", "namespaces"),
    "node": ("/api/v1", "nodes"),
    "pod": ("/api/v1", "pods"),
    "job": ("/apis/batch/v1", "jobs"),
    "fluxjob": ("/apis/jobs.converged-computing.org/v1alpha1", "fluxjobs"),
}
_OF_NO_NAMESPACE = ("namespace", "node")
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
_PAUSE = 0.1


class Kubectl:
    """One user of one cluster that `fluxnetes up` made."""

    def __init__(self, kubeconfig: Path, folder: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        self._server = urlsplit(config["clusters"][0]["cluster"]["server"])
        keys = PlanePaths(kubeconfig.parent).keys
        admin = PlaneCertificate(keys / "admin.crt", keys / "admin.key")
        self._trust = ssl.create_default_context(cafile=keys / "ca.crt")
        self._trust.load_cert_chain(admin.certificate, admin.key)
        self._folder = folder

    def __call__(self, line: str) -> str:
        """What `kubectl LINE` shows. An option stands before its value, or has it after a `=`."""
        words, options = _parse(shlex.split(line))
        verb, *rest = words
        namespace = options.get("-n", "default")
        shown: str = getattr(self, f"_{verb}")(namespace, rest, options)
        return shown

    # --- verbs ---------------------------------------------------------------------------------

    def _get(self, namespace: str, words: list[str], options: dict[str, str]) -> str:
        path = _path(namespace, *words)
        if "-l" in options:
            path += f"?labelSelector={quote(options['-l'])}"
        if options.get("-o", "").startswith("jsonpath="):
            return _fill(options["-o"].removeprefix("jsonpath="), self._send("GET", path)) + "\n"
        return _lay_out(self._send("GET", path, accept=_TABLE), wide=options.get("-o") == "wide")

    def _describe(self, namespace: str, words: list[str], options: dict[str, str]) -> str:
        return yaml.safe_dump(self._send("GET", _path(namespace, *words)))

    def _apply(self, namespace: str, words: list[str], options: dict[str, str]) -> str:
        shown = ""
        for thing in self._read(options["-f"]):
            kind, metadata = thing["kind"].lower(), thing["metadata"]
            self._send("POST", _path(metadata.get("namespace", namespace), kind), thing)
            group = thing["apiVersion"].rpartition("/")[0]
            shown += f"{kind}{'.' * bool(group)}{group}/{metadata['name']} created\n"
        return shown

    def _delete(self, namespace: str, words: list[str], options: dict[str, str]) -> str:
        things = [(words[0], words[1])] if words else self._named(options["-f"])
        for kind, name in things:
            self._send("DELETE", _path(namespace, kind, name), {"propagationPolicy": "Background"})
        return ""

    def _annotate(self, namespace: str, words: list[str], options: dict[str, str]) -> str:
        kind, name, change = words
        key, _, value = change.partition("=")
        annotations = {key: value} if value else {key.removesuffix("-"): None}
        self._send(
            "PATCH", _path(namespace, kind, name), {"metadata": {"annotations": annotations}}
        )
        return ""

    def _wait(self, namespace: str, words: list[str], options: dict[str, str]) -> str:
        wanted = options["--for"].removeprefix("condition=")
        deadline = time.monotonic() + int(options["--timeout"].removesuffix("s"))
        while time.monotonic() < deadline:
            found = self._send("GET", _path(namespace, *words[0].split("/")))
            conditions = found.get("status", {}).get("conditions", [])
            if any(each["type"] == wanted and each["status"] == "True" for each in conditions):
                return ""
            time.sleep(_PAUSE)
        raise AssertionError(f"{words[0]} did not become {wanted}: {found}")

    # --- files and requests --------------------------------------------------------------------

    def _read(self, file: str) -> list[Object]:
        return list(yaml.safe_load_all((self._folder / file).read_text()))

    def _named(self, file: str) -> list[tuple[str, str]]:
        return [(each["kind"].lower(), each["metadata"]["name"]) for each in self._read(file)]

    def _send(
        self,
        method: str,
        path: str,
        body: Object | None = None,
        accept: str = "application/json",
    ) -> Object:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        host, port = self._server.hostname or "", self._server.port
        connection = http.client.HTTPSConnection(host, port, context=self._trust, timeout=30)
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, {"Accept": accept, "Content-Type": kind})
            answer: Object = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        if answer.get("status") == "Failure":
            raise Refused(f"{method} {path}: {answer['message']}")
        return answer


class Refused(Exception):  # noqa: N818 - reads better where it is raised and caught
    """The server said no."""


def _parse(words: list[str]) -> tuple[list[str], dict[str, str]]:
    plain: list[str] = []
    options: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word.startswith("--"):
            name, _, value = word.partition("=")
            options[name] = value
        elif word.startswith("-"):
            options[word] = next(rest)
        else:
            plain.append(word)
    return plain, options


def _path(namespace: str, kind: str, name: str = "") -> str:
    singular = kind.removesuffix("s")
    root, plural = _PATHS[singular]
    where = "" if singular in _OF_NO_NAMESPACE else f"/namespaces/{namespace}"
    return f"{root}{where}/{plural}" + (f"/{name}" if name else "")


def _fill(template: str, thing: Object) -> str:
    def look_up(path: re.Match[str]) -> str:
        found: Any = thing
        for key in path[1].strip(".").split("."):
            found = found.get(key, {})
        return str(found) if found else ""

    return re.sub(r"\{(.*?)\}", look_up, template)


def _lay_out(table: Object, *, wide: bool) -> str:
    columns = table["columnDefinitions"]
    shown = [n for n, column in enumerate(columns) if wide or not column["priority"]]
    rows = [[columns[n]["name"].upper() for n in shown]]
    for row in table["rows"]:
        rows.append(["" if row["cells"][n] is None else str(row["cells"][n]) for n in shown])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("   ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "".join(f"{line}\n" for line in lines)
