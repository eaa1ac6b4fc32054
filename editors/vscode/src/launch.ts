// Command lines of heddle for one kernel and one launch. This file does not depend on the editor.

/** Launch is what a user enters; an empty value is left to heddle. */
export interface Launch {
  grid: string;
  block: string;
  args: string; // NAME=VALUE, separated by spaces
}

/** dimensions returns what is wrong with a grid or a block, or undefined. Empty is valid. */
export function dimensionsError(value: string): string | undefined {
  if (/^\s*(\d+(\s*,\s*\d+){0,2}\s*)?$/.test(value)) {
    return undefined;
  }
  return `${JSON.stringify(value)}: expected X, X,Y or X,Y,Z, such as 64 or 16,16`;
}

/** argumentsError returns what is wrong with a list of arguments, or undefined. Empty is valid. */
export function argumentsError(value: string): string | undefined {
  const wrong = words(value).find((w) => !/^[^=\s]+=.+$/s.test(w));
  return wrong === undefined
    ? undefined
    : `${JSON.stringify(wrong)}: expected NAME=VALUE, such as n=1024 or out=zero:4096`;
}

/** words divides a text at spaces outside of quotes, and removes the quotes. */
export function words(text: string): string[] {
  const found = text.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return found.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, (_, a, b) => a ?? b));
}

/** launchFlags returns the flags of heddle for a kernel (empty: all) and a launch. */
export function launchFlags(kernel: string, launch: Launch): string[] {
  const flags = kernel === "" ? [] : ["--kernel", kernel];
  for (const [flag, value] of [
    ["--grid", launch.grid],
    ["--block", launch.block],
  ] as const) {
    const dimensions = value.replace(/\s/g, "");
    if (dimensions !== "") {
      flags.push(flag, dimensions);
    }
  }
  words(launch.args).forEach((arg) => flags.push("--arg", arg));
  return flags;
}

/**
 * fileArgument returns a file as an argument that cannot be read as a flag, relative to cwd where
 * that is possible.
 */
export function fileArgument(file: string): string {
  return file.startsWith("-") ? `./${file}` : file;
}
