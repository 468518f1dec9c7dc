"""The asynchronous profiler: it computes the set points of motion groups outside the loop, and puts them into
queues."""
