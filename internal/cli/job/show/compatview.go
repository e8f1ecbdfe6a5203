package show

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/render"
)

// compatSheet writes a job in the format of Volcano's `job view`, indented by two spaces per level.
type compatSheet struct {
	text  strings.Builder
	level int
}

// writeFact writes a line "Name: value", unless the value is empty.
func (s *compatSheet) writeFact(name string, value any) {
	if text := printable.EscapeLine(fmt.Sprint(value)); text != "" {
		fmt.Fprintf(&s.text, "%s%s:\t%s\n", strings.Repeat("  ", s.level), name, text)
	}
}

// writeCount writes a number if it is positive.
func (s *compatSheet) writeCount(name string, n int32) {
	if n > 0 {
		s.writeFact(name, n)
	}
}

// writeNested writes a title, followed by its content with deeper indentation.
func (s *compatSheet) writeNested(title string, below func()) {
	fmt.Fprintf(&s.text, "%s%s:\n", strings.Repeat("  ", s.level), printable.EscapeLine(title))
	s.level++
	below()
	s.level--
}

// writeCompatSheet prints the details of a job as Volcano's vcctl does, including events.
func (s *sheet) writeCompatSheet(f *cli.Factory) error {
	c, job := &compatSheet{}, s.Job
	c.writeFact("Name", job.Name)
	c.writeFact("Namespace", job.Namespace)
	c.writeFact("Labels", pairsText(job.Labels))
	c.writeFact("Annotations", pairsText(job.Annotations))
	c.writeFact("API Version", batchv1alpha1.GroupVersion)
	c.writeFact("Kind", "Job")
	c.writeNested("Metadata", func() {
		c.writeFact("Creation Timestamp", job.CreationTimestamp.Format(time.RFC3339))
		c.writeFact("Generate Name", job.GenerateName)
		c.writeFact("Generation", job.Generation)
		c.writeFact("Resource Version", job.ResourceVersion)
		c.writeFact("UID", job.UID)
	})
	c.writeNested("Spec", func() { c.writeSpec(&job.Spec) })
	c.writeNested("Status", func() { c.writeStatus(&job.Status) })
	c.writeConditions(job.Status.Conditions)
	if _, err := f.Streams.Out.Write([]byte(c.text.String())); err != nil {
		return err
	}
	return s.printCompatEvents(f)
}

// pairsText returns a map as JSON, or <none>.
func pairsText(pairs map[string]string) string {
	text, err := json.Marshal(pairs)
	if len(pairs) == 0 || err != nil {
		return "<none>"
	}
	return string(text)
}

func (s *compatSheet) writeSpec(spec *batchv1alpha1.JobSpec) {
	s.writeFact("Min Available", spec.MinAvailable)
	if len(spec.Plugins) > 0 {
		s.writeNested("Plugins", func() {
			for _, name := range slices.Sorted(maps.Keys(spec.Plugins)) {
				s.writeFact(strings.ToUpper(name[:1])+name[1:], spec.Plugins[name])
			}
		})
	}
	s.writeFact("Scheduler Name", spec.SchedulerName)
	s.writeNested("Tasks", func() {
		for i := range spec.Tasks {
			task := &spec.Tasks[i]
			s.writeFact("Name", task.Name)
			s.writeFact("Replicas", task.Replicas)
			s.writeNested("Template", func() { s.writeTemplate(&task.Template) })
		}
	})
}

func (s *compatSheet) writeTemplate(template *corev1.PodTemplateSpec) {
	if len(template.Annotations) > 0 {
		s.writeNested("Metadata", func() {
			s.writeNested("Annotations", func() {
				for _, key := range slices.Sorted(maps.Keys(template.Annotations)) {
					s.writeFact(key, template.Annotations[key])
				}
			})
		})
	}
	s.writeNested("Spec", func() {
		s.writeNested("Containers", func() {
			for i := range template.Spec.Containers {
				s.writeContainer(&template.Spec.Containers[i])
			}
		})
		if secrets := template.Spec.ImagePullSecrets; len(secrets) > 0 {
			s.writeNested("Image Pull Secrets", func() {
				for _, secret := range secrets {
					s.writeFact("Name", secret.Name)
				}
			})
		}
		s.writeFact("Restart Policy", template.Spec.RestartPolicy)
	})
}

