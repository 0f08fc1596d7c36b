"""An empty gRPC server: it answers as ours did once, and does nothing. The most that can be had.

    python -m bench.service_empty SERVICE FILE

FILE has what to answer to each method, as JSON of hexadecimal bytes. Like `fluxnetes serve` it says
`serving` and its address once it can be called.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import grpc


async def main(service: str, file: Path) -> None:
    answers = {method: bytes.fromhex(text) for method, text in json.loads(file.read_text()).items()}
    server = grpc.aio.server()
    methods = {name: _always(answer) for name, answer in answers.items()}
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, methods)])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"serving 127.0.0.1:{port}", flush=True)
    await server.wait_for_termination()


def _always(answer: bytes) -> grpc.RpcMethodHandler[Any, Any]:
    async def handle(request: bytes, context: object) -> bytes:
        return answer

    return grpc.unary_unary_rpc_method_handler(handle)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
