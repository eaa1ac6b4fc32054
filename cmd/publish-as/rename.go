package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

const (
	unpublished = "heddle"       // the module path of a checkout without a home
	placeholder = "OWNER/heddle" // the repository in its documents
	host        = "github.com/"  // the action and the release workflow are GitHub's

	noSite    = "none"  // the documents are published nowhere
	pagesSite = "pages" // the address follows from the module path
)

// A renaming replaces one module path, and the name of its repository, by another.
type renaming struct {
	from, to string
	slug     *regexp.Regexp // the old repository, OWNER/NAME, with the characters around it
	newSlug  string
	account  string // the old OWNER
	site     string // where its documents are published; empty: as before
}

// rename gives the module in dir the path to, and the address of its documents, unless that is
// empty. It returns the names of the files that it changed, with slashes and relative to dir.
func rename(dir, to, site string) ([]string, error) {
	if err := checkHome(to); err != nil {
		return nil, err
	}
	if err := checkSite(site); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("%w; expected the root of the module", err)
	}
	r := &renaming{from: modfile.ModulePath(text), to: to, newSlug: strings.TrimPrefix(to, host),
		site: site}
	old := strings.TrimPrefix(r.from, host)
	if r.from == unpublished {
		old = placeholder
	}
	r.account, _, _ = strings.Cut(old, "/")
	// Whole names only: not other-OWNER/heddle, and not OWNER/heddle-tools.
	r.slug = regexp.MustCompile(`(^|[^\w.-])` + regexp.QuoteMeta(old) + `($|[^\w-])`)
	return r.tree(dir)
}

// checkHome rejects what is not the path of a repository that the go command and a workflow find.
func checkHome(path string) error {
	parts := strings.Split(path, "/")
	if !strings.HasPrefix(path, host) || len(parts) != 3 || parts[1] == "OWNER" {
		return fmt.Errorf("%q: expected github.com/OWNER/NAME, with the account and the repository "+
			"that publish heddle", path)
	}
	return module.CheckPath(path)
}

// checkSite rejects what is not the address of a site.
func checkSite(site string) error {
	if site == "" || site == noSite || site == pagesSite {
		return nil
	}
	u, err := url.Parse(site)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" ||
		u.Fragment != "" {
		return fmt.Errorf("-site %s: expected a URL that begins with https://, none, or pages", site)
	}
	return nil
}

// tree rewrites the files below dir, except for those that no checkout contains.
func (r *renaming) tree(dir string) ([]string, error) {
	var changed []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() && (slices.Contains([]string{".git", "bin", "dist"}, rel) ||
			d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text, err := r.file(rel, old)
		if err != nil {
			return fmt.Errorf("%s: %w", rel, err)
		}
		if bytes.Equal(old, text) {
			return nil
		}
		changed = append(changed, rel)
		st, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(path, text, st.Mode().Perm())
	})
	return changed, err
}

// file returns the text of one file under the new name.
func (r *renaming) file(name string, text []byte) ([]byte, error) {
	switch {
	case name == "go.mod":
		return r.goMod(text)
	case strings.HasSuffix(name, ".go"):
		text, err := r.imports(name, text)
		if err == nil && name == siteFile && r.site != "" {
			return r.address(text)
		}
		return text, err
	case bytes.IndexByte(text, 0) >= 0: // a program or an image
		return text, nil
	}
	text = r.slug.ReplaceAll(text, []byte("${1}"+r.newSlug+"${2}"))
	if name == editorManifest {
		text = r.publisher(text)
	}
	return text, nil
}

// siteFile declares the address of the documents.
const siteFile = "cmd/heddle/version.go"

// siteLine is that declaration.
var siteLine = regexp.MustCompile(`(?m)^var site(?: string| = ".*")$`)

// address changes the address of the documents.
func (r *renaming) address(text []byte) ([]byte, error) {
	line := fmt.Sprintf("var site = %q", r.site)
	if r.site == pagesSite {
		line = "var site string"
	}
	if len(siteLine.FindAll(text, 2)) != 1 {
		return nil, errors.New("expected one line that begins with var site")
	}
	return siteLine.ReplaceAllLiteral(text, []byte(line)), nil
}

// editorManifest describes the extension for Visual Studio Code. Its publisher is the account of
// the repository, until whoever publishes it chooses another one.
const editorManifest = "editors/vscode/package.json"

// publisher changes the account that publishes the extension.
func (r *renaming) publisher(text []byte) []byte {
	account, _, _ := strings.Cut(r.newSlug, "/")
	return bytes.Replace(text, fmt.Appendf(nil, `"publisher": %q`, r.account),
		fmt.Appendf(nil, `"publisher": %q`, account), 1)
}

// goMod changes the module directive.
func (r *renaming) goMod(text []byte) ([]byte, error) {
	f, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return nil, err
	}
	if err := f.AddModuleStmt(r.to); err != nil {
		return nil, err
	}
	return f.Format()
}

// imports changes the paths of imports, and nothing else of a Go file: heddle is also the name of
// the program and of a directory of C headers.
func (r *renaming) imports(name string, text []byte) ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.ImportsOnly)
	if err != nil {
		// Test data may hold Go that does not parse, which no package imports.
		if strings.Contains(name, "testdata/") {
			return text, nil
		}
		return nil, err
	}
	var out []byte
	done := 0
	for _, imp := range f.Imports {
		path, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			return nil, err
		}
		rest, ours := strings.CutPrefix(path, r.from+"/")
		if !ours {
			continue
		}
		from, to := fset.Position(imp.Path.Pos()).Offset, fset.Position(imp.Path.End()).Offset
		out = append(append(out, text[done:from]...), strconv.Quote(r.to+"/"+rest)...)
		done = to
	}
	if done == 0 {
		return text, nil
	}
	// A group that also has other modules has another order now.
	out, err = format.Source(append(out, text[done:]...))
	if err != nil {
		return nil, errors.Join(errors.New("the file with its new imports does not parse"), err)
	}
	return out, nil
}
