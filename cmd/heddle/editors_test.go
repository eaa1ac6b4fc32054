package main

import (
	"context"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"

	"heddle/internal/testing/long"
)

// snippets returns the code blocks of a language in docs/editor.md.
func snippets(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/editor.md")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	block := regexp.MustCompile("(?s)```" + language + "\n(.*?)```")
	for _, m := range block.FindAllSubmatch(text, -1) {
		list = append(list, string(m[1]))
	}
	return list
}

// TestHelixSnippet: Helix starts the server by this name for each language that it lists. Of its
// own languages.toml, cpp has the extensions cu and cuh and opencl has cl; ptx is a new language,
// which must have a scope and its extension.
func TestHelixSnippet(t *testing.T) {
	var config struct {
		Server map[string]struct {
			Command string
			Args    []string
		} `toml:"language-server"`
		Language []struct {
			Name, Scope string
			FileTypes   []string `toml:"file-types"`
			Comment     string   `toml:"comment-token"`
			Servers     []string `toml:"language-servers"`
		}
	}
	list := snippets(t, "toml")
	if len(list) != 1 {
		t.Fatalf("%d snippets, want 1", len(list))
	}
	err := toml.NewDecoder(strings.NewReader(list[0])).DisallowUnknownFields().Decode(&config)
	if err != nil {
		t.Fatal(err)
	}
	if s := config.Server["heddle"]; s.Command != "heddle" || !slices.Equal(s.Args, []string{"lsp"}) {
		t.Errorf("server: %+v", s)
	}
	var names []string
	for _, l := range config.Language {
		names = append(names, l.Name)
		if !slices.Contains(l.Servers, "heddle") {
			t.Errorf("%s does not start heddle", l.Name)
		}
		if l.Name == "ptx" && (l.Scope == "" || !slices.Equal(l.FileTypes, []string{"ptx"})) {
			t.Errorf("ptx: %+v", l)
		}
	}
	if want := []string{"cpp", "opencl", "ptx"}; !slices.Equal(names, want) {
		t.Errorf("languages %v, want %v", names, want)
	}
}

// drive is what a user does in Neovim: wait for findings, show the verdicts, repair the kernel, and wait for the check
// of the repaired text. It prints a line for each finding, and how many remain.
const drive = `
local function wait(what, done)
  if not vim.wait(60000, done, 20) then print('no ' .. what) vim.cmd('cquit!') end
end
wait('finding', function() return #vim.diagnostic.get(0) > 0 end)
for _, d in ipairs(vim.diagnostic.get(0)) do
  print(string.format('%d:%d %s %s\n', d.lnum + 1, d.col + 1, d.code, vim.bo.filetype))
end
local lens, buffer = vim.lsp.codelens, vim.api.nvim_get_current_buf()
local new = vim.fn.has('nvim-0.12') == 1
if new then lens.enable() else lens.refresh() end
wait('lens', function() return #lens.get(new and { bufnr = buffer } or buffer) > 0 end)
local changed = vim.api.nvim_buf_get_changedtick(0)
vim.lsp.buf_request(0, 'workspace/executeCommand', {
  command = 'heddle.fix',
  arguments = { vim.uri_from_bufnr(0), 'reduce(int const*, int*, int)' },
}, function() end)
wait('edit', function() return vim.api.nvim_buf_get_changedtick(0) > changed end)
wait('check', function() return #vim.diagnostic.get(0) == 0 end)
local _, barriers = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  :gsub('__syncthreads%(%)', '')
print(string.format('%d findings, %d barriers\n', #vim.diagnostic.get(0), barriers))
vim.cmd('qall!')
`

// TestNeovimSnippets starts Neovim with the snippet for its version. The example lacks the barrier
// in the loop of its tree, where line 18 reads at column 24; it has one barrier, and needs two.
func TestNeovimSnippets(t *testing.T) {
	nvim, err := osexec.LookPath("nvim")
	if !long.All() || err != nil || !hasClang() {
		t.Skip("HEDDLE_LONG=1, with nvim and clang")
	}
	list := snippets(t, "lua")
	if len(list) != 2 {
		t.Fatalf("%d snippets, want one for new versions and one for old ones", len(list))
	}
	dir := t.TempDir()
	racy, err := os.ReadFile("../../examples/reduce_racy.cu")
	if err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// Each version can at least parse the snippet of the other.
	put("init.lua", "assert(loadfile('new.lua'))\nassert(loadfile('old.lua'))\n"+
		"dofile(vim.fn.has('nvim-0.11') == 1 and 'new.lua' or 'old.lua')\n")
	put("new.lua", list[0])
	put("old.lua", list[1])
	put("drive.lua", drive)
	put("k.cu", string(racy))
	build := osexec.Command("go", "build", "-o", dir+"/heddle", ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := osexec.CommandContext(ctx, nvim, "--headless", "--clean", "-u", "init.lua", "k.cu",
		"-c", "luafile drive.lua")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"18:24 race-shared cuda\n", "0 findings, 2 barriers\n"} {
		if err != nil || !strings.Contains(strings.ReplaceAll(string(out), "\r", ""), want) {
			t.Errorf("%v; want %q in\n%s", err, want, out)
		}
	}
}
