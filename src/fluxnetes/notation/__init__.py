"""How sets of numbers and of hosts are written in Flux: idsets (RFC 22) and hostlists (RFC 29)."""
