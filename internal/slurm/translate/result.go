package translate

import (
	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// Result holds the objects that are created for a request.
type Result struct {
	Job       *batchv1alpha1.Job
	ConfigMap *corev1.ConfigMap
	// Secret is nil if the job does not need one.
	Secret *corev1.Secret
	// Spec specifies the job for the launcher. It is part of the ConfigMap.
	Spec *launchconfig.Spec
	// Needs lists the files and directories that must exist so that the script can start.
	Needs []Need
	// Made lists the options that were specified, with their effects.
	Made []Made
	// Warnings describe options without effect. Notes describe behavior that may surprise the user. Both are lines
	// without the program's name.
	Warnings []string
	Notes    []Note
}

// Note is a remark about behavior that may surprise the user. It is a line without the program's name.
type Note struct {
	Kind NoteKind
	Text string
}

// NoteKind distinguishes the notes that programs treat differently.
type NoteKind uint8

// The kinds of notes.
const (
	// PlainNote is the kind of notes that programs do not treat differently.
	PlainNote NoteKind = iota
	// OutputInPodLog is the kind of the note that output is in the pod log because no volume covers its file.
	OutputInPodLog
	// NothingExported is the kind of the note that a job receives no variables of the submitting machine although a job
	// in Slurm would.
	NothingExported
)

// NoteTexts returns the texts of the notes.
func (r *Result) NoteTexts() []string {
	var all []string
	for _, note := range r.Notes {
		all = append(all, note.Text)
	}
	return all
}

// Need is a file or directory on a volume to which an option refers. Path is its path on the submitting machine.
type Need struct{ Option, Path string }

// Made is an option together with the fields that it set.
type Made struct {
	// Option is the option as specified, with its source: --nodes=4 (line 3).
	Option string `json:"option"`
	// Fields are paths in the Job, such as spec.tasks[0].replicas, or in the ConfigMap's spec.json, such as
	// launch.output.
	Fields []string `json:"fields,omitempty"`
	// Note is the reason why the option set no fields.
	Note string `json:"note,omitempty"`
}
