"""Where the bindings look for the Python classes of ops called `residency.*`.

The classes are registered elsewhere. But without a module of this name the bindings search the whole path for one whenever they
hand out an op, which costs more than all the rest of a walk.
"""
