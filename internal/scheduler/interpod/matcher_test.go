package interpod

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/propertytest"
)

func drawSelector(t *rapid.T) labels.Selector {
	text := rapid.SampledFrom([]string{"", "app=a", "app=b", "app in (a)", "app in (a, b)", "app!=a", "app", "!app", "tier=a", "app=a,tier=b", "app,tier=a"}).Draw(t, "selector")
	selector, err := labels.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return selector
}

// TestTheIndexFindsExactlyTheMatchingMatchers compares the index with the evaluation of every matcher.
func TestTheIndexFindsExactlyTheMatchingMatchers(t *testing.T) {
	propertytest.Check(t, 5000, func(t *rapid.T) {
		c := model.New()
		var all []*matcher
		var x index
		for i := range rapid.IntRange(1, 6).Draw(t, "matchers") {
			m := &matcher{order: i}
			for range rapid.IntRange(1, 2).Draw(t, "tests") {
				m.tests = append(m.tests, test{selector: drawSelector(t), everywhere: rapid.Bool().Draw(t, "everywhere"), namespaces: []string{"default"}})
			}
			all = append(all, m)
			x.addMatcher(m)
		}
		task := &model.Task{Namespace: rapid.SampledFrom([]string{"default", "other"}).Draw(t, "namespace"), Labels: map[string]string{}}
		for _, key := range []string{"app", "tier"} {
			if value := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, key); value != "" {
				task.Labels[key] = value
			}
		}
		var want, got []int
		for _, m := range all {
			if m.matchesTask(c, task) {
				want = append(want, m.order)
			}
		}
		for _, m := range x.appendMatching(c, task, nil) {
			got = append(got, m.order)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("matchers of %v (-want +got):\n%s", task.Labels, diff)
		}
	})
}

func TestTestsWithDifferentResultsHaveDifferentKeys(t *testing.T) {
	t.Parallel()
	everything, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{})
	if err != nil {
		t.Fatal(err)
	}
	nothing, err := metav1.LabelSelectorAsSelector(nil)
	if err != nil {
		t.Fatal(err)
	}
	app := labels.SelectorFromSet(labels.Set{"app": "a"})
	tests := []test{
		{selector: everything}, {selector: nothing}, {selector: app}, {selector: app, everywhere: true}, {selector: app, namespaces: []string{"a"}},
		{selector: app, namespaces: []string{"a", "b"}}, {selector: app, nsSelector: app}, {selector: app, nsSelector: app, namespaces: []string{"a"}},
	}
	seen := map[string]string{}
	for i := range tests {
		key := tests[i].cacheKey()
		if seen[key] != "" {
			t.Errorf("%+v has the key of %s: %q", tests[i], seen[key], key)
		}
		seen[key] = fmt.Sprintf("%+v", tests[i])
	}
}
