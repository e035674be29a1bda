"""Speed and memory of `enhg`, against one matrix product and against other libraries.

    python -m benchmarks [NAME ...] [--data DIR] [--output DIR] [--peer-rows N] [--list]

Every named benchmark (`suite.py`) writes NAME.json into the output folder as soon as it is
finished; the table and the plots there are drawn from all such files.
"""
