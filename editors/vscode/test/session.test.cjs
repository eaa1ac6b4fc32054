// Sessions of the packaged extension with the real `heddle lsp`: the files of heddle.vsix run in
// the mock of the editor.

"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { test } = require("node:test");

const { createEditor, load, context } = require("./mock.cjs");
const setup = require("./setup.cjs");

/** A start of the extension must not take longer, nor a check of an example. */
const patience = 60_000;

/** start activates the packaged extension in a workspace with copies of examples. */
async function start(t, examples, settings = {}) {
  const dir = setup.temporary(t);
  const folder = path.join(dir, "work");
  fs.mkdirSync(folder);
  for (const name of examples) {
    fs.copyFileSync(setup.example(name), path.join(folder, name));
  }
  const extension = setup.install(dir);
  const { vscode, state } = createEditor(folder, {
    "heddle.path": setup.heddle,
    "heddle.delay": 0,
    ...settings,
  });
  const main = load(path.join(extension, "out", "extension.js"), vscode);
  await main.activate(context(vscode, extension));
  let running = true;
  const stop = async () => {
    if (running) {
      running = false;
      await main.deactivate();
    }
  };
  t.after(stop);
  const uri = (name) => vscode.Uri.file(path.join(folder, name));
  return { vscode, state, folder, extension, stop, uri };
}

