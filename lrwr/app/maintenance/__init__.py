"""Maintenance of a library: doctor, repair, backup, restore and deletion."""
