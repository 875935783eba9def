"""Authentication: token → Caller, and whether a request comes from a person.

    keys       the configured key and its algorithm
    tokens     compact JWS → payload → claims, each step a value or a reason
    callers    Authorization header → Caller | Rejection
    startup    the start-up token, which only a person at this machine has
    loopback   which requests come from this machine
    admission  the public paths, and who may propose calls at all

An agent may call over loopback as the local owner; it cannot approve, send, or change policy and keys, because these
also require the start-up token or a terminal.
"""

from tallystick.doors.identity.callers import Identity
from tallystick.doors.identity.loopback import is_local, is_loopback_host
from tallystick.doors.identity.startup import StartupToken, person_at_terminal

__all__ = ["Identity", "StartupToken", "is_local", "is_loopback_host", "person_at_terminal"]
