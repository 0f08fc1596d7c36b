"""Dialects: what the old clients say, in the words of a host, and back.

| dialect | service on the wire | whose clients |
|---|---|---|
| `fluxcli` | `fluxcli.FluxcliService` | Fluence |
| `podspec` | `fluxion.FluxionService` | Fluxnetes, the first one |
| `jobspec` | `fluxion.FluxionService` | the Fluxion service, Fluxqueue |
| `external` | `service.ExternalPluginService` | tools of all three |

Two of them have one name on the wire and cannot be told apart by what is sent, so whoever starts a
server says which it is.
"""
