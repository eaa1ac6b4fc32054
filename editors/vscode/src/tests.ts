// The test explorer: a test for each kernel, which passes if heddle verifies it or finds no bug.

import * as fs from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";

import { fileArgument } from "./launch";
import { run } from "./process";
import { currentSettings, program } from "./program";
import {
  character,
  findingText,
  parseResults,
  testResult,
  type Finding,
  type Location,
  type Results,
} from "./results";
import { filePattern, type Kernel, type Server } from "./server";
import { compilerFlags } from "./settings";

/** The most files that a refresh of the explorer lists. */
const mostFiles = 2000;

/** registerTests registers the explorer and keeps it up to date with the server. */
export function registerTests(context: vscode.ExtensionContext, server: Server): void {
  const controller = vscode.tests.createTestController("heddle", "heddle");
  const explorer = new Explorer(controller);
  controller.resolveHandler = (item) => (item ? explorer.resolve(item) : explorer.refresh());
  controller.refreshHandler = () => explorer.refresh();
  for (const [label, command] of [
    ["Check", "check"],
    ["Verify", "verify"],
  ] as const) {
    controller.createRunProfile(
      label,
      vscode.TestRunProfileKind.Run,
      (request, token) => explorer.run(request, command, token),
      command === "check",
    );
  }
  context.subscriptions.push(
    controller,
    server.onKernels((uri) => explorer.setKernels(uri, server.kernels(uri))),
  );
}

/** Explorer maps files to items, and kernels to their children. The id of a kernel is its name. */
class Explorer {
  constructor(private readonly controller: vscode.TestController) {}

  /** refresh lists the files of the workspace; their kernels are found when they are opened. */
  async refresh(): Promise<void> {
    const files = await vscode.workspace.findFiles(filePattern, undefined, mostFiles);
    const names = new Set(files.map((uri) => uri.toString()));
    this.controller.items.forEach((item) => {
      if (!names.has(item.id) && !fs.existsSync(item.uri?.fsPath ?? "")) {
        this.controller.items.delete(item.id);
      }
    });
    // A header has kernels only for files that include it.
    files.filter((uri) => !uri.path.endsWith(".cuh")).forEach((uri) => this.file(uri));
  }

  /** resolve finds the kernels of a file by a run, which takes less time than a proof. */
  async resolve(item: vscode.TestItem): Promise<void> {
    if (item.uri === undefined || item.parent !== undefined) {
      return;
    }
    item.busy = true;
    try {
      const results = await heddle("run", item.uri, []);
      this.setKernels(item.uri, results === undefined ? [] : jsonKernels(results));
    } catch (error) {
      item.error = error instanceof Error ? error.message : String(error);
    } finally {
      item.busy = false;
    }
  }

  /** setKernels replaces the kernels of a file, and keeps the items of those that remain. */
  setKernels(uri: vscode.Uri, kernels: Kernel[]): void {
    const file = this.file(uri);
    file.canResolveChildren = kernels.length === 0;
    file.children.replace(
      kernels.map(({ name, range }) => {
        const item = file.children.get(name) ?? this.controller.createTestItem(name, name, uri);
        item.range = range;
        return item;
      }),
    );
  }

  /** run tests the items of a request. */
  async run(
    request: vscode.TestRunRequest,
    command: string,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const run = this.controller.createTestRun(request);
    try {
      for (const [file, kernels] of await this.selected(request)) {
        if (token.isCancellationRequested) {
          break;
        }
        await this.runFile(run, file, kernels, command, token);
      }
    } finally {
      run.end();
    }
  }

  /** selected returns the kernels of a request by their files. */
  private async selected(
    request: vscode.TestRunRequest,
  ): Promise<Map<vscode.TestItem, vscode.TestItem[]>> {
    const selected = new Map<vscode.TestItem, vscode.TestItem[]>();
    for (const item of request.include ?? values(this.controller.items)) {
      const file = item.parent ?? item;
      if (file.children.size === 0) {
        await this.resolve(file);
      }
      const added = item === file ? values(file.children) : [item];
      const kernels = [...(selected.get(file) ?? []), ...added].filter(
        (k) => !request.exclude?.some((e) => e === k || e === file),
      );
      selected.set(file, [...new Set(kernels)]);
    }
    return selected;
  }

