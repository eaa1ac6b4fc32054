// What several tests need: the heddle program, the repository, and the files of the package.

"use strict";

const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const zlib = require("node:zlib");

const extension = path.dirname(__dirname);
const repository = path.resolve(extension, "../..");

/** The heddle under test: HEDDLE, else the build of make. */
const heddle = process.env.HEDDLE ?? path.join(repository, "bin", "heddle");
if (!fs.existsSync(heddle)) {
  throw new Error(`${heddle} does not exist; run make build, or set HEDDLE to a build of heddle`);
}

/** unit returns the path of a module of the extension for unit tests. */
const unit = (name) => path.join(extension, "out", "unit", `${name}.js`);

/** example returns the path of an example of the repository. */
const example = (name) => path.join(repository, "examples", name);

/** runHeddle returns the standard output of heddle, whatever its exit code. */
function runHeddle(args, cwd = repository) {
  const { stdout, error } = spawnSync(heddle, args, { cwd, encoding: "utf8" });
  if (error) {
    throw error;
  }
  return stdout;
}

/** temporary returns a new directory that is removed after the test. */
function temporary(t) {
  const dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "heddle-vscode-")));
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/**
 * unzip returns the files of a zip archive by name (APPNOTE 6.3.10: end of central directory,
 * 4.3.16; headers, 4.3.12 and 4.3.7; methods 0 and 8).
 */
function unzip(file) {
  const data = fs.readFileSync(file);
  const end = data.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  const files = new Map();
  let at = data.readUInt32LE(end + 16);
  for (let n = data.readUInt16LE(end + 10); n > 0; n--) {
    const method = data.readUInt16LE(at + 10);
    const size = data.readUInt32LE(at + 20);
    const lengths = [28, 30, 32].map((i) => data.readUInt16LE(at + i));
    const name = data.toString("utf8", at + 46, at + 46 + lengths[0]);
    const header = data.readUInt32LE(at + 42);
    const start = header + 30 + data.readUInt16LE(header + 26) + data.readUInt16LE(header + 28);
    const packed = data.subarray(start, start + size);
    files.set(name, method === 8 ? zlib.inflateRawSync(packed) : packed);
    at += 46 + lengths[0] + lengths[1] + lengths[2];
  }
  return files;
}

/** install writes the files of the package below a directory and returns that of the extension. */
function install(dir) {
  for (const [name, text] of unzip(path.join(extension, "heddle.vsix"))) {
    const to = path.join(dir, name);
    fs.mkdirSync(path.dirname(to), { recursive: true });
    fs.writeFileSync(to, text);
  }
  return path.join(dir, "extension");
}

module.exports = { extension, repository, heddle, unit, example, runHeddle, temporary, unzip,
  install };
