#!/usr/bin/env python3
"""Tunes kernels of examples/others with smemtune and with Kernel Tuner, and times both winners in turn.

    against_kernel_tuner.py SMEMTUNE EXAMPLES OUTPUT.json [--evaluations N] [--pairs N] [KERNEL ...]

Both tuners get the same source, the same space (read from our manifest) and the same number of evaluations. Kernel
Tuner uses the strategy that needed the fewest evaluations in replayed landscapes, and its default number of launches.
Kernel Tuner verifies nothing, which saves it time, while smemtune verifies every configuration. The time of smemtune is
that of its whole process. The time of Kernel Tuner is that of the call of tune_kernel() alone. Afterwards, another
process compiles both winners with the same options and launches them in turn on the same arrays. `ratio` is the median
of (time of Kernel Tuner's winner / time of ours). CuPy's NVRTC compiles everything, with -ftz=true, which CuPy adds to
the options of every program.

Needs CuPy and Kernel Tuner. Each tuner runs in its own process. EXAMPLES is the folder examples/others, after its
./fetch has run.
"""
import argparse
import datetime
import itertools
import json
import numbers
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

STRATEGY = "adaptive_tabu_greywolf"
LAUNCHES = 5  # how often a winner is launched in each timing
OPTION = "-ftz=true"  # CuPy adds this option to every program


def random_floats(*shape):
    import numpy
    return numpy.random.default_rng(1).uniform(-1, 1, shape).astype(numpy.float32)


def from_file(path, *shape):
    import numpy
    return numpy.fromfile(path, dtype=numpy.float32).reshape(shape)


def convolution(folder):
    import numpy
    filter_weights = random_floats(17, 17)
    return {
        "entry": "convolution_kernel", "problem": (4096, 4096), "extents": {"height": 4096, "width": 4096},
        "arguments": [numpy.zeros((4096, 4096), numpy.float32), random_floats(4112, 4112), random_floats(1)],
        "constants": {"d_filter": filter_weights},
        "block": ["block_size_x", "block_size_y"],
        "divisors": [["block_size_x", "tile_size_x"], ["block_size_y", "tile_size_y"]],
    }


def polygon(folder):
    import numpy
    points = numpy.random.default_rng(1).normal(size=(20000000, 2)).astype(numpy.float32)
    return {
        "entry": "cn_pnpoly", "problem": (20000000,), "extents": {"n": 20000000},
        "arguments": [numpy.zeros(20000000, numpy.int32), points, numpy.int32(20000000)],
        "constants": {"d_vertices": from_file(folder / "vertices.bin", 600, 2),
                      "d_slopes": from_file(folder / "slopes.bin", 600)},
        "block": ["block_size_x"], "divisors": [["block_size_x", "tile_size"]],
    }


def product(folder):
    import numpy
    n = 4096
    return {
        "entry": "gemm_fast", "problem": (n, n), "extents": {"kSizeM": n, "kSizeN": n, "kSizeK": n},
        "arguments": [numpy.int32(n)] * 3 + [random_floats(n, n), random_floats(n, n), numpy.zeros((n, n), numpy.float32)],
        "constants": {}, "block": ["MDIMC", "NDIMC"], "divisors": [["MWG"], ["NWG"]],
    }


def teaching_product(folder):
    import numpy
    n = 4096
    return {
        "entry": "matmul_kernel", "problem": (n, n), "extents": {"n": n},
        "arguments": [numpy.zeros((n, n), numpy.float32), random_floats(n, n), random_floats(n, n)],
        "constants": {}, "block": ["block_size_x", "block_size_y"],
        "divisors": [["block_size_x", "tile_size_x"], ["block_size_y", "tile_size_y"]],
    }


def transposition(folder):
    import numpy
    n = 8192
    return {
        "entry": "mtran", "problem": (n, n), "extents": {"width": n, "height": n},
        "arguments": [numpy.zeros((n, n), numpy.float32), random_floats(n, n), numpy.int32(n), numpy.int32(n)],
        "constants": {}, "block": ["WORK_GROUP_SIZE_X", "WORK_GROUP_SIZE_Y"],
        "divisors": [["TILE_SIZE_X", "VECTOR_TYPE"], ["TILE_SIZE_Y"]],
    }