  /** runFile tests kernels of one file: all of them by one process, else each by its own. */
  private async runFile(
    run: vscode.TestRun,
    file: vscode.TestItem,
    kernels: vscode.TestItem[],
    command: string,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const groups = kernels.length === file.children.size ? [kernels] : kernels.map((k) => [k]);
    for (const group of groups) {
      group.forEach((item) => run.started(item));
      const [only] = group;
      const flags = groups.length > 1 || file.children.size > 1 ? kernelFlags(group) : [];
      const start = Date.now();
      try {
        const results = only?.uri && (await heddle(command, only.uri, flags, token));
        for (const item of group) {
          report(run, item, results || undefined, token, (Date.now() - start) / group.length);
        }
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        group.forEach((item) => run.errored(item, new vscode.TestMessage(text)));
      }
    }
  }

  /** file returns the item of a file. */
  private file(uri: vscode.Uri): vscode.TestItem {
    let item = this.controller.items.get(uri.toString());
    if (item === undefined) {
      const label = vscode.workspace.asRelativePath(uri);
      item = this.controller.createTestItem(uri.toString(), label, uri);
      item.canResolveChildren = true;
      this.controller.items.add(item);
    }
    return item;
  }
}

/** kernelFlags selects a kernel; a group of several is all kernels of the file. */
function kernelFlags(group: vscode.TestItem[]): string[] {
  return group.length === 1 && group[0] !== undefined ? ["--kernel", group[0].id] : [];
}

/** values returns the items of a collection. */
function values(items: vscode.TestItemCollection): vscode.TestItem[] {
  const list: vscode.TestItem[] = [];
  items.forEach((item) => list.push(item));
  return list;
}

/**
 * heddle runs a command on a file and reads its results; undefined if heddle is not installed.
 * Unsaved text is saved first, since heddle reads the file. It throws an error that says what
 * heddle printed if there are no results.
 */
async function heddle(
  command: string,
  uri: vscode.Uri,
  flags: string[],
  token?: vscode.CancellationToken,
): Promise<Results | undefined> {
  const settings = currentSettings();
  const file = await program(settings);
  if (file === undefined) {
    return undefined;
  }
  const open = vscode.workspace.textDocuments.find((d) => d.uri.toString() === uri.toString());
  if (open?.isDirty) {
    await open.save();
  }
  const name = fileArgument(path.basename(uri.fsPath));
  const args = [command, "--format", "json", ...compilerFlags(settings), ...flags, name];
  const { stdout, stderr } = await run(file, args, path.dirname(uri.fsPath), token);
  if (stdout === "" && stderr !== "") {
    throw new Error(stderr.trim());
  }
  return parseResults(stdout);
}

/** report records the result of one test. */
function report(
  run: vscode.TestRun,
  item: vscode.TestItem,
  results: Results | undefined,
  token: vscode.CancellationToken,
  ms: number,
): void {
  if (results === undefined || token.isCancellationRequested) {
    run.skipped(item);
    return;
  }
  const result = testResult(results, item.id);
  run.appendOutput(`${item.label}: ${result.summary}\r\n`, undefined, item);
  if (result.outcome === "passed") {
    run.passed(item, ms);
    return;
  }
  const messages = result.findings.map((f) => findingMessage(f, item));
  if (result.outcome === "failed") {
    run.failed(item, messages, ms);
  } else {
    const why = new vscode.TestMessage(result.summary);
    run.errored(item, [why, ...messages], ms);
  }
}

/** findingMessage returns the message of a finding at its place. */
function findingMessage(f: Finding, item: vscode.TestItem): vscode.TestMessage {
  const message = new vscode.TestMessage(findingText(f));
  const location = f.location && item.uri && place(f.location, item.uri);
  if (location) {
    message.location = location;
  }
  return message;
}

/** place converts a location. heddle ran in the directory of the file that uri names. */
function place(at: Location, uri: vscode.Uri): vscode.Location | undefined {
  if (at.line === undefined) {
    return undefined;
  }
  const file = path.resolve(path.dirname(uri.fsPath), at.file);
  let lines: string[] = [];
  try {
    lines = fs.readFileSync(file, "utf8").split("\n");
  } catch {
    // A file that cannot be read has places nevertheless; their columns count bytes then.
  }
  const position = (line: number, column: number): vscode.Position =>
    new vscode.Position(line - 1, character(lines[line - 1] ?? "", column));
  const start = position(at.line, at.column ?? 1);
  const end = position(at.end_line ?? at.line, at.end_column ?? at.column ?? 1);
  return new vscode.Location(vscode.Uri.file(file), new vscode.Range(start, end));
}

/** jsonKernels returns the kernels that verdicts name. */
function jsonKernels(results: Results): Kernel[] {
  return results.verdicts
    .filter((v) => v.kernel !== "")
    .map((v) => {
      const line = (v.location?.line ?? 1) - 1;
      const column = (v.location?.column ?? 1) - 1;
      return { name: v.kernel, range: new vscode.Range(line, column, line, column) };
    });
}
