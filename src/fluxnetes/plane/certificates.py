"""The plane's certificate authority, and the certificates that it signs.

The API server authenticates a client by a certificate of the authority, and takes the user and the
groups from it. So each program has a certificate with its own name, and RBAC authorizes it.

The authority and the key that signs service account tokens stay as long as the folder: kubeconfigs
and tokens issued earlier stay valid. Everything else is issued again at each start, and so never
expires in a folder that is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from fluxnetes.common.certificates import (
    SignedCertificate,
    issue_client,
    issue_server,
    make_authority,
    make_key_pair,
)
from fluxnetes.plane.paths import write_whole

_LEAF = timedelta(days=365)
_AUTHORITY = timedelta(days=3650)


@dataclass(frozen=True, slots=True)
class PlaneCertificate:
    """A certificate and its key, in PEM files."""

    certificate: Path
    key: Path


class PlaneAuthority:
    """The certificate authority of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.files = self._files("ca")
        if not self.files.certificate.exists():
            # The certificate is written last: its presence means that both files are complete.
            self._write("ca", make_authority("fluxnetes plane", _AUTHORITY, rsa_key=True))
        self._signed = SignedCertificate(
            self.files.certificate.read_bytes(), self.files.key.read_bytes()
        )

    def issue_server(
        self, name: str, addresses: tuple[str, ...], names: tuple[str, ...]
    ) -> PlaneCertificate:
        """A certificate for a server at these addresses and names."""
        return self._write(name, issue_server(self._signed, name, addresses, names, _LEAF))

    def issue_client(self, name: str, user: str, group: str | None = None) -> PlaneCertificate:
        """A client certificate for `user` in `group`."""
        return self._write(name, issue_client(self._signed, user, group, _LEAF))

    def signing_key(self, name: str) -> PlaneCertificate:
        """A key pair without a certificate, created once; `certificate` holds the public key."""
        files = self._files(name)
        if files.key.exists() and files.certificate.exists():
            return files
        return self._write(name, make_key_pair())

    def _write(self, name: str, signed: SignedCertificate) -> PlaneCertificate:
        files = self._files(name)
        write_whole(files.key, signed.key)
        write_whole(files.certificate, signed.certificate)
        return files

    def _files(self, name: str) -> PlaneCertificate:
        return PlaneCertificate(self._folder / f"{name}.crt", self._folder / f"{name}.key")
