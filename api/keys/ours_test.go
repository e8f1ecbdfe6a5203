package keys

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEveryKeyOfOursIsKnown reads the constants of this package: a key that is missing in the list would be reported as
// misspelled.
func TestEveryKeyOfOursIsKnown(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			sum, ok := node.(*ast.BinaryExpr)
			if !ok {
				return true
			}
			prefix, isName := sum.X.(*ast.Ident)
			rest, isText := sum.Y.(*ast.BasicLit)
			if !isName || !isText || prefix.Name != "OurPrefix" {
				return true
			}
			found++
			if key := OurPrefix + rest.Value[1:len(rest.Value)-1]; !slices.Contains(ours, key) {
				t.Errorf("%s: %s is not in the list of our keys", name, key)
			}
			return true
		})
	}
	if found != len(ours) {
		t.Errorf("%d keys are defined, and %d are in the list", found, len(ours))
	}
}

func TestUnknownKeysAreThoseOfOursThatAreMisspelt(t *testing.T) {
	t.Parallel()
	annotations := map[string]string{Array: "0-3", "vc-batch.dev/aray": "0-3", "vc-batch.dev/sim-run-time": "1s", "volcano.sh/aray": "1", "aray": "1", "vc-batch.dev/": ""}
	if diff := cmp.Diff([]string{"vc-batch.dev/", "vc-batch.dev/aray"}, Unknown(annotations)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{Array, ArrayCancelled, ArrayCancelledBy, ArrayIndex, ArrayLimit}, Like("vc-batch.dev/aray")); diff != "" {
		t.Error(diff)
	}
	if got := Like("vc-batch.dev/zz"); len(got) > 0 {
		t.Errorf("like zz are %v", got)
	}
}
