// The search for the heddle program.

import * as fs from "node:fs";
import * as path from "node:path";

/**
 * findProgram returns the file that starting a program would execute, or undefined. A name without
 * a directory is searched in PATH; a relative path starts at folder.
 */
export function findProgram(
  name: string,
  folder: string,
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const windows = platform === "win32";
  const ends = windows && path.extname(name) === "" ? ["", ".exe"] : [""];
  const direct = name.includes("/") || (windows && name.includes("\\"));
  // A relative directory in PATH would be one of the workspace, which may be anyone's.
  const dirs = direct
    ? [""]
    : (env["PATH"] ?? env["Path"] ?? "").split(windows ? ";" : ":").filter(path.isAbsolute);
  for (const dir of dirs) {
    for (const end of ends) {
      const file = path.resolve(folder, dir, name + end);
      if (isExecutable(file)) {
        return file;
      }
    }
  }
  return undefined;
}

/** isExecutable reports whether a path is a file that the user may execute. */
function isExecutable(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
