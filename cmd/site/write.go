package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed assets/page.tmpl
var pageText string

//go:embed assets/style.css
var style []byte

//go:embed assets/site.js
var script []byte

// pageTemplate is the frame of all pages.
var pageTemplate = template.Must(template.New("page").Parse(pageText))

// marker is the file by which a directory is known as the output of this program.
const marker = ".heddle-site"

// view is what the template sees of a page.
type view struct {
	*page
	Title, Up string
	Body      template.HTML
	Menu      []menuView
	Contents  []heading
	Source    string // URL of the source in the repository; empty: none
	Home      string // URL of the repository; empty: none
	Previous  *menuItem
	Next      *menuItem
}

// menuView is a group of the menu as a page shows it.
type menuView struct {
	Title string
	Items []menuItem
	Fold  bool
	Open  bool
}

// menuItem is a link to another page.
type menuItem struct {
	Title, To string
	Here      bool
}

// ID and Text are for the template.
func (h heading) ID() string   { return h.id }
func (h heading) Text() string { return h.text }
func (h heading) Level() int   { return h.level }

// write writes the site into a directory. An earlier site in it is removed; a directory with anything
// else in it is left alone, which is an error.
func (s *site) write(dir string) error {
	files, err := s.files()
	if err != nil {
		return err
	}
	if err := removeOld(dir); err != nil {
		return err
	}
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// removeOld removes an earlier site, and nothing else.
func removeOld(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == marker }) {
		return fmt.Errorf("%s has files that are not a site of heddle; -o names another directory", dir)
	}
	return os.RemoveAll(dir)
}

// files returns all files of the site by their paths.
func (s *site) files() (map[string][]byte, error) {
	files := map[string][]byte{"style.css": style, "site.js": script, marker: nil}
	for out, source := range s.assets {
		text, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(source)))
		if err != nil {
			return nil, err
		}
		files[out] = text
	}
	index, err := s.searchIndex()
	if err != nil {
		return nil, err
	}
	files["search-index.js"] = index
	for _, p := range s.pages {
		var b bytes.Buffer
		if err := pageTemplate.Execute(&b, s.view(p)); err != nil {
			return nil, fmt.Errorf("%s: %w", p.source, err)
		}
		files[p.out] = b.Bytes()
	}
	return files, nil
}

// view prepares a page for the template.
func (s *site) view(p *page) view {
	v := view{page: p, Title: p.title, Up: p.up(), Body: template.HTML(p.html), Home: s.home}
	if s.home != "" && p.origin.file == "" {
		v.Source = s.home + "/blob/HEAD/" + p.source
	}
	item := func(to *page) *menuItem {
		if to == nil {
			return nil
		}
		return &menuItem{to.title, p.to(to.out), to == p}
	}
	v.Previous, v.Next = item(p.previous), item(p.next)
	for _, g := range s.menu {
		m := menuView{Title: g.title, Fold: g.folded, Open: slices.Contains(g.pages, p)}
		for _, q := range g.pages {
			m.Items = append(m.Items, *item(q))
		}
		v.Menu = append(v.Menu, m)
	}
	for _, h := range p.headings {
		if h.level == 2 || h.level == 3 {
			v.Contents = append(v.Contents, h)
		}
	}
	if len(v.Contents) < 2 {
		v.Contents = nil
	}
	return v
}

// Name is the title of a page in the window; that of the first page has the name of the program
// already.
func (v view) Name() string {
	if strings.Contains(v.Title, "heddle") {
		return v.Title
	}
	return v.Title + " - heddle"
}
