"""Quotations and quote attribution."""
