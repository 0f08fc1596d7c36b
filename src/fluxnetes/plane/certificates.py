"""Who may speak to whom: an authority of the plane's own, and what it signs.

The API server trusts whoever shows a certificate of the authority, and takes the name and the
groups from it. So each program has one that says which program it is, and RBAC does the rest.

The authority and the key that signs service account tokens stay as long as the folder: kubeconfigs
and tokens that were handed out go on working. Everything else is issued anew at each start, and so
never expires in a folder that is used.
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
            # The certificate comes last: it says that both are there.
            self._write("ca", make_authority("fluxnetes plane", _AUTHORITY, rsa_key=True))
        self._signed = SignedCertificate(
            self.files.certificate.read_bytes(), self.files.key.read_bytes()
        )

    def issue_server(
        self, name: str, addresses: tuple[str, ...], names: tuple[str, ...]
    ) -> PlaneCertificate:
        """A certificate for a server that is reached at these addresses and names."""
        return self._write(name, issue_server(self._signed, name, addresses, names, _LEAF))

    def issue_client(self, name: str, user: str, group: str | None = None) -> PlaneCertificate:
        """A certificate that says: this is `user`, of `group`."""
        return self._write(name, issue_client(self._signed, user, group, _LEAF))

    def signing_key(self, name: str) -> PlaneCertificate:
        """A key pair without a certificate, made once: the public half is in `certificate`."""
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
