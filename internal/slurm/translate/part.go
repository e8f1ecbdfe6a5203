package translate

import (
	"fmt"
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/submission"
)

// part holds the contribution of one topic, such as the size or the time limit, to a job. Fields that the topic does
// not set are zero. No two parts set the same field.
type part struct {
	labels, annotations map[string]string
	job                 batchv1alpha1.JobSpec
	// head and node are the tasks of the job. node is used only if the job has two tasks.
	head, node batchv1alpha1.TaskSpec
	// podLabels, pod and container are the same for the pods of all tasks.
	podLabels map[string]string
	pod       corev1.PodSpec
	container corev1.Container
	launch    launchconfig.Spec
	stored    submission.Options
	// exported holds the variables of the submitting machine that the script receives.
	exported []string

	errs     []error
	warnings []string
	notes    []Note
	needs    []Need
	// made lists, for each option, the fields that the option sets.
	made map[string][]string
}

// addError records an error. Job returns all recorded errors together.
func (p *part) addError(err error) { p.errs = append(p.errs, err) }

// addNote adds a plain note.
func (p *part) addNote(text string) { p.notes = append(p.notes, Note{Text: text}) }

// recordFields records the fields that an option sets. It has no effect if the option was not specified.
func (p *part) recordFields(option string, fields ...string) {
	if p.made == nil {
		p.made = map[string][]string{}
	}
	p.made[option] = append(p.made[option], fields...)
}

// annotate sets an annotation of the job and records it as a field that an option sets.
func (p *part) annotate(option, key, text string) {
	if p.annotations == nil {
		p.annotations = map[string]string{}
	}
	p.annotations[key] = text
	p.recordFields(option, keyPath("metadata.annotations", key))
}

// mergeParts merges the contributions of all parts. Errors, warnings and notes are in the order of the parts.
func mergeParts(parts ...*part) *part {
	whole := &part{labels: map[string]string{}, annotations: map[string]string{}}
	for _, p := range parts {
		maps.Copy(whole.labels, p.labels)
		maps.Copy(whole.annotations, p.annotations)
		if p.podLabels != nil {
			whole.podLabels = p.podLabels
		}
		mergeFields(whole, &whole.job, p.job)
		mergeFields(whole, &whole.head, p.head)
		mergeFields(whole, &whole.node, p.node)
		mergeFields(whole, &whole.pod, p.pod)
		mergeFields(whole, &whole.container, p.container)
		mergeFields(whole, &whole.launch, p.launch)
		mergeFields(whole, &whole.stored, p.stored)
		whole.exported = append(whole.exported, p.exported...)
		whole.errs = append(whole.errs, p.errs...)
		whole.warnings = append(whole.warnings, p.warnings...)
		whole.notes = append(whole.notes, p.notes...)
		whole.needs = append(whole.needs, p.needs...)
		for option, fields := range p.made {
			whole.recordFields(option, fields...)
		}
	}
	return whole
}

// mergeFields copies the fields that are set in from. It adds an error for each field that has already been set.
func mergeFields[T any](whole *part, to *T, from T) {
	into, set := reflect.ValueOf(to).Elem(), reflect.ValueOf(from)
	for i := range set.NumField() {
		if set.Field(i).IsZero() {
			continue
		}
		if !into.Field(i).IsZero() {
			whole.addError(fmt.Errorf("two parts of the job both set %s.%s", set.Type().Name(), set.Type().Field(i).Name))
		}
		into.Field(i).Set(set.Field(i))
	}
}
