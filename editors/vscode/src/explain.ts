// "Explain code": what `heddle explain` prints, as a document.

import * as vscode from "vscode";

import { run } from "./process";
import { currentSettings, firstFolder, program } from "./program";

const scheme = "heddle-explain";

/** explainUri names the document that explains a code or a term. */
export function explainUri(code: string): vscode.Uri {
  return vscode.Uri.from({ scheme, path: `/${code}.txt` });
}

/** Topic is a line of `heddle explain` without arguments. */
export interface Topic {
  name: string;
  about: string;
}

/** topics reads the list of codes and terms that `heddle explain` prints. */
export function topics(list: string): Topic[] {
  const found = [...list.matchAll(/^ {2}(\S+(?: \S+)*)(?: {2,}(\S.*))?$/gm)];
  return found.map((m) => ({ name: m[1] ?? "", about: m[2] ?? "" }));
}

/** registerExplain registers the command and the documents that it shows. */
export function registerExplain(context: vscode.ExtensionContext): void {
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(scheme, {
      provideTextDocumentContent: (uri) => explain(uri.path.replace(/^\/|\.txt$/g, "")),
    }),
    vscode.commands.registerCommand("heddle.explain", async (code?: unknown) => {
      const chosen = typeof code === "string" ? code : await choose();
      if (chosen !== undefined) {
        const document = await vscode.workspace.openTextDocument(explainUri(chosen));
        await vscode.window.showTextDocument(document, { preview: true });
      }
    }),
  );
}

/** explain returns what heddle prints about a code or a term; "" asks for the list. */
async function explain(name: string): Promise<string> {
  const heddle = await program(currentSettings());
  if (heddle === undefined) {
    return "";
  }
  // "--" because the name may come from a link.
  const words = name === "" ? [] : ["--", ...name.split(" ")];
  const { stdout, stderr } = await run(heddle, ["explain", ...words], firstFolder());
  return stdout === "" ? stderr : stdout;
}

/** choose lets the user select a code; those of findings at the cursor are listed first. */
async function choose(): Promise<string | undefined> {
  const here = codesAtCursor();
  const list = topics(await explain(""));
  list.sort((a, b) => Number(here.includes(b.name)) - Number(here.includes(a.name)));
  const items = list.map((t) => ({
    label: t.name,
    description: here.includes(t.name) ? `(in this line) ${t.about}` : t.about,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    placeHolder: "Code of a finding, or term of a report",
    matchOnDescription: true,
  });
  return picked?.label;
}

/** codesAtCursor returns the codes of heddle's findings in the line of the cursor. */
function codesAtCursor(): string[] {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    return [];
  }
  const line = editor.selection.active.line;
  return vscode.languages
    .getDiagnostics(editor.document.uri)
    .filter((d) => d.source === "heddle" && d.range.start.line <= line && d.range.end.line >= line)
    .map((d) => String(typeof d.code === "object" ? d.code.value : d.code));
}
