"""Functions that read and change the library; screens run them in the service
thread.
"""
