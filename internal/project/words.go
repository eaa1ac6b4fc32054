package project

import (
	"errors"
	"fmt"
	"strings"

	"heddle/internal/source"
)

// splitCommand splits a command line as a POSIX shell does, without expansions: white space
// separates words, single quotes preserve every byte, a backslash in double quotes escapes " \ $
// and `, and elsewhere any byte.
func splitCommand(s string) ([]string, error) {
	var out []string
	var word strings.Builder
	inWord, quote := false, byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			if inWord {
				out = append(out, word.String())
				word.Reset()
			}
			inWord = false
			continue
		case c == quote && quote != 0:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == '\\' && quote != '\'' && i+1 < len(s) &&
			(quote == 0 || strings.IndexByte("\"\\$`", s[i+1]) >= 0):
			i++
			word.WriteByte(s[i])
		default:
			word.WriteByte(c)
		}
		inWord = true
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed; expected another %c before the end", quote,
			quote)
	}
	if inWord {
		out = append(out, word.String())
	}
	return out, nil
}

// maxResponses bounds the nesting of response files.
const maxResponses = 8

// expandResponses replaces @FILE, and nvcc's --options-file FILE, with the words of those files. A
// response file that cannot be read, for example after the build tree was cleaned, stays as @FILE.
func expandResponses(args []string, dir string, depth int) ([]string, error) {
	if depth > maxResponses {
		return nil, errors.New("response files are nested more than 8 levels deep; do they include " +
			"each other?")
	}
	var out []string
	for i := 0; i < len(args); i++ {
		var files string
		switch a := args[i]; {
		case strings.HasPrefix(a, "@") && len(a) > 1:
			files = a[1:]
		case (a == "--options-file" || a == "-optf") && i+1 < len(args):
			i++
			files = args[i]
		case strings.HasPrefix(a, "--options-file="), strings.HasPrefix(a, "-optf="):
			_, files, _ = strings.Cut(a, "=")
		default:
			out = append(out, a)
			continue
		}
		for _, name := range strings.Split(files, ",") {
			text, err := readResponse(absolute(dir, name))
			if err != nil {
				out = append(out, "@"+name) // reported among the words that are not used
				continue
			}
			words, err := splitCommand(string(text))
			if err != nil {
				return nil, fmt.Errorf("response file %s: %w", name, err)
			}
			if words, err = expandResponses(words, dir, depth+1); err != nil {
				return nil, err
			}
			out = append(out, words...)
		}
	}
	return out, nil
}

// maxResponse bounds the bytes of a response file.
const maxResponse = 16 << 20

// readResponse reads a response file. It refuses devices and pipes, which may never end, and files
// that are too large to be a list of flags.
func readResponse(path string) ([]byte, error) {
	return source.ReadRegular(path, maxResponse)
}
