package run

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/depend"
	"heddle/internal/diag"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lazyregexp"
	"heddle/internal/race"
	"heddle/internal/source"
)

// A finding is an error only if it does not rest on a guess. Two accesses of a run meet at one
// address; whether they do in the user's launches is another question if the address has a pitch,
// an index from memory, or the size of the grid in it that heddle made up. Package depend says
// which facts decide that the two addresses are equal. If one of them is a guess, the finding is a
// warning that names it. A guess that decides only whether the accesses are reached (a bound, a
// number of iterations) leaves an error: the run shows that ordinary values reach them.

// A guess is a fact about the launch that heddle made up, with the flag that specifies it.
type guess struct {
	name string // "pitch = 32", "the contents of first"
	flag string // "--arg pitch=N"
	// contents: of memory
	contents bool
}

// restsOn returns the guesses that decide whether a finding is there: for a race those on which the
// difference of the two addresses depends, and contents that must be equal at two places for both
// threads to get there, for an access outside of its array those on which the
// address, the number of iterations or the size of the array depends. rc is nil for a finding that
// is no race.
func (g *Guesses) restsOn(key Key, rc *race.Race, m *emu.Machine, cfg *launch.Config) []guess {
	in := m.Site(key.a).Instr
	if in == nil {
		return nil
	}
	g.dependences()
	switch {
	case rc != nil:
		one, two := access(&rc.First, m, cfg), access(&rc.Second, m, cfg)
		out := g.made(append(g.facts.Between(one, two), g.facts.Coincidence(one, two)...), cfg)
		if g.block && (g.tooWide(&one, &two, cfg) || g.tooWide(&two, &one, cfg)) {
			out = append(out, guess{name: "block " + launch.Dims(cfg.Geometry.Block), flag: "--block"})
		}
		return out
	case key.code == diag.CodeOutOfBounds || key.code == diag.CodeMisaligned:
		facts := g.facts.Address(in)
		if key.code == diag.CodeOutOfBounds {
			facts = append(facts, g.facts.Trips(in)...)
		}
		return append(g.made(facts, cfg), g.extent(key, in, cfg)...)
	}
	return nil
}

// tooWide reports whether the guessed block has more threads in a dimension than the kernel leaves
// elements for: 64 threads for p[blockIdx.x * 32 + threadIdx.x], or 16 in a row for
// s[threadIdx.y * 8 + threadIdx.x].
func (g *Guesses) tooWide(a, b *depend.Access, cfg *launch.Config) bool {
	size := cfg.Geometry.Block
	extent := [3]int64{int64(size.X), int64(size.Y), int64(size.Z)}
	block, thread := g.facts.Factors(a.Instr)
	for d := range extent {
		reach := extent[d] * max(thread[d], -thread[d]) // of the threads of one row
		if reach == 0 {
			continue
		}
		if step := max(block[d], -block[d]); a.Block != b.Block && step > 0 && reach > step {
			return true
		}
		for e := range extent {
			row := max(thread[e], -thread[e])
			if e != d && a.Block == b.Block && row > max(thread[d], -thread[d]) && reach > row {
				return true
			}
		}
	}
	return false
}

// Race says on which guesses a race of a launch rests, with the flags that specify them; empty if
// it rests on none. open says that nothing decides what is guessed: contents of memory, or
// arguments of a kernel that no host code launches. A proof is about all of them.
func (g *Guesses) Race(rc *race.Race, m *emu.Machine, cfg *launch.Config) (on string, open bool) {
	all := g.restsOn(raceKey(rc), rc, m, cfg)
	if len(all) == 0 {
		return "", false
	}
	decided := func(one guess) bool {
		return !one.contents && (cfg.Host != 0 || !strings.HasPrefix(one.flag, "--arg"))
	}
	return sayGuesses(all), !slices.ContainsFunc(all, decided)
}

