package job

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

// fact writes a line "Name: value", unless the value is empty.
func (s *compatSheet) fact(name string, value any) {
	if text := printable.EscapeLine(fmt.Sprint(value)); text != "" {
		fmt.Fprintf(&s.text, "%s%s:\t%s\n", strings.Repeat("  ", s.level), name, text)
	}
}

// count writes a number if it is positive.
func (s *compatSheet) count(name string, n int32) {
	if n > 0 {
		s.fact(name, n)
	}
}

// within writes a title, followed by its content with deeper indentation.
func (s *compatSheet) within(title string, below func()) {
	fmt.Fprintf(&s.text, "%s%s:\n", strings.Repeat("  ", s.level), printable.EscapeLine(title))
	s.level++
	below()
	s.level--
}

// writeCompat prints the details of a job as Volcano's vcctl does, including events.
func (s *sheet) writeCompat(f *cli.Factory) error {
	c, job := &compatSheet{}, s.Job
	c.fact("Name", job.Name)
	c.fact("Namespace", job.Namespace)
	c.fact("Labels", pairsText(job.Labels))
	c.fact("Annotations", pairsText(job.Annotations))
	c.fact("API Version", batchv1alpha1.GroupVersion)
	c.fact("Kind", "Job")
	c.within("Metadata", func() {
		c.fact("Creation Timestamp", job.CreationTimestamp.Format(time.RFC3339))
		c.fact("Generate Name", job.GenerateName)
		c.fact("Generation", job.Generation)
		c.fact("Resource Version", job.ResourceVersion)
		c.fact("UID", job.UID)
	})
	c.within("Spec", func() { c.spec(&job.Spec) })
	c.within("Status", func() { c.status(&job.Status) })
	c.conditions(job.Status.Conditions)
	if _, err := f.Streams.Out.Write([]byte(c.text.String())); err != nil {
		return err
	}
	return s.compatEvents(f)
}

// pairsText returns a map as JSON, or <none>.
func pairsText(pairs map[string]string) string {
	text, err := json.Marshal(pairs)
	if len(pairs) == 0 || err != nil {
		return "<none>"
	}
	return string(text)
}

func (s *compatSheet) spec(spec *batchv1alpha1.JobSpec) {
	s.fact("Min Available", spec.MinAvailable)
	if len(spec.Plugins) > 0 {
		s.within("Plugins", func() {
			for _, name := range slices.Sorted(maps.Keys(spec.Plugins)) {
				s.fact(strings.ToUpper(name[:1])+name[1:], spec.Plugins[name])
			}
		})
	}
	s.fact("Scheduler Name", spec.SchedulerName)
	s.within("Tasks", func() {
		for i := range spec.Tasks {
			task := &spec.Tasks[i]
			s.fact("Name", task.Name)
			s.fact("Replicas", task.Replicas)
			s.within("Template", func() { s.template(&task.Template) })
		}
	})
}

func (s *compatSheet) template(template *corev1.PodTemplateSpec) {
	if len(template.Annotations) > 0 {
		s.within("Metadata", func() {
			s.within("Annotations", func() {
				for _, key := range slices.Sorted(maps.Keys(template.Annotations)) {
					s.fact(key, template.Annotations[key])
				}
			})
		})
	}
	s.within("Spec", func() {
		s.within("Containers", func() {
			for i := range template.Spec.Containers {
				s.container(&template.Spec.Containers[i])
			}
		})
		if secrets := template.Spec.ImagePullSecrets; len(secrets) > 0 {
			s.within("Image Pull Secrets", func() {
				for _, secret := range secrets {
					s.fact("Name", secret.Name)
				}
			})
		}
		s.fact("Restart Policy", template.Spec.RestartPolicy)
	})
}

func (s *compatSheet) container(container *corev1.Container) {
	if len(container.Command) > 0 {
		s.within("Command", func() {
			for _, word := range container.Command {
				fmt.Fprintf(&s.text, "%s%s\n", strings.Repeat("  ", s.level), printable.EscapeLine(word))
			}
		})
	}
	s.fact("Image", container.Image)
	s.fact("Name", container.Name)
	for _, port := range container.Ports {
		s.within("Ports", func() {
			s.fact("Container Port", port.ContainerPort)
			s.fact("Name", port.Name)
		})
	}
	amounts := func(title string, list corev1.ResourceList) {
		if len(list) > 0 {
			s.within(title, func() {
				for _, name := range slices.Sorted(maps.Keys(list)) {
					amount := list[name]
					s.fact(string(name), amount.String())
				}
			})
		}
	}
	s.within("Resources", func() {
		amounts("Limits", container.Resources.Limits)
		amounts("Requests", container.Resources.Requests)
	})
	s.fact("Working Dir", container.WorkingDir)
}

func (s *compatSheet) status(status *batchv1alpha1.JobStatus) {
	s.count("Succeeded", status.Succeeded)
	s.count("Pending", status.Pending)
	s.count("Running", status.Running)
	s.count("Failed", status.Failed)
	s.count("Terminating", status.Terminating)
	s.count("Unknown", status.Unknown)
	s.count("RetryCount", status.RetryCount)
	s.count("Min Available", status.MinAvailable)
	s.count("Version", status.Version)
	s.within("State", func() { s.fact("Phase", status.State.Phase) })
	if len(status.ControlledResources) > 0 {
		s.within("Controlled Resources", func() {
			for _, key := range slices.Sorted(maps.Keys(status.ControlledResources)) {
				s.fact(key, status.ControlledResources[key])
			}
		})
	}
}

func (s *compatSheet) conditions(conditions []batchv1alpha1.JobCondition) {
	if len(conditions) == 0 {
		return
	}
	s.within("Conditions", func() {
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

// compatEvents prints the events below Volcano's column titles, one of which is misspelt in Volcano.
func (s *sheet) compatEvents(f *cli.Factory) error {
	out := f.Streams.Out
	if len(s.Events) == 0 {
		_, err := fmt.Fprintln(out, "Events: \t<none>")
		return err
	}
	line := func(cells ...any) error {
		_, err := fmt.Fprintf(out, "%-15s\t%-40s\t%-30s\t%-40s\t%s\n", cli.Cells(cells)...)
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
