"""Which messages there are, and the code of each. Their English is in `text`.

The names are written to the store, so a name that is there stays. A message whose code depends on
the context has the most common one here; see `Reason.coded`.
"""

# ruff: noqa: PIE796 - several messages have the same code; their values differ

from __future__ import annotations

import enum

from fluxnetes.common.reasons.codes import ReasonCode as Code


class Message(enum.Enum):
    """One kind of statement."""

    code: Code

    def __new__(cls, code: Code) -> Message:
        made = object.__new__(cls)
        made._value_ = len(cls.__members__)
        made.code = code
        return made

    def __repr__(self) -> str:
        return f"<Message.{self.name}>"  # its value is only a number

    TEXT = Code.UNKNOWN
    WAITS = Code.UNKNOWN
    """Wraps another reason, and has its code."""
    BECAUSE = Code.UNKNOWN
    SEVERAL = Code.UNKNOWN

    # Where a request does not fit, by vertices.
    CANNOT_HOLD = Code.UNSATISFIABLE
    OUT_OF_REACH = Code.RESOURCES
    SIDE_BY_SIDE = Code.INVALID
    NO_SUCH_SHAPE = Code.UNSATISFIABLE
    NONE_FREE = Code.RESOURCES
    FEW_FREE = Code.RESOURCES
    NONE_EXISTS = Code.UNSATISFIABLE
    FEW_EXIST = Code.UNSATISFIABLE
    MOST_FREE_ON_ONE = Code.RESOURCES
    LARGEST_HAS = Code.UNSATISFIABLE
    SLOT_NOT_BELOW = Code.UNSATISFIABLE
    SLOTS_FREE_ON_ONE = Code.RESOURCES
    SLOTS_OF_LARGEST = Code.UNSATISFIABLE
    NODES_UP = Code.RESOURCES
    NODES_ALLOWED = Code.RESOURCES
    ENDLESS_AHEAD = Code.RESOURCES
    GRAPH_ENDS = Code.RESOURCES
    NOTHING_EXCLUSIVE = Code.INVALID
    HELD_THEN = Code.RESOURCES

    # Where a gang does not fit.
    NO_NODE_OF_KIND = Code.RESOURCES
    NO_NODE_OPEN = Code.RESOURCES
    SHARED_POOL = Code.RESOURCES
    POD_ON_ONE_NODE = Code.RESOURCES
    PODS = Code.RESOURCES
    UNKNOWN_SHARED_POOL = Code.INVALID
    PODS_AND_NODES = Code.INVALID
    NO_SUCH_NODE = Code.INVALID
    GANGS_ONLY = Code.INVALID

    # What a waiting job waits for.
    GROUP_INCOMPLETE = Code.GATHERING
    SUBMITTED_HELD = Code.HELD
    HELD = Code.HELD
    BEGINS = Code.BEGIN_TIME
    TRIED_AGAIN = Code.RETURNED
    AFTER_JOB = Code.DEPENDENCY
    QUEUE_STOPPED = Code.QUEUE_STOPPED
    ARRAY_ALL_STARTED = Code.LIMIT
    ARRAY_AT_ONCE = Code.LIMIT
    PREEMPTING = Code.RESOURCES
    NO_START_KNOWN = Code.RESOURCES
    NO_START_KNOWN_FIRST = Code.RESOURCES
    KEPT_FOR = Code.PROMISED
    PROMISED_BEFORE = Code.PROMISED
    PROMISED_TO_OTHERS = Code.PROMISED
    MOVED_LATER = Code.UNKNOWN
    WOULD_DELAY = Code.PRIORITY
    WINDOW_OPENS = Code.WINDOW
    RUNS_INTO = Code.WINDOW
    WINDOW_SPAN = Code.WINDOW

    # Limits and budgets.
    MAY_WAIT = Code.LIMIT
    MAY_RUN = Code.LIMIT
    MAY_HOLD = Code.LIMIT
    BUDGET_NEEDS_WALLTIME = Code.BUDGET
    BUDGET_SHORT = Code.BUDGET

    # Why a job is rejected.
    NO_SUCH_QUEUE = Code.INVALID
    QUEUE_DRAINED = Code.QUEUE_STOPPED
    UNKNOWN_DEPENDENCY = Code.DEPENDENCY
    DEPENDENCY_FAILED = Code.DEPENDENCY
    WALLTIME_TOO_SHORT = Code.INVALID
    WALLTIME_TOO_LONG = Code.LIMIT
    NOT_A_MULTIPLE = Code.INVALID
    ELASTIC_RANGE = Code.INVALID
    ARRAY_TASKS = Code.INVALID
    ARRAY_AT_ONCE_RANGE = Code.INVALID
    ARRAY_ELASTIC = Code.INVALID
    NO_SUCH_RESERVATION = Code.WINDOW
    RESERVATION_OVER = Code.WINDOW
    RESERVATION_NOT_FOR = Code.WINDOW
    RESERVATION_SHORT = Code.WINDOW

    # Transitions.
    SUBMITTED = Code.SUBMITTED
    GROUP_COMPLETE = Code.SUBMITTED
    RELEASED = Code.SUBMITTED
    ARRAY_TASK = Code.SUBMITTED
    FOUND_RUNNING = Code.ADOPTED
    BACKFILLED = Code.BACKFILLED
    NO_WALLTIME = Code.ENDLESS
    WALLTIME_OVER = Code.TIMED_OUT
    PREEMPTED = Code.PREEMPTED
    NODES_LOST_UNDER = Code.NODES_LOST
    PART_LOST = Code.NODES_LOST
    GRAPH_LOST = Code.NODES_LOST
    GRAPH_CHANGED = Code.NODES_LOST
    FAILED = Code.FAILED
    TASKS_FAILED = Code.FAILED
    ARRAY_TASKS_FAILED = Code.FAILED
    ARRAY_TASKS_SUCCEEDED = Code.COMPLETED
    REQUEUED = Code.RETURNED
    CANCELLED_BY_USER = Code.CANCELLED
    CANCELLED_BY_CALLER = Code.CANCELLED
    DELETED_BY_USER = Code.DELETED
    WITHDRAWN = Code.WITHDRAWN

    # Callers of the service.
    NO_PINS = Code.UNKNOWN
    PROMISED_NOT_NOW = Code.PROMISED
    NO_ROOM_AT_ONCE = Code.CANCELLED
    CALLER_UNANSWERED = Code.CANCELLED
    CALLER_LEFT = Code.CANCELLED
    LEASE_EXPIRED = Code.EXPIRED
    FINISHED_BY_CALLER = Code.COMPLETED
    FAILED_BY_CALLER = Code.FAILED
    MATCHED = Code.SUBMITTED
    ROUGH_ESTIMATE = Code.UNKNOWN

    # Story lines.
    ALTERED = Code.ALTERED
    ALTERED_REQUEST = Code.ALTERED
    ALTERED_PLAN = Code.ALTERED
    WALLTIME_SET = Code.ALTERED
    RESIZED = Code.ALTERED
    TASKS_MOVED = Code.CLUSTER_CHANGED

    # Why promises are planned again.
    QUEUE_STARTS = Code.CLUSTER_CHANGED
    OTHER_KIND_CAME = Code.CLUSTER_CHANGED
    OTHER_KIND_LEFT = Code.CLUSTER_CHANGED
    COUNTABLE_AGAIN = Code.CLUSTER_CHANGED
    COUNTING_FELL_SHORT = Code.CLUSTER_CHANGED
    ADOPTED_JOB = Code.ADOPTED
    GROUP_SHRANK = Code.CLUSTER_CHANGED
    CLUSTER_CHANGED = Code.CLUSTER_CHANGED
    NODES_LOST = Code.NODES_LOST
    NODES_BACK = Code.CLUSTER_CHANGED
    NODES_CLOSED = Code.CLUSTER_CHANGED
    NODES_OPENED = Code.CLUSTER_CHANGED
    FOREIGN_MORE = Code.CLUSTER_CHANGED
    FOREIGN_LESS = Code.CLUSTER_CHANGED
    OVERRAN = Code.OVERRUN
    NOT_FREE_WHEN_DUE = Code.OVERRUN
    ORDERED_BEFORE = Code.PRIORITY
    MAINTENANCE = Code.WINDOW
    RESERVATION = Code.WINDOW
    RESERVATION_REFUSED = Code.WINDOW
    WINDOW_OVER = Code.WINDOW
    WINDOW_REMOVED = Code.WINDOW
