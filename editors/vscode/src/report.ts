// The HTML report of a file in a webview.

import { randomBytes } from "node:crypto";
import * as fs from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";

import { secureReport } from "./html";
import { fileArgument } from "./launch";
import { run, type Cancel } from "./process";
import { currentSettings, program } from "./program";
import { compilerFlags } from "./settings";

/** registerReport registers the command that opens the report of the active file. */
export function registerReport(context: vscode.ExtensionContext): void {
  context.subscriptions.push(vscode.commands.registerCommand("heddle.report", openReport));
}

/** openReport checks the active file and shows the report of heddle. */
async function openReport(): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (document === undefined || document.uri.scheme !== "file") {
    void vscode.window.showWarningMessage("heddle: open a CUDA, OpenCL or PTX file first.");
    return;
  }
  if (document.isDirty && !(await document.save())) {
    return;
  }
  const heddle = await program(currentSettings());
  if (heddle === undefined) {
    return;
  }
  const file = document.uri.fsPath;
  const name = path.basename(file);
  const html = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: `heddle: ${name}`, cancellable: true },
    (_, token) => writeReport(heddle, file, token),
  );
  if (html !== undefined) {
    const panel = vscode.window.createWebviewPanel(
      "heddle.report",
      `heddle: ${name}`,
      vscode.ViewColumn.Beside,
      // The scripts of the report filter and open findings. It reads no file.
      { enableScripts: true, localResourceRoots: [], enableFindWidget: true },
    );
    panel.webview.html = secureReport(html, randomBytes(16).toString("hex"));
  }
}

/** writeReport returns the report of a file, or undefined after a message. */
async function writeReport(
  heddle: string,
  file: string,
  cancel: Cancel,
): Promise<string | undefined> {
  const dir = await fs.mkdtemp(path.join(os.tmpdir(), "heddle-"));
  const page = path.join(dir, "report.html");
  try {
    const flags = [...compilerFlags(currentSettings()), "--html", page];
    const args = ["check", ...flags, fileArgument(path.basename(file))];
    const { stderr, stdout } = await run(heddle, args, path.dirname(file), cancel);
    try {
      return await fs.readFile(page, "utf8");
    } catch {
      if (!cancel.isCancellationRequested) {
        const why = (stderr + stdout).trim() || "heddle wrote nothing";
        void vscode.window.showErrorMessage(`heddle wrote no report: ${why}`);
      }
      return undefined;
    }
  } finally {
    await fs.rm(dir, { recursive: true, force: true });
  }
}
