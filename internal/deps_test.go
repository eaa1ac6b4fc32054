package internal

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// rules says which packages of this module each package may import, by name under internal/ and for
// commands under cmd/. Its tests may import these, too, and what testRules adds. DO NOT CHANGE THIS
// TABLE TO FIX A BUILD: it is the architecture. A new package adds a row here and in
// ARCHITECTURE.md, with the reason in the commit.
var rules = map[string]string{
	"source":    "lazyregexp",
	"cexpr":     "",
	"event":     "",
	"order":     "",
	"edit":      "source",
	"diag":      "source edit table lazyregexp",
	"table":     "",
	"isa":       "event",
	"ptx":       "source",
	"ir":        "source event isa",
	"ir/irtest": "source event isa ir",
	"irgen":     "source event isa ptx ir",
	"launch":    "source event isa ir lazyregexp",
	"triton":    "source event launch",
	"emu/alu":   "isa",
	"slice":     "event isa ir",
	"depend":    "event isa ir",
	"emu":       "source event order isa ir launch slice emu/alu tensormap",
	"race":      "event",
	"lower":     "lower/fatbin cache source lazyregexp",
	"project":   "lower source",
	"smt":       "",
	"smt/cdcl":  "",
	"smt/sat":   "smt smt/cdcl",
	"smt/proc":  "smt",
	"lockstep":  "event isa ir smt lockstep/symbol lockstep/thread lockstep/join lockstep/kernel lockstep/compute lockstep/memory lockstep/annotation lockstep/loop lazyregexp",
	"invariant": "smt lockstep/thread",
	"axiom":     "smt",
	"verify":    "axiom event ir smt lockstep/symbol lockstep/thread invariant",
	"place":     "place/maxsat",
	"syntax":    "source edit isa event ir place lazyregexp",
	"suppress":  "source diag launch",
	"config":    "source event launch",
	"report":    "source diag edit",
	"lsp":       "source diag",
	"baseline":  "source diag",
	"gitrev":    "",
	"memmodel":  "event",
	"litmus":    "event memmodel",
	"explore":   "event memmodel litmus",

	"explore/kernel": "event isa ir launch emu/alu memmodel explore",

	"crash":       "",
	"heap":        "",
	"lazyregexp":  "",
	"driver":      "crash source event ptx ir irgen launch lower diag suppress triton lazyregexp",
	"check":       "source diag verify lockstep/form driver engine/run engine/trace engine/prove check/task",
	"check/kept":  "cache",
	"check/task":  "source event ir launch lower diag driver engine/run engine/trace engine/prove",
	"assume":      "smt",
	"smt/answers": "smt cache",
	"examples":    "",
	"cache":       "",
	"digest":      "",

	"place/maxsat": "smt/cdcl",

	"engine/run":   "source cexpr event order isa ir launch emu race depend diag driver lazyregexp",
	"engine/trace": "source event isa ir launch slice emu race diag driver engine/run tensormap",
	"engine/prove": "source event isa ir launch lower diag smt smt/sat smt/proc smt/answers lockstep lockstep/thread verify assume axiom driver engine/run",

	"engine/placement": "source cexpr cache digest event isa ir launch emu race lower diag edit lockstep verify place syntax driver engine/run engine/prove",

	"engine/exhaustive": "event isa ir launch diag driver explore explore/kernel",

	"engine/weaken": "source event isa ir launch emu race lower diag edit lockstep lockstep/symbol lockstep/thread verify driver engine/run engine/prove lazyregexp",

	"host":              "crash event source",
	"library":           "order library/fft library/random",
	"tensormap":         "",
	"command/bugreport": "ptx launch reduce lazyregexp",
	"command/describe":  "diag driver launch lazyregexp",
	"command/exec":      "source event order ptx ptx/instrument gpu/queue ir irgen launch emu race lower lower/fatbin diag driver engine/run engine/prove host library lazyregexp",
	"command/fix":       "source event isa ptx ir irgen launch emu race lower diag edit verify lockstep repair repair/between syntax place driver engine/run engine/trace engine/prove engine/placement engine/exhaustive explore lazyregexp",

	"command/mcp": "source assume diag launch lower repair/between driver engine/trace command/fix check lazyregexp",

	"lockstep/symbol":     "ir smt",
	"lockstep/thread":     "event ir smt lockstep/symbol",
	"lockstep/join":       "smt",
	"lockstep/kernel":     "source event isa ir lockstep/thread",
	"lockstep/compute":    "isa ir smt lockstep/symbol lockstep/kernel",
	"lockstep/memory":     "event isa ir smt lockstep/symbol lockstep/thread lockstep/join lockstep/kernel",
	"lockstep/annotation": "event ir smt lockstep/symbol lockstep/thread lockstep/join lockstep/kernel lockstep/memory",
	"lockstep/loop":       "ir smt lockstep/symbol lockstep/thread lockstep/join lockstep/kernel",

	"lockstep/form": "event isa ir",
	"repair":        "source event isa ptx ir edit lazyregexp",

	"reduce":          "source event ptx ir launch lazyregexp",
	"repair/hostedit": "source edit syntax",
	"repair/between":  "edit syntax repair/hostedit",

	"ptx/instrument": "source event isa ptx ir",
	"gpu/queue":      "event ir ptx/instrument",

	"library/fft":    "",
	"library/random": "",

	"lower/fatbin":            "lazyregexp",
	"lower/fatbin/fatbintest": "",

	"remote":     "remote/rpc",
	"remote/rpc": "",

	"testing/reapi": "",

	"testing/lockrun": "event isa ir launch emu/alu lockstep/form",

	"testing/ptxtest":    "source event diag launch lower driver engine/run check",
	"testing/oracle":     "event",
	"testing/gen":        "event",
	"testing/cltest":     "",
	"testing/program":    "lower",
	"testing/kernels":    "source ptx ir irgen launch lower",
	"testing/longkernel": "",
	"testing/cputime":    "",
	"testing/long":       "",

	"testing/jsonschema": "",
	"testing/mutate":     "",

	"testing/everyop": "source event isa ptx ir irgen launch slice emu lockstep lockstep/form repair syntax",

	"testing/nodiff": "source event isa ptx ptx/instrument gpu/queue ir irgen launch slice emu race lower testing/oracle testing/gen testing/lockrun smt smt/sat lockstep lockstep/form verify engine/prove",

	"cmd/heddle":     "source event table edit diag ir launch lower lower/fatbin project assume axiom place lockstep driver engine/run engine/trace engine/prove command/exec command/fix command/describe command/mcp command/bugreport reduce smt/proc examples repair/between engine/placement engine/weaken engine/exhaustive host check check/kept check/task remote config report lsp baseline gitrev memmodel explore litmus heap lazyregexp",
	"cmd/scale":      "",
	"cmd/site":       "diag",
	"cmd/house":      "",
	"cmd/publish-as": "",
	"cmd/licenses":   "",
	"cmd/mutate":     "testing/long testing/mutate",
	"cmd/bench":      "source event ptx ir irgen launch emu race lower verify diag driver command/fix engine/placement check testing/gen testing/longkernel heap",
	"cmd/conform":    "source event ptx ir irgen launch lower lockstep verify axiom diag driver engine/run engine/prove check host command/exec heap lazyregexp",
}

