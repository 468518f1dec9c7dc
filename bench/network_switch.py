"""A network switch in a process of its own: passes Ethernet frames between two interfaces, as well as it is told to.

It takes lines of JSON from its input: `{"pass": false}` switches it off, `{"multicast": false}` filters multicast as
some networks do, `{"loss": 0.01}` loses one frame in a hundred at random. It ends with its input.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
from contextlib import suppress
from random import Random

_ETH_P_ALL, _SOL_PACKET, _PACKET_VNET_HDR = 3, 263, 15
_OUTGOING = 4
_VNET_HEADER = 10
"""[bytes] The kernel leaves checksums and segmentation to the hardware; this header passes that task on."""
_LARGEST = 65536 + 64
_BUFFER = 1 << 22
_IPV4_MULTICAST = bytes.fromhex("01005e")


def is_multicast(frame: bytes) -> bool:
    """Whether an Ethernet frame is IPv4 multicast."""
    return frame[:3] == _IPV4_MULTICAST


def _port(interface: str) -> socket.socket:
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
    port.setsockopt(_SOL_PACKET, _PACKET_VNET_HDR, 1)
    port.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
    port.bind((interface, 0))
    return port


def main(left: str, right: str) -> None:
    """Pass frames until the input ends."""
    ports = {port.fileno(): port for port in (_port(left), _port(right))}
    first, second = ports.values()
    other = {first.fileno(): second, second.fileno(): first}
    state = {"pass": True, "multicast": True, "loss": 0.0}
    random = Random(1)
    print("up", flush=True)
    while True:
        for ready in select.select([*ports, 0], [], [])[0]:
            if ready == 0:
                text = os.read(0, 65536)
                if not text:
                    return
                for line in text.splitlines():
                    state |= json.loads(line)
                print("done", flush=True)
                continue
            data, address = ports[ready].recvfrom(_LARGEST)
            frame = data[_VNET_HEADER:]
            if address[2] == _OUTGOING or not state["pass"] or random.random() < state["loss"]:
                continue
            if is_multicast(frame) and not state["multicast"]:
                continue
            with suppress(OSError):  # as a real one: that interface is down, or its queue is full
                other[ready].send(data)


if __name__ == "__main__":
    main(*sys.argv[1:])
