// Package translate makes a Volcano Job of what was asked for with Slurm's options.
//
//	In:   a request, its script and environment, the site's profile, what is known of the cluster
//	Out:  Job, ConfigMap and Secret; for each field that an option made, which option; notes for the person
//
// # Invariants
//
//   - Pure: the same input gives the same objects, to the byte. Names, keys and the time of day are handed in.
//   - Nothing is dropped in silence: an option changes a field, is in the notes, or is an error.
package translate

import (
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/slurm/asked"
	"github.com/vc-batch/vc/internal/slurm/equip"
	"github.com/vc-batch/vc/internal/slurm/launch"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/request"
	"github.com/vc-batch/vc/internal/slurm/value"
)

// Input is all that a job is made of.
type Input struct {
	Request *request.Request
	Profile *profile.Profile
	Facts   Facts
	// Title is the name that the job has for its user, unless --job-name says another.
	Title string
	// Script is the text that runs, with Args after it; Interactive jobs have none.
	// ScriptFile is the absolute path of the script's file; empty for a command line of --wrap, standard input, and interactive jobs.
	Script      []byte
	ScriptFile  string
	Args        []string
	Interactive bool
	// Environ is the environment of who submits; ExportFile what --export-file holds.
	Environ, ExportFile []string
	// InJob says that the job is submitted from inside another.
	InJob bool
	// Program is the path of vcctl on the submitting machine.
	Program string
	// Suffix makes the name of the object unique, Key is the secret of the job's pods in hexadecimal digits.
	Suffix, Key string
	// Namespace, Cluster and User are where and for whom; Dir and Host from where; Line is the whole command line.
	Namespace, Cluster, User, Dir, Host, Line string
	// Owner is the user on the host where the job is submitted.
	Owner Owner
}

// Owner is a user of a host; fields are empty if the host does not know them.
type Owner struct{ UID, GID, Group string }

// Facts are what is known of a cluster.
type Facts struct {
	// Queues are all queues; nil when they are not known: then the server judges.
	Queues []Queue
	// Classes are the priority classes; nil when they are not known.
	Classes []string
	// Nodes are those that take pods, those that are alike counted; nil when they are not known.
	Nodes []Node
	// NodeNames are the names of all nodes; nil when they are not known.
	NodeNames []string
	// HiddenProfile is the namespace of a site's profile that the user may not read; empty if there is none.
	HiddenProfile string
	// Helper says that all nodes have the helper without an image: process nodes.
	Helper bool
	// ServiceAccount says that the namespace has the service account of the profile.
	ServiceAccount bool
}

// Queue is a queue of the cluster.
type Queue struct {
	Name string
	Open bool
	// Admits says whether its jobs run on the nodes of a group; nil: on all.
	Admits func(group string) bool
}

// Result is what a request became.
type Result struct {
	Job       *batchv1alpha1.Job
	ConfigMap *corev1.ConfigMap
	// Secret is nil when the job needs none.
	Secret *corev1.Secret
	// Spec is what the ConfigMap tells the launcher.
	Spec *launch.Spec
	// Needs are what has to be there before the script can start.
	Needs []Need
	// Made says for each option what it became.
	Made []Made
	// Warnings are about what has no effect, Notes about what is otherwise than one may expect: lines without the program's name.
	Warnings, Notes []string
}

// Need is a file or directory on a volume that an option names; Path is that of the submitting machine.
type Need struct{ Option, Path string }

// Made is an option and the fields that it made.
type Made struct {
	// Option is as it was given, with where: --nodes=4 (line 3).
	Option string `json:"option"`
	// Fields are paths in the Job, as spec.tasks[0].replicas; or of the ConfigMap's spec.json, as launch.output.
	Fields []string `json:"fields,omitempty"`
	// Note says of an option that made none why.
	Note string `json:"note,omitempty"`
}

