"""The writing room's screens: they show events and send questions, and decide nothing."""
