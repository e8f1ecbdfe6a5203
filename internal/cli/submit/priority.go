package submit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// checkPriorities rejects jobs whose PriorityClass was specified by a flag and does not exist, because their pods
// could not be created. For a class that is specified in a file, it only prints a warning, because the class may be
// created later. If the user has no access to PriorityClasses, it leaves the check to the server.
func checkPriorities(ctx context.Context, f *cli.Factory, objects []cli.FileObject) []error {
	var named []cli.FileObject
	there := []string{"system-cluster-critical", "system-node-critical"}
	for _, object := range objects {
		switch object.Object.GetKind() {
		case "PriorityClass":
			there = append(there, object.Object.GetName())
		case "Job":
			if priorityClassOf(object) != "" {
				named = append(named, object)
			}
		}
	}
	if len(named) == 0 {
		return nil
	}
	known, err := f.ListNames(ctx, schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"), false)
	if err != nil {
		return nil
	}
	there = append(there, known...)
	var problems []error
	for _, object := range named {
		name := priorityClassOf(object)
		if slices.Contains(there, name) {
			continue
		}
		problem := fmt.Sprintf("spec.priorityClassName: PriorityClass %q does not exist", name)
		flag := object.Flags["spec.priorityClassName"]
		if flag == "" {
			f.Warnf("job %q: %s; no pods are created until the PriorityClass exists", object.Object.GetName(), problem)
			continue
		}
		problems = append(problems, usererror.Errorf("change "+flag+"; "+prioritiesHint(there[2:]), "%s", problem))
	}
	return problems
}

// prioritiesHint lists existing PriorityClasses that users' jobs can have, in one line.
func prioritiesHint(names []string) string {
	const most = 8
	switch {
	case len(names) == 0:
		return "no priority classes exist for jobs"
	case len(names) > most:
		return "existing: " + strings.Join(names[:most], ", ") + ", …"
	}
	return "existing: " + strings.Join(names, ", ")
}

// priorityClassOf returns the PriorityClass of a job, or "" for other objects.
func priorityClassOf(object cli.FileObject) string {
	if object.Object.GroupVersionKind() != batchv1alpha1.GroupVersion.WithKind("Job") {
		return ""
	}
	name, _, _ := unstructured.NestedString(object.Object.Object, "spec", "priorityClassName")
	return name
}