// access is an access of a race as package depend names it.
func access(a *race.Access, m *emu.Machine, cfg *launch.Config) depend.Access {
	block, index := cfg.Geometry.Index(a.Thread)
	return depend.Access{
		Instr: m.Site(a.Site).Instr, Index: index, Block: block, Write: a.Kind.Writes(),
	}
}

// made selects the guesses among the facts of a launch.
func (g *Guesses) made(sources []depend.Source, cfg *launch.Config) []guess {
	var out []guess
	for _, s := range sources {
		var found guess
		switch s.Kind {
		case depend.Argument:
			found = g.argument(s, cfg)
		case depend.Contents:
			found = g.contents(s)
		case depend.GridSize:
			if g.grid {
				found = guess{name: "grid " + launch.Dims(cfg.Geometry.Grid), flag: "--grid"}
			}
		}
		if found.name != "" && !slices.Contains(out, found) {
			out = append(out, found)
		}
	}
	return out
}

// argument is the guessed value of a parameter that is a number, or of a number in a struct.
func (g *Guesses) argument(s depend.Source, cfg *launch.Config) guess {
	i := slices.Index(g.job.Kernel.Params, s.Var)
	if i < 0 || !g.chosen(i) || s.Var.Pointer && s.Var.Size == 8 || slices.Contains(s.Var.PtrFields, s.Offset) {
		return guess{}
	}
	a := &cfg.Args[i]
	if s.Offset == depend.AnyOffset {
		return guess{name: "the bytes of " + a.Name,
			flag: fmt.Sprintf("--arg %s+OFFSET=TYPE:VALUE", a.Name)}
	}
	if s.Var.Size != s.Var.Type.Size() {
		return guess{name: fmt.Sprintf("the bytes at offset %d of %s", s.Offset, a.Name),
			flag: fmt.Sprintf("--arg %s+%d=TYPE:VALUE", a.Name, s.Offset)}
	}
	return guess{name: a.Name + " = " + a.Value(), flag: "--arg " + a.Name + "=VALUE"}
}

// contents are what heddle put into an array, or what a variable holds that the host sets.
func (g *Guesses) contents(s depend.Source) guess {
	switch v := s.Var; {
	case g.shape:
		return guess{}
	case g.cfg.Saved != "" && !slices.Contains(g.job.Kernel.Params, v):
		return guess{} // all memory is as the program had it
	case v == nil:
		return guess{"contents of memory that pointers in memory lead to", "", true}
	case slices.Contains(g.job.Kernel.Params, v):
		i := slices.Index(g.job.Kernel.Params, v)
		a := &g.cfg.Args[i]
		if !g.chosen(i) || a.Buffer == nil && len(a.Fields) == 0 { // a number points to nothing
			return guess{}
		}
		name := a.Name
		return guess{"the contents of " + name, "--arg " + name + "=CONTENTS", true}
	case v.Space == event.Const || v.Space == event.Global && !g.facts.Written(v):
		if len(v.Init) > 0 || len(v.Relocs) > 0 {
			return guess{}
		}
		if v.LaunchFact() {
			return guess{v.Shown(), "", true}
		}
		return guess{"the contents of " + v.Shown() + ", which the host sets", "", true}
	}
	return guess{}
}

// chosen reports whether heddle chose an argument.
func (g *Guesses) chosen(param int) bool {
	return !g.shape && g.cfg.Origins["arg "+g.cfg.Args[param].Name].Guessed()
}

// fault notes who makes an invalid access, a thread that every ordinary block has or another one,
// and whether it is to shared memory.
func (g *Guesses) fault(key Key, geo event.Geometry, stop *emu.Stop) {
	if g == nil {
		return
	}
	if stop.Shared {
		if g.shared == nil {
			g.shared = make(map[Key]bool)
		}
		g.shared[key] = true
	}
	if _, index := geo.Index(stop.Thread); index.X < event.WarpSize && index.Y == 0 && index.Z == 0 {
		if g.anyway == nil {
			g.anyway = make(map[Key]bool)
		}
		g.anyway[key] = true
	}
}

