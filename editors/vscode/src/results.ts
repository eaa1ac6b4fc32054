// Reads the JSON lines of `heddle check`, `run`, `verify` and `trace` (docs/json.md) and decides
// what they mean for a test. This file does not depend on the editor.

/** Location is a place in a file. Lines and columns count from 1, columns count bytes. */
export interface Location {
  file: string;
  line?: number;
  column?: number;
  end_line?: number;
  end_column?: number;
}

/** Finding is a problem of a kernel or of the input. */
export interface Finding {
  code: string;
  severity: string; // error, warning or note
  message: string;
  kernel?: string;
  location?: Location;
  label?: string;
  related?: { message: string; location?: Location }[];
  notes?: string[];
  help?: string[];
  suppressions?: unknown[];
}

/** Verdict is the result for a kernel. */
export interface Verdict {
  verdict: string; // verified, clean, bug, unknown or unsupported
  kernel: string;
  scope?: string;
  reason?: string;
  location?: Location;
}

/** Results is what one run of heddle has printed. */
export interface Results {
  findings: Finding[];
  verdicts: Verdict[];
}

/** The version of the JSON output that this file knows (schema_version). */
const schemaVersion = 1;

/**
 * parseResults reads JSON lines. Lines of other types are ignored. It throws an error if a line is
 * not JSON, or has a version that this file does not know.
 */
export function parseResults(text: string): Results {
  const results: Results = { findings: [], verdicts: [] };
  text.split("\n").forEach((line, i) => {
    if (line.trim() === "") {
      return;
    }
    const object = parseLine(line, i + 1);
    if (object.type === "finding") {
      results.findings.push(object as unknown as Finding);
    } else if (object.type === "verdict") {
      results.verdicts.push(object as unknown as Verdict);
    }
  });
  return results;
}

/** parseLine decodes a line of the output. */
function parseLine(line: string, number: number): { type?: unknown } {
  let object: { type?: unknown; schema_version?: unknown } | null;
  try {
    object = JSON.parse(line) as { type?: unknown } | null;
  } catch {
    throw new Error(`line ${number} of heddle's output is not JSON: ${line.slice(0, 80)}`);
  }
  if (object === null || typeof object !== "object" || object.schema_version !== schemaVersion) {
    throw new Error(
      `line ${number} of heddle's output is not in version ${schemaVersion} of its JSON format; ` +
        "install versions of heddle and of this extension that belong together",
    );
  }
  return object;
}

/** Outcome is the result of a test. */
export type Outcome = "passed" | "failed" | "errored";

/** TestResult is the outcome of the test of one kernel. */
export interface TestResult {
  outcome: Outcome;
  summary: string;
  findings: Finding[]; // that explain the outcome
}

/**
 * testResult decides the outcome for a kernel. Only a proof or a clean run passes. A kernel without
 * a decision is an error of the test and not a failure: heddle has not found a bug.
 */
export function testResult(results: Results, kernel: string): TestResult {
  const verdict = results.verdicts.find((v) => v.kernel === kernel);
  const findings = results.findings.filter(
    (f) => (f.kernel ?? "") === kernel && (f.suppressions ?? []).length === 0,
  );
  if (verdict === undefined) {
    const input = results.findings.filter((f) => f.severity === "error");
    return { outcome: "errored", summary: "heddle did not examine this kernel", findings: input };
  }
  const summary = sentence(verdict);
  switch (verdict.verdict) {
    case "verified":
    case "clean":
      return { outcome: "passed", summary, findings };
    case "bug":
      return {
        outcome: "failed",
        summary,
        findings: findings.filter((f) => f.severity === "error"),
      };
  }
  return { outcome: "errored", summary, findings };
}

/** sentence returns a verdict with its scope or its reason. */
export function sentence(v: Verdict): string {
  const about = [v.scope, v.reason].filter((s) => s !== undefined && s !== "").join("; ");
  return about === "" ? v.verdict : `${v.verdict}: ${about}`;
}

/** findingText returns a finding as lines, as the language server words it. */
export function findingText(f: Finding): string {
  return [
    `${f.code}: ${f.message}`,
    ...(f.label === undefined ? [] : [f.label]),
    ...(f.related ?? []).map((r) => r.message),
    ...(f.notes ?? []),
    ...(f.help ?? []).map((h) => `help: ${h}`),
  ].join("\n");
}

/**
 * character converts a column of heddle, which counts bytes from 1, to one of the editor, which
 * counts UTF-16 units from 0.
 */
export function character(line: string, column: number): number {
  return Buffer.from(line, "utf8").subarray(0, Math.max(column - 1, 0)).toString("utf8").length;
}
