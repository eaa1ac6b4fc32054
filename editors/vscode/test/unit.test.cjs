// Unit tests of what does not need the editor.

"use strict";

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { test } = require("node:test");

const setup = require("./setup.cjs");
const { findProgram } = require(setup.unit("find"));
const { secureReport } = require(setup.unit("html"));
const { argumentsError, dimensionsError, launchFlags, words } = require(setup.unit("launch"));
const { run } = require(setup.unit("process"));
const { character, parseResults, sentence, testResult } = require(setup.unit("results"));
const settings = require(setup.unit("settings"));

const manifest = JSON.parse(fs.readFileSync(path.join(setup.extension, "package.json"), "utf8"));

/** from returns a source of settings. */
const from = (values) => ({ get: (key, missing) => (key in values ? values[key] : missing) });

const all = {
  path: "/opt/heddle",
  onChange: false,
  delay: 5,
  database: "${workspaceFolder}/build",
  includes: ["~/include", "b c"],
  systemIncludes: ["${userHome}/sys"],
  defines: ["A", "B=1"],
  std: "c++17",
  arch: "sm_90",
  optLevel: 2,
  compiler: "clang",
  extraArgs: ["-fno-exceptions"],
  cudaPath: "/usr/local/cuda",
  cccl: "${env:HEDDLE_TEST_CCCL}",
};

test("settings become flags of heddle lsp and initialization options", () => {
  process.env.HEDDLE_TEST_CCCL = "/opt/cccl";
  const s = settings.readSettings(from(all), "/work");
  const home = os.homedir();
  assert.deepEqual(settings.serverArguments(s), [
    "lsp", "-p", "/work/build", "-I", `${home}/include`, "-I", "b c", "--isystem", `${home}/sys`,
    "-D", "A", "-D", "B=1", "--std", "c++17", "--arch", "sm_90", "-O", "2", "--compiler", "clang",
    "--extra-arg=-fno-exceptions", "--cuda-path", "/usr/local/cuda", "--cccl", "/opt/cccl",
  ]);
  assert.deepEqual(settings.initializationOptions(s), { onChange: false, delay: 5 });
});

test("heddle accepts every flag that settings can produce", () => {
  const flags = settings.compilerFlags(settings.readSettings(from(all), "/work"));
  for (const command of ["lsp", "check", "run", "verify", "trace", "fix", "sync"]) {
    const { status, stderr } = spawnSync(setup.heddle, [command, ...flags, "--help"]);
    assert.equal(status, 0, `heddle ${command}: ${stderr}`);
  }
  const { status } = spawnSync(setup.heddle, ["lsp", "--no-such-flag", "--help"]);
  assert.equal(status, 2, "--help does not hide unknown flags");
});

test("missing settings, and values of a wrong type, mean the defaults of package.json", () => {
  const properties = manifest.contributes.configuration.properties;
  const defaults = Object.fromEntries(
    Object.entries(properties).map(([key, p]) => [key.replace(/^heddle\./, ""), p.default]),
  );
  const s = settings.readSettings(from({}), "/work");
  delete defaults["trace.server"]; // the language client reads it
  assert.deepEqual(s, defaults);
  const wrong = Object.fromEntries(Object.keys(defaults).map((key) => [key, { no: "value" }]));
  assert.deepEqual(settings.readSettings(from(wrong), "/work"), defaults);
  assert.deepEqual(settings.serverArguments(s), ["lsp"]);
});

test("a program is found on PATH, by a path, and not in other cases", (t) => {
  const dir = setup.temporary(t);
  const file = path.join(dir, "heddle");
  fs.writeFileSync(file, "#!/bin/sh\n", { mode: 0o755 });
  fs.writeFileSync(path.join(dir, "text"), "", { mode: 0o644 });
  fs.writeFileSync(path.join(dir, "tool.exe"), "", { mode: 0o755 });
  const env = { PATH: `/nowhere:${dir}` };
  assert.equal(findProgram("heddle", "/", env), file);
  assert.equal(findProgram("text", "/", env), undefined); // not executable
  assert.equal(findProgram("./heddle", dir, {}), file);
  assert.equal(findProgram(dir, "/", {}), undefined); // a directory
  assert.equal(findProgram("heddle", dir, {}), undefined); // not in the working directory
  assert.equal(findProgram("heddle", dir, { PATH: ".::bin" }), undefined); // nor by PATH
  assert.equal(findProgram("tool", "/", { Path: dir }, "win32"), path.join(dir, "tool.exe"));
});

