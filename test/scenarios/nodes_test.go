package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	nodeinfov1alpha1 "github.com/vc-batch/vc/api/nodeinfo/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/numa"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

func (w *world) setNodes(lines []string) []string {
	for _, line := range lines {
		words := strings.Fields(line)
		b := make.Node(words[0])
		for _, word := range words[1:] {
			key, value := pair(word)
			kind, name, _ := strings.Cut(key, ":")
			switch kind {
			case "gpu":
				b.Resource("nvidia.com/gpu", value)
			case "image":
				image(b.Obj(), name, value)
			case "label":
				b.Label(name, value)
			case "taint":
				v, effect, _ := strings.Cut(value, ":")
				b.Taint(name, v, corev1.TaintEffect(effect))
			case "cordon":
				b.Cordon()
			case "note":
				b.Annotation(name, value)
			case "capacity":
				if b.Obj().Status.Capacity == nil {
					b.Obj().Status.Capacity = corev1.ResourceList{}
				}
				b.Obj().Status.Capacity[corev1.ResourceName(name)] = resource.MustParse(value)
			default:
				b.Resource(key, value)
			}
		}
		w.nodes[words[0]] = b.Obj()
		w.model.Apply(model.NodeFrom(b.Obj()))
	}
	return []string{fmt.Sprintf("%d nodes", len(w.nodes))}
}

// box adds a resource request to a further container of a pod: box:NAME:RESOURCE=AMOUNT.
func box(p *corev1.Pod, rest, value string) {
	name, res, _ := strings.Cut(rest, ":")
	i := slices.IndexFunc(p.Spec.Containers, func(c corev1.Container) bool { return c.Name == name })
	if i < 0 {
		i = len(p.Spec.Containers)
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}}})
	}
	p.Spec.Containers[i].Resources.Requests[corev1.ResourceName(long(res))] = resource.MustParse(value)
}

// guarantee sets the limits of every container to its requests.
func guarantee(p *corev1.Pod) {
	for i := range p.Spec.Containers {
		r := &p.Spec.Containers[i].Resources
		r.Limits = r.Requests.DeepCopy()
	}
	p.Status.QOSClass = corev1.PodQOSGuaranteed
}

// limit sets a limit of the first container.
func limit(p *corev1.Pod, name, value string) {
	r := &p.Spec.Containers[0].Resources
	if r.Limits == nil {
		r.Limits = corev1.ResourceList{}
	}
	r.Limits[corev1.ResourceName(long(name))] = resource.MustParse(value)
}

// annotated writes the annotations of a binding to a pod.
func annotated(p *corev1.Pod, b *decision.Bind) {
	if len(b.Annotations) > 0 && p.Annotations == nil {
		p.Annotations = map[string]string{}
	}
	maps.Copy(p.Annotations, b.Annotations)
}

// notes lists the annotations of pods that have a prefix.
func (w *world) notes(args []string) []string {
	var out []string
	for _, name := range args {
		p, ok := w.pods[name]
		if !ok {
			w.fatal("no pod %s", name)
		}
		for _, key := range slices.Sorted(maps.Keys(p.Annotations)) {
			if strings.Contains(key, "volcano.sh/") || strings.HasPrefix(key, "vc-batch.dev/") {
				out = append(out, fmt.Sprintf("%s %s=%s", name, key, p.Annotations[key]))
			}
		}
	}
	return out
}

// usage sets the load of a node: usage NODE cpu=90 mem=20 [age=6m].
func (w *world) usage(args []string) []string {
	set := model.NodeUsageSet{Node: args[0], NodeUsage: model.NodeUsage{At: w.now}}
	for _, word := range args[1:] {
		key, value := pair(word)
		switch key {
		case "cpu":
			set.CPUPercent = float64(number(w, value))
		case "mem":
			set.MemoryPercent = float64(number(w, value))
		case "age":
			set.At = w.now.Add(-w.duration(value))
		default:
			w.fatal("usage: %q: no such word", word)
		}
	}
	w.model.Apply(set)
	return []string{"usage of " + args[0]}
}

