"""The commands, one idea a file: the flags of a command and the function that runs it.

`brittle --help` imports all of these files, so each imports the library inside its functions.
"""
