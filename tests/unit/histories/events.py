"""Events of histories that a test writes by hand."""

from icecheck.histories.history import Event, Seen


def event(process, span, answer, *deeds, **members):
    """One request; ``span`` is (sent, answered), answered None if nothing came."""
    return Event(process, span[0], span[1], answer, deeds, **members)


def seen(name, holder=None, **fields):
    """What a load shows of an object that is there."""
    return Seen(name, present=True, holder=holder, fields=fields)


def gone(name):
    """What a reader is shown of a name that nothing has."""
    return Seen(name, present=False)
