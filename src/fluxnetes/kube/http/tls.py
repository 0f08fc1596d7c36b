"""TLS settings: the authorities trusted for the server, and the client certificate."""

from __future__ import annotations

import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path

from fluxnetes.kube.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ServerTrust:
    """How the server's certificate is verified."""

    authority: str | None = None
    """Trusted certificate authorities, as PEM; None: those of the system."""
    verify: bool = True

    def context(self, certificate: tuple[str, str] | None = None) -> ssl.SSLContext:
        """An SSL context that presents this client certificate and key."""
        try:
            context = ssl.create_default_context(cadata=self.authority)
        except (ssl.SSLError, ValueError) as error:
            raise ConfigError(
                f"the certificate authority of the cluster is not a PEM certificate: {error}; "
                "correct certificate-authority(-data) in the kubeconfig"
            ) from None
        # Self-signed authorities of clusters often lack extensions that strict checking requires.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if certificate is not None:
            _load(context, certificate)
        return context


def _load(context: ssl.SSLContext, certificate: tuple[str, str]) -> None:
    """Load a certificate and its key, through a file since the library accepts nothing else."""
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
    """Refuse an encrypted key; without this callback the library prompts on the terminal."""
    raise ValueError("the key needs a pass phrase")
