// A small stand-in for the module "vscode", in which the editor lives. It has what the extension
// and its language client use of it, with state that tests read. An unknown member is an error that
// names it, so that a test never passes because something silently did nothing.

"use strict";

const fs = require("node:fs");
const Module = require("node:module");
const path = require("node:path");
const { pathToFileURL, fileURLToPath } = require("node:url");

/** strict returns an object whose unknown members are errors. */
function strict(name, members) {
  return new Proxy(members, {
    get(target, key) {
      if (key in target || typeof key === "symbol" || key === "__esModule" || key === "then") {
        return target[key];
      }
      throw new Error(`the mock lacks ${name}.${key}`);
    },
  });
}

/** numbers returns an enumeration: names with numbers from first. */
function numbers(first, names) {
  return Object.fromEntries(names.split(" ").map((name, i) => [name, first + i]));
}

class Disposable {
  constructor(f) {
    this.f = f;
  }
  dispose() {
    this.f?.();
    this.f = undefined;
  }
}

class EventEmitter {
  listeners = new Set();
  event = (listener, self) => {
    const bound = self === undefined ? listener : listener.bind(self);
    this.listeners.add(bound);
    return new Disposable(() => this.listeners.delete(bound));
  };
  fire(value) {
    [...this.listeners].forEach((listener) => listener(value));
  }
  dispose() {
    this.listeners.clear();
  }
}

class CancellationTokenSource {
  emitter = new EventEmitter();
  token = { isCancellationRequested: false, onCancellationRequested: this.emitter.event };
  cancel() {
    this.token.isCancellationRequested = true;
    this.emitter.fire();
  }
  dispose() {}
}

class CancellationError extends Error {}

class Position {
  constructor(line, character) {
    this.line = line;
    this.character = character;
  }
}

class Range {
  constructor(a, b, c, d) {
    this.start = typeof a === "number" ? new Position(a, b) : a;
    this.end = typeof a === "number" ? new Position(c, d) : b;
  }
}

