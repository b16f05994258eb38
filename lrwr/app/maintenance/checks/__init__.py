"""Checks of the doctor, one module per part of lrwr."""
