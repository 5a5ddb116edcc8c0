#!/usr/bin/env python3
"""Prints COUNT sizes of matrix products. Each extent is one of the ten values for which CUDA-L2 has kernels.

Usage: bench/grid_sizes.py SEED COUNT
The result is for the variable SIZES of bench/gemm.sh.
"""
import random
import sys

EXTENTS = [64, 128, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384]

if len(sys.argv) != 3:
    sys.exit(__doc__)
generator = random.Random(int(sys.argv[1]))
sizes = set()
while len(sizes) < min(int(sys.argv[2]), len(EXTENTS) ** 3):
    sizes.add(tuple(generator.choice(EXTENTS) for _ in range(3)))
print(",".join("x".join(map(str, size)) for size in sorted(sizes)))
