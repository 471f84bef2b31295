"""What Lodestore costs: requests, bytes, milliseconds and MB, each beside its bound or a competitor in the same run.

make bench                 everything, some minutes (QUICK=1: one minute)
python -m benchmarks.performance --write      and write the tables of docs/performance.md
"""
