"""Speed and memory of `enhg`, compared with one matrix product and with other libraries.

    python -m benchmarks [NAME ...] [--data DIR] [--output DIR] [--baseline-rows N] [--list]

Every benchmark (`suite.py`) writes NAME.json into the output folder as soon as it is finished; the
tables and plots there are made from all such files.
"""
