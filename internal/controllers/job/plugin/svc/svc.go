// Package svc implements the job plugin that lets the pods of a job find each other by name. It creates a headless
// Service, provides host lists as files below /etc/volcano and as environment variables, and creates a NetworkPolicy
// that admits only traffic from the job itself.
package svc

import (
	"cmp"
	"io"
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/pluginapi"
)

// Name is the key in spec.plugins.
const Name = batchv1alpha1.PluginService

// MountPath is the directory that contains the host lists.
const MountPath = batchv1alpha1.ServiceMountPath

// maxDataBytes is the maximum size of the ConfigMap's data. The API server rejects more than 1 MiB.
const maxDataBytes = 900 << 10

type plugin struct {
	publishNotReady bool
	notReadyGiven   bool // the argument is present
	noNetworkPolicy bool
	hostsEnv        bool
}

// New returns the plugin.
func New(arguments batchv1alpha1.PluginArguments) pluginapi.Plugin {
	return &plugin{
		publishNotReady: arguments.Bool("publish-not-ready-addresses"),
		notReadyGiven:   arguments.Given("publish-not-ready-addresses"),
		noNetworkPolicy: arguments.Bool("disable-network-policy"),
		hostsEnv:        arguments.Bool("inject-hosts-env"),
	}
}

// ConfigMapName returns the name of the ConfigMap with the job's host lists.
func ConfigMapName(job *batchv1alpha1.Job) string { return job.Name + "-svc" }

func (p *plugin) Pod(pod *corev1.Pod, job *batchv1alpha1.Job, _ int, _ int32) {
	pod.Spec.Hostname = cmp.Or(pod.Spec.Hostname, pod.Name)
	pod.Spec.Subdomain = cmp.Or(pod.Spec.Subdomain, job.Name)
	name := ConfigMapName(job)
	variables := p.environmentVariables(job)
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}},
	}})
	pluginapi.EachContainer(pod, func(c *corev1.Container) {
		c.Env = append(c.Env, variables...)
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: MountPath})
	})
}

// environmentVariables returns environment variables that refer to keys of the ConfigMap.
func (p *plugin) environmentVariables(job *batchv1alpha1.Job) []corev1.EnvVar {
	if !p.hostsEnv {
		return nil
	}
	var variables []corev1.EnvVar
	fits := fitsInEnvironment(job)
	for i := range job.Spec.Tasks {
		if fits[i] {
			variables = append(variables, variableFrom(job, hostsVariable(job, i)))
		}
		variables = append(variables, variableFrom(job, countVariable(job, i)))
	}
	return variables
}

// fitsInEnvironment reports for each task whether its hosts are available as an environment variable in addition to the
// file. The list must be short enough for an environment variable, and the ConfigMap must have space for the second
// copy.
func fitsInEnvironment(job *batchv1alpha1.Job) []bool {
	fits, size := make([]bool, len(job.Spec.Tasks)), int64(0)
	for i := range job.Spec.Tasks {
		size += pluginapi.MaxListBytes(job, i)
	}
	for i := range job.Spec.Tasks {
		list := pluginapi.MaxListBytes(job, i)
		if fits[i] = list <= pluginapi.MaxEnvBytes && size+list <= maxDataBytes; fits[i] {
			size += list
		}
	}
	return fits
}

func variableFrom(job *batchv1alpha1.Job, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: key, ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: ConfigMapName(job)}, Key: key,
	}}}
}

func taskKeyPrefix(job *batchv1alpha1.Job, task int) string {
	return strings.ReplaceAll(job.Spec.Tasks[task].Name, "-", "_")
}

func hostsVariable(job *batchv1alpha1.Job, task int) string {
	return "VC_" + strings.ToUpper(taskKeyPrefix(job, task)) + "_HOSTS"
}

func countVariable(job *batchv1alpha1.Job, task int) string {
	return "VC_" + strings.ToUpper(taskKeyPrefix(job, task)) + "_NUM"
}

