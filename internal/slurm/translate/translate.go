// Package translate converts a request with Slurm's options to a Volcano Job.
//
//	In:   a request, its script and environment, the site's profile, facts about the cluster
//	Out:  Job, ConfigMap and Secret; the fields set by each option; notes for the user
//
// # Invariants
//
//   - All functions are pure: the same input results in identical objects. The caller provides names, keys and the
//     current time.
//   - No option is ignored silently: each option changes a field, causes a note, or causes an error.
package translate

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/podsetup"
	"github.com/vc-batch/vc/internal/slurm/request"
	"github.com/vc-batch/vc/internal/slurm/submission"
)

// Job translates a request. The error joins one usererror.Error per mistake.
//
// Each topic returns its part of the job. Only three topics have results that other topics read: the volumes, the
// target and the size. Errors, warnings and notes are in the order of the parts.
func Job(in Input) (*Result, error) {
	mounted, volumes := mountedVolumes(in)
	s := &source{Input: in, r: in.Request, p: mounted, title: cmp.Or(in.Request.JobName, in.Title)}
	s.name = objectName(s.title) + "-" + in.Suffix
	destination, queue := s.chooseTarget()
	extent, resources := s.determineSize(destination)

	compute := func(set func(*topic)) *part {
		t := &topic{source: s, target: destination, size: extent}
		set(t)
		return &t.part
	}
	whole := mergeParts(
		compute((*topic).setIdentity),
		volumes,
		queue,
		compute((*topic).setQOS),
		compute((*topic).setGates),
		resources,
		compute((*topic).setTasks),
		compute((*topic).setLifetime),
		compute((*topic).setPlacement),
		compute((*topic).setFiles),
		compute((*topic).setMounts),
		compute((*topic).setEnvironment),
		compute((*topic).setOptions),
	)
	if err := errors.Join(whole.errs...); err != nil {
		return nil, err
	}
	return s.createObjects(destination, whole), nil
}

// setIdentity sets the title of the job, and what the launcher needs to run the script for the user.
func (b *topic) setIdentity() {
	b.annotations = map[string]string{keys.JobTitle: b.title}
	if b.Submitter != "" {
		b.annotations[keys.User] = b.Submitter
	}
	b.job.SchedulerName = keys.DefaultSchedulerName
	b.launch = launchconfig.Spec{JobName: b.title, User: b.User, Cluster: b.Cluster, Interactive: b.Interactive, Args: b.Args, Command: b.ScriptFile}
	b.recordFields("job-name", "metadata.name", keyPath("metadata.annotations", keys.JobTitle))
}

// createObjects creates the Job, the ConfigMap and the Secret.
func (s *source) createObjects(to target, whole *part) *Result {
	job := &batchv1alpha1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: s.name, Namespace: to.namespace, Labels: whole.labels, Annotations: whole.annotations},
		Spec:       whole.job,
	}
	submission.StoreOptions(job, whole.stored)
	meta := metav1.ObjectMeta{Name: s.name + ObjectSuffix, Namespace: to.namespace}
	result := &Result{Job: job, Spec: &whole.launch, Needs: whole.needs, Warnings: whole.warnings, Notes: whole.notes}
	result.ConfigMap = &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta, Data: map[string]string{launchconfig.SpecKey: encodeSpec(&whole.launch)}}
	if len(s.Script) > 0 {
		result.ConfigMap.Data[launchconfig.ScriptKey] = string(s.Script)
	}
	if whole.launch.Nodes > 1 || s.Interactive || len(whole.exported) > 0 {
		result.Secret = &corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: meta, Data: map[string][]byte{launchconfig.StepKey: []byte(s.Key)}}
		if len(whole.exported) > 0 {
			result.Secret.Data[launchconfig.EnvironmentKey] = launchconfig.JoinEnvironment(whole.exported)
		}
	}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: whole.podLabels}, Spec: whole.pod}
	template.Spec.Containers = []corev1.Container{whole.container}
	podsetup.PreparePod(&template.Spec, podsetup.Options{Object: meta.Name, ToolsImage: s.toolsImage(), Secret: result.Secret != nil})
	for _, task := range []batchv1alpha1.TaskSpec{whole.head, whole.node} {
		if task.Name != "" {
			task.Template = *template.DeepCopy()
			job.Spec.Tasks = append(job.Spec.Tasks, task)
		}
	}
	result.Made = s.listEffects(whole.made, len(job.Spec.Tasks))
	return result
}

// listEffects returns the effects of the options, in the order of the option table.
func (s *source) listEffects(made map[string][]string, tasks int) []Made {
	var all []Made
	for i := range request.Options {
		name := request.Options[i].Long
		setting, given := s.r.Given[name]
		if given && setting.Option == &request.Options[i] {
			one := Made{Option: setting.String() + setting.From.String(), Fields: addSecondTask(made[name], tasks)}
			switch {
			case len(one.Fields) > 0:
			case setting.Option.Class != request.Mapped:
				one.Note = "no effect here"
			default:
				one.Note = "the option applies only to the submission"
			}
			all = append(all, one)
		}
	}
	return all
}

// addSecondTask adds, for each field in the pod template of the first task, the corresponding field of the second task
// if the job has one.
func addSecondTask(fields []string, tasks int) []string {
	var all []string
	first, second := taskPath(0)+".template.", taskPath(1)+".template."
	for _, field := range fields {
		if slices.Contains(all, field) {
			continue
		}
		all = append(all, field)
		if rest, is := strings.CutPrefix(field, first); is && tasks > 1 && !slices.Contains(fields, second+rest) {
			all = append(all, second+rest)
		}
	}
	return all
}

// ObjectSuffix is the suffix of the names of the ConfigMap and the Secret.
const ObjectSuffix = "-slurm"
