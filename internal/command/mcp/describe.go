package mcp

import "github.com/google/jsonschema-go/jsonschema"

// The descriptions of fields in the schemas of the tools, each of one line. A field of an object
// within is named with the field that has the object: "next.why".

// inputTexts describe the arguments of calls. "exec.path" is that of the tool exec, if it differs.
var inputTexts = map[string]string{
	"path": "file or directory below a root of the server, such as src/reduce.cu; give either " +
		"path or text",
	"text":     "source text instead of a path, at most 4 MiB; needs language",
	"language": "language of text: cuda, opencl, ptx or llvm (LLVM IR as text)",
	"kernel":   "name of one kernel to examine, mangled or demangled; default: all",
	"grid":     "blocks of the grid as X or X,Y or X,Y,Z, such as 64 or 8,8",
	"block":    "threads of a block as X or X,Y or X,Y,Z, such as 256 or 16,16",
	"shared":   "dynamic shared memory in bytes, such as 1024 or 48K",

	"args": "kernel arguments as NAME=VALUE, such as n=1024, x=1.5, in=random, out=zero:4096 " +
		"(bytes), idx=ints:0,3,5, w=file:data/w.bin; others are guessed",

	"defines":  "macros as NAME or NAME=VALUE, such as TILE=16",
	"includes": "directories with headers, below a root of the server",
	"arch":     "GPU architecture, such as sm_80",
	"timeout": "seconds after which the call ends with what it has; the limit of the server is " +
		"the default and the most",

	"assume": "conditions on integer arguments, gridDim and blockDim that the proof may assume, " +
		"such as n <= gridDim.x * blockDim.x",
	"allow": "further means of repair: atomic (plain updates become atomic), and for races " +
		"between blocks grid-sync, split or double-buffer, which change the host code",
	"topic": "code of a finding, such as race-shared, or term of a result, such as barrier " +
		"interval; default: the list of all",

	"exec.path": "CUDA C++ file below a root of the server that is a complete program",
	"exec.args": "arguments of the program",
	"exec.timeout": "seconds after which the program is ended; the limit of the server is the " +
		"default and the most",
}

// outputTexts describe the results.
var outputTexts = map[string]string{
	"verdict": "the worst verdict: bug, unsupported, unknown, clean or verified; unknown if an " +
		"input could not be examined",
	"verdicts":  "one for each kernel and launch",
	"findings":  "errors first, then warnings and notes",
	"traces":    "of trace: what each block did",
	"program":   "of exec: how the program ended, and what it printed",
	"truncated": "what was left out, and how to get it",
	"next": "calls that make sense now, the best first; none if there is nothing left to do " +
		"with heddle",

	"next.arguments": "of the call; a text in angle brackets stands for a text that the agent " +
		"has",

	"verdicts.verdict":    "bug, unsupported, unknown, clean or verified",
	"verdicts.scope":      "what a clean or verified covers",
	"verdicts.details":    "what the scope assumes, and what else was examined",
	"verdicts.reason":     "why it is unknown, unsupported or not proved",
	"verdicts.apart":      "what a clean or verified does not cover",
	"verdicts.suppressed": "findings that heddle:ignore comments cover",

	"findings.code":         "kind of finding; explain describes it",
	"findings.severity":     "error, warning or note",
	"findings.label":        "what happened at the location",
	"findings.stack":        "calls that lead there, if any, innermost first",
	"findings.related":      "other places, such as the first access of a race",
	"findings.help":         "what to do",
	"findings.witness":      "the run that shows it: both accesses and the launch",
	"findings.groups":       "where the threads of a block wait",
	"findings.count":        "conflicts that it stands for",
	"findings.launch":       "the launch in words, and where each value comes from",
	"findings.guessed":      "values of the launch that heddle guessed",
	"findings.suppressions": "the heddle:ignore comment that covers it",

	"location.column": "in bytes, from 1",
	"location.source": "the text of the line",

	"witness.status": "observed in a run, confirmed by the replay of a counterexample, or " +
		"depends on guesses",
	"witness.launch":   "as flags of heddle",
	"witness.level":    "of a race: intra-warp, intra-block, inter-block or branch-ordering",
	"witness.interval": "block barriers that the second thread had passed",

	"traces.commands":         "accesses to shared memory and arrivals at barriers",
	"traces.dynamic_barriers": "generations of barriers that completed",

	"diff":    "unified diff of all repairs, for git apply; empty: nothing changes",
	"file":    "name of the file that patched is",
	"patched": "complete text of the file with the repairs, if it is short enough",

	"kernels.status": "unchanged (nothing to repair), repaired, partly repaired, not repaired " +
		"or not checked",
	"kernels.remaining":      "of a kernel that is partly repaired: what is not, and why",
	"kernels.redundant":      "barriers that the kernel does not need",
	"kernels.why":            "why the repair is enough, or why there is none",
	"kernels.verdict":        "of the repaired kernel, or of one that needs no repair",
	"kernels.scope":          "what the verdict covers",
	"kernels.source_verdict": "verdict on the patched source, compiled again",
	"kernels.ptx_only":       "why the source cannot express the repair, which is then not in diff",

	"changes.place": "file:line:column",
	"changes.why":   "what a barrier separates",

	"program.ended":    "how the program ended, unless it returned 0",
	"program.launches": "launches of kernels",
	"program.unsupported_functions": "functions of the CUDA runtime that failed, because heddle " +
		"does not support them",
	"program.output": "what the program printed; the end is cut",
}

// describe sets the descriptions of the fields of an object, and of those within. prefix names the
// object and ends with a dot, unless it is empty.
func describe(s *jsonschema.Schema, prefix string, texts map[string]string) {
	for name, p := range s.Properties {
		p.Description = texts[prefix+name]
		if p.Description == "" && prefix == "exec." {
			p.Description = texts[name]
		}
		within := p
		if p.Items != nil {
			within = p.Items
		}
		describe(within, name+".", texts)
	}
}
