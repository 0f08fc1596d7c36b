"""Generated messages of the old dialects, one module per dialect; see `scripts/protos`.

    external_pb2  `service.ExternalPluginService`
    fluxcli_pb2   `fluxcli.FluxcliService`
    jobspec_pb2   `fluxion.FluxionService` of jobspecs
    podspec_pb2   `fluxion.FluxionService` of pods

Their proto packages have names of this project, because several of them share names; handlers and
reflection use the names on the wire. Bytes of a call ──▶ message ──▶ the dialect of that name.
"""
