package queue

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// target selects the queues on which a command acts: by name, by label, or from files. In Volcano's vcctl, -n is the
// name of the queue, although it is the namespace in all other commands. This is unambiguous because queues have no
// namespace.
type target struct {
	names  []string
	labels string
	files  cli.Files
	// passMissing is true if queues that do not exist are ignored.
	passMissing bool
	// old is true if the user specified the name as -n or --name, as in Volcano's vcctl.
	old     bool
	oldName string
}

// addName adds the hidden flag --name of Volcano's vcctl.
func (t *target) addName(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.oldName, "name", "", "Name of the queue")
	cmd.Flags().Lookup("name").Hidden = true
	cli.RejectWithNames(cmd, "use a name argument instead of --name", "name")
	cli.RejectTogether(cmd, "use only one flag to specify queues", "name", "selector", "filename", "kustomize")
}

// addFlags adds -l, -f and the hidden --name. verb describes the action in help texts.
func (t *target) addFlags(f *cli.Factory, cmd *cobra.Command, verb string) {
	t.addName(cmd)
	cmd.Flags().StringVarP(&t.labels, "selector", "l", "", verb+" the queues that match this label selector")
	t.files.AddFlags(f, cmd)
}

// addArguments stores the arguments. refusal is the error message if no queues are selected.
func (t *target) addArguments(f *cli.Factory, cmd *cobra.Command, args []string, refusal string) error {
	for _, arg := range args {
		t.names = append(t.names, cli.BareName(arg, "queues"))
	}
	if len(t.names) == 0 {
		t.readOldName(f, cmd)
	}
	ways := 0
	for _, given := range []bool{len(t.names) > 0, t.labels != "", t.files.HasSources()} {
		if given {
			ways++
		}
	}
	switch ways {
	case 0:
		return cli.UsageError(f, cmd, "%s", refusal)
	case 1:
		return nil
	}
	return cli.UsageError(f, cmd, "names, --selector, --filename and --kustomize cannot be combined: use one of them")
}

// readOldName takes the queue name from --name, or from -n if the user typed it on the command line. A namespace set
// by VCCTL_NAMESPACE, which sets the same flag, must not become the name of a queue to create, close or delete.
func (t *target) readOldName(f *cli.Factory, cmd *cobra.Command) {
	name := t.oldName
	if typed := cmd.Flag("namespace"); name == "" && typed != nil && typed.Changed {
		name = typed.Value.String()
	}
	if name == "" {
		return
	}
	f.WarnDeprecated("--name (-n) for the name of a queue", "the name as an argument")
	t.names, t.old = []string{name}, true
}

// usesSelector reports whether the queues are selected by label.
func (t *target) usesSelector() bool { return t.labels != "" }

// findQueues reads the selected queues. It returns the existing queues together with errors about missing ones.
func (t *target) findQueues(ctx context.Context, f *cli.Factory, c client.Client) ([]*schedulingv1beta1.Queue, error) {
	if t.labels != "" {
		return t.listLabelled(ctx, c)
	}
	if t.files.HasSources() {
		filed, err := readQueues(f, &t.files)
		if err != nil {
			return nil, err
		}
		for _, one := range filed {
			t.names = append(t.names, one.queue.Name)
		}
	}
	var queues []*schedulingv1beta1.Queue
	var problems []error
	for i, name := range t.names {
		if slices.Contains(t.names[:i], name) {
			continue
		}
		queue := &schedulingv1beta1.Queue{}
		err := c.Get(ctx, types.NamespacedName{Name: name}, queue)
		if isMissing(err) {
			if t.passMissing {
				continue
			}
			err = queueNotFoundError(ctx, f, name)
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		queues = append(queues, queue)
	}
	return queues, errors.Join(problems...)
}

// listLabelled lists the queues that match the label selector; an empty selector matches all queues.
func (t *target) listLabelled(ctx context.Context, c client.Client) ([]*schedulingv1beta1.Queue, error) {
	labels, err := cli.ParseSelector(t.labels)
	if err != nil {
		return nil, err
	}
	return cli.ListObjects[*schedulingv1beta1.Queue](ctx, c, &schedulingv1beta1.QueueList{}, labels)
}

// joinNames joins the names of the queues for use in a sentence.
func joinNames(queues []*schedulingv1beta1.Queue) string {
	names := make([]string, len(queues))
	for i, queue := range queues {
		names[i] = queue.Name
	}
	return strings.Join(names, ", ")
}

// filedQueue is a queue read from a file.
type filedQueue struct {
	queue  *schedulingv1beta1.Queue
	object cli.FileObject
}

// readValidatedQueues reads the queues in files and handles unknown fields as specified by fields.
func readValidatedQueues(f *cli.Factory, files *cli.Files, fields *cli.FieldValidation) ([]filedQueue, error) {
	queues, err := readQueues(f, files)
	problems := []error{err}
	for _, one := range queues {
		problems = append(problems, fields.CheckFields(f, one.object))
	}
	return queues, errors.Join(problems...)
}

// readQueues reads the queues in files. It ignores objects of other kinds and prints a note about them.
func readQueues(f *cli.Factory, files *cli.Files) ([]filedQueue, error) {
	objects, err := files.ReadObjects(f)
	if err != nil {
		return nil, err
	}
	var queues []filedQueue
	for _, object := range objects {
		if object.Object.GroupVersionKind() != queueKind() {
			f.Warnf("%s %q is ignored: it is not a queue", strings.ToLower(object.Object.GetKind()), object.Object.GetName())
			continue
		}
		queue := &schedulingv1beta1.Queue{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object.Object, queue); err != nil {
			return nil, cli.AddFileSource(err, object)
		}
		queues = append(queues, filedQueue{queue: queue, object: object})
	}
	if len(queues) == 0 {
		return nil, usererror.Errorf("specify objects with kind Queue and apiVersion scheduling.volcano.sh/v1beta1; to create objects of other kinds, use vcctl job run -f", "no queue in %s", files.DescribeSources())
	}
	return queues, nil
}
