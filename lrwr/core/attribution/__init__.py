"""Citations and claim checking: does a sentence follow from the quotes it cites?"""
