package bugreport

import (
	"fmt"
	"strings"
)

// readme describes the bundle for the user, who decides whether to send it, and for maintainers.
func (s *session) readme(rep *Report) string {
	var b strings.Builder
	b.WriteString("A report about heddle, written by heddle bug-report. It was sent nowhere.\n\n")
	fmt.Fprintf(&b, "It is about %s.\n\n", s.interest)
	if rep.Reduced {
		fmt.Fprintf(&b, "%s shows it: %s. The original has %d.\n", reducedName,
			count(rep.After, "instruction"), rep.Before)
		b.WriteString(extent(rep) + "\n")
		if s.interest.Verdict == "bug" && !s.opt.Tidy {
			b.WriteString("It keeps what heddle says, not whether that is right: if the original bug\n" +
				"is a false alarm, check that this program has no real one.\n")
		}
		b.WriteString("\n")
		fmt.Fprintf(&b, "To see it again:\n\n    %s\n\n", strings.Join(rep.Reproduce, "\n    "))
	} else {
		fmt.Fprintf(&b, "There is no reduced program, because %s.\n\n", rep.Why)
	}
	b.WriteString("Files:\n\n")
	for _, f := range rep.Files {
		fmt.Fprintf(&b, "    %-20s %s\n", f.Name, f.About)
	}
	b.WriteString("\n" + s.absent(rep))
	b.WriteString("\nPlease add by hand: what heddle should say, and why.\n")
	return b.String()
}

// extent says how small the program is.
func extent(rep *Report) string {
	if rep.Minimal {
		return fmt.Sprintf("It is minimal: without any further part of it, heddle says something else "+
			"(%s).", count(rep.Attempts, "attempt"))
	}
	return fmt.Sprintf("The reduction ended before it was minimal (%s).",
		count(rep.Attempts, "attempt"))
}

// absent says what the bundle has not, and what the user should look at before it leaves the
// machine.
func (s *session) absent(rep *Report) string {
	var b strings.Builder
	b.WriteString("Not in it: ")
	if s.opt.WithSource {
		b.WriteString("headers that the inputs include, and data files.\n")
	} else {
		b.WriteString("the inputs, headers that they include, data files, and what the original\n" +
			"command printed.\n")
	}
	if s.opt.KeepNames || s.opt.WithSource {
		b.WriteString("Names of functions, variables and files are in it, as the flags demanded.\n")
	} else {
		b.WriteString("Functions, variables, parameters and files have other names, and the letters\n" +
			"of texts are replaced.\n")
	}
	if rep.Reduced {
		fmt.Fprintf(&b, "What remains of your work are the instructions of %s, tables of numbers\n"+
			"that matter to it, and the numbers of the launch: look at these before you send\n"+
			"anything.\n", reducedName)
		if rep.Contents > 0 {
			fmt.Fprintf(&b, "%s has %s of memory that are not zero, which may be data of the program.\n",
				launchName, count(rep.Contents, "byte"))
		}
	}
	return b.String()
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
