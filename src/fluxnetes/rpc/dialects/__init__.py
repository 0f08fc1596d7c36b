"""The dialects of the old clients: their messages to values of `service`, and back.

| dialect | service on the wire | clients |
|---|---|---|
| `fluxcli` | `fluxcli.FluxcliService` | Fluence |
| `podspec` | `fluxion.FluxionService` | the first Fluxnetes |
| `jobspec` | `fluxion.FluxionService` | the Fluxion service, Fluxqueue |
| `external` | `service.ExternalPluginService` | tools of all three |

Each dialect is the module of its name. Besides:

    pods    reads the pods that `fluxcli` and `podspec` have in common
    choice  chooses the services of a server by its options

Two dialects have the same name on the wire, and their messages cannot be distinguished, so the
options of a server choose one of them.

    message of `wire` ──▶ MatchCall (a jobspec by requests.jobspec_cache, or EqualPods)
                      ──▶ Backend.match ──▶ Grant ──▶ message of `wire`
"""