/** until waits for an event for which accept is true. */
function until(emitter, accept, what) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no ${what} in ${patience} ms`)), patience);
    const listener = emitter.event((value) => {
      if (accept(value)) {
        clearTimeout(timer);
        listener.dispose();
        resolve(value);
      }
    });
  });
}

/** open opens a document in the active editor and waits for its first diagnostics. */
async function open(editor, name) {
  const uri = editor.uri(name);
  const shown = until(
    editor.state.events.diagnostics,
    (e) => e.uri.toString() === uri.toString(),
    `diagnostics of ${name}`,
  );
  const document = await editor.vscode.workspace.openTextDocument(uri);
  await editor.vscode.window.showTextDocument(document);
  return { document, diagnostics: (await shown).list };
}

const never = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };

// A tree reduction needs a barrier in each iteration; the example lacks it, which its name says.
// The statement is in line 18, and reads tile[t + s] at its column 24.
test("a race is shown, repaired by a code action, and gone", async (t) => {
  const editor = await start(t, ["reduce_racy.cu"]);
  const { state } = editor;
  const { document, diagnostics } = await open(editor, "reduce_racy.cu");
  const [race] = diagnostics;
  assert.equal(diagnostics.length, 1);
  assert.equal(race.code.value, "race-shared");
  assert.equal(race.code.target.toString(), "heddle-explain:/race-shared.txt");
  assert.match(race.message, /^data race on shared tile\[32\]/);
  assert.deepEqual({ ...race.range.start }, { line: 17, character: 23 });
  assert.ok(race.relatedInformation.length >= 1, "both places of the race are shown");

  // The lenses of the server are the only ones: title and command reach the editor unchanged.
  assert.equal(state.providers.lens.length, 1);
  const lenses = await state.providers.lens[0].provideCodeLenses(document, never);
  assert.deepEqual(
    lenses.map((lens) => [lens.command.title, lens.command.command]),
    [
      ["heddle: bug", "heddle.check"],
      ["verify", "heddle.verify"],
      ["run", "heddle.run"],
      ["sync", "heddle.sync"],
      ["fix", "heddle.fix"],
    ],
  );
  lenses.forEach((lens) => assert.ok(state.commands.has(lens.command.command)));

  const actions = await state.providers.action[0].provideCodeActions(
    document,
    race.range,
    { diagnostics, triggerKind: 1, only: undefined },
    never,
  );
  const repair = actions.find((a) => /heddle fix/.test(a.title));
  assert.ok(repair, `no repair in ${actions.map((a) => a.title)}`);
  const clean = until(state.events.diagnostics, (e) => e.list.length === 0, "clean check");
  const run = state.commands.get(repair.command.command);
  assert.match(await run(...repair.command.arguments), /^repaired: kernel reduce/);
  const [, loop] = /for \(int s = ([^]*)if \(t == 0\)/.exec(document.text);
  assert.match(loop, /__syncthreads\(\);/, "the barrier is in the loop of the tree");
  await clean;

  // What a command of the server returns is shown.
  const verify = state.commands.get("heddle.verify");
  await verify(document.uri.toString(), "reduce(int const*, int*, int)");
  assert.match(state.messages.at(-1).text, /^heddle: verified: /);
  assert.equal(state.messages.at(-1).kind, "information");
});

test("commands of the palette act on the kernel at the cursor", async (t) => {
  const editor = await start(t, ["reduce_racy.cu"]);
  const { state, vscode } = editor;
  const { document } = await open(editor, "reduce_racy.cu");
  vscode.window.activeTextEditor.selection.active = new vscode.Position(17, 0);
  await vscode.commands.executeCommand("heddle.kernel.run");
  assert.match(state.messages.at(-1).text, /^heddle: bug: kernel reduce\(int const\*, int\*, int\)/);
  assert.equal(state.messages.at(-1).kind, "warning");

  state.answers.push("4", "128", "n=4096 'in=zero:16384'");
  await vscode.commands.executeCommand("heddle.kernel.runLaunch");
  const [task] = state.tasks;
  assert.equal(task.execution.process, setup.heddle);
  assert.deepEqual(task.execution.args, [
    "run", "--kernel", "reduce(int const*, int*, int)", "--grid", "4", "--block", "128",
    "--arg", "n=4096", "--arg", "in=zero:16384", "reduce_racy.cu",
  ]);
  assert.equal(task.problemMatchers, "$heddle");
  assert.match(setup.runHeddle(task.execution.args, task.execution.options.cwd),
    /race-shared[^]*launch: grid 4 \(/);
  assert.equal(document.isDirty, false);

  state.answers.push("", "", undefined); // cancelled at the last question
  await vscode.commands.executeCommand("heddle.kernel.trace");
  assert.equal(state.tasks.length, 1);
});

test("the kernel at the cursor is the last one that begins above it", async (t) => {
  const editor = await start(t, []);
  const { state, vscode, folder } = editor;
  // Line 3 begins two instances of a template, line 4 a kernel.
  fs.writeFileSync(
    path.join(folder, "k.cu"),
    "// heddle: grid=1 block=64\n" +
      "template <int N>\n" +
      "__global__ void t(int *a) { a[threadIdx.x] = N; }\n" +
      "__global__ void k(int *a) { a[threadIdx.x] = 1; }\n" +
      "void f(int *a) { t<1><<<1, 64>>>(a); t<2><<<1, 64>>>(a); k<<<1, 64>>>(a); }\n",
  );
  await open(editor, "k.cu");
  const kernel = async (line, ...answers) => {
    vscode.window.activeTextEditor.selection.active = new vscode.Position(line, 0);
    state.answers.push(...answers, "", "", "");
    await vscode.commands.executeCommand("heddle.kernel.runLaunch");
    assert.deepEqual(state.answers, [], "all questions were asked");
    return state.tasks.at(-1).execution.args[2];
  };
  for (let n = 0; (await kernel(4)) !== "k(int*)" && n < 100; n++) {
    await new Promise((resolve) => setTimeout(resolve, 50)); // the server is asked for kernels
  }
  assert.equal(await kernel(3), "k(int*)");
  assert.equal(await kernel(2, "void t<2>(int*)"), "void t<2>(int*)");
  assert.equal(await kernel(0, "void t<1>(int*)"), "void t<1>(int*)"); // above all of them
});

test("OpenCL, PTX and files that the user calls CUDA are checked", async (t) => {
  const editor = await start(t, []);
  const { state, vscode, folder } = editor;
  const put = (name, text) => fs.writeFileSync(path.join(folder, name), text);
  // All work-items, or threads, write their number to one place.
  put("k.cl", "// heddle: grid=1 block=64\n" +
    "__kernel void k(__global int *a) { a[0] = get_local_id(0); }\n");
  // Without line information, a finding in PTX is in the PTX and not in its source.
  const ptx = setup.runHeddle(["ptx", path.join(folder, "k.cl")]);
  put("k.ptx", ptx.replace(/^(\/\/ heddle|\s*\.(loc|file)).*\n/gm, ""));
  put("k.inc", "// heddle: grid=1 block=64\n__global__ void k(int *a) { *a = threadIdx.x; }\n");
  const codes = async (name) => (await open(editor, name)).diagnostics.map((d) => d.code.value);
  assert.deepEqual(await codes("k.cl"), ["race-global"]);
  assert.deepEqual(await codes("k.ptx"), ["race-global"]);
  vscode.workspace.language = "cuda-cpp";
  assert.deepEqual(await codes("k.inc"), ["race-global"]);
  assert.deepEqual(state.messages, []);
});

test("the HTML report has a strict policy, and a code is explained", async (t) => {
  const editor = await start(t, ["reduce_racy.cu"]);
  const { state, vscode } = editor;
  await open(editor, "reduce_racy.cu");
  await vscode.commands.executeCommand("heddle.report");
  const [panel] = state.panels;
  assert.match(panel.webview.html, /data race on shared tile\[32\]/);
  assert.match(panel.webview.html, /content="default-src 'none';/);
  assert.match(panel.webview.html, /script-src 'nonce-[0-9a-f]{32}';/);
  assert.deepEqual(panel.options.localResourceRoots, []);

  vscode.window.activeTextEditor.selection.active = new vscode.Position(17, 0);
  state.answers.push("race-shared");
  await vscode.commands.executeCommand("heddle.explain");
  const text = () => vscode.window.activeTextEditor.document.text;
  assert.match(text(), /^race-shared: two threads of a block/);
  await vscode.window.showTextDocument(state.documents[0]);
  state.answers.push("barrier interval"); // a term of two words
  await vscode.commands.executeCommand("heddle.explain");
  assert.match(text(), /^barrier interval: /);
});

test("a test for each kernel, from the server or from a run", async (t) => {
  const editor = await start(t, ["reduce_racy.cu", "reduce.cu"]);
  const { state } = editor;
  const [controller] = state.controllers;
  await open(editor, "reduce_racy.cu");
  const kernel = "reduce(int const*, int*, int)";
  const racy = editor.uri("reduce_racy.cu").toString();
  const right = editor.uri("reduce.cu").toString();
  for (let n = 0; controller.items.get(racy) === undefined && n < 100; n++) {
    await new Promise((resolve) => setTimeout(resolve, 50)); // the server is asked for kernels
  }
  assert.ok(controller.items.get(racy).children.get(kernel), "named by the server");
  await controller.resolveHandler();
  await controller.resolveHandler(controller.items.get(right));
  assert.equal(controller.items.get(right).children.get(kernel).range.start.line, 7);

  const check = controller.profiles.find((p) => p.label === "Check");
  assert.ok(check.isDefault);
  await check.run({ include: undefined, exclude: undefined }, never);
  const of = (outcome) => state.runs.filter(([o]) => o === outcome);
  assert.deepEqual([of("passed").length, of("failed").length, of("errored").length], [1, 1, 0]);
  const [, , messages] = of("failed")[0];
  assert.match(messages[0].message, /^race-shared: data race on shared tile\[32\]/);
  assert.equal(messages[0].location.uri.toString(), racy);
  assert.deepEqual({ ...messages[0].location.range.start }, { line: 17, character: 23 });
  assert.deepEqual({ ...messages[0].location.range.end }, { line: 17, character: 34 });
  assert.deepEqual(state.runs.at(-1), ["end"]);
});

test("without heddle, a message offers the advice on installing it", async (t) => {
  const editor = await start(t, ["reduce_racy.cu"], { "heddle.path": "heddle-of-no-machine" });
  const { state, vscode, extension } = editor;
  assert.deepEqual(await state.taskProviders.get("heddle").provideTasks(), []);
  assert.deepEqual(state.messages, [], "settings may still change");
  await until(state.events.message, () => true, "message");
  assert.equal(state.messages.length, 1);
  const { kind, text, buttons } = state.messages[0];
  assert.equal(kind, "error");
  assert.match(text, /"heddle-of-no-machine" is not a program on PATH/);
  assert.deepEqual(buttons, ["How to Install", "Open Settings"]);

  state.answers.push("How to Install");
  const again = until(state.events.message, () => true, "message");
  await vscode.commands.executeCommand("heddle.restart");
  await again;
  await new Promise((resolve) => setImmediate(resolve));
  const [command, uri] = state.executed[0];
  assert.equal(command, "markdown.showPreview");
  assert.equal(uri.fsPath, path.join(extension, "out", "install.md"));
  assert.match(fs.readFileSync(uri.fsPath, "utf8"), /go install \.\/cmd\/heddle/);

  // The server starts when the setting is right, and without another message if that is soon.
  await vscode.commands.executeCommand("heddle.restart");
  state.settings["heddle.path"] = setup.heddle;
  state.events.configuration.fire({ affectsConfiguration: (name) => name === "heddle" });
  const { diagnostics } = await open(editor, "reduce_racy.cu");
  assert.equal(diagnostics[0].code.value, "race-shared");
  await new Promise((resolve) => setTimeout(resolve, 2000));
  assert.equal(state.messages.length, 2);
});

test("a restart takes new settings to the server, and the end leaves no process", async (t) => {
  const dir = setup.temporary(t);
  const pids = path.join(dir, "pids");
  const wrapper = path.join(dir, "heddle");
  fs.writeFileSync(wrapper, `#!/bin/sh\necho $$ >> "${pids}"\nexec "${setup.heddle}" "$@"\n`);
  fs.chmodSync(wrapper, 0o755);
  const editor = await start(t, [], { "heddle.path": wrapper });
  const { state, folder } = editor;
  // Each thread writes its number to a[0] if the macro is defined, and its own element otherwise.
  fs.writeFileSync(
    path.join(folder, "k.cu"),
    "// heddle: grid=1 block=64\n__global__ void k(int *a) {\n" +
      "#ifdef RACY\n  a[0] = threadIdx.x;\n#else\n  a[threadIdx.x] = 1;\n#endif\n}\n",
  );
  const { diagnostics } = await open(editor, "k.cu");
  assert.deepEqual(diagnostics, []);
  const racy = until(state.events.diagnostics, (e) => e.list.length > 0, "race");
  state.settings["heddle.defines"] = ["RACY"];
  state.events.configuration.fire({ affectsConfiguration: (name) => name === "heddle" });
  assert.equal((await racy).list[0].code.value, "race-global");
  // A setting that the client itself follows does not restart the server: there are two in the end.
  state.settings["heddle.trace.server"] = "messages";
  state.events.configuration.fire({ affectsConfiguration: (name) => /^heddle/.test(name) });
  await editor.stop();
  assert.ok(!state.commands.has("heddle.verify"), "the client has given its commands back");
  const servers = fs.readFileSync(pids, "utf8").trim().split("\n").map(Number);
  assert.equal(servers.length, 2);
  for (let n = 0; servers.some(isAlive) && n < 100; n++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.deepEqual(servers.filter(isAlive), []);
});

/** isAlive reports whether a process exists. */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("tasks run heddle with the settings", async (t) => {
  const editor = await start(t, ["reduce_racy.cu"], { "heddle.defines": ["A=1"] });
  const { state, vscode } = editor;
  const provider = state.taskProviders.get("heddle");
  const names = (await provider.provideTasks()).map((task) => task.name);
  assert.deepEqual(names, ["check ...", "verify ..."]);
  const scope = vscode.workspace.workspaceFolders[0];
  const definition = { type: "heddle", command: "run", files: ["reduce_racy.cu"], args: ["-q"] };
  const task = await provider.resolveTask({ definition, scope, name: "mine" });
  assert.equal(task.name, "mine");
  assert.equal(task.definition, definition); // the editor compares them
  assert.deepEqual(task.execution.args, ["run", "-D", "A=1", "-q", "reduce_racy.cu"]);
  const wrong = { definition: { type: "heddle", command: "exec" }, scope, name: "mine" };
  assert.equal(await provider.resolveTask(wrong), undefined);
});
