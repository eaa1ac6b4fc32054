// Commands about the kernel at the cursor.

import * as vscode from "vscode";

import { argumentsError, dimensionsError, launchFlags, type Launch } from "./launch";
import type { Server } from "./server";
import { makeTask } from "./tasks";

/** The commands that the server executes, as it executes those of its code lenses. */
const serverCommands = ["check", "verify", "run", "fix", "sync"];

/** registerCommands registers the commands of the palette that need a kernel. */
export function registerCommands(context: vscode.ExtensionContext, server: Server): void {
  const register = (name: string, run: () => Promise<void>): void => {
    context.subscriptions.push(vscode.commands.registerCommand(`heddle.kernel.${name}`, run));
  };
  for (const name of serverCommands) {
    register(name, () => onServer(server, name));
  }
  register("runLaunch", () => withLaunch(context, server, "run"));
  register("trace", () => withLaunch(context, server, "trace"));
}

/** onServer executes a command of the server for the kernel at the cursor. */
async function onServer(server: Server, name: string): Promise<void> {
  if (!server.running()) {
    await server.restart();
  }
  const target = await chooseKernel(server);
  if (target !== undefined && server.running()) {
    const uri = target.document.uri.toString();
    await vscode.commands.executeCommand(`heddle.${name}`, uri, target.kernel);
  }
}

/** withLaunch asks for a launch and starts a command of heddle with it, as a task. */
async function withLaunch(
  context: vscode.ExtensionContext,
  server: Server,
  command: "run" | "trace",
): Promise<void> {
  const target = await chooseKernel(server);
  if (target === undefined) {
    return;
  }
  const key = `launch ${target.document.uri.toString()} ${target.kernel}`;
  const launch = await askLaunch(context.workspaceState.get<Launch>(key));
  if (launch === undefined) {
    return;
  }
  await context.workspaceState.update(key, launch);
  // The command reads the file.
  if (target.document.isDirty && !(await target.document.save())) {
    return;
  }
  const task = await makeTask({
    type: "heddle",
    command,
    files: [target.document.uri.fsPath],
    args: launchFlags(target.kernel, launch),
  });
  if (task !== undefined) {
    await vscode.tasks.executeTask(task);
  }
}

/** askLaunch asks for grid, block and arguments; undefined if the user cancels. */
async function askLaunch(before?: Launch): Promise<Launch | undefined> {
  const empty = "empty: from comments, heddle.toml or host code";
  const ask = (
    what: keyof Launch,
    prompt: string,
    validateInput: (value: string) => string | undefined,
  ): Thenable<string | undefined> =>
    vscode.window.showInputBox({
      title: "heddle: launch",
      prompt: `${prompt} (${empty})`,
      value: before?.[what] ?? "",
      validateInput,
      ignoreFocusOut: true,
    });
  const grid = await ask("grid", "Blocks of the grid, such as 64 or 16,16", dimensionsError);
  if (grid === undefined) {
    return undefined;
  }
  const block = await ask("block", "Threads of a block, such as 256 or 16,16", dimensionsError);
  if (block === undefined) {
    return undefined;
  }
  const args = await ask("args", "Arguments, such as n=1024 out=zero:4096", argumentsError);
  return args === undefined ? undefined : { grid, block, args };
}

/** Target is a kernel of the document in the active editor. */
interface Target {
  document: vscode.TextDocument;
  kernel: string; // empty: all kernels
}

/**
 * chooseKernel returns the kernel at the cursor: the last one that begins at or above it. Several
 * instances of a template begin at one place; the user then chooses. If no kernels are known yet,
 * all are meant. It returns undefined without an editor, or if the user cancels.
 */
async function chooseKernel(server: Server): Promise<Target | undefined> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    void vscode.window.showWarningMessage("heddle: open a CUDA, OpenCL or PTX file first.");
    return undefined;
  }
  const document = editor.document;
  const all = server.kernels(document.uri);
  const above = all.filter((k) => k.range.start.line <= editor.selection.active.line);
  const line = Math.max(...above.map((k) => k.range.start.line));
  let names = above.filter((k) => k.range.start.line === line).map((k) => k.name);
  if (names.length === 0) {
    names = all.map((k) => k.name);
  }
  if (names.length <= 1) {
    return { document, kernel: names[0] ?? "" };
  }
  const kernel = await vscode.window.showQuickPick(names, { placeHolder: "Kernel" });
  return kernel === undefined ? undefined : { document, kernel };
}
