// What the package contains and says.

"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { test } = require("node:test");

const setup = require("./setup.cjs");

const files = setup.unzip(path.join(setup.extension, "heddle.vsix"));
const text = (name) => files.get(`extension/${name}`).toString("utf8");
const manifest = JSON.parse(text("package.json"));

test("the package has what it needs, and no more", () => {
  const names = [...files.keys()].filter((name) => name.startsWith("extension/"));
  assert.deepEqual(names.map((name) => name.slice("extension/".length)).sort(), [
    "LICENSE.txt", "changelog.md", "icon.png", "language/opencl.json", "language/ptx.json",
    "out/LICENSES.txt", "out/extension.js", "out/install.md", "package.json", "readme.md",
    "syntaxes/opencl.tmLanguage.json", "syntaxes/ptx.tmLanguage.json",
  ]);
  const license = fs.readFileSync(path.join(setup.repository, "LICENSE"), "utf8");
  assert.equal(text("LICENSE.txt"), license);
  for (const part of ["vscode-languageclient", "vscode-jsonrpc", "semver"]) {
    assert.match(text("out/LICENSES.txt"), new RegExp(`^${part} \\d+\\.`, "m"));
  }
  assert.doesNotMatch(text("out/install.md"), /\]\((?!https?:|#)/, "links that lead nowhere");
});

test("every command is registered, and every file that the manifest names exists", () => {
  const source = fs.readdirSync(path.join(setup.extension, "src"))
    .map((name) => fs.readFileSync(path.join(setup.extension, "src", name), "utf8")).join("\n");
  for (const { command } of manifest.contributes.commands) {
    const name = command.replace("heddle.kernel.", "");
    assert.match(source, new RegExp(`"${command.replaceAll(".", "\\.")}"|"${name}"`), command);
  }
  const { languages, grammars } = manifest.contributes;
  const named = [manifest.icon, manifest.main, ...grammars.map((g) => g.path),
    ...languages.map((l) => l.configuration).filter(Boolean)];
  named.forEach((name) => assert.ok(files.has(path.posix.join("extension", name)), name));
  assert.deepEqual(Object.fromEntries(languages.map((l) => [l.id, l.extensions])), {
    "cuda-cpp": [".cu", ".cuh", ".hip"], opencl: [".cl"], ptx: [".ptx"],
  });
});

test("grammars are valid, and color PTX", () => {
  const ptx = JSON.parse(text("syntaxes/ptx.tmLanguage.json"));
  JSON.parse(text("syntaxes/opencl.tmLanguage.json"));
  const names = (line) => ptx.patterns
    .filter((p) => p.match !== undefined && new RegExp(p.match).test(line)).map((p) => p.name);
  assert.ok(names("ld.shared.u32 %r1, [%rd2];").includes("keyword.operator.instruction.ptx"));
  assert.ok(names("ld.shared.u32 %r1, [%rd2];").includes("variable.other.register.ptx"));
  assert.ok(names(".visible .entry k(").includes("storage.type.function.ptx"));
});

test("dependencies are pinned", () => {
  assert.equal(manifest.dependencies, undefined, "the bundle has everything");
  Object.entries(manifest.devDependencies).forEach(([name, version]) =>
    assert.match(version, /^\d+\.\d+\.\d+$/, name));
});
