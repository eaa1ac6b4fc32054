// Tasks of type "heddle": commands of heddle in a terminal, with the problem matcher $heddle.

import * as path from "node:path";
import * as vscode from "vscode";

import { findProgram } from "./find";
import { fileArgument } from "./launch";
import { currentSettings, firstFolder, program } from "./program";
import { compilerFlags } from "./settings";

/** Definition is a task of tasks.json; package.json describes its fields. */
interface Definition extends vscode.TaskDefinition {
  command: string;
  files?: string[];
  args?: string[];
}

/** The commands that a task may execute. */
const taskCommands = ["check", "run", "verify", "trace", "fix", "sync"];

/** registerTasks registers the provider of the tasks that need no tasks.json. */
export function registerTasks(context: vscode.ExtensionContext): void {
  const provider: vscode.TaskProvider = {
    provideTasks: async () => {
      if (findProgram(currentSettings().path, firstFolder()) === undefined) {
        return []; // a list of tasks is no reason for a message
      }
      const all = ["check", "verify"].map((command) =>
        makeTask({ type: "heddle", command, files: ["./..."] }),
      );
      return (await Promise.all(all)).filter((t) => t !== undefined);
    },
    resolveTask: (task) => makeTask(task.definition as Definition, task),
  };
  context.subscriptions.push(vscode.tasks.registerTaskProvider("heddle", provider));
}

/**
 * makeTask returns the task of a definition, or undefined if it has a mistake or heddle is not
 * installed. A task of tasks.json, like, keeps its name, scope and definition, which the editor
 * compares.
 */
export async function makeTask(
  definition: Definition,
  like?: vscode.Task,
): Promise<vscode.Task | undefined> {
  if (!taskCommands.includes(definition.command)) {
    return undefined;
  }
  const settings = currentSettings();
  const heddle = await program(settings);
  if (heddle === undefined) {
    return undefined;
  }
  const scope = like?.scope ?? vscode.workspace.workspaceFolders?.[0] ?? vscode.TaskScope.Workspace;
  const cwd = typeof scope === "object" ? scope.uri.fsPath : firstFolder();
  const files = definition.files ?? [activeFile() ?? "./..."];
  const task = new vscode.Task(
    definition,
    scope,
    like?.name ?? `${definition.command} ${files.map((f) => path.basename(f)).join(" ")}`,
    "heddle",
    new vscode.ProcessExecution(heddle, taskArguments(definition, files, cwd, settings), { cwd }),
    "$heddle",
  );
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always };
  return task;
}

/** taskArguments returns the arguments of heddle; files below cwd are relative to it. */
function taskArguments(
  definition: Definition,
  files: string[],
  cwd: string,
  settings: ReturnType<typeof currentSettings>,
): string[] {
  const names = files.map((file) => {
    const relative = path.isAbsolute(file) ? path.relative(cwd, file) : file;
    return fileArgument(relative.startsWith("..") ? file : relative);
  });
  return [definition.command, ...compilerFlags(settings), ...(definition.args ?? []), ...names];
}

/** activeFile returns the file in the active editor. */
function activeFile(): string | undefined {
  const uri = vscode.window.activeTextEditor?.document.uri;
  return uri?.scheme === "file" ? uri.fsPath : undefined;
}
