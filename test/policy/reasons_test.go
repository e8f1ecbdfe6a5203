package policy

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/api/reason"
)

var rewrite = flag.Bool("rewrite", false, "rewrite generated documents")

const reasonsIntro = `# Reasons

This page is for users and for authors of programs. It lists every code in explanations, states, events, conditions and
the output of ` + "`vcctl`" + `: why a gang waits, why a node cannot take a pod, and why a job failed.

Slurm's commands print BadConstraints for every job that can never start with its current request
(` + "`explanation.never`" + `), whatever its code.

*This page is generated from [` + "`api/reason`" + `](../../api/reason); ` + "`go test ./test/policy -rewrite`" + ` writes it.*

| Code | Sentence | Hint | Slurm |
|---|---|---|---|
`

// TestTheReasonsAreDocumented compares docs/reference/reasons.md with the table in api/reason.
func TestTheReasonsAreDocumented(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	page.WriteString(reasonsIntro)
	for _, r := range reason.Table {
		if r.Has(reason.Derived) {
			continue // never stored
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | `%s` |\n", r.Code, r.Sentence, r.Hint, r.Slurm)
	}
	path := filepath.Join(root, "docs", "reference", "reasons.md")
	if *rewrite {
		if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(page.String(), string(have)); diff != "" {
		t.Errorf("docs/reference/reasons.md is not what the table says (-table +document); go test ./test/policy -rewrite:\n%s", diff)
	}
}