test("launches become flags, and mistakes are reported", () => {
  assert.deepEqual(
    launchFlags("k<a, b>(int*)", { grid: " 4, 2 ", block: "64", args: `n=1 out="zero:4 096"` }),
    ["--kernel", "k<a, b>(int*)", "--grid", "4,2", "--block", "64", "--arg", "n=1", "--arg",
      "out=zero:4 096"],
  );
  assert.deepEqual(launchFlags("", { grid: "", block: "", args: "" }), []);
  for (const right of ["", "1", "16,16", "1, 2, 3"]) {
    assert.equal(dimensionsError(right), undefined, right);
  }
  for (const wrong of ["x", "1,", "1,2,3,4", "-1", "1 2"]) {
    assert.match(dimensionsError(wrong), /expected X, X,Y or X,Y,Z/, wrong);
  }
  assert.equal(argumentsError("n=1 a=v:0,3"), undefined);
  assert.match(argumentsError("n=1 out"), /^"out": expected NAME=VALUE/);
  assert.match(argumentsError("n="), /expected NAME=VALUE/);
  assert.deepEqual(words(`  a 'b c' d"e f"g `), ["a", "b c", "de fg"]);
});

// heddle's own output: the kernels are those of the examples, whose names say what is wrong.
test("JSON lines become results of tests", () => {
  const kernel = "reduce(int const*, int*, int)";
  const json = (command, name) =>
    parseResults(setup.runHeddle([command, "--format", "json", `examples/${name}`]));
  const racy = testResult(json("check", "reduce_racy.cu"), kernel);
  assert.equal(racy.outcome, "failed");
  assert.deepEqual(racy.findings.map((f) => f.code), ["race-shared"]);
  const right = testResult(json("verify", "reduce.cu"), kernel);
  assert.equal(right.outcome, "passed");
  assert.match(right.summary, /^verified: all threads, all inputs/);
  // A kernel that is not in the file has no verdict, so its test cannot pass.
  assert.deepEqual(testResult(json("run", "reduce.cu"), "other(int)"), {
    outcome: "errored", summary: "heddle did not examine this kernel", findings: [],
  });
});

test("only a proof or a clean run passes", () => {
  const outcome = (verdict) =>
    testResult({ findings: [], verdicts: [{ verdict, kernel: "k" }] }, "k").outcome;
  assert.deepEqual(
    ["verified", "clean", "bug", "unknown", "unsupported", "of a later version"].map(outcome),
    ["passed", "passed", "failed", "errored", "errored", "errored"],
  );
  // A finding that a comment suppresses is no reason of a failure.
  const one = { code: "race-shared", severity: "error", message: "m", kernel: "k" };
  const findings = [one, { ...one, suppressions: [{ kind: "inSource" }] }];
  const verdicts = [{ verdict: "bug", kernel: "k", reason: "r" }];
  assert.deepEqual(testResult({ findings, verdicts }, "k"), {
    outcome: "failed", summary: "bug: r", findings: [one],
  });
  assert.equal(sentence({ verdict: "clean", kernel: "k", scope: "s", reason: "r" }), "clean: s; r");
});

test("output that is not of this version is refused", () => {
  assert.deepEqual(parseResults("\n"), { findings: [], verdicts: [] });
  assert.throws(() => parseResults("{"), /line 1 .* is not JSON/);
  assert.throws(() => parseResults('{"schema_version":2,"type":"verdict"}'), /version 1/);
  assert.throws(() => parseResults("null"), /version 1/);
  const more = parseResults('{"schema_version":1,"type":"trace","new":1}');
  assert.deepEqual(more, { findings: [], verdicts: [] });
});

// docs/json.md: columns count bytes from 1. The protocol counts UTF-16 units: ä is 2 bytes and one
// unit, the flag 4 bytes and two units.
test("columns of bytes become columns of the editor", () => {
  assert.equal(character("abc", 3), 2);
  assert.equal(character("ä = x", 6), 4);
  assert.equal(character("\u{1F3C1} x", 6), 3);
  assert.equal(character("", 9), 0);
});

test("a report runs its script by a nonce only", () => {
  const file = path.join(setup.repository, "docs", "examples", "report.html");
  const html = fs.readFileSync(file, "utf8");
  const page = secureReport(html, "abc");
  const policies = page.match(/http-equiv="Content-Security-Policy"/g);
  assert.equal(policies.length, 1);
  assert.match(page, /script-src 'nonce-abc';/);
  assert.doesNotMatch(page, /script-src 'unsafe-inline'/);
  assert.equal(page.match(/<script nonce="abc">/g).length, 1);
  assert.doesNotMatch(page, /<script>/);
  assert.throws(() => secureReport("<html><head></head></html>", "abc"), /not an HTML report/);
});

test("a run collects the output, and is ended by the user", async () => {
  const onCancellationRequested = () => ({ dispose() {} });
  const token = { isCancellationRequested: false, onCancellationRequested };
  const out = await run("/bin/sh", ["-c", "echo out; echo err >&2; exit 3"], "/", token);
  assert.deepEqual(out, { code: 3, stdout: "out\n", stderr: "err\n" });
  const cancel = { isCancellationRequested: true, onCancellationRequested };
  assert.equal((await run("/bin/sleep", ["60"], "/", cancel)).code, -1);
  await assert.rejects(run("/no/such/program", [], "/"), /ENOENT/);
});
