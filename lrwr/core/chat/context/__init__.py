"""What an answer may be made from: story data, passages and further look-ups."""
