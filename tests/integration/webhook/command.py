"""The command `fluxnetes webhook`, started and stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from fluxnetes.webhook.run import listen


class Command:
    """One webhook at one port."""

    def __init__(self, kubeconfig: Path, folder: Path, *options: str) -> None:
        with listen("127.0.0.1") as free:
            self.port: int = free.getsockname()[1]
        named = {"--kubeconfig": kubeconfig, "--folder": folder, "--port": self.port}
        self._line = [sys.executable, "-m", "fluxnetes", "webhook", *options]
        self._folder = folder
        self._line += [str(part) for pair in named.items() for part in pair]
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it unless it runs, and wait until the API server knows of it."""
        if self._process is None:
            self._process = subprocess.Popen(self._line, stdout=subprocess.PIPE, text=True)
            assert self._process.stdout is not None
            assert self._process.stdout.readline() == "ready\n"

    def authority(self) -> str:
        """Whom to trust, as PEM."""
        kept: dict[str, str] = json.loads((self._folder / "webhook.json").read_text())
        return kept["ca.crt"]

    def processor_seconds(self) -> float:
        """The processor time that it has used so far."""
        assert self._process is not None
        stat = Path(f"/proc/{self._process.pid}/stat").read_text()
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> int | None:
        """Ask it to stop; its status, if it ran."""
        process, self._process = self._process, None
        if process is None:
            return None
        with process:
            process.terminate()
            return process.wait(10)

    def kill(self) -> None:
        """Kill -9."""
        process, self._process = self._process, None
        if process is not None:
            with process:
                process.kill()
