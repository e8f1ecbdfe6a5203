package cli

import "testing"

const twoJobs = `# a comment
apiVersion: v1
kind: ConfigMap
metadata: {name: bad}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: bad
spec:
  minAvailable: 5
  tasks:
  - name: a
    replicas: 1
  - name: b
    replicas: 2
    template:
      metadata:
        labels:
          a.b/c: x
---
{"kind": "Job", "metadata": {"name": "json"},
 "spec": {"minAvailable": 1,
          "queue": "x"}}
`

func TestLineOf(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		kind, name, path string
		want             int
	}{
		"a field":                              {"Job", "bad", "spec.minAvailable", 11},
		"a field of the second of a list":      {"Job", "bad", "spec.tasks[1].replicas", 16},
		"the second of a list itself":          {"Job", "bad", "spec.tasks[1]", 15},
		"a key with dots":                      {"Job", "bad", "spec.tasks[1].template.metadata.labels[a.b/c]", 20},
		"a field that is missing":              {"Job", "bad", "spec.tasks[1].minAvailable", 15},
		"an entry that is missing":             {"Job", "bad", "spec.tasks[7].name", 12},
		"the object":                           {"Job", "bad", "", 6},
		"another kind of the same name":        {"ConfigMap", "bad", "metadata.name", 4},
		"a document of JSON":                   {"Job", "json", "spec.queue", 24},
		"an object that is not in the text":    {"Job", "nosuch", "spec", 0},
		"an index into what is no list, field": {"Job", "bad", "spec.minAvailable[0]", 11},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := FindFieldLine([]byte(twoJobs), tc.kind, tc.name, tc.path); got != tc.want {
				t.Errorf("line %d, want %d", got, tc.want)
			}
		})
	}
}

func FuzzLineOf(f *testing.F) {
	f.Add([]byte(twoJobs), "spec.tasks[1].replicas")
	f.Add([]byte("{"), "a[")
	f.Add([]byte("a: &a [*a]"), "a[0]")
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		if line := FindFieldLine(text, "Job", "bad", path); line < 0 {
			t.Errorf("line %d", line)
		}
	})
}
