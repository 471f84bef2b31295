"""What a deployment costs a month: measured requests and bytes, times dated prices; beside a managed memory.

make cost                                print every table
python -m benchmarks.cost --write        and write them into README.md and docs/cost.md
"""
