package ptx

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCorpus reads every .ptx file below the directories of HEDDLE_PTX_CORPUS (a path list) and
// checks that it parses and that parse-print-parse is the identity. invalidCorpus lists the files
// that are invalid PTX, by the end of their path.
func TestCorpus(t *testing.T) {
	dirs := filepath.SplitList(os.Getenv("HEDDLE_PTX_CORPUS"))
	if len(dirs) == 0 {
		t.Skip("HEDDLE_PTX_CORPUS is not set")
	}
	good, invalid := 0, 0
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".ptx" {
				return err
			}
			switch ok, wrong := corpusFile(t, path); {
			case wrong:
				invalid++
			case ok:
				good++
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d files parse and round-trip, %d invalid files are refused as listed", good, invalid)
}

func corpusFile(t *testing.T, path string) (ok, wrong bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return false, false
	}
	f, errs := Parse(newFile(t, path, text))
	checkPlain(t, f, errs)
	for end, want := range invalidCorpus {
		if !strings.HasSuffix(filepath.ToSlash(path), end) {
			continue
		}
		if len(errs) == 0 || !strings.Contains(errs[0].Msg, want) {
			t.Errorf("%s: got errors %s, want %q", path, errorList(errs), want)
		}
		return false, true
	}
	if len(errs) > 0 {
		t.Errorf("%s:\n%s", path, errorList(errs))
		return false, false
	}
	return t.Run(filepath.Base(path), func(t *testing.T) {
		checkSpans(t, f, string(text))
		checkRecords(t, f)
		roundTrip(t, path, f)
	}), false
}

// invalidCorpus maps files that are not PTX to a part of the first error. ZLUDA's pass tests
// contain PTX followed by the expected dump of an internal form, which is not PTX.
var invalidCorpus = map[string]string{
	"pass/test/expand_operands/immediate_conversion.ptx":                   `found ".b64"`,
	"pass/test/expand_operands/immediates.ptx":                             `found ".u64"`,
	"pass/test/expand_operands/vector_operand.ptx":                         `found ".b16"`,
	"pass/test/expand_operands/vector_operand_convert.ptx":                 `found ".b16"`,
	"pass/test/insert_implicit_conversions/default.ptx":                    `found ".default"`,
	"pass/test/insert_implicit_conversions/default_reg_b32_reg_f16x2.ptx":  `found ".default"`,
	"pass/test/insert_implicit_conversions/default_reg_b32_reg_v2_b16.ptx": `found ".default"`,
	"pass/test/insert_implicit_conversions/default_relaxed.ptx":            `found ".generic"`,
	"pass/test/instruction_mode_to_global_mode/mode_conflict.ptx":          `found "("`,
	"pass/test/normalize_basic_blocks/trap.ptx":                            `found "<"`,
	// for .extern
	"test/spirv_fail/shared_ptr.ptx": `found "extern"`,
}
