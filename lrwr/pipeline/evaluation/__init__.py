"""How well lrwr does on questions whose answers are known."""