// builder is a job on its way.
type builder struct {
	Input
	r     *request.Request
	p     *profile.Profile
	name  string
	title string
	size  size
	// otherGres are those that are no GPUs; gresGPUs says that GPUs of a node were asked for by --gres.
	otherGres       []value.Gres
	gresGPUs        bool
	job             *batchv1alpha1.Job
	spec            *launch.Spec
	asked           asked.Options
	warnings, notes []string
	needs           []Need
	made            map[string][]string
	err             []error
}

// fail remembers an error; all are told together.
func (b *builder) fail(err error) { b.err = append(b.err, err) }

// by remembers which fields an option made.
func (b *builder) by(option string, fields ...string) {
	if b.r.Has(option) {
		b.made[option] = append(b.made[option], fields...)
	}
}

// Job translates. The error joins one fault.Error for each mistake.
func Job(in Input) (*Result, error) {
	own := *in.Request // what follows from other options is written into it
	b := &builder{Input: in, r: &own, p: in.Profile, made: map[string][]string{}}
	b.title = b.r.JobName
	if b.title == "" {
		b.title = in.Title
	}
	b.name = objectName(b.title) + "-" + in.Suffix
	b.spec = &launch.Spec{JobName: b.title, User: in.User, Cluster: in.Cluster, Interactive: in.Interactive, Args: in.Args}
	b.job = &batchv1alpha1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: b.name, Namespace: in.Namespace, Labels: map[string]string{},
			Annotations: map[string]string{keys.JobTitle: b.title, keys.User: in.User}},
		Spec: batchv1alpha1.JobSpec{SchedulerName: keys.DefaultSchedulerName},
	}
	b.by("job-name", "metadata.name", path("metadata.annotations", keys.JobTitle))
	b.spec.Command = in.ScriptFile
	b.home()
	b.partition()
	b.priority()
	b.gates()
	b.measure()
	b.tasks()
	b.life()
	b.place()
	b.files()
	b.mounts()
	objects := b.objects()
	b.remember()
	if err := errors.Join(b.err...); err != nil {
		return nil, err
	}
	objects.Needs = b.needs
	objects.Job, objects.Spec, objects.Warnings, objects.Notes, objects.Made = b.job, b.spec, b.warnings, b.notes, b.list()
	return objects, nil
}

// list is what was made, in the order of the options.
func (b *builder) list() []Made {
	var all []Made
	for i := range request.Options {
		name := request.Options[i].Long
		s, given := b.r.Given[name]
		if given && s.Option == &request.Options[i] {
			one := Made{Option: s.String() + s.From.String(), Fields: b.everyTask(b.made[name])}
			switch {
			case len(one.Fields) > 0:
			case s.Option.Class != request.Mapped:
				one.Note = "no effect here"
			default:
				one.Note = "about the submission itself"
			}
			all = append(all, one)
		}
	}
	return all
}

// everyTask adds, to what was made in the first task's container, the same of the second.
func (b *builder) everyTask(fields []string) []string {
	var all []string
	first, second := task(0)+".template.", task(1)+".template."
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

// tasks makes the roles of the job: a head, which runs the script, and nodes, which wait for steps.
func (b *builder) tasks() {
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: new(launch.GraceSeconds),
		Containers: []corev1.Container{{Name: "main", Image: b.image(), Resources: b.resources()}},
	}}
	head := batchv1alpha1.TaskSpec{Name: launch.HeadTask, Replicas: 1, Template: template}
	b.job.Spec.MinAvailable = int32(b.size.least)
	switch {
	case b.r.Array != nil:
		b.array(&head)
		b.job.Spec.Tasks = []batchv1alpha1.TaskSpec{head}
	case b.size.nodes == 1:
		b.job.Spec.Tasks = []batchv1alpha1.TaskSpec{head}
	default:
		node := batchv1alpha1.TaskSpec{Name: launch.NodeTask, Replicas: int32(b.size.nodes) - 1, Template: *template.DeepCopy()}
		if b.size.least < b.size.nodes {
			node.MinAvailable = new(int32(b.size.least) - 1)
			b.spec.MinNodes = b.size.least
		}
		b.job.Spec.Tasks = []batchv1alpha1.TaskSpec{head, node}
		b.by("nodes", "spec.tasks[1].replicas")
	}
	b.by("nodes", "spec.minAvailable")
	b.by("ntasks", "launch.tasks")
	b.by("wrap", "ConfigMap["+launch.ScriptKey+"]")
	b.by("container-image", "spec.tasks[0].template.spec.containers[0].image")
	b.network()
	b.rights()
}

