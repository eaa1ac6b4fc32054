package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/internal/lazyregexp"
	"heddle/internal/lower"
)

// The flags that a program's own build gives its files are read from the text of its Makefile or
// CMakeLists.txt: include directories and macros, with simple variables expanded. Nothing of the
// build is executed, so that flags which a condition selects are all taken, and those that a
// command computes are missing.

// buildFlags returns the flags of a file, by the nearest directory above it with a build file.
func buildFlags(file string) lower.Flags {
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		var f lower.Flags
		text, err := os.ReadFile(filepath.Join(dir, "Makefile"))
		if err == nil {
			makeFlags(&f, dir, string(text))
		}
		cmake, cerr := os.ReadFile(filepath.Join(dir, "CMakeLists.txt"))
		if cerr == nil {
			cmakeFlags(&f, dir, string(cmake))
		}
		if err == nil || cerr == nil || dir == filepath.Dir(dir) {
			return f
		}
	}
}

// addInclude appends an include directory that is named in a build file of dir, unless a part of
// its name is unknown.
func addInclude(f *lower.Flags, dir, name string) {
	if strings.ContainsAny(name, "$()") {
		return
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	if !slices.Contains(f.Includes, name) {
		f.Includes = append(f.Includes, name)
	}
}

// addDefine appends a macro, unless a part of it is unknown.
func addDefine(f *lower.Flags, macro string) {
	if !strings.ContainsAny(macro, "$()") && !slices.Contains(f.Defines, macro) {
		f.Defines = append(f.Defines, macro)
	}
}

var (
	makeAssignRE = lazyregexp.New(`^\s*([\w.-]+)\s*[:?]?=\s*(.*?)\s*$`)
	makeUseRE    = lazyregexp.New(`\$[({]([\w.-]+)[)}]`)
	makeFlagRE   = lazyregexp.New(`(?:^|[\s=])-([ID])\s*([^\s'"]+)`)
)

// makeFlags adds the flags in a Makefile. A variable has the value of its first assignment.
func makeFlags(f *lower.Flags, dir, text string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	vars := map[string]string{"CURDIR": dir}
	var lines []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimRight(line, "\n"), "#")
		lines = append(lines, line)
		if m := makeAssignRE.FindStringSubmatch(line); m != nil && vars[m[1]] == "" {
			vars[m[1]] = m[2]
		}
	}
	for _, line := range lines {
		for _, m := range makeFlagRE.FindAllStringSubmatch(expandMake(line, vars), -1) {
			if m[1] == "D" {
				addDefine(f, m[2])
			} else {
				addInclude(f, dir, m[2])
			}
		}
	}
}

// expandMake replaces variables by their values, and these likewise. A variable without a value
// stays, and so do those of a value that contains itself, at some depth.
func expandMake(line string, vars map[string]string) string {
	for range 8 {
		next := makeUseRE.ReplaceAllStringFunc(line, func(use string) string {
			if v, ok := vars[use[2:len(use)-1]]; ok {
				return v
			}
			return use
		})
		if next == line || len(next) > 1<<16 {
			break
		}
		line = next
	}
	return line
}

var (
	cmakeCommentRE = lazyregexp.New(`#[^\n]*`)
	cmakeListRE    = lazyregexp.New(
		`\b(?:INCLUDE_DIRS|(?:target_)?include_directories\s*\()([^()]*)`)
	cmakeKeywordRE = lazyregexp.New(`^[A-Z][A-Z_]+$`)
	cmakeHereRE    = lazyregexp.New(
		`\$\{(?:CMAKE_CURRENT_SOURCE_DIR|CMAKE_CURRENT_LIST_DIR|PROJECT_SOURCE_DIR)\}`)
	cmakeDefineRE = lazyregexp.New(`(?:^|[\s(])-D([^\s()"]+)`)
)

// cmakeFlags adds the flags in a CMakeLists.txt. INCLUDE_DIRS is a parameter that functions of
// projects often have; its list ends at the next one.
func cmakeFlags(f *lower.Flags, dir, text string) {
	text = cmakeCommentRE.ReplaceAllString(text, "")
	text = cmakeHereRE.ReplaceAllLiteralString(text, dir)
	for _, m := range cmakeListRE.FindAllStringSubmatch(text, -1) {
		for _, word := range strings.Fields(m[1]) {
			switch {
			case word == "PUBLIC" || word == "PRIVATE" || word == "INTERFACE" || word == "SYSTEM" ||
				word == "BEFORE" || word == "AFTER":
				continue
			case cmakeKeywordRE.MatchString(word):
				goto next
			}
			word = strings.Trim(word, `"`)
			if info, err := os.Stat(filepath.Join(dir, word)); filepath.IsAbs(word) ||
				err == nil && info.IsDir() {
				addInclude(f, dir, word)
			}
		}
	next:
	}
	for _, m := range cmakeDefineRE.FindAllStringSubmatch(text, -1) {
		addDefine(f, m[1])
	}
}
