"""Do the arguments of a call match the expected ones, where some need not be equal?"""

from __future__ import annotations

import re
from typing import Any

from liftbay.domain.case import ArgumentMatcher, ExpectedTool
from liftbay.scoring.arguments import ArgumentFault, argument_faults, same_value


def argument_results(expected: ExpectedTool, made: dict[str, Any]) -> dict[str, ArgumentFault | None]:
    """How each argument fares, expected ones first: None where it is right. Ignored ones are left out."""
    if not expected.matchers and same_value(expected.arguments, made):
        return dict.fromkeys(expected.arguments)
    faults = argument_faults(expected.arguments, made)
    results: dict[str, ArgumentFault | None] = {name: faults.get(name) for name in expected.arguments | made}
    for name, matcher in expected.matchers.items():
        if matcher.ignore:
            results.pop(name, None)
        elif name not in made:
            results[name] = ArgumentFault.MISSING
        else:
            right = _matches(matcher, expected.arguments.get(name), made[name])
            results[name] = None if right else ArgumentFault.WRONG_VALUE
    return results


def _matches(matcher: ArgumentMatcher, expected: Any, made: Any) -> bool:
    if matcher.one_of is not None:
        return any(same_value(one, made) for one in matcher.one_of)
    if matcher.regex is not None:
        return isinstance(made, str) and re.fullmatch(matcher.regex, made) is not None
    if matcher.tolerance is not None:
        return _is_number(expected) and _is_number(made) and bool(abs(made - expected) <= matcher.tolerance)
    return same_value(expected, made)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