// testRules says what the tests of a package may import besides: mostly the front end, to write
// their inputs as PTX or CUDA, and a second implementation to compare with. Packages that exist for
// tests, those of helper, are open to all tests.
var testRules = map[string]string{
	"depend":              "lower",
	"emu":                 "ptx irgen lower",
	"invariant":           "event lockstep smt/sat",
	"lockstep":            "launch lower smt/sat verify",
	"lockstep/annotation": "isa",
	"engine/run":          "lower",
	"explore/kernel":      "diag lower driver emu",
	"engine/exhaustive":   "lower memmodel",
	"check":               "lower",
	"check/task":          "verify",
	"engine/trace":        "check",
	"engine/prove":        "check",
	"command/fix":         "check",
	"lockstep/form":       "lockstep",
	"lower":               "ir",
	"repair":              "irgen launch emu",
	"ptx/instrument":      "irgen lower",
	"gpu/queue":           "isa",
	"reduce":              "diag irgen lower driver check",
	"slice":               "source ptx irgen",
	"smt":                 "smt/sat smt/proc",
	"syntax":              "ptx irgen launch lower emu",
	"verify":              "isa launch lockstep lower smt/sat",

	"testing/cltest":  "event ir launch lower emu",
	"testing/ptxtest": "command/fix engine/prove",

	"cmd/house": "isa",
}

