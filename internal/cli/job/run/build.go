package run

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

// recipe is a job as described by flags.
type recipe struct {
	name, namespace   string
	user              string // the user to record in the job; "" for none
	image             string
	command           []string
	queue             string
	replicas, min     int32
	minGiven          bool
	cpu, memory       string
	gpus              int64
	gpuResource       string
	timeLimit         time.Duration
	env               []string
	labels            []string
	nodeSelector      []string
	workDir           string
	restart           string
	priority          string
	scheduler         string
	plugins           []string
	maxRetry          int32
	maxRetryGiven     bool
	ttl               time.Duration
	ttlGiven          bool
	task              string
	array             string
	volumes           []string
	tolerations       []string
	serviceAccount    string
	start             startFlags
	now               time.Time // reference time for --begin
	requests, limits  string
	old               bool
	oldRequestsOrLims bool
	limitsGiven       bool
	amountsGiven      bool // --cpu, --memory or --gpus was specified
}

// buildJob creates the job that a recipe describes.
func buildJob(r *recipe) (*batchv1alpha1.Job, error) {
	if err := r.checkFlags(); err != nil {
		return nil, err
	}
	resources, err := r.containerResources()
	if err != nil {
		return nil, err
	}
	env, err := r.environmentVariables()
	if err != nil {
		return nil, err
	}
	labels, err := parsePairs("--labels", r.labels)
	if err != nil {
		return nil, err
	}
	nodes, err := parsePairs("--node-selector", r.nodeSelector)
	if err != nil {
		return nil, err
	}
	volumes, mounts, err := r.podVolumes()
	if err != nil {
		return nil, err
	}
	tolerations, err := r.podTolerations()
	if err != nil {
		return nil, err
	}
	annotations, err := r.start.startAnnotations(r.namespace, r.now)
	if err != nil {
		return nil, err
	}
	container := corev1.Container{
		Name: r.task, Image: r.image, Command: r.command, WorkingDir: r.workDir, Env: env,
		Resources: resources, ImagePullPolicy: corev1.PullIfNotPresent, VolumeMounts: mounts,
	}
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{container}, RestartPolicy: corev1.RestartPolicy(r.restart), NodeSelector: nodes,
		Volumes: volumes, Tolerations: tolerations, ServiceAccountName: r.serviceAccount,
	}}
	if r.timeLimit > 0 {
		seconds := roundUpSeconds(r.timeLimit)
		template.Spec.ActiveDeadlineSeconds = &seconds
	}
	job := &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: r.name, Namespace: r.namespace, Labels: labels},
		Spec: batchv1alpha1.JobSpec{
			Queue: r.queue, SchedulerName: r.scheduler, PriorityClassName: r.priority, MinAvailable: r.replicas,
			Tasks: []batchv1alpha1.TaskSpec{{Name: r.task, Replicas: r.replicas, Template: template}},
		},
	}
	if r.user != "" {
		annotations[keys.User] = r.user
	}
	if len(annotations) > 0 {
		job.Annotations = annotations
	}
	r.setOptions(job)
	return job, r.setUpArray(job)
}

// setUpArray makes the job an array with the elements that --array specifies. --replicas is then the number of pods per
// element.
func (r *recipe) setUpArray(job *batchv1alpha1.Job) error {
	if r.array == "" {
		return nil
	}
	array, err := optionvalue.ParseArray(r.array)
	if err != nil {
		return usererror.Errorf("examples: --array 0-15  --array 1,3,5-7  --array 0-99%10 (at most ten at a time)", "--array %s: %v", r.array, err)
	}
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	job.Annotations[keys.Array] = array.Elements.String()
	if array.Limit > 0 {
		job.Annotations[keys.ArrayLimit] = strconv.Itoa(int(array.Limit))
	}
	task := &job.Spec.Tasks[0]
	if size := task.Replicas; size > 1 {
		task.PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: int32(array.Elements.Count()), PartitionSize: size}
	}
	task.Replicas, job.Spec.MinAvailable = 0, 0 // both follow from the elements
	return nil
}

