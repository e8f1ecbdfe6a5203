// Package translate converts a request with Slurm's options to a Volcano Job.
//
//	In:   a request, its script and environment, the site's profile, facts about the cluster
//	Out:  Job, ConfigMap and Secret; the fields set by each option; notes for the user
//
// # Invariants
//
//   - All functions are pure: the same input results in identical objects. The caller provides names, keys and the
//     current time.
//   - No option is ignored silently: each option changes a field, causes a note, or is an error.
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
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/request"
	"github.com/vc-batch/vc/internal/slurm/submission"
)

// Input holds all the data from which a job is created.
type Input struct {
	Request *request.Request
	Profile *profile.Profile
	Facts   Facts
	// Title is the default name of the job, used unless --job-name is specified.
	Title string
	// Script is the text to run with Args; it is empty for interactive jobs. ScriptFile is the absolute path of the
	// script's file; it is empty for the command line of --wrap, for standard input and for interactive jobs.
	Script      []byte
	ScriptFile  string
	Args        []string
	Interactive bool
	// Environ is the environment of the submitting user. ExportFile holds the variables in the file named by
	// --export-file.
	Environ, ExportFile []string
	// InJob reports whether the job is submitted from inside another job.
	InJob bool
	// Program is the path of vcctl on the submitting machine.
	Program string
	// Suffix makes the object name unique. Key is the secret key of the job's pods, in hexadecimal.
	Suffix, Key string
	// Namespace and Cluster are the destination, and User is the user of the job. Dir and Host are the directory and
	// the host from which the job is submitted. Line is the complete command line.
	Namespace, Cluster, User, Dir, Host, Line string
	// Owner is the user on the submitting host.
	Owner Owner
}

// Owner is a user on a host. Its fields are empty if the host has no data about the user.
type Owner struct{ UID, GID, Group string }

// Facts describes a cluster.
type Facts struct {
	// Queues lists all queues; nil if they are unknown, in which case the server checks the queue.
	Queues []Queue
	// Classes lists the priority classes; nil if they are unknown.
	Classes []string
	// Nodes lists the nodes that accept pods, grouped into sets of identical nodes; nil if they are unknown.
	Nodes []Node
	// NodeNames lists the names of all nodes; nil if they are unknown.
	NodeNames []string
	// HiddenProfile is the namespace of a profile that the user is not allowed to read; "" if none exists.
	HiddenProfile string
	// Helper is true if all nodes are process nodes, on which vc-step is available without an image.
	Helper bool
	// ServiceAccount is true if the namespace has the service account named in the profile.
	ServiceAccount bool
}

// Queue is a queue of the cluster.
type Queue struct {
	Name string
	Open bool
	// Admits reports whether jobs of the queue may run on the nodes of a group. A nil Admits permits all nodes.
	Admits func(group string) bool
}

// Result holds the objects that are created for a request.
type Result struct {
	Job       *batchv1alpha1.Job
	ConfigMap *corev1.ConfigMap
	// Secret is nil if the job does not need one.
	Secret *corev1.Secret
	// Spec specifies the job for the launcher. It is part of the ConfigMap.
	Spec *launchconfig.Spec
	// Needs lists the files and directories that must exist for the script to start.
	Needs []Need
	// Made lists the options that were specified, with their effects.
	Made []Made
	// Warnings describe options without effect. Notes describe behavior that may surprise the user. Both are lines
	// without the program's name.
	Warnings []string
	Notes    []Note
}

// Note is a remark about behaviour that may surprise the user. It is a line without the program's name.
type Note struct {
	Kind NoteKind
	Text string
}

// NoteKind distinguishes the notes that programs treat differently.
type NoteKind uint8

// The kinds of notes.
const (
	// PlainNote is a note without further meaning.
	PlainNote NoteKind = iota
	// OutputInPodLog is the note about output that no volume covers: it is in the pod log.
	OutputInPodLog
	// NothingExported is the note for jobs that receive no variables of the submitting machine although a Slurm job
	// would.
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

// Need is a file or directory on a volume that an option refers to. Path is its path on the submitting machine.
type Need struct{ Option, Path string }

// Made is an option with the fields that it set.
type Made struct {
	// Option is the option as specified, with its source: --nodes=4 (line 3).
	Option string `json:"option"`
	// Fields are paths in the Job, such as spec.tasks[0].replicas, or in the ConfigMap's spec.json, such as
	// launch.output.
	Fields []string `json:"fields,omitempty"`
	// Note is the reason why the option set no fields.
	Note string `json:"note,omitempty"`
}

// source holds the input of all topics. It does not change.
type source struct {
	Input
	r *request.Request
	// p is the profile without the volumes that the job does not mount.
	p           *profile.Profile
	title, name string
}

// target is where a job runs: its partition, and the queue and the namespace that follow from partition and account.
type target struct{ partition, queue, namespace string }

// topic computes one part of a job. It reads the source and the results of earlier topics, and changes only its part.
type topic struct {
	*source
	target target
	size   size
	part
}

// Job translates a request. The error joins one usererror.Error per mistake.
//
// Each topic returns its part of the job. Only three topics have results that others read: the volumes, the target and
// the size. The order of the parts is the order of errors, warnings and notes.
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
		compute((*topic).setPriorityClass),
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

// setIdentity sets the title of the job, and what the launcher must know about user and script.
func (b *topic) setIdentity() {
	b.annotations = map[string]string{keys.JobTitle: b.title, keys.User: b.User}
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
				one.Note = "applies only to the submission"
			}
			all = append(all, one)
		}
	}
	return all
}

