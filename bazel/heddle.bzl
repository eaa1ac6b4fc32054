"""Bazel rule that checks the kernels of source files with heddle.

    load("@heddle//bazel:heddle.bzl", "heddle_test")

    heddle_test(
        name = "reduce_check",
        srcs = ["reduce.cu"],
        hdrs = ["tile.h"],
        launches = {
            "reduce": "grid=64 block=256 n=16384 in=random:64K",
            "sort_*": "grid=8 block=128 shared=4K",
        },
        heddle = "@heddle_linux_amd64//file",
    )

The test fails if heddle reports a bug. Bazel caches it and runs it where it runs tests: with
--remote_executor, on the workers of a cluster. So it is the other way to the cluster that
`heddle check --remote` uses: one action for each target instead of one for each kernel, and Bazel
knows which targets a commit changes.
"""

# The words of a launch that are keys of a [[kernel]] table. Others are arguments of the kernel.
_KEYS = ["grid", "block", "cluster", "shared", "engine", "skip"]

def _quoted(text):
    """Returns a basic string of TOML."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

def _shell(text):
    """Returns a word of a POSIX shell."""
    return "'" + text.replace("'", "'\\''") + "'"

def heddle_config(launches, fail_on = ""):
    """Returns a heddle.toml for launches.

    Args:
        launches: dict from names of kernels, with * and ?, to launches. A launch is what a
            `// heddle:` comment has: words NAME=VALUE, separated by spaces, of grid, block,
            cluster, shared, and arguments.
        fail_on: the kind of result that fails, as --fail-on has it; empty: a bug.

    Returns:
        The text of the file.
    """
    lines = []
    if fail_on:
        lines.append("fail-on = " + _quoted(fail_on))
    for kernel in sorted(launches):
        lines.append("[[kernel]]")
        lines.append("name = " + _quoted(kernel))
        args = []
        for word in launches[kernel].split(" "):
            if not word:
                continue
            name, eq, value = word.partition("=")
            if not eq or not name or not value:
                fail("heddle_test: launch of %s: %r: expected NAME=VALUE" % (kernel, word))
            if name in _KEYS:
                lines.append(name + " = " + _quoted(value))
            else:
                args.append(_quoted(name) + " = " + _quoted(value))
        if args:
            lines.append("args = { " + ", ".join(args) + " }")
    return "\n".join(lines) + "\n"

def heddle_arguments(srcs, config, includes = [], defines = [], compiler = "", args = []):
    """Returns the arguments of heddle for a test.

    Args:
        srcs: paths of the source files.
        config: path of the heddle.toml.
        includes: directories of headers.
        defines: macros, NAME or NAME=VALUE.
        compiler: path of clang; empty: the one that heddle finds.
        args: further arguments.

    Returns:
        A list of words.
    """
    out = ["check", "--config", config, "--no-cache"]
    for i in includes:
        out += ["-I", i]
    for d in defines:
        out += ["-D", d]
    if compiler:
        out += ["--compiler", compiler]
    return out + args + srcs

def heddle_script(heddle, arguments):
    """Returns the shell script of a test, which Bazel runs in its runfiles.

    Args:
        heddle: path of heddle.
        arguments: its arguments.

    Returns:
        The text of the script. The results are also in the XML file that Bazel asks for.
    """
    words = " ".join([_shell(a) for a in arguments])
    return """#!/bin/sh
heddle=%s
case $heddle in */*) ;; *) heddle=./$heddle ;; esac
if test -n "${XML_OUTPUT_FILE:-}"; then
  exec "$heddle" %s --report "junit=$XML_OUTPUT_FILE"
fi
exec "$heddle" %s
""" % (_shell(heddle), words, words)

def _heddle_test_impl(ctx):
    config = ctx.actions.declare_file(ctx.label.name + ".heddle.toml")
    ctx.actions.write(config, heddle_config(ctx.attr.launches, ctx.attr.fail_on))
    files = [config, ctx.file.heddle] + ctx.files.srcs + ctx.files.hdrs
    compiler = ""
    if ctx.file.compiler:
        compiler = ctx.file.compiler.short_path
        files.append(ctx.file.compiler)
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(script, heddle_script(ctx.file.heddle.short_path, heddle_arguments(
        srcs = [f.short_path for f in ctx.files.srcs],
        config = config.short_path,
        includes = ctx.attr.includes,
        defines = ctx.attr.defines,
        compiler = compiler,
        args = ctx.attr.heddle_args,
    )), is_executable = True)
    return [DefaultInfo(executable = script, runfiles = ctx.runfiles(files = files))]

heddle_test = rule(
    implementation = _heddle_test_impl,
    test = True,
    doc = "Checks the kernels of source files with heddle.",
    attrs = {
        "srcs": attr.label_list(
            allow_files = [".cu", ".hip", ".cl", ".ptx", ".ll", ".bc"],
            mandatory = True,
            doc = "files with kernels",
        ),
        "hdrs": attr.label_list(allow_files = True, doc = "headers, and files of arguments"),
        "launches": attr.string_dict(doc = "launches by name of the kernel, see heddle_config"),
        "includes": attr.string_list(doc = "directories of headers, from the root of the workspace"),
        "defines": attr.string_list(doc = "macros, NAME or NAME=VALUE"),
        "fail_on": attr.string(doc = "what fails the test, as --fail-on has it; default: a bug"),
        "heddle_args": attr.string_list(doc = "further arguments of heddle check"),
        "compiler": attr.label(allow_single_file = True, doc = "clang; default: that of the system"),
        "heddle": attr.label(
            allow_single_file = True,
            mandatory = True,
            doc = "the program heddle, for the system on which tests run",
        ),
    },
)
