"""The registration of the webhook. Integration tests show whether the API server accepts it."""

from __future__ import annotations

import pytest

from fluxnetes.webhook.certificates import ServedAs
from fluxnetes.webhook.mutate import AdmissionPolicy
from fluxnetes.webhook.registration import WebhookAddress, WebhookService, registration


@pytest.mark.parametrize(
    ("url", "served_as"),
    [
        ("https://127.0.0.1:9443", ServedAs(addresses=("127.0.0.1",))),
        ("https://[0:0::1]:9443", ServedAs(addresses=("::1",))),
        ("https://laptop.example.com", ServedAs(names=("laptop.example.com",))),
    ],
)
def test_the_certificate_is_for_the_host_of_the_address(url: str, served_as: ServedAs) -> None:
    assert WebhookAddress(url).served_as == served_as


def test_a_service_is_called_as_the_api_server_calls_it() -> None:
    assert WebhookService("ours", "hook").served_as == ServedAs(names=("hook.ours.svc",))


@pytest.mark.parametrize("everything", [False, True])
def test_our_own_namespace_and_those_of_the_system_are_never_sent(everything: bool) -> None:
    content = registration(
        WebhookService("ours"), b"", AdmissionPolicy("ours"), everything=everything
    )
    for webhook in content["webhooks"]:
        assert {
            "key": "kubernetes.io/metadata.name",
            "operator": "NotIn",
            "values": ["kube-system", "kube-node-lease", "kube-public", "ours"],
        } in webhook["namespaceSelector"]["matchExpressions"]
