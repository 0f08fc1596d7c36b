"""Usage that no job of the queue accounts for, by node.

foreign     what foreign pods hold: those of other schedulers, daemons, pods without a job
borrowed    pods that use the share of a caller's job, and so count only once

bound pod ──▶ borrowed.beyond: what no share covers ──▶ foreign.put ──▶ foreign.take ──▶ queue
"""
