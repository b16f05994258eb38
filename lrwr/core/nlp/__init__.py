"""English language rules without a model: names, facts, quotations, speakers."""
