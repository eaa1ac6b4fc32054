package lower

import (
	"context"
	"errors"
	"slices"
	"strings"

	"heddle/internal/lazyregexp"
)

// nvcc 12 reads C++17 unless -std says otherwise, and clang does too. A file that is examined alone,
// without the flags of its build, may need more.

// laterStandard is what a file is compiled as that C++17 rejects.
const laterStandard = "c++20"

// cxx20RE matches words and headers of C++20. A file without any is not compiled again.
var cxx20RE = lazyregexp.New(`\b(concept|requires|consteval|constinit|char8_t)\b|<=>|\[[&=]?\]\s*<|` +
	`\bstd\s*::\s*(span|bit_cast|popcount|has_single_bit|bit_(ceil|floor|width)|rot[lr]|` +
	`count[lr]_(zero|one)|numbers|remove_cvref|type_identity|endian|cmp_\w+|midpoint|lerp|ssize)|` +
	`#\s*include\s*<(concepts|span|bit|compare|numbers|ranges|source_location|format|version)>`)

// runLater compiles a file that clang has rejected as C++17 once more as C++20, if it may need that,
// and keeps the standard in which it has fewer errors: of two that stop at the same missing header,
// C++20. first is the failure in C++17; the result is the output, or the failure in the standard that
// was kept.
func (b *build) runLater(ctx context.Context, source func(string) []byte, store resultCache,
	first *clangFailure) (*output, error) {
	if b.opt.Std != "" || b.opt.Strict || !slices.ContainsFunc(b.libs.texts, cxx20RE.Match) {
		return nil, first
	}
	b.opt.Std = laterStandard
	out, err := b.runCUDA(ctx, source, store)
	var failure *clangFailure
	if errors.As(err, &failure) && failure.errors() > first.errors() {
		b.opt.Std = ""
		return nil, first
	}
	return out, err
}

// errors counts the errors in clang's diagnostics.
func (e *clangFailure) errors() int { return strings.Count(e.output, "error: ") }
