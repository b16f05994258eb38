"""The actions of the chat screen: what its keys and commands do.

Action functions get `words`, the text after a command's name, which may be empty. They
raise errors, which the chat screen shows.
"""
