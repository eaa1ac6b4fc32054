// The language client: starts `heddle lsp`, restarts it when settings change, and knows the kernels
// that the server names.

import * as vscode from "vscode";
import { LanguageClient, State } from "vscode-languageclient/node";

import { findProgram } from "./find";
import { explainUri } from "./explain";
import { currentSettings, firstFolder, offerHelp, program } from "./program";
import { initializationOptions, serverArguments, type Settings } from "./settings";

/** Kernel is a kernel of a document, as the code lenses of the server name it. */
export interface Kernel {
  name: string; // demangled
  range: vscode.Range; // of its name
}

/** The languages of the documents that heddle reads; other extensions call CUDA "cuda". */
export const languages = ["cuda-cpp", "cuda", "opencl", "ptx"];

/** The names of files that heddle reads, whatever language an extension gives them. */
export const filePattern = "**/*.{cu,cuh,cl,ptx}";

/** The commands of the server whose result is a verdict for the user. */
const verdictCommands = ["heddle.check", "heddle.run", "heddle.verify"];

/** The milliseconds after which settings count as complete. */
const settle = 1500;

/** Lens is a code lens of the server, as the protocol has it. */
interface Lens {
  range: { start: { line: number; character: number }; end: { line: number; character: number } };
  command?: { command: string; arguments?: unknown[] };
}

/** Server owns the process of the language server and the client that speaks to it. */
export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private used: Settings | undefined; // by the last start
  private known = new Map<string, Kernel[]>();
  // Starts and stops wait for each other: settings may change while the server starts.
  private last: Promise<void> = Promise.resolve();
  private readonly named = new vscode.EventEmitter<vscode.Uri>();
  private readonly channel = vscode.window.createOutputChannel("heddle", { log: true });

  /** onKernels reports a document whose kernels have been named anew. */
  readonly onKernels = this.named.event;

  /** restart stops the server if it runs, and starts it with the current settings. */
  restart(): Promise<void> {
    this.last = this.last.then(async () => {
      await this.halt();
      await this.start();
    });
    return this.last;
  }

  /**
   * follow restarts the server if the settings differ from those of the last start. A change of the
   * configuration may also concern settings that the language client follows itself.
   */
  follow(): Promise<void> {
    this.last = this.last.then(async () => {
      if (JSON.stringify(currentSettings()) !== JSON.stringify(this.used)) {
        await this.halt();
        await this.start();
      }
    });
    return this.last;
  }

  /** stop ends the server. */
  stop(): Promise<void> {
    this.last = this.last.then(() => this.halt());
    return this.last;
  }

  dispose(): void {
    this.named.dispose();
    this.channel.dispose();
  }

  /** kernels returns the kernels that the server named last in a document. */
  kernels(uri: vscode.Uri): Kernel[] {
    return this.known.get(uri.toString()) ?? [];
  }

  /** running reports whether the server can answer. */
  running(): boolean {
    return this.client?.state === State.Running;
  }

  private async halt(): Promise<void> {
    const client = this.client;
    this.used = undefined;
    this.client = undefined;
    try {
      await client?.dispose();
    } catch (error) {
      // A server that has ended by itself cannot be stopped.
      this.channel.warn(`stop: ${String(error)}`);
    }
  }

  private async start(): Promise<void> {
    const settings = currentSettings();
    this.used = settings;
    const command = findProgram(settings.path, firstFolder());
    if (command === undefined) {
      // A remote editor may read the settings of the user after the extension has started, so the
      // message waits until there has been time for that.
      setTimeout(() => {
        if (this.used === settings) {
          void program(settings);
        }
      }, settle);
      return;
    }
    const client = new LanguageClient(
      "heddle",
      "heddle",
      { command, args: serverArguments(settings), options: { cwd: firstFolder() } },
      {
        documentSelector: [
          ...languages.map((language) => ({ scheme: "file", language })),
          { scheme: "file", pattern: filePattern },
        ],
        initializationOptions: initializationOptions(settings),
        outputChannel: this.channel,
        middleware: {
          executeCommand: async (command, args, next) => {
            const result: unknown = await next(command, args);
            showResult(command, result);
            return result;
          },
          handleDiagnostics: (uri, diagnostics, next) => {
            diagnostics.forEach(linkCode);
            next(uri, diagnostics);
            void this.nameKernels(uri);
          },
        },
      },
    );
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.channel.warn(`start: ${String(error)}`);
      void offerHelp(`heddle lsp did not start: ${error instanceof Error ? error.message : error}`);
    }
  }

  /**
   * nameKernels asks for the kernels of a document. The server publishes diagnostics whenever it
   * has examined a document, and names its kernels in the code lenses.
   */
  private async nameKernels(uri: vscode.Uri): Promise<void> {
    const client = this.client;
    if (client === undefined) {
      return;
    }
    let lenses: Lens[];
    try {
      lenses = await client.sendRequest<Lens[]>("textDocument/codeLens", {
        textDocument: { uri: client.code2ProtocolConverter.asUri(uri) },
      });
    } catch (error) {
      this.channel.warn(`kernels of ${uri.fsPath}: ${String(error)}`);
      return;
    }
    const kernels = lensKernels(lenses);
    // A document that is closed or does not compile has no lenses; its kernels remain known.
    if (kernels.length > 0) {
      this.known.set(uri.toString(), kernels);
      this.named.fire(uri);
    }
  }
}

/** lensKernels returns the kernels that code lenses name, in the order of the lenses. */
function lensKernels(lenses: Lens[]): Kernel[] {
  const kernels: Kernel[] = [];
  for (const { range, command } of lenses) {
    const name = command?.arguments?.[1];
    if (typeof name === "string" && !kernels.some((k) => k.name === name)) {
      const { start, end } = range;
      kernels.push({
        name,
        range: new vscode.Range(start.line, start.character, end.line, end.character),
      });
    }
  }
  return kernels;
}

/** linkCode lets the code of a finding open its explanation. */
function linkCode(d: vscode.Diagnostic): void {
  if (d.source === "heddle" && typeof d.code === "string") {
    d.code = { value: d.code, target: explainUri(d.code) };
  }
}

/** showResult shows what a command of the server returned: clients are expected to do so. */
function showResult(command: string, result: unknown): void {
  if (typeof result !== "string" || result === "") {
    return;
  }
  const first = result.split("\n")[0] ?? "";
  if (!verdictCommands.includes(command)) {
    // The server itself shows why there is no repair; an edit is visible.
    vscode.window.setStatusBarMessage(`heddle: ${first}`, 8000);
  } else if (/^(verified|clean):/.test(result)) {
    void vscode.window.showInformationMessage(`heddle: ${result}`);
  } else {
    void vscode.window.showWarningMessage(`heddle: ${result}`);
  }
}