// extent returns the guesses that decide how far an array reaches, or which threads access it. A
// copy has two arrays; if it leaves the one in shared memory, parameters do not matter.
func (g *Guesses) extent(key Key, in *ir.Instr, cfg *launch.Config) []guess {
	var out []guess
	for _, v := range g.facts.Objects(in) {
		i := slices.Index(g.job.Kernel.Params, v)
		switch {
		case v.Unsized && cfg.Origins["shared"].Guessed():
			out = append(out, guess{fmt.Sprintf("%d bytes of dynamic shared memory", cfg.DynShared),
				"--shared", false})
		case g.shared[key] && v.PtrSpace != event.Shared:
		case i < 0 || !g.chosen(i) || !v.Pointer || g.sized(i):
		case v.PtrSpace == event.Shared:
			out = append(out, guess{"the size of " + g.cfg.Args[i].Name,
				"--arg " + g.cfg.Args[i].Name + "=local:BYTES", false})
		default:
			out = append(out, guess{"where " + g.cfg.Args[i].Name + " points in its array",
				"--arg " + g.cfg.Args[i].Name + "=zero:BYTES", false})
		}
	}
	if g.block && slices.ContainsFunc(g.facts.Address(in), func(s depend.Source) bool {
		return s.Kind == depend.ThreadIndex && !g.anyway[key] || s.Kind == depend.BlockSize
	}) {
		out = append(out, guess{name: "block " + launch.Dims(cfg.Geometry.Block), flag: "--block"})
	}
	return out
}

// sized reports whether the memory of an argument is what the host code allocates, of which only
// the contents are unknown: such a size is only taken if nothing else about the launch is a guess.
func (g *Guesses) sized(param int) bool {
	a := &g.cfg.Args[param]
	return a.Buffer != nil && a.Buffer.Size > 0 && !a.Guessed &&
		g.cfg.Origins["arg "+a.Name] == launch.FromRelation
}

// sayGuesses lists guesses and the flags that specify them.
func sayGuesses(on []guess) string {
	var names, flags []string
	for _, s := range on {
		names = append(names, s.name)
		if s.flag != "" {
			flags = append(flags, s.flag)
		}
	}
	how := "heddle exec runs the program with its own data"
	if len(flags) > 0 {
		how = "specify it with " + strings.Join(flags, " ")
	}
	return joinAnd(names) + "; " + how
}

// warn makes a finding a warning that names the guesses on which it rests, before all other notes,
// and records them as the reason of the verdict.
func (g *Guesses) warn(f *diag.Diagnostic, on []guess) {
	what := sayGuesses(on)
	f.Severity = diag.Warning
	f.Message = "possible " + f.Message
	if f.Witness != nil {
		f.Witness.Status = diag.StatusGuess
	}
	f.Notes = slices.Insert(f.Notes, 0, "this rests on a guess: "+what)
	for i := range f.Help {
		f.Help[i] = "if your launches are like that, " + f.Help[i]
	}
	if name, ok := g.program(); ok {
		f.Help = append(f.Help, "run the program, with its own launches and data: heddle exec "+
			launch.Quote(name))
	}
	g.depends = append(g.depends, fmt.Sprintf("%s (%s) rests on a guess: %s", f.Code,
		g.job.Format(f.Span.Start), what))
}

// mainRE matches the definition of main.
var mainRE = lazyregexp.New(`\bmain\s*\(`)

// program returns the name of the kernel's file if it is a program that heddle exec may run by
// itself.
func (g *Guesses) program() (string, bool) {
	name := g.job.Module.Name
	f := g.job.Files().Lookup(name)
	return name, f != nil && source.CUDAName(name) && mainRE.Match(f.Content)
}

// joinAnd lists words: "a, b and c".
func joinAnd(words []string) string {
	if n := len(words) - 1; n > 0 {
		return strings.Join(words[:n], ", ") + " and " + words[n]
	}
	return strings.Join(words, "")
}