// checkFlags returns errors for invalid flag values.
func (r *recipe) checkFlags() error {
	var problems []error
	wrong := func(hint, format string, args ...any) {
		problems = append(problems, usererror.Errorf(hint, format, args...))
	}
	switch {
	case r.replicas < 1:
		wrong("specify at least one pod, for example --replicas=3", "--replicas (-r): %d is less than 1", r.replicas)
	case r.min > r.replicas && r.minGiven:
		wrong("such a job could never start; lower --min or raise --replicas", "--min (-m): %d is more than --replicas, which is %d", r.min, r.replicas)
	}
	if r.min < 0 {
		wrong("omit --min if all pods must start together", "--min (-m): %d is less than 0", r.min)
	}
	if r.gpus < 0 {
		wrong("omit --gpus for a job without GPUs", "--gpus: %d is less than 0", r.gpus)
	}
	if r.timeLimit < 0 {
		wrong("for example --time=90m; omit --time for no limit", "--time: %s is less than 0", r.timeLimit)
	}
	if roundUpSeconds(r.ttl) > math.MaxInt32 {
		wrong("omit --ttl to keep the job", "--ttl: %s is too long", r.ttl)
	}
	if r.ttl < 0 {
		wrong("for example --ttl=24h; omit --ttl to keep the job", "--ttl: %s is less than 0", r.ttl)
	}
	if restarts := []string{"Never", "OnFailure", "Always"}; !slices.Contains(restarts, r.restart) {
		wrong("one of: "+strings.Join(restarts, ", "), "--restart: unknown value %q", r.restart)
	}
	return errors.Join(problems...)
}

// flagsOfFields maps the fields of a job to the flags that set them.
var flagsOfFields = map[string]string{
	"metadata.name": "NAME", "metadata.labels": "--labels",
	"metadata.annotations[" + keys.Array + "]": "--array", "metadata.annotations[" + keys.Hold + "]": "--hold",
	"metadata.annotations[" + keys.Begin + "]": "--begin", "metadata.annotations[" + keys.Dependency + "]": "--after",
	"spec.tasks[0].template.spec.volumes": "--volume", "spec.tasks[0].template.spec.containers[0].volumeMounts": "--volume",
	"spec.tasks[0].template.spec.tolerations": "--toleration", "spec.tasks[0].template.spec.serviceAccountName": "--service-account",
	"spec.queue": "--queue", "spec.minAvailable": "--min", "spec.schedulerName": "--scheduler", "spec.priorityClassName": "--priority-class",
	"spec.plugins": "--plugin", "spec.maxRetry": "--max-retry", "spec.ttlSecondsAfterFinished": "--ttl",
	"spec.tasks[0].name": "--task", "spec.tasks[0].replicas": "--replicas", "spec.tasks[0].minAvailable": "--min",
	"spec.tasks[0].template.spec.nodeSelector": "--node-selector", "spec.tasks[0].template.spec.restartPolicy": "--restart",
	"spec.tasks[0].template.spec.activeDeadlineSeconds": "--time", "spec.tasks[0].template.spec.containers[0].name": "--task",
	"spec.tasks[0].template.spec.containers[0].image": "--image", "spec.tasks[0].template.spec.containers[0].env": "--env",
	"spec.tasks[0].template.spec.containers[0].workingDir": "--workdir", "spec.tasks[0].template.spec.containers[0].resources": "--cpu, --memory and --gpus",
}

// roundUpSeconds rounds up, so that a limit below one second becomes one second and not 0, which would mean no limit.
func roundUpSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// setOptions sets the fields whose flags were specified. The other fields keep the server's defaults.
func (r *recipe) setOptions(job *batchv1alpha1.Job) {
	task := &job.Spec.Tasks[0]
	if r.minGiven || r.old {
		job.Spec.MinAvailable = r.min
		if r.min < r.replicas {
			least := r.min
			task.MinAvailable = &least
		}
	}
	if r.old {
		task.MinAvailable = nil
		task.Template.Labels = map[string]string{keys.JobName: r.name}
		task.Template.Spec.Containers[0].Name = r.name
	}
	if r.maxRetryGiven {
		job.Spec.MaxRetry = r.maxRetry
	}
	if r.ttlGiven {
		seconds := int32(roundUpSeconds(r.ttl))
		job.Spec.TTLSecondsAfterFinished = &seconds
	}
	for _, plugin := range r.plugins {
		if job.Spec.Plugins == nil {
			job.Spec.Plugins = map[string][]string{}
		}
		name, args, _ := strings.Cut(plugin, "=")
		job.Spec.Plugins[name] = strings.Fields(args)
	}
}