func (w *world) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		w.fatal("%v", err)
	}
	return d
}

// clock advances the time to a time of day: clock 22:00 [UTC].
func (w *world) clock(args []string) []string {
	at, err := time.Parse("15:04", args[0])
	if err != nil {
		w.fatal("%v", err)
	}
	now := w.now.UTC()
	then := time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), 0, 0, time.UTC)
	if !then.After(now) {
		then = then.AddDate(0, 0, 1)
	}
	w.now = then
	return []string{"it is " + then.Format("Mon 15:04")}
}

// numa sets the CPU topology of a node: numa NODE policy=P cpus=0-3/4-7 [free=0-7] [reserved=1] [manager=static]
// [holds=POD,…]. Each part of cpus is a NUMA node and a socket. Two CPUs are one core.
func (w *world) numa(args []string) []string {
	o := &nodeinfov1alpha1.Numatopology{}
	o.Name = args[0]
	o.Spec.Policies = map[nodeinfov1alpha1.PolicyName]string{nodeinfov1alpha1.CPUManagerPolicy: "static"}
	o.Spec.CPUDetail = map[string]nodeinfov1alpha1.CPUInfo{}
	free := ""
	for _, word := range args[1:] {
		key, value := pair(word)
		switch key {
		case "policy":
			o.Spec.Policies[nodeinfov1alpha1.TopologyManagerPolicy] = value
		case "manager":
			o.Spec.Policies[nodeinfov1alpha1.CPUManagerPolicy] = value
		case "cpus":
			for zone, part := range strings.Split(value, "/") {
				set, err := numa.ParseCPUs(part)
				if err != nil {
					w.fatal("%v", err)
				}
				for i, cpu := range set.List() {
					o.Spec.CPUDetail[strconv.Itoa(cpu)] = nodeinfov1alpha1.CPUInfo{NUMANodeID: zone, SocketID: zone, CoreID: i / 2}
				}
			}
			if free == "" {
				free = strings.ReplaceAll(value, "/", ",")
			}
		case "free":
			free = value
		case "reserved":
			o.Spec.ResReserved = map[string]string{"cpu": value}
		case "holds":
			held := map[string]any{}
			for _, name := range strings.Split(value, ",") {
				held[string(w.pods[name].UID)] = map[string]string{}
			}
			raw, err := json.Marshal(held)
			if err != nil {
				w.fatal("%v", err)
			}
			o.Spec.PodAllocations = &apiextensionsv1.JSON{Raw: raw}
		default:
			w.fatal("numa: %q: no such word", word)
		}
	}
	if free != "none" {
		o.Spec.NumaResMap = map[string]nodeinfov1alpha1.ResourceInfo{"cpu": {Allocatable: free, Capacity: len(o.Spec.CPUDetail)}}
	}
	w.numas[o.Name] = o
	w.model.Apply(model.NumaFrom(o))
	return []string{"numa of " + o.Name}
}

// groups sets the affinity of a queue to groups of nodes.
func groups(q *schedulingv1beta1.Queue, kind string, names []string) {
	if q.Spec.Affinity == nil {
		q.Spec.Affinity = &schedulingv1beta1.Affinity{NodeGroupAffinity: &schedulingv1beta1.NodeGroupAffinity{}, NodeGroupAntiAffinity: &schedulingv1beta1.NodeGroupAntiAffinity{}}
	}
	to, from := q.Spec.Affinity.NodeGroupAffinity, q.Spec.Affinity.NodeGroupAntiAffinity
	switch kind {
	case "require":
		to.RequiredDuringSchedulingIgnoredDuringExecution = names
	case "prefer":
		to.PreferredDuringSchedulingIgnoredDuringExecution = names
	case "avoid":
		from.PreferredDuringSchedulingIgnoredDuringExecution = names
	case "refuse":
		from.RequiredDuringSchedulingIgnoredDuringExecution = names
	}
}