// helper reports whether a package exists for the tests of others.
func helper(name string) bool {
	top := name == "testing/ptxtest" || name == "testing/nodiff" // they run whole engines
	return strings.HasPrefix(name, "testing/") && !top || strings.HasSuffix(name, "test") && !top
}

// only says which standard packages are confined to which packages of ours.
var only = map[string][]string{
	// gitrev asks git for the files of an older revision, for heddle check --new-from.
	// command/exec starts the user's program. testing/reapi starts the commands of actions.
	"os/exec": {"lower", "command/exec", "smt/proc", "gitrev", "testing/reapi", "cmd/bench", "cmd/conform",
		"cmd/house", "cmd/licenses", "cmd/mutate"},
	"os/signal": {"cmd/heddle", "cmd/conform", "cmd/mutate"},
}

// listed is a package as go list prints it.
type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// module is the path of this module, which publishing a copy of it changes.
var module = sync.OnceValue(func() string {
	out, err := exec.Command("go", "list", "-m").Output()
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(out))
})

// short returns the name by which the tables know a package of ours.
func short(path string) (name string, ours bool) {
	name, ours = strings.CutPrefix(path, module()+"/")
	return strings.TrimPrefix(name, "internal/"), ours
}

func TestImports(t *testing.T) {
	all := packages(t)
	seen := map[string]bool{}
	for _, p := range all {
		name, ours := short(p.ImportPath)
		for _, imp := range p.Imports {
			if owners, ok := only[imp]; ok && !slices.Contains(owners, name) {
				t.Errorf("%s imports %s, which only %v may", p.ImportPath, imp, owners)
			}
		}
		if !ours || name == "internal" { // this test
			continue
		}
		seen[name] = true
		rule, ok := rules[name]
		if !ok {
			t.Errorf("%s has no rule", p.ImportPath)
			continue
		}
		checkImports(t, name, strings.Fields(rule), p)
	}
	for _, table := range []map[string]string{rules, testRules} {
		for name := range table {
			if !seen[name] {
				t.Errorf("there is a rule for %s, which does not exist", name)
			}
		}
	}
}

// checkImports reports imports of a package that no rule allows, and allowed ones that nothing uses.
func checkImports(t *testing.T, name string, allowed []string, p listed) {
	t.Helper()
	tests := strings.Fields(testRules[name])
	used := map[string]bool{}
	for _, imp := range p.Imports {
		dep, ours := short(imp)
		used[dep] = true
		if ours && !slices.Contains(allowed, dep) {
			t.Errorf("%s must not import %s", name, dep)
		}
	}
	for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
		dep, ours := short(imp)
		used[dep] = true
		if ours && dep != name && !helper(dep) && !slices.Contains(allowed, dep) && !slices.Contains(tests, dep) {
			t.Errorf("the tests of %s must not import %s", name, dep)
		}
	}
	for _, dep := range slices.Concat(allowed, tests) {
		if !used[dep] {
			t.Errorf("%s may import %s, and does not: take it out of the rule", name, dep)
		}
	}
}

// TestArchitecture: each package has a row in the table of ARCHITECTURE.md. What a package may
// import is in rules only.
func TestArchitecture(t *testing.T) {
	page, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if cell, ok := strings.CutPrefix(line, "| "); ok {
			names, _, _ := strings.Cut(cell, " |")
			for name := range strings.SplitSeq(names, ", ") {
				rows[name] = true
			}
		}
	}
	for name := range rules {
		if !rows[name] && !strings.HasPrefix(name, "cmd/") {
			t.Errorf("ARCHITECTURE.md has no row for %s", name)
		}
	}
}
