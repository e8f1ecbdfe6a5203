package v1beta1

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/keys"
)

// FuzzHierarchy verifies that an accepted place in the hierarchy has a weight for each step, and that each weight is a
// valid divisor.
func FuzzHierarchy(f *testing.F) {
	for _, seed := range [][2]string{{"", ""}, {"root/a", "1/2"}, {"a", "2"}, {"root", "1"}, {"root/a", "1/0"}, {"root/a", "1/NaN"}, {"root/a", "1/Inf"}, {"root/a", "1/0x1p-2"}, {"root/a", "1/1e400"}, {"/", "/"}, {"root//a", "1/1/1"}, {"", "1"}, {"root/a", "1/-1"}, {"root/a", "1/1_0"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, path, weights string) {
		q := queue("q", "", annotated(keys.Hierarchy, path, keys.HierarchyWeights, weights))
		if len(ValidateQueue(q, nil)) > 0 {
			return
		}
		path, weights = q.Annotations[keys.Hierarchy], q.Annotations[keys.HierarchyWeights] // defaulted
		if path == "" && weights == "" {
			return
		}
		parts := strings.Split(weights, "/")
		if len(parts) != len(strings.Split(path, "/")) {
			t.Fatalf("%q with weights %q is let in", path, weights)
		}
		for _, part := range parts {
			if weight, err := strconv.ParseFloat(part, 64); err != nil || !(weight > 0) || math.IsInf(weight, 0) {
				t.Fatalf("weight %q of %q is let in", part, weights)
			}
		}
	})
}

// FuzzDisruptionBudget verifies that an accepted budget is a count above 0, or a percentage above 0 and below 100.
func FuzzDisruptionBudget(f *testing.F) {
	for _, seed := range []string{"", "1", "99%", "100%", "0", "%", "+1", " 1", "1e3", "٣", "007%", "2147483648"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if len(ValidateDisruptionBudget(map[string]string{keys.JDBMinAvailable: value}, field.NewPath("a"))) > 0 {
			return
		}
		digits, percentage := strings.CutSuffix(value, "%")
		if n, err := strconv.Atoi(digits); err != nil || n < 1 || percentage && n > 99 {
			t.Fatalf("%q is let in", value)
		}
	})
}