// rights lets commands in the job reach the cluster, where the site permits that.
func (b *builder) rights() {
	if !b.Facts.ServiceAccount {
		return
	}
	b.spec.ServiceAccount = b.p.ServiceAccount
	if b.ownPrograms() {
		b.spec.Program = b.Program
	}
	b.each(func(pod *corev1.PodSpec) { pod.ServiceAccountName = b.p.ServiceAccount })
}

// each calls visit with the pod of every task.
func (b *builder) each(visit func(*corev1.PodSpec)) {
	for i := range b.job.Spec.Tasks {
		visit(&b.job.Spec.Tasks[i].Template.Spec)
	}
}

// eachField names a field of the pods of every task.
func (b *builder) eachField(field string) []string {
	var all []string
	for i := range b.job.Spec.Tasks {
		all = append(all, task(i)+".template.spec."+field)
	}
	return all
}

// array makes one task of all elements.
func (b *builder) array(head *batchv1alpha1.TaskSpec) {
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
	b.by("array", path("metadata.annotations", keys.Array), "spec.tasks[0].replicas")
	if a.Limit > 0 {
		b.job.Annotations[keys.ArrayLimit] = itoa(int64(a.Limit))
		b.by("array", path("metadata.annotations", keys.ArrayLimit))
	}
	first, last := a.Elements[0].First, a.Elements[len(a.Elements)-1].Last
	b.spec.Array = &launch.Array{Count: int(count), Min: int(first), Max: int(last), Step: stepOf(a.Elements), Elements: a.Elements.String()}
}

// stepOf is the distance between elements where it is everywhere the same, else 1.
func stepOf(elements batchv1alpha1.Indices) int {
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

// network lets the pods of a job, or of an element, find each other.
func (b *builder) network() {
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
		b.by("mpi", "spec.plugins.ssh")
	}
	domain := b.p.ClusterDomain
	if domain == "" {
		domain = "cluster.local"
	}
	b.each(func(pod *corev1.PodSpec) {
		pod.DNSConfig = &corev1.PodDNSConfig{Searches: []string{b.name + "." + b.Namespace + ".svc." + domain}}
	})
}

// largestInEnvironment is how many host names still fit into variables.
const largestInEnvironment = 256

// objects are what goes with the job, and what makes its pods read it.
func (b *builder) objects() *Result {
	object := b.name + ObjectSuffix
	meta := metav1.ObjectMeta{Name: object, Namespace: b.Namespace}
	result := &Result{ConfigMap: &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta, Data: map[string]string{}}}
	if len(b.Script) > 0 {
		result.ConfigMap.Data[launch.ScriptKey] = string(b.Script)
	}
	exported := b.exported()
	result.ConfigMap.Data[launch.SpecKey] = specText(b.spec)
	if b.size.nodes > 1 || b.Interactive || len(exported) > 0 {
		result.Secret = &corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: meta, Data: map[string][]byte{launch.StepKey: []byte(b.Key)}}
		if len(exported) > 0 {
			result.Secret.Data[launch.EnvironmentKey] = launch.JoinEnvironment(exported)
		}
	}
	b.each(func(pod *corev1.PodSpec) {
		equip.Pod(pod, equip.Options{Object: object, ToolsImage: b.toolsImage(), Secret: result.Secret != nil})
	})
	return result
}

// ObjectSuffix ends the names of ConfigMap and Secret.
const ObjectSuffix = "-slurm"
