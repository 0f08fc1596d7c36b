"""Leases of what callers hold: renewed in time, or released.

    caller_leases      leases of callers' jobs in a queue: renewed, used by pods, or expired
    allocation_leases  leases of a matcher's allocations: renewed, or expired

How a lease ends:

    Renew, a pod, a repeated call ──▶ renewed ──▶ (nothing for `renew_within` seconds) ──▶ cancelled
"""
