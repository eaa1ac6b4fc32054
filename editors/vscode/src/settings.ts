// Settings of the extension, and the command lines and options of heddle that they mean. This file
// does not depend on the editor.

import * as os from "node:os";

/** Settings holds the values of `heddle.*`, with variables replaced. */
export interface Settings {
  path: string;
  onChange: boolean;
  delay: number; // milliseconds
  database: string;
  includes: string[];
  systemIncludes: string[];
  defines: string[];
  std: string;
  arch: string;
  optLevel: number;
  compiler: string;
  extraArgs: string[];
  cudaPath: string;
  cccl: string;
}

/** Source is the part of a configuration of the editor that readSettings needs. */
export interface Source {
  get<T>(key: string, missing: T): T;
}

/**
 * readSettings reads all settings. A value of the wrong type, which a settings file may hold,
 * counts as missing. folder replaces ${workspaceFolder}.
 */
export function readSettings(from: Source, folder: string): Settings {
  const text = (key: string, missing = ""): string => {
    const value = from.get<unknown>(key, missing);
    return typeof value === "string" ? expand(value.trim(), folder) : missing;
  };
  const list = (key: string): string[] => {
    const value = from.get<unknown>(key, []);
    return Array.isArray(value)
      ? value.filter((v) => typeof v === "string" && v !== "").map((v: string) => expand(v, folder))
      : [];
  };
  const delay = from.get<unknown>("delay", 600);
  const level = from.get<unknown>("optLevel", 0);
  return {
    path: text("path", "heddle") || "heddle",
    onChange: from.get<unknown>("onChange", true) !== false,
    delay: typeof delay === "number" && delay >= 0 ? Math.round(delay) : 600,
    database: text("database"),
    includes: list("includes"),
    systemIncludes: list("systemIncludes"),
    defines: list("defines"),
    std: text("std"),
    arch: text("arch"),
    optLevel: level === 1 || level === 2 || level === 3 ? level : 0,
    compiler: text("compiler"),
    extraArgs: list("extraArgs"),
    cudaPath: text("cudaPath"),
    cccl: text("cccl"),
  };
}

/** expand replaces ${workspaceFolder}, ${userHome}, ${env:NAME}, and ~ at the start of a path. */
export function expand(value: string, folder: string): string {
  return value
    .replace(/^~(?=$|[/\\])/, () => os.homedir())
    .replace(/\$\{workspaceFolder\}/g, () => folder)
    .replace(/\$\{userHome\}/g, () => os.homedir())
    .replace(/\$\{env:([^}]+)\}/g, (_, name: string) => process.env[name] ?? "");
}

/** compilerFlags returns the flags that `heddle lsp` and all commands that compile accept. */
export function compilerFlags(s: Settings): string[] {
  const flags: string[] = [];
  const add = (flag: string, value: string): void => {
    if (value !== "") {
      flags.push(flag, value);
    }
  };
  add("-p", s.database);
  s.includes.forEach((dir) => add("-I", dir));
  s.systemIncludes.forEach((dir) => add("--isystem", dir));
  s.defines.forEach((macro) => add("-D", macro));
  add("--std", s.std);
  add("--arch", s.arch);
  add("-O", s.optLevel > 0 ? String(s.optLevel) : "");
  add("--compiler", s.compiler);
  // An argument of the compiler starts with a dash itself, so it is one word with its flag.
  s.extraArgs.forEach((arg) => flags.push(`--extra-arg=${arg}`));
  add("--cuda-path", s.cudaPath);
  add("--cccl", s.cccl);
  return flags;
}

/** serverArguments returns the arguments of the language server. */
export function serverArguments(s: Settings): string[] {
  return ["lsp", ...compilerFlags(s)];
}

/** initializationOptions returns what the language server reads from its client at the start. */
export function initializationOptions(s: Settings): { onChange: boolean; delay: number } {
  return { onChange: s.onChange, delay: s.delay };
}
