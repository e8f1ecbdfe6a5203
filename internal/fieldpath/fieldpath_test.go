package fieldpath

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

func TestAFieldIsFoundByItsPath(t *testing.T) {
	t.Parallel()
	job := &batchv1alpha1.Job{}
	job.Name, job.Labels = "train", map[string]string{"a.b/team": "nlp"}
	job.CreationTimestamp = metav1.NewTime(time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC))
	job.Spec.Tasks = []batchv1alpha1.TaskSpec{{Name: "ps"}, {Name: "worker"}}
	fields, err := FieldsOf(job)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		".metadata.name":                 "train",
		"metadata.name":                  "train",
		"$.metadata.name":                "train",
		"{.metadata.name}":               "train",
		`.metadata.labels.a\.b/team`:     "nlp",
		".spec.tasks[*].name":            "ps worker",
		".metadata.creationTimestamp":    "2026-11-27T10:00:00Z",
		".metadata.labels.missing":       "",
		".spec.tasks[7].name":            "",
		"{.metadata.name}/{.spec.queue}": "train/",
	} {
		parsed, err := Parse(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got := parsed.Text(fields); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if _, err := Parse(".spec["); err == nil {
		t.Error("an incomplete path is accepted")
	}
}
