"""Places in the fixed memory of the loop: regions of an arena, and numbers that stay with their owner."""

from __future__ import annotations

import heapq
from bisect import bisect_left

from robot_rt_control.vocabulary.errors import CapacityError

ALIGNMENT = 8


class Arena:
    """First-fit allocation of regions; neighbouring free regions are merged.

    Args:
        capacity: size of the arena [bytes].
        name: the capacity's name in capacities.py, for messages.
        what: what fills it, for messages.
    """

    def __init__(self, capacity: int, *, name: str, what: str) -> None:
        self._capacity, self._name, self._what = capacity, name, what
        self._free: list[tuple[int, int]] = [(0, capacity)]  # (offset, size), by offset
        self.used = 0

    def allocate(self, size: int) -> int:
        """The offset of a new region, a multiple of 8.

        Args:
            size: [bytes]; rounded up to a multiple of 8.

        Raises:
            CapacityError: no free region is large enough.
        """
        size = _rounded(size)
        for i, (offset, room) in enumerate(self._free):
            if room >= size:
                if room == size:
                    del self._free[i]
                else:
                    self._free[i] = (offset + size, room - size)
                self.used += size
                return offset
        raise CapacityError(
            f"no room for the {self._what} of all actions",
            expected=f"at most {self._capacity} bytes ({self._name})",
            got=f"{self.used + size} bytes needed",
            hint="Remove actions that are not needed any more",
        )

    def release(self, offset: int, size: int) -> None:
        """Give a region back. It must have been allocated with this size."""
        size = _rounded(size)
        self.used -= size
        i = bisect_left(self._free, (offset, 0))
        if i < len(self._free) and self._free[i][0] == offset + size:
            size += self._free.pop(i)[1]
        if i > 0 and sum(self._free[i - 1]) == offset:
            before, room = self._free[i - 1]
            self._free[i - 1] = (before, room + size)
        else:
            self._free.insert(i, (offset, size))


def _rounded(size: int) -> int:
    return max((size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT, ALIGNMENT)


class SlotPool:
    """Numbers from 0 on, each with one owner at a time; the lowest free one comes next.

    Args:
        capacity: how many there are.
        name: the capacity's name in capacities.py, for messages.
        what: what they number, for messages.
    """

    def __init__(self, capacity: int, *, name: str, what: str) -> None:
        self._capacity, self._name, self._what = capacity, name, what
        self._free: list[int] = []
        self._next = 0

    @property
    def in_use(self) -> int:
        """How many numbers have an owner."""
        return self._next - len(self._free)

    @property
    def end(self) -> int:
        """Every number in use is below this one."""
        return self._next

    def take(self, count: int = 1) -> list[int]:
        """Take `count` numbers, or none of them.

        Raises:
            CapacityError: fewer are free.
        """
        if self.in_use + count > self._capacity:
            raise CapacityError(
                f"too many {self._what}",
                expected=f"at most {self._capacity} ({self._name})",
                got=f"{self.in_use + count} needed",
                hint="Remove those that are not needed any more, or close sessions",
            )
        taken = []
        for _ in range(count):
            if self._free:
                taken.append(heapq.heappop(self._free))
            else:
                taken.append(self._next)
                self._next += 1
        return taken

    def release(self, numbers: list[int]) -> None:
        """Give numbers back."""
        for number in numbers:
            heapq.heappush(self._free, number)