func (s *compatSheet) writeContainer(container *corev1.Container) {
	if len(container.Command) > 0 {
		s.writeNested("Command", func() {
			for _, word := range container.Command {
				fmt.Fprintf(&s.text, "%s%s\n", strings.Repeat("  ", s.level), printable.EscapeLine(word))
			}
		})
	}
	s.writeFact("Image", container.Image)
	s.writeFact("Name", container.Name)
	for _, port := range container.Ports {
		s.writeNested("Ports", func() {
			s.writeFact("Container Port", port.ContainerPort)
			s.writeFact("Name", port.Name)
		})
	}
	amounts := func(title string, list corev1.ResourceList) {
		if len(list) > 0 {
			s.writeNested(title, func() {
				for _, name := range slices.Sorted(maps.Keys(list)) {
					amount := list[name]
					s.writeFact(string(name), amount.String())
				}
			})
		}
	}
	s.writeNested("Resources", func() {
		amounts("Limits", container.Resources.Limits)
		amounts("Requests", container.Resources.Requests)
	})
	s.writeFact("Working Dir", container.WorkingDir)
}

func (s *compatSheet) writeStatus(status *batchv1alpha1.JobStatus) {
	s.writeCount("Succeeded", status.Succeeded)
	s.writeCount("Pending", status.Pending)
	s.writeCount("Running", status.Running)
	s.writeCount("Failed", status.Failed)
	s.writeCount("Terminating", status.Terminating)
	s.writeCount("Unknown", status.Unknown)
	s.writeCount("RetryCount", status.RetryCount)
	s.writeCount("Min Available", status.MinAvailable)
	s.writeCount("Version", status.Version)
	s.writeNested("State", func() { s.writeFact("Phase", status.State.Phase) })
	if len(status.ControlledResources) > 0 {
		s.writeNested("Controlled Resources", func() {
			for _, key := range slices.Sorted(maps.Keys(status.ControlledResources)) {
				s.writeFact(key, status.ControlledResources[key])
			}
		})
	}
}

func (s *compatSheet) writeConditions(conditions []batchv1alpha1.JobCondition) {
	if len(conditions) == 0 {
		return
	}
	s.writeNested("Conditions", func() {
		table := tabwriter.NewWriter(&s.text, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "  Status\tTransitionTime")
		for _, condition := range conditions {
			since := ""
			if at := condition.LastTransitionTime; at != nil {
				since = at.String()
			}
			fmt.Fprintf(table, "  %s\t%s\n", printable.EscapeLine(string(condition.Status)), since)
		}
		_ = table.Flush() // writes to memory
	})
}

// printCompatEvents prints the events below Volcano's column titles, one of which is misspelt in Volcano.
func (s *sheet) printCompatEvents(f *cli.Factory) error {
	out := f.Streams.Out
	if len(s.Events) == 0 {
		_, err := fmt.Fprintln(out, "Events: \t<none>")
		return err
	}
	line := func(cells ...any) error {
		_, err := fmt.Fprintf(out, "%-15s\t%-40s\t%-30s\t%-40s\t%s\n", cli.FormatCells(cells)...)
		return err
	}
	const rule = "-------"
	_, err := fmt.Fprintln(out, "Events:")
	for _, cells := range [][]any{{"Type", "Reason", "Age", "Form", "Message"}, {rule, rule, rule, rule, rule}} {
		if err == nil {
			err = line(cells...)
		}
	}
	for i := range s.Events {
		if err != nil {
			return err
		}
		event := &s.Events[i]
		err = line(event.Type, event.Reason, render.FormatAgeSince(f.Now(), cli.EventTime(event).Time), event.Source.Component, event.Message)
	}
	return err
}
