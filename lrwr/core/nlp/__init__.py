"""English rules that need no model: names, aliases, quotations, who speaks."""
