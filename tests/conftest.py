"""What holds for all tests: nothing depends on how fast a machine is."""

from hypothesis import settings

settings.register_profile("lrwr", deadline=None)
settings.load_profile("lrwr")
