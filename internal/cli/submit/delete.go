package submit

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
)

// ConfirmDeletion asks for confirmation before deleting objects that contain other objects: namespaces, and queues that
// are not empty.
func ConfirmDeletion(ctx context.Context, f *cli.Factory, c client.Reader, confirm *cli.Confirm, objects []cli.FileObject) error {
	var what, effects []string
	for _, o := range objects {
		name := o.Object.GetName()
		switch kind := o.Object.GroupVersionKind(); {
		case kind.Group == "" && kind.Kind == "Namespace":
			what = append(what, "namespace "+name)
			effects = append(effects, "everything in namespace "+name+" is deleted")
		case kind.Group == schedulingv1beta1.GroupVersion.Group && kind.Kind == "Queue":
			queue := &schedulingv1beta1.Queue{}
			if err := c.Get(ctx, client.ObjectKey{Name: name}, queue); err != nil {
				continue // the deletion itself reports the error
			}
			if n := queue.Status.Running + queue.Status.Pending + queue.Status.Inqueue; n > 0 {
				what = append(what, "queue "+name)
				effects = append(effects, deletionEffect(name, int(n)))
			}
		}
	}
	if len(what) == 0 {
		return nil
	}
	return confirm.AskUser(ctx, f, "delete "+strings.Join(what, ", "), effects)
}

// deletionEffect describes how deleting a queue affects its jobs.
func deletionEffect(queue string, jobs int) string {
	if jobs == 1 {
		return fmt.Sprintf("1 job in queue %s loses its queue; if it is pending, it will never start", queue)
	}
	return fmt.Sprintf("%d jobs in queue %s lose their queue; the pending ones will never start", jobs, queue)
}
