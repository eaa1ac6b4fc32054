package internal

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// rules says what each package may import of this module, by name under internal/. DO NOT CHANGE THIS TABLE
// TO FIX A BUILD: it is the architecture (ARCHITECTURE.md, "Packages").
var rules = map[string]string{
	"source":      "",
	"event":       "",
	"edit":        "source",
	"diag":        "source edit table",
	"table":       "",
	"isa":         "event",
	"ptx":         "source",
	"ir":          "source event isa",
	"ir/irtest":   "source event isa ir",
	"irgen":       "source event isa ptx ir",
	"launch":      "source event isa ir",
	"emu/alu":     "isa event",
	"slice":       "event isa ir",
	"emu":         "source event isa ir launch slice emu/alu",
	"race":        "event",
	"lower":       "source lower/fatbin",
	"project":     "lower",
	"smt":         "",
	"smt/cdcl":    "",
	"smt/sat":     "smt smt/cdcl",
	"smt/proc":    "smt",
	"lockstep":    "event isa ir smt lockstep/symbol lockstep/thread lockstep/join lockstep/kernel lockstep/compute lockstep/memory lockstep/annotation lockstep/loop",
	"invariant":   "smt lockstep/thread",
	"verify":      "event ir smt lockstep/symbol lockstep/thread invariant",
	"place":       "place/maxsat",
	"syntax":      "source edit isa event ir place",
	"suppress":    "source diag launch",
	"config":      "source event launch",
	"report":      "source diag edit",
	"lsp":         "source diag",
	"baseline":    "source diag",
	"gitrev":      "",
	"check":       "source event isa ptx ir irgen launch slice emu race lower diag edit smt smt/sat smt/proc lockstep invariant verify suppress lockstep/form assume smt/answers repair place syntax",
	"assume":      "smt",
	"smt/answers": "smt",

	"place/maxsat": "",

	"lockstep/symbol":     "ir smt",
	"lockstep/thread":     "event ir smt lockstep/symbol",
	"lockstep/join":       "smt",
	"lockstep/kernel":     "event isa ir lockstep/thread",
	"lockstep/compute":    "isa ir smt lockstep/symbol lockstep/kernel",
	"lockstep/memory":     "event isa ir smt lockstep/symbol lockstep/thread lockstep/join lockstep/kernel",
	"lockstep/annotation": "event ir smt lockstep/symbol lockstep/thread lockstep/join lockstep/kernel lockstep/memory",
	"lockstep/loop":       "ir smt lockstep/symbol lockstep/thread lockstep/join lockstep/kernel",

	"lockstep/form": "event isa ir",
	"repair":        "source event isa ptx ir edit",

	"lower/fatbin":            "",
	"lower/fatbin/fatbintest": "",

	"testing/lockrun": "event isa ir launch emu/alu lockstep/form",

	"testing/ptxtest": "source diag launch lower check",
	"testing/oracle":  "event",
	"testing/gen":     "event",
	"testing/cltest":  "",
	"testing/kernels": "source ptx ir irgen launch lower",

	"testing/jsonschema": "",

	"testing/everyop": "source event isa ptx ir irgen launch slice emu lockstep lockstep/form repair syntax",

	"testing/nodiff": "source event isa ptx ir irgen launch slice emu race lower testing/oracle testing/gen testing/lockrun smt smt/sat lockstep lockstep/form verify",
}

// only says which standard packages are confined to which packages of ours.
var only = map[string][]string{
	// gitrev asks git for the files of an older revision, for heddle check --new-from.
	"os/exec":   {"heddle/internal/lower", "heddle/internal/smt/proc", "heddle/internal/gitrev", "heddle/cmd/bench", "heddle/cmd/conform"},
	"os/signal": {"heddle/cmd/heddle", "heddle/cmd/conform"},
}

func TestImports(t *testing.T) {
	const format = `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`
	out, err := exec.Command("go", "list", "-f", format, "heddle/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	page, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{} // of the table of packages
	for line := range strings.Lines(string(page)) {
		if cell, ok := strings.CutPrefix(line, "| "); ok {
			names, _, _ := strings.Cut(cell, " |")
			for _, name := range strings.Split(names, ", ") {
				rows[name] = true
			}
		}
	}
	seen := 0
	for sc := bufio.NewScanner(bytes.NewReader(out)); sc.Scan(); {
		fields := strings.Fields(sc.Text())
		pkg, imports := fields[0], fields[1:]
		for _, imp := range imports {
			if owners, ok := only[imp]; ok && !slices.Contains(owners, pkg) {
				t.Errorf("%s imports %s, which only %v may", pkg, imp, owners)
			}
		}
		name, internal := strings.CutPrefix(pkg, "heddle/internal/")
		if !internal {
			continue
		}
		if !rows[name] {
			t.Errorf("ARCHITECTURE.md has no row for %s", name)
		}
		allowed, ok := rules[name]
		if !ok {
			t.Errorf("%s has no rule", pkg)
			continue
		}
		seen++
		for _, imp := range imports {
			if dep, ours := strings.CutPrefix(imp, "heddle/"); ours {
				if !slices.Contains(strings.Fields(allowed), strings.TrimPrefix(dep, "internal/")) {
					t.Errorf("%s must not import %s", pkg, imp)
				}
			}
		}
	}
	if seen < 12 {
		t.Errorf("go list showed %d packages with a rule; the test looks at the wrong place", seen)
	}
}
