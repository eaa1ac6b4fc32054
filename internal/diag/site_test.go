package diag

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"heddle/internal/source"
)

// TestSite: GitHub Pages serves the repository OWNER/NAME at https://OWNER.github.io/NAME/. Another
// host, or no host, has no site.
func TestSite(t *testing.T) {
	for _, c := range []struct {
		module string
		want   Site
	}{
		{"github.com/alice/heddle", "https://alice.github.io/heddle/"},
		{"github.com/Alice-B/Loom", "https://alice-b.github.io/Loom/"},
		{"heddle", ""}, {"", ""}, {"github.com/alice", ""}, {"github.com/alice/heddle/v2", ""},
		{"github.com//heddle", ""}, {"github.com/alice/", ""}, {"gitlab.com/alice/heddle", ""},
	} {
		if got := SiteOf(c.module); got != c.want {
			t.Errorf("%q: %q, want %q", c.module, got, c.want)
		}
	}
}

// TestPage: a finding's code has a page of its own, a term a place in the glossary, and a verdict
// its definition. Without a site none of them has a URL.
func TestPage(t *testing.T) {
	const home Site = "https://alice.github.io/heddle/"
	for _, c := range []struct{ name, path string }{
		{"race-shared", "codes/race-shared.html"},
		{"launch", "codes/launch.html"}, // a code and a term
		{"barrier interval", "glossary.html#barrier-interval"},
		{"intervals", "glossary.html#barrier-interval"}, // an alias, in the plural
		{"xyzzy", ""}, {"", ""},
	} {
		path, ok := PagePath(c.name)
		if path != c.path || ok != (c.path != "") {
			t.Errorf("%q: path %q, %v; want %q", c.name, path, ok, c.path)
		}
		want := ""
		if c.path != "" {
			want = "https://alice.github.io/heddle/" + c.path
		}
		for _, s := range []Site{home, home[:len(home)-1]} { // a slash at the end or not
			if got := s.Page(c.name); got != want {
				t.Errorf("%q at %q: %q, want %q", c.name, s, got, want)
			}
		}
		if got := Site("").Page(c.name); got != "" {
			t.Errorf("%q without a site: %q", c.name, got)
		}
	}
	if got := home.Verdict(Unknown); got != string(home)+"verdicts.html#unknown" {
		t.Error(got)
	}
	if got := Site("").Verdict(Unknown); got != "" {
		t.Error(got)
	}
}

// TestHelpURI: with a site, each rule has a helpUri; without one the log has no such property, since
// SARIF demands an absolute URI (3.49.12). Both logs are valid.
func TestHelpURI(t *testing.T) {
	for _, site := range []Site{"", "https://alice.github.io/heddle/"} {
		var b bytes.Buffer
		if err := NewSARIF(&b, source.NewSet(), "/base", "v1.2.3", site).Close(); err != nil {
			t.Fatal(err)
		}
		checkLog(t, b.Bytes())
		if got := bytes.Contains(b.Bytes(), []byte("Uri\": \"https://alice")); got != (site != "") {
			t.Errorf("site %q: %v\n%s", site, got, b.String())
		}
		var log struct {
			Runs []struct {
				Tool struct {
					Driver struct {
						InformationURI string `json:"informationUri"`
						Rules          []struct {
							ID      string
							HelpURI string `json:"helpUri"`
						}
					}
				}
			}
		}
		if err := json.Unmarshal(b.Bytes(), &log); err != nil {
			t.Fatal(err)
		}
		driver := log.Runs[0].Tool.Driver
		if driver.InformationURI != string(site) {
			t.Errorf("site %q: informationUri %q", site, driver.InformationURI)
		}
		if len(driver.Rules) != len(Docs())+1 {
			t.Errorf("%d rules", len(driver.Rules))
		}
		for _, r := range driver.Rules {
			want := ""
			switch {
			case site == "":
			case r.ID == verdictRule:
				want = string(site) + "verdicts.html"
			default:
				want = string(site) + "codes/" + r.ID + ".html"
			}
			if r.HelpURI != want || strings.HasPrefix(r.HelpURI, "/") {
				t.Errorf("site %q: helpUri of %s is %q, want %q", site, r.ID, r.HelpURI, want)
			}
		}
	}
}
