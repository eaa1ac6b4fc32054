package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"heddle/internal/diag"
)

// version and commit are those of a release: its tag, and its revision in full. The linker sets
// them (-X main.version=v1.2.3), since a release is built without asking git, so that everyone who
// builds it from the same files gets the same bytes.
var version, commit string

// site is the address of the documents if it is not the one that follows from the path of the module
// (publish-as -site URL, or -X main.site=URL), or noSite if they are published nowhere.
var site string

// noSite is what site is without a site.
const noSite = "none"

// siteURL returns where the documents of this build are published, for links to codes and
// verdicts. A build of a module without a repository has no such place.
func siteURL() diag.Site { return siteFor(site, thisBuild().Module) }

// siteFor is siteURL for an address that the linker has set, or else for a module.
func siteFor(site, module string) diag.Site {
	switch site {
	case "":
		return diag.SiteOf(module)
	case noSite:
		return ""
	}
	return diag.Site(strings.TrimSuffix(site, "/") + "/")
}

// newVersion makes the command whose output belongs into bug reports.
func newVersion(stdout io.Writer) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Long: `version prints the version of heddle, the git revision if it is known, the version of Go
that built it, and the platform. Bug reports should contain it.`,
		Args: exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return json.NewEncoder(stdout).Encode(thisBuild())
			}
			_, err := fmt.Fprint(stdout, versionText())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object: version, revision, modified, "+
		"go, os, arch, and module, the path that go install takes")
	return cmd
}

// A build identifies one build of heddle.
type build struct {
	Version  string `json:"version"`            // (devel) for a build from a checkout
	Revision string `json:"revision,omitempty"` // of git
	Modified bool   `json:"modified"`           // the checkout had changes
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Module   string `json:"module,omitempty"`
}

// thisBuild is what the linker and the go command have recorded in this program.
func thisBuild() build {
	b := build{Version: version, Revision: commit, Go: runtime.Version(), OS: runtime.GOOS,
		Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if ok {
		b.Module = info.Main.Path
		if b.Version == "" {
			b.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && b.Revision == "":
				b.Revision = s.Value
			case s.Key == "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	if b.Version == "" {
		b.Version = "(devel)"
	}
	return b
}

// moduleVersion returns the version of heddle, or "(devel)" for a build from a checkout.
func moduleVersion() string { return thisBuild().Version }

// versionText identifies the build: version, git revision (12 digits, marked if modified), Go
// version and platform.
func versionText() string {
	b := thisBuild()
	text := "heddle " + b.Version
	if b.Revision != "" {
		text += " " + b.Revision[:min(12, len(b.Revision))]
	}
	if b.Modified {
		text += " (modified)"
	}
	return fmt.Sprintf("%s %s %s/%s\n", text, b.Go, b.OS, b.Arch)
}
