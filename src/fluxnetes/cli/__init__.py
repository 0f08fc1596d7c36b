"""The command line: `fluxnetes` and its subcommands."""
