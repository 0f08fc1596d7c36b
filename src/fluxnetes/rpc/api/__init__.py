"""Our own services, `fluxnetes.v1`. The messages there say what each call means."""
