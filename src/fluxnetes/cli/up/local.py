"""Runs a control plane on this machine, with Fluxnetes in it."""

from __future__ import annotations

from fluxnetes.cli.up.folder import OWN, UpFolder, folder_of_own, make_folder
from fluxnetes.cli.up.options import UpOptions
from fluxnetes.cli.up.services import LocalServices, controller, webhook
from fluxnetes.cli.up.show import building, print_local_usage, say
from fluxnetes.cli.up.waiting import Ended, report_ended, wait
from fluxnetes.plane.binaries import find_binaries
from fluxnetes.plane.plane import ControlPlane


def run_local(options: UpOptions) -> int:
    """Start all of it, wait, stop. Returns the exit status."""
    folder = make_folder(options.folder or folder_of_own())
    with folder.alone() as lock:
        folder.claim(OWN)
        kubernetes = folder.choose_kubernetes(options.kubernetes)
        services = LocalServices(folder, lock)  # fails early, before a build of minutes
        with building() as progress:
            binaries = find_binaries(progress, kubernetes)
        if kubernetes is not None:
            folder.keep_kubernetes(kubernetes)
        plane = ControlPlane(folder.plane, options.nodes, binaries=binaries, say=say)
        with plane, services:
            _start(services, folder, plane, options)
            status, ended = _use(services, plane, options)
            say("stopping")
        return report_ended(ended) or status


def _start(
    services: LocalServices, folder: UpFolder, plane: ControlPlane, options: UpOptions
) -> None:
    services.start(webhook(folder, plane.kubeconfig, folder.webhook_port()))
    services.start_store()
    services.start(controller(folder, plane.kubeconfig, config=options.config))
    services.wait()
    print_local_usage(plane.kubeconfig, folder.top)


def _use(services: LocalServices, plane: ControlPlane, options: UpOptions) -> tuple[int, Ended]:
    """Run the demo, if asked for, and wait; its exit status, and what cannot go on."""

    def failed() -> Ended:
        parts = {plane.paths.log(name): status for name, status in plane.ended().items()}
        return parts | services.tend()

    status = 0
    if options.demo:
        from fluxnetes.cli.up.demo.run import run_demo

        status = run_demo(
            plane.kubeconfig, options.nodes, lambda: bool(failed()), once=options.once
        )
    if options.once:
        return status, failed()
    return 0, wait(failed)
