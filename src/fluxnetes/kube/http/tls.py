"""Whose certificates we trust, and how we show our own."""

from __future__ import annotations

import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path

from fluxnetes.kube.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ServerTrust:
    """How the server must prove itself."""

    authority: str | None = None
    """Certificates of those who may vouch for it, as PEM; None: those the system trusts."""
    verify: bool = True

    def context(self, certificate: tuple[str, str] | None = None) -> ssl.SSLContext:
        """Settings for a connection on which we show this certificate and key."""
        try:
            context = ssl.create_default_context(cadata=self.authority)
        except (ssl.SSLError, ValueError) as error:
            raise ConfigError(
                f"the certificate authority of the cluster is no PEM certificate: {error}; "
                "correct certificate-authority(-data) in the kubeconfig"
            ) from None
        # Authorities that clusters made for themselves often lack what strict checking asks for.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if certificate is not None:
            _show(context, certificate)
        return context


def _show(context: ssl.SSLContext, certificate: tuple[str, str]) -> None:
    """Load a certificate and its key; from a file, since the library reads nothing else."""
    with tempfile.TemporaryDirectory(prefix="fluxnetes-") as folder:
        file = Path(folder, "client.pem")
        file.touch(mode=0o600)
        file.write_text("\n".join(certificate))
        try:
            context.load_cert_chain(file, password=_no_password)
        except (ssl.SSLError, ValueError) as error:
            raise ConfigError(
                f"the client certificate and its key cannot be used: {error}; they must be PEM, "
                "belong together, and have no pass phrase"
            ) from None


def _no_password() -> str:
    """Without this the library would ask on the terminal."""
    raise ValueError("the key needs a pass phrase")
