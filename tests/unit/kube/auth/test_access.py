"""The way to a server is found as kubectl finds it, or it is said what is wrong."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from fluxnetes.kube.auth.access import ApiAccess, find_access, from_kubeconfig, in_cluster
from fluxnetes.kube.auth.credentials import RequestIdentity
from fluxnetes.kube.errors import ConfigError
from tests.unit.kube.certificates import Authority


def a_config(
    user: dict[str, Any] | None = None,
    cluster: dict[str, Any] | None = None,
    *,
    name: str = "here",
) -> dict[str, Any]:
    """A kubeconfig with one context."""
    where = {"server": "https://127.0.0.1:6443", **(cluster or {})}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": where}],
        "users": [{"name": name, "user": user or {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
    }


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return path


def access(
    folder: Path, user: dict[str, Any] | None = None, cluster: dict[str, Any] | None = None
) -> ApiAccess:
    return from_kubeconfig([write(folder / "config", a_config(user, cluster))])


def identity(found: ApiAccess) -> RequestIdentity:
    return asyncio.run(found.credentials.current())


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


# --- which cluster ---


def test_the_current_context_is_taken_unless_another_is_named(tmp_path: Path) -> None:
    config = a_config(cluster={"server": "https://one:1/"})
    other = a_config(cluster={"server": "https://two:2/prefix/"}, name="there")
    other["contexts"][0]["context"]["namespace"] = "mine"
    for part in ("clusters", "users", "contexts"):
        config[part] += other[part]
    path = write(tmp_path / "config", config)
    assert from_kubeconfig([path]).server == "https://one:1"
    there = from_kubeconfig([path], "there")
    assert (there.server, there.namespace) == ("https://two:2/prefix", "mine")


def test_of_several_files_the_first_to_name_a_thing_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = a_config(cluster={"server": "https://one:1"}, user={"token": "first"})
    second = a_config(cluster={"server": "https://two:2"}, user={"token": "second"})
    third = a_config(cluster={"server": "https://three:3"}, name="third")
    paths = [write(tmp_path / str(n), c) for n, c in enumerate([first, second, third])]
    names = ":".join(map(str, [*paths, tmp_path / "missing"]))
    monkeypatch.setenv("KUBECONFIG", names)
    found = find_access()
    assert found.server == "https://one:1"
    assert identity(found).headers == {"Authorization": "Bearer first"}
    assert find_access(context="third").server == "https://three:3"


def test_what_is_named_comes_before_the_environment_and_that_before_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ConfigError, match=r"looked for .*/\.kube/config.*set KUBECONFIG"):
        find_access()
    write(tmp_path / ".kube" / "config", a_config(cluster={"server": "https://home:1"}))
    assert find_access().server == "https://home:1"
    named = write(tmp_path / "env", a_config(cluster={"server": "https://env:1"}))
    monkeypatch.setenv("KUBECONFIG", str(named))
    assert find_access().server == "https://env:1"
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    with pytest.raises(ConfigError, match="missing, which does not exist"):
        find_access()
    given = write(tmp_path / "given", a_config(cluster={"server": "https://given:1"}))
    assert find_access(given).server == "https://given:1"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a: [", "is not YAML"),
        ("clusters: 3", r"Expected `array . null`, got `int` - at `\$.clusters`"),
        ("{}", "no current-context; name one of none"),
        ("current-context: x", "no context 'x'; it has none"),
        (a_config() | {"clusters": []}, "no cluster 'here'; it has none"),
        (a_config() | {"users": []}, "no user 'here'; it has none"),
        (a_config(cluster={"server": "127.0.0.1"}), "must begin with https://"),
        (a_config({"auth-provider": {"name": "gcp"}}), "use an exec plugin"),
        (a_config({"as": "root"}), "impersonates 'root'"),
        (a_config({"exec": {"command": "x", "apiVersion": "v1alpha1"}}), "has apiVersion"),
        (a_config(cluster={"certificate-authority-data": "%"}), "not base64"),
        (a_config(cluster={"certificate-authority": "gone.crt"}), "gone.crt.* cannot be read"),
    ],
)
def test_what_is_wrong_with_a_kubeconfig_is_said(
    tmp_path: Path, content: object, words: str
) -> None:
    path = write(tmp_path / "config", content)
    with pytest.raises(ConfigError, match=words):
        from_kubeconfig([path])


def test_a_missing_kubeconfig_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="gone cannot be read: No such file"):
        from_kubeconfig([tmp_path / "gone"])


# --- who we are ---


def test_a_token_or_a_password_goes_into_the_header(tmp_path: Path) -> None:
    assert identity(access(tmp_path, user={"token": "t"})).headers["Authorization"] == "Bearer t"
    basic = identity(access(tmp_path, user={"username": "a", "password": "b"}))
    assert basic.headers["Authorization"] == f"Basic {encoded('a:b')}"


@pytest.mark.parametrize("inline", [True, False])
def test_client_certificates_are_taken_from_the_file_or_from_files_beside_it(
    tmp_path: Path, inline: bool
) -> None:
    authority = Authority()
    certificate, key = authority.sign("us")
    if inline:
        user = {"client-certificate-data": encoded(certificate), "client-key-data": encoded(key)}
        cluster = {"certificate-authority-data": encoded(authority.pem)}
    else:
        texts = {"us.crt": certificate, "us.key": key, "ca.crt": authority.pem}
        for name, text in texts.items():
            write(tmp_path / "pki" / name, text)
        user = {"client-certificate": "pki/us.crt", "client-key": "pki/us.key"}
        cluster = {"certificate-authority": "pki/ca.crt"}
    tls = identity(access(tmp_path, user=user, cluster=cluster)).tls
    assert tls is not None
    assert tls.cert_store_stats()["x509_ca"] == 1


def test_a_certificate_without_its_key_is_refused(tmp_path: Path) -> None:
    certificate, key = Authority().sign("us")
    with pytest.raises(ConfigError, match="a client-certificate but no client-key"):
        identity(access(tmp_path, user={"client-certificate-data": encoded(certificate)}))
    _, another = Authority().sign("them")
    mixed = {"client-certificate-data": encoded(certificate), "client-key-data": encoded(another)}
    with pytest.raises(ConfigError, match="belong together"):
        identity(access(tmp_path, user=mixed))
    assert key != another


def test_no_secret_is_shown_when_an_identity_is_printed(tmp_path: Path) -> None:
    assert "secret" not in repr(identity(access(tmp_path, user={"token": "secret"})))


# --- in a pod ---


def a_service_account(folder: Path) -> dict[str, str]:
    write(folder / "ca.crt", Authority().pem)
    write(folder / "namespace", "fluxnetes-system\n")
    write(folder / "token", "first\n")
    return {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}


def test_in_a_pod_the_service_account_is_used(tmp_path: Path) -> None:
    found = in_cluster(tmp_path, a_service_account(tmp_path))
    assert (found.server, found.namespace) == ("https://[fd00::1]:443", "fluxnetes-system")
    assert identity(found).headers == {"Authorization": "Bearer first"}


def test_outside_of_a_pod_it_is_said_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="KUBERNETES_SERVICE_HOST is not set"):
        in_cluster(tmp_path, {})
    with pytest.raises(ConfigError, match=r"ca.crt\) cannot be read"):
        in_cluster(tmp_path, a_service_account(tmp_path / "elsewhere"))


def test_the_document_of_a_kubeconfig_may_be_json(tmp_path: Path) -> None:
    path = write(tmp_path / "config", json.dumps(a_config(user={"token": "t"})))
    assert identity(from_kubeconfig([path])).headers == {"Authorization": "Bearer t"}