def coulomb(folder):
    import numpy
    n = 256
    atoms = [from_file(folder / f"atoms_{axis}.bin", 64) for axis in "xyzw"]
    return {
        "entry": "directCoulombSum", "problem": (n, n, n), "extents": {"gridSize": n},
        "arguments": [from_file(folder / "atoms.bin", 64, 4), *atoms, numpy.int32(64), numpy.float32(0.5), numpy.int32(n),
                      numpy.zeros((n, n, n), numpy.float32)],
        "constants": {}, "block": ["WORK_GROUP_SIZE_X", "WORK_GROUP_SIZE_Y"],
        "divisors": [["WORK_GROUP_SIZE_X"], ["WORK_GROUP_SIZE_Y"], ["Z_ITERATIONS"]],
    }


KERNELS = {"kt_convolution": convolution, "kt_pnpoly": polygon, "bat_gemm": product, "kt_matmul": teaching_product,
           "ktt_transpose": transposition, "ktt_coulomb": coulomb}


def manifest_of(folder):
    return tomllib.loads(next(folder.glob("*.toml")).read_text())


def options_of(folder):
    """Returns the compiler options in the manifest, without OPTION, which CuPy adds by itself."""
    return manifest_of(folder)["template"].get("options", [])


def values_of(listed):
    """Returns the values that a manifest gives a parameter: a list, or ranges such as "16..128:16" and "1..32:*2"."""
    found = []
    for each in [listed] if isinstance(listed, str) else listed:
        if not isinstance(each, str):
            found.append(each)
            continue
        first, last, step = re.fullmatch(r"(\d+)\.\.(\d+)(?::(\*?\d+))?", each).groups()
        value = int(first)
        while value <= int(last):
            found.append(value)
            value = value * int(step[1:]) if step and step.startswith("*") else value + int(step or 1)
    return found


def space_of(folder, extents):
    """Returns the parameters with their values, and the constraints as Python expressions of parameters."""
    manifest = manifest_of(folder)
    parameters = {each["name"]: values_of(each["values"]) for each in manifest["parameter"]}
    rules = []
    for each in manifest.get("constraint", []):
        rule = re.sub(r"!(?!=)", " not ", each["rule"].replace("&&", " and ").replace("||", " or "))
        for name, value in extents.items():
            rule = re.sub(rf"\b{name}\b", str(value), rule)
        # Leaves out rules without parameters, because they only restrict the size.
        if any(re.search(rf"\b{name}\b", rule) for name in parameters):
            rules.append(rule.strip())
    return parameters, rules


def count_valid(parameters, rules, block):
    """Counts the configurations that satisfy the constraints and have at most 1024 threads."""
    names, code = list(parameters), [compile(rule, rule, "eval") for rule in rules]
    count = 0
    for values in itertools.product(*parameters.values()):
        configuration = dict(zip(names, values))
        threads = 1
        for name in block:
            threads *= configuration[name]
        count += threads <= 1024 and all(eval(each, {}, configuration) for each in code)
    return count


def tune_with_kernel_tuner(folder, evaluations):
    import kernel_tuner
    problem = KERNELS[folder.name](folder)
    parameters, rules = space_of(folder, problem["extents"])
    source = folder / manifest_of(folder)["template"]["source"]
    divisors = {f"grid_div_{axis}": names for axis, names in zip("xyz", problem["divisors"])}
    begin = time.perf_counter()
    results, _ = kernel_tuner.tune_kernel(
        problem["entry"], str(source), problem["problem"], problem["arguments"], parameters, restrictions=rules,
        block_size_names=problem["block"], cmem_args=problem["constants"] or None, lang="CUPY", strategy=STRATEGY,
        compiler_options=options_of(folder) or None, strategy_options={"max_fevals": evaluations}, quiet=True, **divisors)
    seconds = time.perf_counter() - begin
    measured = [each for each in results if isinstance(each.get("time"), numbers.Real)]
    best = min(measured, key=lambda each: each["time"])
    # A repeated configuration is an evaluation, too.
    different = len({tuple(each[name] for name in parameters) for each in results})
    return {"seconds": seconds, "evaluations": len(results), "different": different, "measured": len(measured),
            "us": 1000 * float(best["time"]),
            "configuration": {name: int(best[name]) for name in parameters}, "version": kernel_tuner.__version__,
            "nvrtc": nvrtc_in_use()}


