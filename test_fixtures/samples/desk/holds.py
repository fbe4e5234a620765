"""Holds: readers who wait for a copy that is lent."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

Notify = Callable[[str, str], None]


class HoldQueue:
    """First come, first served, one queue a copy."""

    def __init__(self, notify: Notify) -> None:
        self._notify = notify
        self._waiting: dict[str, deque[str]] = {}

    def place_hold(self, copy_id: str, reader_id: str) -> int:
        """Put a reader at the end of the queue; answers the position, counted from 1."""
        queue = self._waiting.setdefault(copy_id, deque())
        if reader_id not in queue:
            queue.append(reader_id)
        return queue.index(reader_id) + 1

    def cancel_hold(self, copy_id: str, reader_id: str) -> None:
        queue = self._waiting.get(copy_id)
        if queue and reader_id in queue:
            queue.remove(reader_id)

    def is_waiting(self, copy_id: str) -> bool:
        return bool(self._waiting.get(copy_id))

    def notify_next(self, copy_id: str) -> None:
        """Tell the reader at the head of the queue that the copy is on the pick-up shelf."""
        queue = self._waiting.get(copy_id)
        if queue:
            self._notify(queue.popleft(), copy_id)
