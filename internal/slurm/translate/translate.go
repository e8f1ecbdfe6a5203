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
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
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

// builder holds the state of a translation.
type builder struct {
	Input
	r     *request.Request
	p     *profile.Profile
	name  string
	title string
	size  size
	// otherGres lists the generic resources other than GPUs. gresGPUs is true if --gres set the number of GPUs per
	// node.
	otherGres []optionvalue.Gres
	gresGPUs  bool
	job       *batchv1alpha1.Job
	spec      *launchconfig.Spec
	asked     submission.Options
	warnings  []string
	notes     []Note
	needs     []Need
	made      map[string][]string
	err       []error
}

// addError records an error. Job returns all errors together.
func (b *builder) addError(err error) { b.err = append(b.err, err) }

// addNote adds a plain note.
func (b *builder) addNote(text string) { b.notes = append(b.notes, Note{Text: text}) }

// recordFields records the fields that an option set.
func (b *builder) recordFields(option string, fields ...string) {
	if b.r.HasOption(option) {
		b.made[option] = append(b.made[option], fields...)
	}
}

// Job translates a request. The error joins one usererror.Error per mistake.
func Job(in Input) (*Result, error) {
	own := *in.Request // the translation adds derived values only to this copy
	b := &builder{Input: in, r: &own, p: in.Profile, made: map[string][]string{}}
	b.title = b.r.JobName
	if b.title == "" {
		b.title = in.Title
	}
	b.name = objectName(b.title) + "-" + in.Suffix
	b.spec = &launchconfig.Spec{JobName: b.title, User: in.User, Cluster: in.Cluster, Interactive: in.Interactive, Args: in.Args}
	b.job = &batchv1alpha1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: b.name, Namespace: in.Namespace, Labels: map[string]string{},
			Annotations: map[string]string{keys.JobTitle: b.title, keys.User: in.User}},
		Spec: batchv1alpha1.JobSpec{SchedulerName: keys.DefaultSchedulerName},
	}
	b.recordFields("job-name", "metadata.name", keyPath("metadata.annotations", keys.JobTitle))
	b.spec.Command = in.ScriptFile
	b.removeHomeVolume()
	b.setPartition()
	b.setPriorityClass()
	b.setGates()
	b.determineSize()
	b.createTasks()
	b.setLifetime()
	b.setPlacement()
	b.setFiles()
	b.addMounts()
	objects := b.createObjects()
	b.storeOptions()
	if err := errors.Join(b.err...); err != nil {
		return nil, err
	}
	objects.Needs = b.needs
	objects.Job, objects.Spec, objects.Warnings, objects.Notes, objects.Made = b.job, b.spec, b.warnings, b.notes, b.listEffects()
	return objects, nil
}

// listEffects returns the effects of the options, in the order of the option table.
func (b *builder) listEffects() []Made {
	var all []Made
	for i := range request.Options {
		name := request.Options[i].Long
		s, given := b.r.Given[name]
		if given && s.Option == &request.Options[i] {
			one := Made{Option: s.String() + s.From.String(), Fields: b.addSecondTask(b.made[name])}
			switch {
			case len(one.Fields) > 0:
			case s.Option.Class != request.Mapped:
				one.Note = "no effect here"
			default:
				one.Note = "applies only to the submission"
			}
			all = append(all, one)
		}
	}
	return all
}

// addSecondTask adds the corresponding fields of the second task for all fields of the first task.
func (b *builder) addSecondTask(fields []string) []string {
	var all []string
	first, second := taskPath(0)+".template.", taskPath(1)+".template."
	for _, field := range fields {
		if slices.Contains(all, field) {
			continue
		}
		all = append(all, field)
		if rest, is := strings.CutPrefix(field, first); is && len(b.job.Spec.Tasks) > 1 && !slices.Contains(fields, second+rest) {
			all = append(all, second+rest)
		}
	}
	return all
}

// createTasks creates the tasks of the job: the head, which runs the script, and the nodes, which wait for steps.
func (b *builder) createTasks() {
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: new(launchconfig.GraceSeconds),
		Containers: []corev1.Container{{Name: "main", Image: b.containerImage(), Resources: b.containerResources()}},
	}}
	head := batchv1alpha1.TaskSpec{Name: launchconfig.HeadTask, Replicas: 1, Template: template}
	b.job.Spec.MinAvailable = int32(b.size.least)
	switch {
	case b.r.Array != nil:
		b.setUpArray(&head)
		b.job.Spec.Tasks = []batchv1alpha1.TaskSpec{head}
	case b.size.nodes == 1:
		b.job.Spec.Tasks = []batchv1alpha1.TaskSpec{head}
	default:
		node := batchv1alpha1.TaskSpec{Name: launchconfig.NodeTask, Replicas: int32(b.size.nodes) - 1, Template: *template.DeepCopy()}
		if b.size.least < b.size.nodes {
			node.MinAvailable = new(int32(b.size.least) - 1)
			b.spec.MinNodes = b.size.least
		}
		b.job.Spec.Tasks = []batchv1alpha1.TaskSpec{head, node}
		b.recordFields("nodes", "spec.tasks[1].replicas")
	}
	b.recordFields("nodes", "spec.minAvailable")
	b.recordFields("ntasks", "launch.tasks")
	b.recordFields("wrap", "ConfigMap["+launchconfig.ScriptKey+"]")
	b.recordFields("container-image", "spec.tasks[0].template.spec.containers[0].image")
	b.setUpNetwork()
	b.setServiceAccount()
}

