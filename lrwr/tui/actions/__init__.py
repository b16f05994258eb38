"""The actions of the chat screen: what its keys and commands do."""