// ConfigMapData returns the data of the job's ConfigMap.
func ConfigMapData(job *batchv1alpha1.Job) map[string]string {
	data, fits := map[string]string{}, fitsInEnvironment(job)
	for i := range job.Spec.Tasks {
		names := pluginapi.TaskAddresses(job, i)
		data[taskKeyPrefix(job, i)+".host"] = strings.Join(names, "\n")
		data[countVariable(job, i)] = strconv.Itoa(len(names))
		if fits[i] {
			data[hostsVariable(job, i)] = strings.Join(names, ",")
		}
	}
	return data
}

func (p *plugin) Objects(job *batchv1alpha1.Job) []pluginapi.Object {
	objects := []pluginapi.Object{configMapObject(job), p.serviceObject(job)}
	if !p.noNetworkPolicy {
		objects = append(objects, pluginapi.CreateOnce(networkPolicy(job)))
	}
	return objects
}

func configMapObject(job *batchv1alpha1.Job) pluginapi.Object {
	wanted := &corev1.ConfigMap{ObjectMeta: pluginapi.ObjectMeta(job, ConfigMapName(job)), Data: ConfigMapData(job)}
	return pluginapi.Object{Wanted: wanted, Merge: func(existing client.Object, _ io.Reader) (client.Object, bool, error) {
		there, ok := existing.(*corev1.ConfigMap)
		if !ok {
			return wanted, true, nil
		}
		if maps.Equal(there.Data, wanted.Data) {
			return there, false, nil
		}
		update := there.DeepCopy()
		update.Data = wanted.Data
		return update, true, nil
	}}
}

// podSelectorLabels returns the labels that select the pods of the job.
func podSelectorLabels(job *batchv1alpha1.Job) map[string]string {
	return map[string]string{keys.JobName: job.Name, keys.JobNamespace: job.Namespace}
}

// serviceObject returns the Service. A user's headless Service that selects the job's pods may replace it.
func (p *plugin) serviceObject(job *batchv1alpha1.Job) pluginapi.Object {
	o := pluginapi.CreateOnce(p.newService(job))
	o.Foreign = func(existing client.Object) string {
		there, ok := existing.(*corev1.Service)
		if ok && there.Spec.ClusterIP == corev1.ClusterIPNone && maps.Equal(there.Spec.Selector, podSelectorLabels(job)) {
			return ""
		}
		return "the host names of the job's pods do not resolve, because the Service is not headless or does not select the pods"
	}
	return o
}

func (p *plugin) newService(job *batchv1alpha1.Job) *corev1.Service {
	return &corev1.Service{ObjectMeta: pluginapi.ObjectMeta(job, job.Name), Spec: corev1.ServiceSpec{
		ClusterIP: corev1.ClusterIPNone, Selector: podSelectorLabels(job), PublishNotReadyAddresses: p.publishesNotReady(job),
	}}
}

// publishesNotReady reports whether names can be resolved before the pods are ready. Frameworks whose pods connect to
// each other at startup need this, because a worker that becomes ready only after it has reached the master would
// otherwise wait forever.
func (p *plugin) publishesNotReady(job *batchv1alpha1.Job) bool {
	if p.notReadyGiven {
		return p.publishNotReady
	}
	for _, name := range []string{batchv1alpha1.PluginMPI, batchv1alpha1.PluginPyTorch, batchv1alpha1.PluginRay, batchv1alpha1.PluginTensorFlow} {
		if _, ok := job.Spec.Plugins[name]; ok {
			return true
		}
	}
	return false
}

func networkPolicy(job *batchv1alpha1.Job) *networkingv1.NetworkPolicy {
	own := metav1.LabelSelector{MatchLabels: podSelectorLabels(job)}
	return &networkingv1.NetworkPolicy{ObjectMeta: pluginapi.ObjectMeta(job, job.Name), Spec: networkingv1.NetworkPolicySpec{
		PodSelector: own,
		Ingress:     []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{{PodSelector: &own}}}},
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
	}}
}
