"""Who reads closely: rules, or a language model."""
