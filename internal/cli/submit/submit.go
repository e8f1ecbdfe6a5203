// Package submit reads objects of any kind from files, validates them like the server's admission, and creates them.
// It is used by `vcctl job run -f` and all `create -f` commands.
//
//	In:   files, directories, URLs, standard input
//	Out:  the created objects; one line for each
//
// # Invariants
//
//   - No object is sent before all objects have been validated, and none if one of several already exists.
//   - Objects that others need are created first: namespaces, then queues, templates, jobs.
package submit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/usererror"
)

// ReadFiles reads the objects in the files and sets their namespaces. If ask is set, it looks up unknown kinds on the
// cluster.
func ReadFiles(f *cli.Factory, files *cli.Files, ask bool) ([]cli.FileObject, error) {
	objects, err := files.ReadObjects(f)
	if err != nil {
		return nil, err
	}
	return objects, cli.SetNamespaces(f, objects, ask)
}

// Sender creates objects and prints a line for each.
type Sender struct {
	F      *cli.Factory
	DryRun *cli.DryRun
	Fields *cli.FieldValidation
	Out    *cli.Output
	// Say prints the success line for an object. If nil, the line is "kind.group/name created".
	Say func(cli.FileObject) error
}

// SendObjects sends the objects one by one in the order of SortByDependency. If it cannot send an object, it continues
// with the next. It returns the created objects.
func (s *Sender) SendObjects(ctx context.Context, objects []cli.FileObject) ([]cli.FileObject, error) {
	var c client.Client
	if !s.DryRun.IsClient() {
		var err error
		if c, err = s.F.Client(); err != nil {
			return nil, err
		}
		c = s.Fields.WrapClient(c)
	}
	var created []cli.FileObject
	var problems []error
	busy := s.F.Streams.StartBusyLine("sending")
	defer busy.RemoveLine()
	for i, object := range SortByDependency(objects) {
		if len(objects) > 1 {
			busy.SetText("sending %d/%d", i+1, len(objects))
		}
		if !s.DryRun.IsClient() {
			if err := c.Create(ctx, object.Object, s.DryRun.CreateOptions()...); err != nil {
				problems = append(problems, cli.AddFileSource(explainNotCreated(ctx, s.F, c, object.Object, err), object))
				continue
			}
		}
		created = append(created, object)
		if !s.Out.IsMachineReadable() {
			problems = append(problems, s.printCreated(object))
		}
	}
	if s.Out.IsMachineReadable() && len(created) > 0 {
		all := make([]client.Object, len(created))
		for i := range created {
			all[i] = created[i].Object
		}
		problems = append(problems, s.Out.PrintObjects(s.F, all, true))
	}
	return created, errors.Join(problems...)
}

func (s *Sender) printCreated(object cli.FileObject) error {
	if s.Say != nil {
		return s.Say(object)
	}
	return cli.PrintSuccess(s.F, nil, object.Object, "created"+s.DryRun.MessageSuffix())
}

// SortByDependency sorts objects so that dependencies come first: namespaces, then queues, priority classes and
// templates, then all others except jobs, and jobs last.
func SortByDependency(objects []cli.FileObject) []cli.FileObject {
	rank := func(kind schema.GroupVersionKind) int {
		switch {
		case kind.Kind == "CustomResourceDefinition":
			return 0
		case kind.Kind == "Namespace":
			return 1
		case kind.Kind == "Queue", kind.Kind == "PriorityClass", kind.Kind == "JobTemplate":
			return 2
		case kind == batchv1alpha1.GroupVersion.WithKind("Job"):
			return 4
		}
		return 3
	}
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b cli.FileObject) int {
		return rank(a.Object.GroupVersionKind()) - rank(b.Object.GroupVersionKind())
	})
	return sorted
}

// nouns maps each kind that has commands to the name of its command group.
var nouns = map[schema.GroupVersionKind]string{
	batchv1alpha1.GroupVersion.WithKind("Job"):          "job",
	batchv1alpha1.GroupVersion.WithKind("CronJob"):      "cronjob",
	flowv1alpha1.GroupVersion.WithKind("JobFlow"):       "jobflow",
	flowv1alpha1.GroupVersion.WithKind("JobTemplate"):   "jobtemplate",
	schedulingv1beta1.GroupVersion.WithKind("PodGroup"): "podgroup",
	schedulingv1beta1.GroupVersion.WithKind("Queue"):    "queue",
}

// explainNotCreated adds details to the error for an object that already exists.
func explainNotCreated(ctx context.Context, f *cli.Factory, c client.Client, object *unstructured.Unstructured, err error) error {
	if unknown := cli.UnknownFields(object, err); unknown != nil {
		return unknown
	}
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	e := describeExisting(ctx, f, c, object, err)
	remedies := "use another name"
	if object.GetNamespace() != "" && nouns[object.GroupVersionKind()] != "" {
		remedies = "use generateName or another name"
	}
	e.Hint = fmt.Sprintf("delete the existing object%s, or %s", deleteCommand(object), remedies)
	return e
}

// explainExistingInFile returns the error for an object that already exists, if the files contain other objects too and
// nothing has been created yet.
func explainExistingInFile(ctx context.Context, f *cli.Factory, c client.Client, object *unstructured.Unstructured, err error) error {
	e := describeExisting(ctx, f, c, object, err)
	e.Hint = fmt.Sprintf("nothing was created; to keep the existing object, remove it from the file; otherwise delete the existing object%s, or use another name", deleteCommand(object))
	return e
}

// describeExisting returns the error for an object that already exists. The caller sets the hint.
func describeExisting(ctx context.Context, f *cli.Factory, c client.Client, object *unstructured.Unstructured, err error) *usererror.Error {
	e := &usererror.Error{Err: err, What: fmt.Sprintf("%s %q already exists", strings.ToLower(object.GetKind()), object.GetName())}
	if namespace := object.GetNamespace(); namespace != "" {
		e.What += fmt.Sprintf(" in namespace %q", namespace)
	}
	if _, ours := nouns[object.GroupVersionKind()]; !ours {
		return e
	}
	there := &unstructured.Unstructured{}
	there.SetGroupVersionKind(object.GroupVersionKind())
	if c.Get(ctx, client.ObjectKeyFromObject(object), there) == nil {
		e.What += fmt.Sprintf(" (%s)", ageAndPhase(there, f.Now()))
	}
	return e
}

// deleteCommand returns the command that deletes an object, in parentheses after a space. It returns "" if vcctl has no
// such command for the kind.
func deleteCommand(object *unstructured.Unstructured) string {
	noun, ours := nouns[object.GroupVersionKind()]
	if !ours {
		return ""
	}
	command := fmt.Sprintf("vcctl %s delete %s", noun, object.GetName())
	if namespace := object.GetNamespace(); namespace != "" {
		command += " -n " + namespace
	}
	return " (" + command + ")"
}

// ageAndPhase describes the age of an object and, if it has one, its phase.
func ageAndPhase(object *unstructured.Unstructured, now time.Time) string {
	text := fmt.Sprintf("created %s ago", render.FormatAgeSince(now, object.GetCreationTimestamp().Time))
	phase, _, _ := unstructured.NestedString(object.Object, "status", "state", "phase")
	if phase == "" {
		phase, _, _ = unstructured.NestedString(object.Object, "status", "phase")
	}
	if phase == "" && object.GetKind() == "Job" {
		phase = string(batchv1alpha1.Pending)
	}
	if phase != "" {
		text += ", " + phase
	}
	return text
}