def nvrtc_in_use():
    """Returns the path of the NVRTC that this process has loaded, or an empty text if it has loaded none."""
    maps = pathlib.Path("/proc/self/maps").read_text()
    return next((line.split()[-1] for line in maps.splitlines() if "libnvrtc.so" in line), "")


def copy_with_option(folder, scratch):
    """Copies the example to `scratch`, and adds OPTION to the options in its manifest."""
    copy = pathlib.Path(shutil.copytree(folder, pathlib.Path(scratch) / folder.name))
    manifest = next(copy.glob("*.toml"))
    lines = [line for line in manifest.read_text().splitlines() if not re.match(r"options\s*=", line)]
    lines.insert(lines.index("[template]") + 1, f"options = {json.dumps([*options_of(folder), OPTION])}")
    manifest.write_text("\n".join(lines) + "\n")
    return copy


def tune_with_smemtune(smemtune, folder, evaluations, size, nvrtc):
    """Tunes with CuPy's NVRTC and OPTION, so that a configuration has the same machine code in both tuners."""
    folders = [os.path.dirname(nvrtc), os.environ.get("LD_LIBRARY_PATH", "")]  # the driver may be in LD_LIBRARY_PATH
    environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, folders))}
    with tempfile.TemporaryDirectory() as scratch:
        copy = copy_with_option(folder, scratch)
        command = [smemtune, "tune", "--device", "0", "--templates", str(copy), "--sizes", size, "--evaluations",
                   str(evaluations), "--db", os.path.join(scratch, "t.db"), "--json"]
        begin = time.perf_counter()
        report = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment).stdout)
        seconds = time.perf_counter() - begin
    winner = report["problems"][0]["winner"]
    return {"seconds": seconds, "evaluations": report["measured"] + sum(report["rejected"].values()),
            "measured": report["measured"], "us": winner["measurement"]["median_us"],
            "configuration": winner["configuration"]}


