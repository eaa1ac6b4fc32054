// The extension: connects the editor with heddle.

import * as vscode from "vscode";

import { registerCommands } from "./commands";
import { registerExplain } from "./explain";
import { registerReport } from "./report";
import { Server } from "./server";
import { registerTasks } from "./tasks";
import { registerTests } from "./tests";

let server: Server | undefined;

/** activate is called by the editor when a file that heddle reads is opened. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const started = new Server();
  server = started;
  registerCommands(context, started);
  registerExplain(context);
  registerReport(context);
  registerTasks(context);
  registerTests(context, started);
  const install = vscode.Uri.joinPath(context.extensionUri, "out", "install.md");
  context.subscriptions.push(
    started,
    vscode.commands.registerCommand("heddle.restart", () => started.restart()),
    vscode.commands.registerCommand("heddle.install", () =>
      vscode.commands.executeCommand("markdown.showPreview", install),
    ),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("heddle")) {
        void started.follow();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void started.follow()),
  );
  await started.restart();
}

/** deactivate is called by the editor before it ends. */
export async function deactivate(): Promise<void> {
  await server?.stop();
}
