"""The checks of `lrwr doctor`, grouped into modules."""
