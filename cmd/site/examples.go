package main

import (
	"os"
	"path/filepath"
)

// examplesIndex is the source of the page of the reports of the examples: the directory that has
// them. Links in the page are relative to docs.
const examplesIndex = "docs/examples"

// addExamples adds the page of the reports of heddle check examples.
func (s *site) addExamples() error {
	text, err := os.ReadFile(filepath.Join(s.root, "docs", "examples", "check.txt"))
	if err != nil {
		return err
	}
	s.add(&page{source: examplesIndex, out: "examples/index.html",
		origin: origin{"docs/examples/check.txt", 1},
		text: []byte("# Reports of the examples\n\n" +
			"What heddle reports for the programs in [examples](../examples), correct ones and others " +
			"with a planted bug, in each format:\n\n" +
			"- [HTML](examples/report.html), for people\n" +
			"- [text](examples/check.txt), shown below\n" +
			"- [JSON](examples/check.jsonl), which [a page](json.md) describes\n" +
			"- [SARIF](examples/check.sarif), for [code scanning](ci.md) and editors\n\n" +
			"The page of [each code](codes) has an example of its own, with its report and " +
			"its repair.\n\n## As text\n\n" + fence("console", "$ heddle check examples\n"+string(text)))})
	return nil
}
