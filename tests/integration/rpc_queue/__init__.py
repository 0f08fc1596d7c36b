"""`fluxnetes serve --queue`, as a process."""
