"""The Python client, against `fluxnetes serve` as a process."""