// setServiceAccount assigns the profile's service account to the pods, so that commands in the job can access the
// cluster.
func (b *builder) setServiceAccount() {
	if !b.Facts.ServiceAccount {
		return
	}
	b.spec.ServiceAccount = b.p.ServiceAccount
	if b.usesLocalPrograms() {
		b.spec.Program = b.Program
	}
	b.visitPods(func(pod *corev1.PodSpec) { pod.ServiceAccountName = b.p.ServiceAccount })
}

// visitPods calls visit with the pod of every task.
func (b *builder) visitPods(visit func(*corev1.PodSpec)) {
	for i := range b.job.Spec.Tasks {
		visit(&b.job.Spec.Tasks[i].Template.Spec)
	}
}

// fieldPaths returns the paths of a field in the pods of all tasks.
func (b *builder) fieldPaths(field string) []string {
	var all []string
	for i := range b.job.Spec.Tasks {
		all = append(all, taskPath(i)+".template.spec."+field)
	}
	return all
}

// setUpArray sets up the single task that contains all elements of an array.
func (b *builder) setUpArray(head *batchv1alpha1.TaskSpec) {
	a := b.r.Array
	count, nodes := int32(a.Elements.Count()), int32(b.size.nodes)
	head.Replicas = count * nodes
	head.MinAvailable = new(nodes)
	if nodes > 1 {
		head.MinAvailable = nil
		head.PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: count, PartitionSize: nodes, MinPartitions: 1}
	}
	b.job.Spec.MinAvailable = nodes
	b.job.Annotations[keys.Array] = a.Elements.String()
	b.recordFields("array", keyPath("metadata.annotations", keys.Array), "spec.tasks[0].replicas")
	if a.Limit > 0 {
		b.job.Annotations[keys.ArrayLimit] = formatNumber(int64(a.Limit))
		b.recordFields("array", keyPath("metadata.annotations", keys.ArrayLimit))
	}
	first, last := a.Elements[0].First, a.Elements[len(a.Elements)-1].Last
	b.spec.Array = &launchconfig.Array{Count: int(count), Min: int(first), Max: int(last), Step: stepBetween(a.Elements), Elements: a.Elements.String()}
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
func (b *builder) setUpNetwork() {
	b.job.Spec.Plugins = map[string][]string{"env": {}}
	if b.size.nodes == 1 {
		return
	}
	b.job.Spec.Plugins["svc"] = []string{"--publish-not-ready-addresses=true"}
	if b.size.nodes > largestInEnvironment || b.r.Array != nil {
		b.job.Spec.Plugins["svc"] = append(b.job.Spec.Plugins["svc"], "--inject-hosts-env=false")
	}
	if b.r.MPI == "ssh" {
		b.job.Spec.Plugins["ssh"] = []string{}
		b.recordFields("mpi", "spec.plugins.ssh")
	}
	domain := b.p.ClusterDomain
	if domain == "" {
		domain = "cluster.local"
	}
	b.visitPods(func(pod *corev1.PodSpec) {
		pod.DNSConfig = &corev1.PodDNSConfig{Searches: []string{b.name + "." + b.Namespace + ".svc." + domain}}
	})
}

// largestInEnvironment is the maximum number of host names that are passed in environment variables.
const largestInEnvironment = 256

// createObjects creates the ConfigMap and the Secret of the job, and prepares the pods to use them.
func (b *builder) createObjects() *Result {
	object := b.name + ObjectSuffix
	meta := metav1.ObjectMeta{Name: object, Namespace: b.Namespace}
	result := &Result{ConfigMap: &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta, Data: map[string]string{}}}
	if len(b.Script) > 0 {
		result.ConfigMap.Data[launchconfig.ScriptKey] = string(b.Script)
	}
	exported := b.exportedVariables()
	result.ConfigMap.Data[launchconfig.SpecKey] = encodeSpec(b.spec)
	if b.size.nodes > 1 || b.Interactive || len(exported) > 0 {
		result.Secret = &corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: meta, Data: map[string][]byte{launchconfig.StepKey: []byte(b.Key)}}
		if len(exported) > 0 {
			result.Secret.Data[launchconfig.EnvironmentKey] = launchconfig.JoinEnvironment(exported)
		}
	}
	b.visitPods(func(pod *corev1.PodSpec) {
		podsetup.PreparePod(pod, podsetup.Options{Object: object, ToolsImage: b.toolsImage(), Secret: result.Secret != nil})
	})
	return result
}

// ObjectSuffix is the suffix of the names of the ConfigMap and the Secret.
const ObjectSuffix = "-slurm"
