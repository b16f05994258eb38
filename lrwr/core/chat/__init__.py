"""Threads and turns: planning a question, gathering context, answering, storing."""