class Uri {
  constructor(scheme, authority, at, query = "", fragment = "") {
    Object.assign(this, { scheme, authority, path: at, query, fragment });
  }
  static file(name) {
    return Uri.parse(pathToFileURL(name).href);
  }
  static parse(text) {
    const m = /^([a-z][\w.-]*):(?:\/\/([^/]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/i.exec(text);
    return new Uri(m[1], m[2] ?? "", decodeURIComponent(m[3]), m[4], m[5]);
  }
  static from(c) {
    return new Uri(c.scheme, c.authority ?? "", c.path ?? "", c.query, c.fragment);
  }
  static joinPath(base, ...parts) {
    return new Uri(base.scheme, base.authority, path.posix.join(base.path, ...parts));
  }
  get fsPath() {
    return this.scheme === "file" ? fileURLToPath(this.toString()) : this.path;
  }
  with(change) {
    return Uri.from({ ...this, ...change });
  }
  toString() {
    const at = this.path.split("/").map(encodeURIComponent).join("/");
    return `${this.scheme}:${this.scheme === "file" ? "//" : ""}${at}`;
  }
  toJSON() {
    return this.toString();
  }
}

class Diagnostic {
  constructor(range, message, severity) {
    Object.assign(this, { range, message, severity });
  }
}

class CodeLens {
  constructor(range, command) {
    Object.assign(this, { range, command });
  }
}

class CodeAction {
  constructor(title, kind) {
    Object.assign(this, { title, kind });
  }
}

class CodeActionKind {
  constructor(value) {
    this.value = value;
  }
  append(part) {
    return new CodeActionKind(this.value === "" ? part : `${this.value}.${part}`);
  }
}
for (const [name, value] of Object.entries({
  Empty: "",
  QuickFix: "quickfix",
  Refactor: "refactor",
  RefactorExtract: "refactor.extract",
  RefactorInline: "refactor.inline",
  RefactorRewrite: "refactor.rewrite",
  RefactorMove: "refactor.move",
  Source: "source",
  SourceFixAll: "source.fixAll",
  SourceOrganizeImports: "source.organizeImports",
  Notebook: "notebook",
})) {
  CodeActionKind[name] = new CodeActionKind(value);
}

class TextEdit {
  constructor(range, newText) {
    Object.assign(this, { range, newText });
  }
}

class WorkspaceEdit {
  edits = [];
  set(uri, edits) {
    this.edits.push([uri, edits.map((e) => (Array.isArray(e) ? e[0] : e))]);
  }
  entries() {
    return this.edits;
  }
}

class MarkdownString {
  constructor(value = "") {
    this.value = value;
  }
}

class Hover {
  constructor(contents, range) {
    Object.assign(this, { contents: [contents].flat(), range });
  }
}

class Location {
  constructor(uri, range) {
    Object.assign(this, { uri, range });
  }
}

class DiagnosticRelatedInformation {
  constructor(location, message) {
    Object.assign(this, { location, message });
  }
}

class ProcessExecution {
  constructor(program, args, options) {
    Object.assign(this, { process: program, args, options });
  }
}

class Task {
  constructor(definition, scope, name, source, execution, problemMatchers) {
    Object.assign(this, { definition, scope, name, source, execution, problemMatchers });
  }
}

class TestMessage {
  constructor(message) {
    this.message = message;
  }
}

class TestItems {
  map = new Map();
  constructor(parent) {
    this.parent = parent;
  }
  get size() {
    return this.map.size;
  }
  get(id) {
    return this.map.get(id);
  }
  add(item) {
    item.parent = this.parent;
    this.map.set(item.id, item);
  }
  delete(id) {
    this.map.delete(id);
  }
  replace(items) {
    this.map.clear();
    items.forEach((item) => this.add(item));
  }
  forEach(f) {
    this.map.forEach((item) => f(item));
  }
}

/** Document is a text document in memory. */
class Document {
  version = 1;
  isDirty = false;
  isClosed = false;
  eol = 1;
  constructor(uri, languageId, text) {
    Object.assign(this, { uri, languageId, text, fileName: uri.fsPath });
  }
  get lineCount() {
    return this.text.split("\n").length;
  }
  getText() {
    return this.text;
  }
  async save() {
    fs.writeFileSync(this.uri.fsPath, this.text);
    this.isDirty = false;
    return true;
  }
  /** offset returns the index of a position in the text. */
  offset(at) {
    const before = this.text.split("\n").slice(0, at.line);
    return before.reduce((sum, line) => sum + line.length + 1, 0) + at.character;
  }
}

/** The languages of files, as package.json contributes them. */
const languageOf = { ".cu": "cuda-cpp", ".cuh": "cuda-cpp", ".cl": "opencl", ".ptx": "ptx" };

/**
 * createEditor returns the module for one test, with its state: folder is the workspace, settings
 * are values of `heddle.*`.
 */
function createEditor(folder, settings = {}) {
  const events = new Proxy({}, { get: (all, name) => (all[name] ??= new EventEmitter()) });
  const state = {
    commands: new Map(),
    diagnostics: new Map(), // by URI
    documents: [],
    messages: [], // of notifications, with their buttons
    executed: [], // commands of the editor itself
    answers: [], // to messages, picks and input boxes, in their order
    panels: [],
    tasks: [],
    taskProviders: new Map(),
    controllers: [],
    runs: [], // of tests: [outcome, id, messages]
    providers: {},
    contents: new Map(), // providers of documents by scheme
    settings,
    events,
    log: [],
  };
  const none = () => new Disposable();
  const provider = (kind) => (selector, value) => {
    (state.providers[kind] ??= []).push(value);
    return new Disposable();
  };
  const message = (kind) => async (text, ...buttons) => {
    state.messages.push({ kind, text, buttons });
    events.message.fire(text);
    return buttons.length > 0 ? state.answers.shift() : undefined;
  };
  const channel = () => {
    const write = (text) => void state.log.push(String(text));
    return strict("OutputChannel", {
      append: write, appendLine: write, trace: write, debug: write, info: write, warn: write,
      error: write, show() {}, clear() {}, dispose() {}, replace() {}, name: "heddle", logLevel: 3,
      onDidChangeLogLevel: none,
    });
  };
  const configuration = (section) => ({
    get: (key, missing) => {
      const name = section === undefined || section === "" ? key : `${section}.${key}`;
      return name in state.settings ? state.settings[name] : missing;
    },
    inspect: () => undefined,
    has: () => false,
  });
  const change = (document, text, ranges) => {
    document.text = text;
    document.version++;
    document.isDirty = true;
    events.change.fire({ document, contentChanges: ranges, reason: undefined });
  };
  const workspace = strict("workspace", {
    workspaceFolders: [{ uri: Uri.file(folder), name: "test", index: 0 }],
    textDocuments: state.documents,
    notebookDocuments: [],
    isTrusted: true,
    language: "plaintext", // of files with another extension, which a user may set
    name: "test",
    rootPath: folder,
    getConfiguration: configuration,
    getWorkspaceFolder: () => workspace.workspaceFolders[0],
    asRelativePath: (uri) => path.relative(folder, uri.fsPath),
    findFiles: async () =>
      fs.readdirSync(folder).filter((n) => path.extname(n) in languageOf)
        .map((n) => Uri.file(path.join(folder, n))),
    openTextDocument: async (uri) => {
      let document = state.documents.find((d) => d.uri.toString() === uri.toString());
      if (document === undefined) {
        const content = state.contents.get(uri.scheme);
        const text = content
          ? await content.provideTextDocumentContent(uri)
          : fs.readFileSync(uri.fsPath, "utf8");
        const language = languageOf[path.extname(uri.path)] ?? workspace.language;
        document = new Document(uri, language, text);
        state.documents.push(document);
        events.open.fire(document);
      }
      return document;
    },
    applyEdit: async (edit) => {
      for (const [uri, edits] of edit.entries()) {
        const document = await workspace.openTextDocument(uri);
        // From the end of the text, so that earlier positions stay valid.
        const sorted = [...edits].sort(
          (a, b) => document.offset(b.range.start) - document.offset(a.range.start));
        let text = document.text;
        for (const e of sorted) {
          text = text.slice(0, document.offset(e.range.start)) + e.newText +
            text.slice(document.offset(e.range.end));
        }
        change(document, text, sorted.map((e) => ({ range: e.range, text: e.newText,
          rangeOffset: 0, rangeLength: 0 })));
      }
      return true;
    },
    registerTextDocumentContentProvider: (scheme, value) => {
      state.contents.set(scheme, value);
      return new Disposable();
    },
    createFileSystemWatcher: () => ({ onDidCreate: none, onDidChange: none, onDidDelete: none,
      dispose() {} }),
    onDidChangeConfiguration: events.configuration.event,
    onDidGrantWorkspaceTrust: events.trust.event,
    onDidOpenTextDocument: events.open.event,
    onDidChangeTextDocument: events.change.event,
    onDidSaveTextDocument: events.save.event,
    onDidCloseTextDocument: events.close.event,
    onWillSaveTextDocument: none,
    onDidChangeWorkspaceFolders: none,
    onDidCreateFiles: none, onDidRenameFiles: none, onDidDeleteFiles: none,
    onWillCreateFiles: none, onWillRenameFiles: none, onWillDeleteFiles: none,
    onDidOpenNotebookDocument: none, onDidChangeNotebookDocument: none,
    onDidSaveNotebookDocument: none, onDidCloseNotebookDocument: none,
    registerTextDocumentContent: none,
  });
  const window = strict("window", {
    activeTextEditor: undefined,
    visibleTextEditors: [],
    tabGroups: { all: [], onDidChangeTabs: none },
    createOutputChannel: channel,
    showErrorMessage: message("error"),
    showWarningMessage: message("warning"),
    showInformationMessage: message("information"),
    setStatusBarMessage: (text) => {
      state.messages.push({ kind: "status", text, buttons: [] });
      return new Disposable();
    },
    showQuickPick: async (items) => {
      const answer = state.answers.shift();
      return items.find((item) => (item.label ?? item) === answer);
    },
    showInputBox: async (options) => {
      const answer = state.answers.shift();
      const wrong = answer === undefined ? undefined : options.validateInput?.(answer);
      if (wrong) {
        throw new Error(wrong);
      }
      return answer;
    },
    withProgress: (_, f) => f({ report() {} }, new CancellationTokenSource().token),
    showTextDocument: async (document) => {
      const at = new Position(0, 0);
      window.activeTextEditor = { document, selection: { active: at } };
      return window.activeTextEditor;
    },
    createWebviewPanel: (type, title, column, options) => {
      const panel = { type, title, column, options, webview: { html: "" } };
      state.panels.push(panel);
      return panel;
    },
    onDidChangeActiveTextEditor: none,
    onDidChangeVisibleTextEditors: none,
  });
  const register = (name, f) => {
    if (state.commands.has(name)) {
      throw new Error(`command '${name}' already exists`); // as the editor says
    }
    state.commands.set(name, f);
    return new Disposable(() => state.commands.delete(name));
  };
  const commands = strict("commands", {
    registerCommand: register,
    executeCommand: async (name, ...args) => {
      const f = state.commands.get(name);
      if (f !== undefined) {
        return f(...args);
      }
      if (!/^(markdown|workbench|vscode|editor)\./.test(name)) {
        throw new Error(`command '${name}' not found`);
      }
      state.executed.push([name, ...args]);
      return undefined;
    },
  });
  const languages = strict("languages", {
    match: (selector, document) =>
      [selector].flat().some((s) =>
        (s.language ?? document.languageId) === document.languageId &&
        (s.scheme ?? document.uri.scheme) === document.uri.scheme &&
        (s.pattern === undefined || path.extname(document.uri.path) in languageOf)) ? 10 : 0,
    createDiagnosticCollection: () => ({
      set: (uri, list) => {
        state.diagnostics.set(uri.toString(), list ?? []);
        events.diagnostics.fire({ uri, list: list ?? [] });
      },
      delete: (uri) => state.diagnostics.delete(uri.toString()),
      clear: () => state.diagnostics.clear(),
      dispose() {},
      forEach() {},
      has: () => false,
      get: () => undefined,
    }),
    getDiagnostics: (uri) => state.diagnostics.get(uri.toString()) ?? [],
    registerCodeLensProvider: provider("lens"),
    registerCodeActionsProvider: provider("action"),
    registerHoverProvider: provider("hover"),
  });
  const tests = strict("tests", {
    createTestController: (id, label) => {
      const controller = {
        id, label, items: new TestItems(), profiles: [], dispose() {},
        createTestItem: (id, label, uri) => {
          const item = { id, label, uri, parent: undefined, busy: false };
          item.children = new TestItems(item);
          return item;
        },
        createRunProfile: (label, kind, run, isDefault) => {
          controller.profiles.push({ label, kind, run, isDefault });
        },
        createTestRun: () => {
          const put = (outcome) => (item, messages) =>
            void state.runs.push([outcome, item.id, messages]);
          return { started: put("started"), passed: put("passed"), failed: put("failed"),
            errored: put("errored"), skipped: put("skipped"), appendOutput() {},
            end: () => void state.runs.push(["end"]) };
        },
      };
      state.controllers.push(controller);
      return controller;
    },
  });
  const tasks = strict("tasks", {
    registerTaskProvider: (type, value) => {
      state.taskProviders.set(type, value);
      return new Disposable();
    },
    executeTask: async (task) => void state.tasks.push(task),
  });
  const plain = () => class {}; // bases of classes that heddle's server never sends
  const vscode = strict("vscode", {
    version: "1.91.0",
    env: strict("env", { appName: "test", language: "en", openExternal: async () => false }),
    workspace, window, commands, languages, tests, tasks,
    Disposable, EventEmitter, CancellationTokenSource, CancellationError, Position, Range, Uri,
    Diagnostic, CodeLens, CodeAction, CodeActionKind, TextEdit, WorkspaceEdit, MarkdownString,
    Hover, Location, DiagnosticRelatedInformation, ProcessExecution, Task, TestMessage,
    TypeHierarchyItem: plain(), SymbolInformation: plain(), InlayHint: plain(),
    DocumentLink: plain(), CompletionItem: plain(), CallHierarchyItem: plain(),
    TabInputText: plain(), TabInputTextDiff: plain(), TabInputCustom: plain(),
    TabInputNotebook: plain(), RelativePattern: plain(), SnippetString: plain(),
    SnippetTextEdit: plain(),
    DiagnosticSeverity: numbers(0, "Error Warning Information Hint"),
    DiagnosticTag: numbers(1, "Unnecessary Deprecated"),
    SymbolTag: { Deprecated: 1 },
    CompletionItemTag: { Deprecated: 1 },
    CompletionItemKind: numbers(0, "Text Method Function Constructor Field Variable Class " +
      "Interface Module Property Unit Value Enum Keyword Snippet Color Reference File Folder EnumMember " +
      "Constant Struct Event Operator TypeParameter"),
    SymbolKind: numbers(0, "File Module Namespace Package Class Method Property"),
    CodeActionTriggerKind: numbers(1, "Invoke Automatic"),
    TextDocumentSaveReason: numbers(1, "Manual AfterDelay FocusOut"),
    ProgressLocation: { SourceControl: 1, Window: 10, Notification: 15 },
    TestRunProfileKind: numbers(1, "Run Debug Coverage"),
    TaskScope: numbers(1, "Global Workspace"),
    TaskRevealKind: numbers(1, "Always Silent Never"),
    ViewColumn: { Beside: -2, Active: -1 },
    LogLevel: numbers(0, "Off Trace Debug Info Warning Error"),
    FoldingRangeKind: numbers(1, "Comment Imports Region"),
    DocumentHighlightKind: numbers(0, "Text Read Write"),
    SignatureHelpTriggerKind: numbers(1, "Invoke TriggerCharacter ContentChange"),
    CompletionTriggerKind: numbers(0, "Invoke TriggerCharacter TriggerForIncompleteCompletions"),
    FileType: { Unknown: 0, File: 1, Directory: 2 },
    UIKind: numbers(1, "Desktop Web"),
  });
  return { vscode, state };
}

/** load requires a file of the extension afresh, with a mock as the module "vscode". */
function load(file, vscode) {
  const original = Module._load;
  Module._load = (request, ...rest) =>
    request === "vscode" ? vscode : original(request, ...rest);
  try {
    for (const known of Object.keys(require.cache)) {
      if (known.startsWith(path.dirname(file))) {
        delete require.cache[known];
      }
    }
    return require(file);
  } finally {
    Module._load = original;
  }
}

/** context returns what the editor passes to activate. */
function context(vscode, extension) {
  const saved = new Map();
  return {
    subscriptions: [],
    extensionUri: vscode.Uri.file(extension),
    workspaceState: {
      get: (key) => saved.get(key),
      update: async (key, value) => void saved.set(key, value),
    },
  };
}

module.exports = { createEditor, load, context };
