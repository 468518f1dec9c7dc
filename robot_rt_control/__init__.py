"""robot_rt_control: real-time robot behaviour, written in Python, run in a compiled tick loop."""

from pkgutil import extend_path
from typing import TYPE_CHECKING, Any

# In a source checkout the generated interfaces (msg, srv, action) live in the installed copy of
# this package; both folders together make one package.
__path__ = extend_path(__path__, __name__)

if TYPE_CHECKING:  # a type checker sees the source tree alone
    action: Any
    msg: Any
    srv: Any

__version__ = "0.1.0"
