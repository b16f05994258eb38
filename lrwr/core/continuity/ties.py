"""Kinship as classes: what two people cannot both be to each other."""

from types import MappingProxyType

_PARENTS = frozenset({"father", "mother"})
ONLY_ONE = _PARENTS
"""Of these everybody has one; of two fathers one is a contradiction."""

_CLASSES = MappingProxyType(
    {
        "father": "parent", "mother": "parent", "parent": "parent",
        "son": "child", "daughter": "child", "child": "child",
        "brother": "sibling", "sister": "sibling", "twin": "sibling",
        "husband": "spouse", "wife": "spouse", "spouse": "spouse",
        "uncle": "elder", "aunt": "elder", "nephew": "younger", "niece": "younger",
        "grandmother": "grandparent", "grandfather": "grandparent",
        "grandpa": "grandparent", "grandma": "grandparent",
        "grandson": "grandchild", "granddaughter": "grandchild",
        "grandchild": "grandchild", "cousin": "cousin",
    }
)  # fmt: skip
_SEEN_BACK = MappingProxyType(
    {
        "parent": "child", "child": "parent", "sibling": "sibling",
        "spouse": "spouse", "elder": "younger", "younger": "elder",
        "grandparent": "grandchild", "grandchild": "grandparent", "cousin": "cousin",
    }
)  # fmt: skip
_MAY_BE_BOTH = (
    frozenset({"cousin", "spouse"}),
    frozenset({"cousin", "elder"}),
    frozenset({"cousin", "younger"}),
)


def class_of(kind: str) -> str:
    """Return the class of a word for kin; empty for ties that shut nothing out."""
    return _CLASSES.get(kind, "")


def seen_back(kind: str) -> str:
    """Return the class of what the other is, when one is the `kind`."""
    return _SEEN_BACK.get(class_of(kind), "")


def shut_out(one: str, other: str) -> bool:
    """Say whether somebody cannot be both classes of kin to one person."""
    return bool(one and other and one != other) and {one, other} not in _MAY_BE_BOTH
