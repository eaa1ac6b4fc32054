package diag

import "strings"

// Site is the address of heddle's documents on the web, as cmd/site makes them: an absolute URL with
// a slash at its end, or empty if they are published nowhere.
type Site string

// SiteOf returns the site of the repository that publishes a module: for github.com/OWNER/NAME, the
// one that GitHub Pages serves for it. A module without such a home has none.
func SiteOf(module string) Site {
	parts := strings.Split(module, "/")
	if len(parts) != 3 || parts[0] != "github.com" || parts[1] == "" || parts[2] == "" {
		return ""
	}
	return Site("https://" + strings.ToLower(parts[1]) + ".github.io/" + parts[2] + "/")
}

// Page returns the URL of the page about a code or a term; empty without a site, and for a name that
// is neither. It stays valid: a code is never renamed.
func (s Site) Page(name string) string {
	path, ok := PagePath(name)
	if !ok {
		return ""
	}
	return s.url(path)
}

// Verdict returns the URL of the definition of a verdict; empty without a site.
func (s Site) Verdict(kind VerdictKind) string { return s.url(verdictsPage + "#" + kind.String()) }

// url returns the URL of a path of the site; empty without a site.
func (s Site) url(path string) string {
	if s == "" {
		return ""
	}
	return strings.TrimSuffix(string(s), "/") + "/" + path
}

// verdictsPage is the page of all verdicts, from docs/verdicts.md.
const verdictsPage = "verdicts.html"

// PagePath returns the path of the page about a code or a term within the site, and whether there is
// one. A name that is both, such as "launch", is a code here, since findings refer to codes.
func PagePath(name string) (path string, ok bool) {
	if _, ok := Lookup(Code(name)); ok {
		return "codes/" + name + ".html", true
	}
	if t, ok := LookupTerm(name); ok {
		return "glossary.html#" + t.anchor(), true
	}
	return "", false
}

// anchor is the identifier of a term's heading in the glossary.
func (t *Term) anchor() string { return strings.ReplaceAll(t.Name, " ", "-") }
