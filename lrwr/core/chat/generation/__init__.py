"""Who answers, what they are told, and whether it is borne out."""
