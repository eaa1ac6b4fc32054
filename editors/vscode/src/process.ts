// Running heddle and collecting what it prints.

import { spawn } from "node:child_process";

/** Output is what a process has left. */
export interface Output {
  code: number; // exit code; -1 if a signal ended the process
  stdout: string;
  stderr: string;
}

/** Cancel is the part of the editor's CancellationToken that run needs. */
export interface Cancel {
  isCancellationRequested: boolean;
  onCancellationRequested(listener: () => void): { dispose(): void };
}

/**
 * run executes a program in a directory until it ends. Cancelling interrupts it: heddle then prints
 * what it knows. The promise is rejected if the program cannot be started.
 */
export function run(
  program: string,
  args: string[],
  cwd: string,
  cancel?: Cancel,
): Promise<Output> {
  return new Promise((resolve, reject) => {
    // No shell: arguments reach heddle as they are.
    const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (part: Buffer) => out.push(part));
    child.stderr.on("data", (part: Buffer) => err.push(part));
    const listener = cancel?.onCancellationRequested(() => child.kill("SIGINT"));
    if (cancel?.isCancellationRequested) {
      child.kill("SIGINT");
    }
    child.on("error", (error) => {
      listener?.dispose();
      reject(error);
    });
    child.on("close", (code) => {
      listener?.dispose();
      resolve({
        code: code ?? -1,
        stdout: Buffer.concat(out).toString("utf8"),
        stderr: Buffer.concat(err).toString("utf8"),
      });
    });
  });
}
