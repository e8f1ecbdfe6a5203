package reason

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
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
	file, err := parser.ParseFile(token.NewFileSet(), "table.go", nil, 0)
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
		noHint := r.Hint == "" && r.Has(Derived)
		if !code.MatchString(string(r.Code)) || !words.MatchString(r.Sentence) || !noHint && !words.MatchString(r.Hint) || !slurm.MatchString(r.Slurm) {
			t.Errorf("%+v: want a CamelCase code, a lower-case sentence and hint without a full stop, and Slurm's word", r)
		}
	}
}

func TestEveryRowIsComplete(t *testing.T) {
	t.Parallel()
	for _, r := range Table {
		if r.Step < AtSubmit || r.Step > AtStart {
			t.Errorf("%s: name the step that it blocks, AtSubmit to AtStart", r.Code)
		}
		if r.Pod < Unschedulable || r.Pod > NotOfPods {
			t.Errorf("%s: name its class in the condition of a waiting pod: Unschedulable, OwnCode, OwnCodeUnlessGrowing or NotOfPods", r.Code)
		}
	}
	for _, r := range slices.Concat(waiting, rejecting) {
		if r.Pod == NotOfPods {
			t.Errorf("%s: pods wait for it, so it needs a class other than NotOfPods", r.Code)
		}
	}
	states := []string{"F", "TO", "BF", "OOM", "NF", "PR"}
	for _, r := range Table {
		isFailure := slices.ContainsFunc(failing, func(f Reason) bool { return f.Code == r.Code })
		switch {
		case isFailure && !slices.Contains(states, r.SlurmState):
			t.Errorf("%s: a failure needs Slurm's state, one of %v; it has %q", r.Code, states, r.SlurmState)
		case !isFailure && r.SlurmState != "":
			t.Errorf("%s is not a failure and has Slurm's state %q", r.Code, r.SlurmState)
		}
	}
	for _, r := range delaying {
		if r.Step != AtGate {
			t.Errorf("%s delays the job itself, so its step is AtGate", r.Code)
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
	for resource, want := range map[string]string{
		"cpu": "QOSMaxCpuPerUserLimit", "memory": "QOSMaxMemoryPerUser", "nvidia.com/gpu": "QOSMaxGRESPerUser", "pods": "QOSMaxNodePerUserLimit",
	} {
		if got := Get(UserResourceLimit).SlurmFor(resource); got != want {
			t.Errorf("%q of a user: want %s, got %s", resource, want, got)
		}
	}
	for resource, want := range map[string]string{
		"cpu": "AssocGrpCpuLimit", "memory": "AssocGrpMemLimit", "nvidia.com/gpu": "AssocGrpGRES", "pods": "AssocGrpNodeLimit",
	} {
		if got := Get(AccountResourceLimit).SlurmFor(resource); got != want {
			t.Errorf("%q of an account: want %s, got %s", resource, want, got)
		}
	}
	for resource, want := range map[string]string{
		"cpu": "MaxCpuPerAccount", "memory": "MaxMemoryPerAccount", "nvidia.com/gpu": "MaxGRESPerAccount", "pods": "MaxNodePerAccount", "": "MaxNodePerAccount",
	} {
		if got := Get(QOSAccountResourceLimit).SlurmFor(resource); got != want {
			t.Errorf("%q of an account in a QOS: want %s, got %s", resource, want, got)
		}
	}
	for code, want := range map[Code]string{
		QOSJobLimit: "QOSGrpJobsLimit", QOSUserJobLimit: "QOSMaxJobsPerUserLimit", QOSAccountJobLimit: "MaxJobsPerAccount",
		QOSResourceLimit: "QOSGrpCpuLimit", QOSUserResourceLimit: "QOSMaxCpuPerUserLimit",
	} {
		if got := Get(code).SlurmFor("cpu"); got != want {
			t.Errorf("%s: want %s, got %s", code, want, got)
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

func TestFindTellsUnknownCodesApart(t *testing.T) {
	t.Parallel()
	if _, known := Find("ImagePullBackOff"); known {
		t.Error("a code of a kubelet is in the table")
	}
	if r, known := Find(Starting); !known || r.Step != AtStart {
		t.Errorf("%+v, %v", r, known)
	}
}
