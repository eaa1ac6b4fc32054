// The heddle program, the settings it is started with, and help if it cannot be started.

import * as path from "node:path";
import * as vscode from "vscode";

import { findProgram } from "./find";
import { readSettings, type Settings } from "./settings";

/** The folder whose settings count, and where relative paths of settings start. */
export function firstFolder(): string {
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? process.cwd();
}

/** currentSettings reads the settings of the first folder. */
export function currentSettings(): Settings {
  return readSettings(vscode.workspace.getConfiguration("heddle"), firstFolder());
}

/** program returns the file of heddle, or undefined after a message that says how to get it. */
export async function program(settings: Settings): Promise<string | undefined> {
  const found = findProgram(settings.path, firstFolder());
  if (found === undefined) {
    await offerHelp(
      `heddle was not found: ${JSON.stringify(settings.path)} is not a program` +
        (settings.path === path.basename(settings.path) ? " on PATH" : "") +
        ". Install heddle, or set heddle.path.",
    );
  }
  return found;
}

/** offerHelp shows an error with buttons that help when heddle does not start. */
export async function offerHelp(message: string): Promise<void> {
  const install = "How to Install";
  const settings = "Open Settings";
  switch (await vscode.window.showErrorMessage(message, install, settings)) {
    case install:
      await vscode.commands.executeCommand("heddle.install");
      break;
    case settings:
      await vscode.commands.executeCommand("workbench.action.openSettings", "heddle.path");
      break;
  }
}
