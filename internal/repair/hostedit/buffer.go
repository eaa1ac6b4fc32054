package hostedit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"heddle/internal/syntax"
)

// stream returns the stream of a launch; empty if it is the default one.
func (p *Patch) stream(l *syntax.HostLaunch) string {
	if len(l.Config) < 4 {
		return ""
	}
	if s := p.Source(l.Config[3]); s != "0" && s != "nullptr" && s != "NULL" {
		return s
	}
	return ""
}

// CopyBefore is the statement that copies a buffer on the device, in the stream of a launch.
func (p *Patch) CopyBefore(l *syntax.HostLaunch, to, from, size string) string {
	if s := p.stream(l); s != "" {
		return fmt.Sprintf("cudaMemcpyAsync(%s, %s, %s, cudaMemcpyDeviceToDevice, %s);", to, from,
			size, s)
	}
	return fmt.Sprintf("cudaMemcpy(%s, %s, %s, cudaMemcpyDeviceToDevice);", to, from, size)
}

// Relaunch puts statements before a launch, and further arguments behind those that have one.
func (p *Patch) Relaunch(l *syntax.HostLaunch, before []string, extra map[int]string) {
	text, base := p.Source(l.Stmt.Range), l.Stmt.From
	for _, i := range slices.Backward(slices.Sorted(maps.Keys(extra))) {
		at := l.Args[i].To - base
		text = text[:at] + ", " + extra[i] + text[at:]
	}
	p.Around(l.Stmt, append(before, text))
}

// Renamed is a text with one variable instead of another.
func (p *Patch) Renamed(r syntax.Range, from, to string) string {
	return Rename(p.Source(r), from, to)
}

// Rename replaces a name in a text.
func Rename(text, from, to string) string {
	var out strings.Builder
	letter := func(i int) bool {
		return i >= 0 && i < len(text) && (text[i] == '_' || text[i] >= '0' && text[i] <= '9' ||
			text[i] >= 'A' && text[i] <= 'Z' || text[i] >= 'a' && text[i] <= 'z')
	}
	for i := 0; i < len(text); {
		if strings.HasPrefix(text[i:], from) && !letter(i-1) && !letter(i+len(from)) {
			out.WriteString(to)
			i += len(from)
			continue
		}
		out.WriteByte(text[i])
		i++
	}
	return out.String()
}
