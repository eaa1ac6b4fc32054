// The problem matcher $heddle against what heddle prints: the reports of all examples, which a test
// of the repository keeps current, and the output of this heddle.

"use strict";

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { test } = require("node:test");

const setup = require("./setup.cjs");

const manifest = JSON.parse(fs.readFileSync(path.join(setup.extension, "package.json"), "utf8"));
const [matcher] = manifest.contributes.problemMatchers;

/** problems applies the matcher to each line of a text, as the editor does. */
function problems(text) {
  const { regexp, ...fields } = matcher.pattern;
  return text.split(/\r?\n/).flatMap((line) => {
    const m = new RegExp(regexp).exec(line);
    return m === null
      ? []
      : [Object.fromEntries(Object.entries(fields).map(([name, group]) => [name, m[group]]))];
  });
}

// Problems of one owner replace those that it had in a file. The language client is "heddle": a
// task that examines one kernel must not hide what the server found in others.
test("problems of tasks do not replace those of the server", () => {
  assert.equal(matcher.owner, "heddle-task");
});

test("every finding of the examples is one problem", () => {
  const docs = path.join(setup.repository, "docs", "examples");
  const found = problems(fs.readFileSync(path.join(docs, "check.txt"), "utf8"));
  const json = fs.readFileSync(path.join(docs, "check.jsonl"), "utf8").trim().split("\n");
  const findings = json.map((line) => JSON.parse(line)).filter((o) => o.type === "finding");
  const place = (f) => `${f.file}:${f.line}:${f.column} ${f.severity} ${f.code} ${f.message}`;
  const all = new Set(findings.map((f) => place({ ...f.location, ...f })));
  const coded = found.filter((p) => p.code !== undefined);
  // The text sums up findings that may have one cause: "4 more pairs of accesses that ...".
  const sums = coded.filter((p) => /^\d+ more pairs? of accesses/.test(p.message));
  const single = coded.filter((p) => !sums.includes(p));
  const summed = sums.reduce((n, p) => n + parseInt(p.message, 10), 0);
  // The text leaves out notes about launches, and a line can show only what has a place.
  const shown = findings.filter((f) => f.severity !== "note" && f.location !== undefined);
  assert.equal(single.length + summed, shown.length);
  single.forEach((p) => assert.ok(all.has(place(p)), `${place(p)} is not a finding`));
  found.forEach((p) => assert.doesNotMatch(p.file, /\s/, JSON.stringify(p)));
});

test("a race and an error of the compiler, from this heddle", (t) => {
  const dir = setup.temporary(t);
  fs.writeFileSync(path.join(dir, "bad.cu"), "__global__ void k(int *a) { a[0] = x; }\n");
  const output = (file) => {
    const { stdout, stderr } = spawnSync(setup.heddle, ["check", file], {
      cwd: dir, encoding: "utf8" });
    return stdout + stderr;
  };
  assert.deepEqual(problems(output("bad.cu")), [{
    file: "bad.cu", line: "1", column: "36", severity: "error", code: undefined,
    message: "use of undeclared identifier 'x'",
  }]);
  const [race, ...more] = problems(output(setup.example("reduce_racy.cu")));
  assert.deepEqual(more, []);
  assert.deepEqual([race.file, race.line, race.column, race.severity, race.code],
    [setup.example("reduce_racy.cu"), "18", "24", "error", "race-shared"]);
  assert.match(race.message, /^data race on shared tile\[32\]/);
});

// The forms of internal/diag/text.go and of clang that no example shows.
test("other forms of lines", () => {
  const one = (line) => problems(line)[0];
  assert.deepEqual(one("C:\\src\\k.cu:3:5: warning[race-global]: possible data race"), {
    file: "C:\\src\\k.cu", line: "3", column: "5", severity: "warning", code: "race-global",
    message: "possible data race" });
  assert.equal(one("  k.cu:1:10: fatal error: 'x.h' file not found").severity, "error");
  assert.equal(one("k.cu:9:57: unsupported: kernel f() in k.cu: why").severity, "unsupported");
  assert.equal(one("k.cu:9:57: note[leak]: memory is never freed").severity, "note");
  for (const line of [
    "k.cu:19:20: note: (1) read here by thread 64 of block 0", // belongs to the finding above it
    "   18 |             tile[t] += tile[t + s];",
    "verified: kernel reduce(int const*) in examples/reduce.cu: all threads",
    "  reproduce: heddle check --arg n=4096 examples/reduce_racy.cu",
    "error[input]: nosuch.cu: no such file or directory", // names no line
  ]) {
    assert.equal(one(line), undefined, line);
  }
});
