package reason

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"testing"
)

func TestEveryCodeHasOneEntryAndEveryEntryACode(t *testing.T) {
	t.Parallel()
	listed := map[Code]int{}
	for _, r := range Table {
		listed[r.Code]++
	}
	for _, code := range declaredCodes(t) {
		if listed[code] != 1 {
			t.Errorf("%s: want one entry in the table, got %d", code, listed[code])
		}
		delete(listed, code)
	}
	for code := range listed {
		t.Errorf("%s has an entry and is no constant", code)
	}
}

// declaredCodes reads the constants from the source code, because no other list contains them.
func declaredCodes(t *testing.T) []Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []Code
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Code" {
			for _, value := range spec.Values {
				text, err := strconv.Unquote(value.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				codes = append(codes, Code(text))
			}
		}
		return true
	})
	return codes
}

func TestEntriesCanBePutIntoASentence(t *testing.T) {
	t.Parallel()
	code, words, slurm := regexp.MustCompile(`^[A-Z][A-Za-z]+$`), regexp.MustCompile(`^[a-z].*[^.]$`), regexp.MustCompile(`^[A-Z][A-Za-z]+$`)
	for _, r := range Table {
		if !code.MatchString(string(r.Code)) || !words.MatchString(r.Sentence) || !words.MatchString(r.Hint) || !slurm.MatchString(r.Slurm) {
			t.Errorf("%+v: want a CamelCase code, a lower-case sentence and hint without a full stop, and Slurm's word", r)
		}
	}
}

func TestSlurmNamesTheResourceThatALimitIsOn(t *testing.T) {
	t.Parallel()
	for resource, want := range map[string]string{
		"cpu": "QOSGrpCpuLimit", "memory": "QOSGrpMemLimit", "nvidia.com/gpu": "QOSGrpGRES", "": "QOSResourceLimit",
	} {
		if got := Get(OverCapability).SlurmFor(resource); got != want {
			t.Errorf("%q: want %s, got %s", resource, want, got)
		}
	}
	if got := Get(TooLarge).SlurmFor("cpu"); got != "Resources" {
		t.Errorf("no limit: %s", got)
	}
}

func TestAnUnknownCodeIsItsOwnSentence(t *testing.T) {
	t.Parallel()
	if r := Get("Mystery"); r.Code != "Mystery" || r.Sentence != "Mystery" {
		t.Errorf("%+v", r)
	}
}
