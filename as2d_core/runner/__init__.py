"""The program that runs on a device: a request in, NDJSON events out (``python -m as2d_core.runner``).

Three processes: the coordinator owns the protocol and loads no MNN; the target process runs the
method; the drafter process drafts. A crash of either model process becomes an ``end`` line with a
sentence.
"""