// addSecondTask adds the corresponding fields of the second task, if the job has one, for all fields of the first task.
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

// setTasks sets the tasks of the job: the head, which runs the script, and the nodes, which wait for steps.
func (b *topic) setTasks() {
	b.pod.RestartPolicy, b.pod.TerminationGracePeriodSeconds = corev1.RestartPolicyNever, new(launchconfig.GraceSeconds)
	b.container = corev1.Container{Name: "main", Image: b.containerImage(), Resources: b.containerResources()}
	b.head.Name, b.head.Replicas = launchconfig.HeadTask, 1
	b.job.MinAvailable = int32(b.size.least)
	switch {
	case b.r.Array != nil:
		b.setUpArray()
	case b.hasNodeTask():
		b.node.Name, b.node.Replicas = launchconfig.NodeTask, int32(b.size.nodes)-1
		if b.size.least < b.size.nodes {
			b.node.MinAvailable = new(int32(b.size.least) - 1)
			b.launch.MinNodes = b.size.least
		}
		b.recordFields("nodes", "spec.tasks[1].replicas")
	}
	b.recordFields("nodes", "spec.minAvailable")
	b.recordFields("ntasks", "launch.tasks")
	b.recordFields("wrap", "ConfigMap["+launchconfig.ScriptKey+"]")
	b.recordFields("container-image", "spec.tasks[0].template.spec.containers[0].image")
	b.setUpNetwork()
	b.setServiceAccount()
}

// hasNodeTask reports whether the job has a second task for the nodes other than the first.
func (b *topic) hasNodeTask() bool { return b.r.Array == nil && b.size.nodes > 1 }

// setServiceAccount assigns the profile's service account to the pods, so that commands in the job can access the
// cluster.
func (b *topic) setServiceAccount() {
	if !b.Facts.ServiceAccount {
		return
	}
	b.launch.ServiceAccount = b.p.ServiceAccount
	if b.usesLocalPrograms() {
		b.launch.Program = b.Program
	}
	b.pod.ServiceAccountName = b.p.ServiceAccount
}

// fieldPaths returns the paths of a field in the pods of all tasks.
func (b *topic) fieldPaths(field string) []string {
	all := []string{taskPath(0) + ".template.spec." + field}
	if b.hasNodeTask() {
		all = append(all, taskPath(1)+".template.spec."+field)
	}
	return all
}

// setUpArray sets up the single task that contains all elements of an array.
func (b *topic) setUpArray() {
	a := b.r.Array
	count, nodes := int32(a.Elements.Count()), int32(b.size.nodes)
	b.head.Replicas = count * nodes
	b.head.MinAvailable = new(nodes)
	if nodes > 1 {
		b.head.MinAvailable = nil
		b.head.PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: count, PartitionSize: nodes, MinPartitions: 1}
	}
	b.job.MinAvailable = nodes
	b.annotate("array", keys.Array, a.Elements.String())
	b.recordFields("array", "spec.tasks[0].replicas")
	if a.Limit > 0 {
		b.annotate("array", keys.ArrayLimit, formatNumber(int64(a.Limit)))
	}
	first, last := a.Elements[0].First, a.Elements[len(a.Elements)-1].Last
	b.launch.Array = &launchconfig.Array{Count: int(count), Min: int(first), Max: int(last), Step: stepBetween(a.Elements), Elements: a.Elements.String()}
}

// stepBetween returns the distance between elements; 1 if it is not constant.
func stepBetween(elements batchv1alpha1.Indices) int {
	step, before := int32(0), int32(-1)
	for n := range elements.All() {
		if before >= 0 {
			if step != 0 && n-before != step {
				return 1
			}
			step = n - before
		}
		before = n
	}
	return int(max(step, 1))
}

// setUpNetwork sets up name resolution between the pods of a job or array element.
func (b *topic) setUpNetwork() {
	b.job.Plugins = map[string][]string{"env": {}}
	if b.size.nodes == 1 {
		return
	}
	b.job.Plugins["svc"] = []string{"--publish-not-ready-addresses=true"}
	if b.size.nodes > largestInEnvironment || b.r.Array != nil {
		b.job.Plugins["svc"] = append(b.job.Plugins["svc"], "--inject-hosts-env=false")
	}
	if b.r.MPI == "ssh" {
		b.job.Plugins["ssh"] = []string{}
		b.recordFields("mpi", "spec.plugins.ssh")
	}
	domain := b.p.ClusterDomain
	if domain == "" {
		domain = "cluster.local"
	}
	b.pod.DNSConfig = &corev1.PodDNSConfig{Searches: []string{b.name + "." + b.target.namespace + ".svc." + domain}}
}

// largestInEnvironment is the maximum number of host names that are passed in environment variables.
const largestInEnvironment = 256

// ObjectSuffix is the suffix of the names of the ConfigMap and the Secret.
const ObjectSuffix = "-slurm"
