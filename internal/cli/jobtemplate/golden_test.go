package jobtemplate_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// templates adds two templates to the cluster, one of them with many jobs.
func templates(s *clitest.Server) {
	serve := newTemplate("serve", 2*time.Hour)
	two := int32(2)
	serve.Spec.Tasks = append(serve.Spec.Tasks, batchv1alpha1.TaskSpec{Name: "helper", Replicas: 4, MinAvailable: &two, Template: podTemplate("10m", "alpine")})
	serve.Spec.MinAvailable, serve.Spec.PriorityClassName = 3, "high"
	for i := range 22 {
		serve.Status.JobDependsOnList = append(serve.Status.JobDependsOnList, fmt.Sprintf("night%02d-serve", i))
	}
	query := newTemplate("query", time.Minute)
	query.Labels = map[string]string{"team": "nlp"}
	query.Spec.Queue = "research"
	query.Status.JobDependsOnList = []string{"night-query"}
	s.SetObjects(serve, query, &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "serve.1", Namespace: "nlp"}, InvolvedObject: corev1.ObjectReference{Kind: "JobTemplate", Name: "serve", UID: serve.UID},
		Type: "Warning", Reason: "Odd", Message: "something", LastTimestamp: golden.TimeAgo(time.Minute), Count: 3})
}

func newTemplate(name string, age time.Duration) *flowv1alpha1.JobTemplate {
	return &flowv1alpha1.JobTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "nlp", UID: "uid-template", CreationTimestamp: golden.TimeAgo(age)},
		Spec:       batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Name: "main", Replicas: 1, Template: podTemplate("500m", "busybox")}}},
	}
}

func podTemplate(cpu, image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{Name: "main", Image: image, Resources: corev1.ResourceRequirements{Requests: golden.NewResources("cpu", cpu)}}}}}
}

func TestJobTemplateGoldens(t *testing.T) {
	runs := golden.RunsForCommands(
		golden.Command{Args: "jobtemplate list", Wrong: "jobtemplate list -l team=(", Prepare: templates},
		golden.Command{Args: "jobtemplate get serve", Wrong: "jobtemplate get", Prepare: templates},
		golden.Command{Args: "jobtemplate view serve", Wrong: "jobtemplate view srve", Prepare: templates},
		golden.Command{Args: "jobtemplate create -f testdata/template.yaml", Wrong: "jobtemplate create -f testdata/bad.yaml", Prepare: templates},
		golden.Command{Args: "jobtemplate delete serve", Wrong: "jobtemplate delete serve --all", Prepare: templates},
	)
	more := func(about, args string) {
		runs = append(runs, golden.Run{About: about, Args: args, Prepare: templates})
	}
	more("all columns", "jt list -A -o wide")
	more("Volcano's table", "jobtemplate list --compat")
	more("one, Volcano's way", "jobtemplate get -N query")
	more("described, Volcano's way", "jobtemplate describe -n nlp")
	more("created, Volcano's way", "jobtemplate create --file testdata/template.yaml")
	more("deleted, Volcano's way", "jobtemplate delete -N query -n nlp")
	more("a directory", "jobtemplate create -f testdata/many -R --dry-run=client")
	more("a file that is not there", "jobtemplate create -f testdata/templte.yaml")
	golden.CompareRuns(t, "jobtemplate", runs)
}