// containerResources returns the container's requests and limits as specified by --cpu, --memory and --gpus, or by the
// old flags --requests and --limits.
func (r *recipe) containerResources() (corev1.ResourceRequirements, error) {
	if (r.old && !r.amountsGiven) || r.oldRequestsOrLims {
		requests, err := parseResourceList("--requests", r.requests)
		if err != nil {
			return corev1.ResourceRequirements{}, err
		}
		limits, err := parseResourceList("--limits", r.limits)
		if !r.limitsGiven {
			raiseLimits(limits, requests)
		}
		return corev1.ResourceRequirements{Requests: requests, Limits: limits}, err
	}
	var problems []string
	all := corev1.ResourceRequirements{Requests: corev1.ResourceList{}}
	set := func(flag string, name corev1.ResourceName, text string, limit bool) {
		if text == "" {
			return
		}
		amount, err := resource.ParseQuantity(text)
		if err != nil || amount.Sign() < 0 {
			problems = append(problems, fmt.Sprintf("%s: %q is not a valid amount", flag, text))
			return
		}
		all.Requests[name] = amount
		if limit {
			if all.Limits == nil {
				all.Limits = corev1.ResourceList{}
			}
			all.Limits[name] = amount
		}
	}
	set("--cpu", corev1.ResourceCPU, r.cpu, false)
	set("--memory", corev1.ResourceMemory, r.memory, true)
	if r.gpus > 0 {
		set("--gpus", corev1.ResourceName(r.gpuResource), fmt.Sprint(r.gpus), true)
	}
	if len(problems) > 0 {
		return all, usererror.Errorf("examples: --cpu 500m  --cpu 4  --memory 512Mi  --memory 16Gi", "%s", strings.Join(problems, "; "))
	}
	return all, nil
}

// raiseLimits adapts the default limits to the requests. It raises limits that are lower than the requests, because the
// server rejects such limits, and adds limits for devices, because devices need a limit.
func raiseLimits(limits, requests corev1.ResourceList) {
	for name, asked := range requests {
		limit, limited := limits[name]
		switch isDevice := strings.Contains(string(name), "/"); {
		case limited && limit.Cmp(asked) < 0, !limited && isDevice:
			limits[name] = asked
		}
	}
}

// parseResourceList parses a list such as cpu=1000m,memory=100Mi.
func parseResourceList(flag, text string) (corev1.ResourceList, error) {
	list := corev1.ResourceList{}
	for part := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, amount, found := strings.Cut(part, "=")
		quantity, err := resource.ParseQuantity(strings.TrimSpace(amount))
		name = strings.TrimSpace(name)
		isAmount := err == nil && quantity.Sign() >= 0
		if !found || name == "" || !isAmount {
			return nil, usererror.Errorf("an example: "+flag+" cpu=1000m,memory=100Mi", "%s: %q is not NAME=AMOUNT", flag, part)
		}
		list[corev1.ResourceName(name)] = quantity
	}
	return list, nil
}

func (r *recipe) environmentVariables() ([]corev1.EnvVar, error) {
	var env []corev1.EnvVar
	for _, pair := range r.env {
		name, value, found := strings.Cut(pair, "=")
		if !found || name == "" {
			return nil, usererror.Errorf("an example: --env MODE=fast", "--env: %q is not NAME=VALUE", pair)
		}
		env = append(env, corev1.EnvVar{Name: name, Value: value})
	}
	return env, nil
}

func parsePairs(flag string, texts []string) (map[string]string, error) {
	var all map[string]string
	for _, text := range texts {
		key, value, found := strings.Cut(text, "=")
		if !found || key == "" {
			return nil, usererror.Errorf("an example: "+flag+" team=nlp", "%s: %q is not KEY=VALUE", flag, text)
		}
		if all == nil {
			all = map[string]string{}
		}
		all[key] = value
	}
	return all, nil
}
