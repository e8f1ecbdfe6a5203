package run

import (
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/lookup"
	"github.com/vc-batch/vc/internal/usererror"
)

// changes holds the flags that replace fields of jobs in files, or of a job that is run again.
type changes struct {
	name, queue, priority string
	labels                []string
	start                 startFlags
}

// replacing lists the flags that change jobs in files. All other flags describe a new job and are not needed for files,
// which already describe jobs.
var replacing = []string{"name", "queue", "priority-class", "labels", "after", "begin", "hold"}

// hasChanges reports whether the flags change anything.
func (c *changes) hasChanges() bool {
	changesStart := c.start.hold || c.start.begin != "" || len(c.start.after) > 0
	changesText := c.name != "" || c.queue != "" || c.priority != ""
	return changesStart || changesText || len(c.labels) > 0
}

// applyTo changes all jobs among the objects. where describes the source of the objects in messages.
func (c *changes) applyTo(objects []cli.FileObject, where string, now time.Time) error {
	if !c.hasChanges() {
		return nil
	}
	labels, err := parsePairs("--labels", c.labels)
	if err != nil {
		return err
	}
	var jobs []*cli.FileObject
	for i := range objects {
		if lookup.IsJob(objects[i]) {
			jobs = append(jobs, &objects[i])
		}
	}
	switch {
	case len(jobs) == 0:
		return usererror.Errorf("remove the flags; with -f, they apply to the jobs in the files", "%s contains no job to which the flags apply", where)
	case c.name != "" && len(jobs) > 1:
		return usererror.Errorf("split the file, or set the names in it", "one name cannot be used for the %d jobs in %s", len(jobs), where)
	}
	for _, job := range jobs {
		if err := c.changeJob(job, labels, now); err != nil {
			return err
		}
	}
	return nil
}

func (c *changes) changeJob(object *cli.FileObject, labels map[string]string, now time.Time) error {
	job := object.Object
	if object.Flags == nil {
		object.Flags = map[string]string{}
	}
	if c.name != "" {
		job.SetName(c.name)
		job.SetGenerateName("")
		object.Flags["metadata.name"] = "NAME"
	}
	for _, field := range []struct{ name, flag, value string }{{"queue", "--queue", c.queue}, {"priorityClassName", "--priority-class", c.priority}} {
		if field.value == "" {
			continue
		}
		if err := unstructured.SetNestedField(job.Object, field.value, "spec", field.name); err != nil {
			return cli.AddFileSource(fmt.Errorf("spec.%s cannot be set: %w", field.name, err), *object)
		}
		object.Flags["spec."+field.name] = field.flag
	}
	if len(labels) > 0 {
		job.SetLabels(mergeMaps(job.GetLabels(), labels))
		object.Flags["metadata.labels"] = "--labels"
	}
	annotations, err := c.start.startAnnotations(job.GetNamespace(), now)
	if err != nil {
		return err
	}
	if len(annotations) > 0 {
		job.SetAnnotations(mergeMaps(job.GetAnnotations(), annotations))
		maps.Copy(object.Flags, flagsOfStart)
	}
	return nil
}

// mergeMaps returns a map with the entries of both maps. If both contain a key, it uses the value from others.
func mergeMaps(old, others map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, old)
	maps.Copy(all, others)
	return all
}
