"""The stable codes of reasons: what scripts, dashboards and alerts compare.

A code is part of the API: it appears in FluxJob status, events, pod conditions, gRPC and JSON, and
in the store. New codes may be added; a code that is there keeps its name and its meaning.
"""

from __future__ import annotations

import enum


class ReasonCode(enum.Enum):
    """Why a job is where it is, in one word."""

    # While a job waits.
    GATHERING = "Gathering"
    """The group is not complete."""
    HELD = "Held"
    """A user or an operator holds the job."""
    DEPENDENCY = "Dependency"
    """Another job must start or end first, or ended in a way that rules this one out."""
    BEGIN_TIME = "BeginTime"
    """The job's begin time has not come."""
    LIMIT = "Limit"
    """A limit of its user, namespace, queue or array is reached."""
    BUDGET = "Budget"
    """A budget has not enough left."""
    PRIORITY = "Priority"
    """Jobs that are ordered before it go first."""
    RESOURCES = "Resources"
    """What it needs is not free."""
    PROMISED = "Promised"
    """What it needs is free, or will be, and is promised to other jobs."""
    WINDOW = "Window"
    """A maintenance window or an advance reservation is in the way."""
    QUEUE_STOPPED = "QueueStopped"
    """An operator stopped or drained the queue."""
    PREREQUISITE = "Prerequisite"
    """An object that the job refers to is missing or not ready."""
    RETURNED = "Returned"
    """The job was started, could not be carried out, and waits again."""
    SUBMITTED = "Submitted"
    """The job came, was released or became complete; no cycle has looked at it yet."""

    # Why a request is refused.
    UNSATISFIABLE = "Unsatisfiable"
    """No resources of this cluster can serve the request."""
    INVALID = "Invalid"
    """The request makes no sense."""
    UNSUPPORTED = "Unsupported"
    """The request asks for something that is not supported."""

    # Why a job started, moved or ended.
    BACKFILLED = "Backfilled"
    """The job started while a job ordered before it waits."""
    ADOPTED = "Adopted"
    """The job was found running and taken over."""
    ALTERED = "Altered"
    """The job was changed."""
    ENDLESS = "Endless"
    """The job has no walltime."""
    OVERRUN = "Overrun"
    """A job ran longer than its walltime."""
    CLUSTER_CHANGED = "ClusterChanged"
    """Nodes came, went, were closed or are used by others."""
    COMPLETED = "Completed"
    """The job ended well."""
    FAILED = "Failed"
    """The job, or a part of it, failed."""
    CANCELLED = "Cancelled"
    """A user or caller cancelled the job."""
    EXPIRED = "Expired"
    """A caller neither renewed nor used its job."""
    DELETED = "Deleted"
    """The objects that the job stands for were deleted."""
    WITHDRAWN = "Withdrawn"
    """The objects that the job stands for no longer ask for it; its group may ask again."""
    TIMED_OUT = "TimedOut"
    """The walltime is over."""
    PREEMPTED = "Preempted"
    """A job of a higher class needs what this one holds."""
    NODES_LOST = "NodesLost"
    """Nodes that the job ran on, or a part of what it held, are gone."""

    INCOMPLETE = "Incomplete"
    """Some members of the job are missing, while the others run."""

    UNKNOWN = "Unknown"
    """Recorded before there were codes; only the text is known."""