def time_in_turn(folder, first, second, pairs):
    """Returns the median of (time of `second` / time of `first`), its 95 % interval (bootstrap), and both median times.
    """
    import cupy
    import numpy
    problem = KERNELS[folder.name](folder)
    source = (folder / manifest_of(folder)["template"]["source"]).read_text()
    arguments = [cupy.asarray(each) if each.ndim else each for each in problem["arguments"]]
    extent = list(problem["problem"]) + [1] * (3 - len(problem["problem"]))

    def launcher(configuration):
        defines = "".join(f"#define {name} {value}\n" for name, value in configuration.items())
        module = cupy.RawModule(code=defines + source, options=("-std=c++17", *options_of(folder)), name_expressions=[problem["entry"]])
        function = module.get_function(problem["entry"])
        for name, values in problem["constants"].items():
            cupy.ndarray(values.shape, values.dtype, module.get_global(name))[:] = cupy.asarray(values)
        block = [configuration[name] for name in problem["block"]] + [1] * (3 - len(problem["block"]))
        grid = [1, 1, 1]
        for axis, names in enumerate(problem["divisors"]):
            tile = int(numpy.prod([configuration[name] for name in names]))
            grid[axis] = -(-extent[axis] // tile)

        def timed():
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            begin.record()
            for _ in range(LAUNCHES):
                function(tuple(grid), tuple(block), arguments)
            end.record()
            end.synchronize()
            return 1000 * cupy.cuda.get_elapsed_time(begin, end) / LAUNCHES
        return timed

    ours, theirs = launcher(first), launcher(second)
    times = []
    for i in range(pairs + 3):
        pair = (ours(), theirs()) if i % 2 == 0 else (theirs(), ours())[::-1]
        if i >= 3:  # the first three pairs only warm up
            times.append(pair)
    times = numpy.array(times)
    ratios = times[:, 1] / times[:, 0]
    draws = numpy.median(numpy.random.default_rng(1).choice(ratios, (2000, len(ratios))), axis=1)
    return {"ratio": float(numpy.median(ratios)), "interval": [float(x) for x in numpy.quantile(draws, [0.025, 0.975])],
            "pairs": pairs, "ours_us": float(numpy.median(times[:, 0])), "theirs_us": float(numpy.median(times[:, 1]))}


def in_a_process(part, *arguments):
    """Runs `part` of this program in a new process, and returns what the process prints."""
    result = subprocess.run([sys.executable, __file__, "--part", part, *map(str, arguments)], stdout=subprocess.PIPE)
    if result.returncode != 0:
        sys.exit(f"{part} {arguments[0]} failed")
    return json.loads(result.stdout.splitlines()[-1])


def part(words):
    name, folder = words[0], pathlib.Path(words[1])
    if name == "tune":
        print(json.dumps(tune_with_kernel_tuner(folder, int(words[2]))))
    else:
        print(json.dumps(time_in_turn(folder, json.loads(words[2]), json.loads(words[3]), int(words[4]))))


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.strip()


def main():
    if sys.argv[1:2] == ["--part"]:
        return part(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("smemtune")
    parser.add_argument("examples", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--evaluations", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=30)
    options = parser.parse_intermixed_args()
    if unknown := set(options.kernels) - set(KERNELS):
        parser.error(f"no kernel is named {', '.join(unknown)}; there are {', '.join(KERNELS)}")

    commit = os.environ.get("COMMIT") or output_of("git", "-C", str(pathlib.Path(__file__).parent), "rev-parse", "--short", "HEAD")
    gpu, driver = output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").splitlines()[0].split(", ")
    record = {"benchmark": "against_kernel_tuner", "commit": commit, "date": datetime.date.today().isoformat(),
              "device": gpu, "driver": driver, "cores": os.cpu_count(), "option": OPTION, "strategy": STRATEGY,
              "evaluations": options.evaluations, "problems": []}
    for name in options.kernels or KERNELS:
        folder = options.examples.resolve() / name
        extents = KERNELS[name](folder)["extents"]
        parameters, rules = space_of(folder, extents)
        begin = time.perf_counter()
        theirs = in_a_process("tune", folder, options.evaluations)
        # Includes Python's start, its imports, and making the inputs.
        theirs["process_seconds"] = time.perf_counter() - begin
        size = "x".join(map(str, extents.values()))
        nvrtc = theirs.pop("nvrtc")
        ours = tune_with_smemtune(options.smemtune, folder, options.evaluations, size, nvrtc)
        record["nvrtc"] = os.path.basename(os.path.realpath(nvrtc)) if nvrtc else "unknown"
        record["kernel_tuner"] = theirs.pop("version")
        paired = in_a_process("time", folder, json.dumps(ours["configuration"]), json.dumps(theirs["configuration"]), options.pairs)
        record["problems"].append({"kernel": name, "extents": extents, "ours": ours, "kernel_tuner": theirs,
                                   "valid_configurations": count_valid(parameters, rules, KERNELS[name](folder)["block"]),
                                   "seconds_ratio": ours["seconds"] / theirs["seconds"],
                                   "process_ratio": ours["seconds"] / theirs["process_seconds"], **paired})
        options.output.write_text(json.dumps(record, indent=1) + "\n")
        print(f"{name}: {paired['ratio']:.3f} times as fast, in {ours['seconds']:.1f} s instead of {theirs['seconds']:.1f} s",
              flush=True)


if __name__ == "__main__":
    main()
