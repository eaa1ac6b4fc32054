// Builds out/: the bundle of the extension, the same modules one by one for unit tests, the advice
// on installing heddle, and the licences of what the bundle contains.

import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
process.chdir(root);

fs.rmSync("out", { recursive: true, force: true });
const tsc = path.join("node_modules", "typescript", "bin", "tsc");
execFileSync(process.execPath, [tsc, "--noEmit"], { stdio: "inherit" });

const common = { platform: "node", format: "cjs", target: "node20", logLevel: "warning" };
const bundle = await build({
  ...common,
  entryPoints: ["src/extension.ts"],
  outfile: "out/extension.js",
  bundle: true,
  external: ["vscode"], // the editor provides it
  minifySyntax: true,
  minifyWhitespace: true, // names stay, so that stack traces of users can be read
  legalComments: "none", // out/LICENSES.txt has all of them
  metafile: true,
});
await build({
  ...common,
  entryPoints: fs.readdirSync("src").map((name) => `src/${name}`),
  outdir: "out/unit",
});
fs.writeFileSync("out/LICENSES.txt", licences(Object.keys(bundle.metafile.inputs)));
fs.writeFileSync("out/install.md", withoutLinks(fs.readFileSync("../../docs/install.md", "utf8")));

/** licences returns the licence of each package that the bundle contains. */
function licences(inputs) {
  const names = inputs
    .map((input) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1])
    .filter((name) => name !== undefined);
  const parts = [...new Set(names)].sort().map((name) => {
    const dir = path.join("node_modules", name);
    const manifest = fs.readFileSync(path.join(dir, "package.json"), "utf8");
    const { version, license } = JSON.parse(manifest);
    const file = fs.readdirSync(dir).find((f) => /^(licen[cs]e)(\.\w+)?$/i.test(f));
    if (file === undefined) {
      throw new Error(`${dir} has no licence file`);
    }
    const text = fs.readFileSync(path.join(dir, file), "utf8").replace(/\r\n/g, "\n").trim();
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  if (parts.length === 0) {
    throw new Error("the bundle contains no package; expected the language client");
  }
  return parts.join(`\n${"-".repeat(80)}\n\n`);
}

/** withoutLinks replaces relative links, which lead nowhere in a package, by their text. */
function withoutLinks(markdown) {
  return markdown.replace(/\[([^\]]+)\]\((?!https?:|#)[^)]*\)/g, "$1");
}
