package scenarios

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/make"
)

// submit creates a PodGroup and its pods.
func (w *world) submit(args []string) []string {
	name := args[0]
	words := map[string]string{}
	for _, word := range args[1:] {
		key, value := pair(word)
		words[key] = value
	}
	tasks := 1
	if v, ok := words["tasks"]; ok {
		tasks = number(w, v)
	}
	w.made++
	created := metav1.NewTime(make.Epoch.Add(time.Duration(w.made) * time.Second))
	if _, ok := words["now"]; ok { // created now, not at the beginning of the story
		created = metav1.NewTime(w.now)
	}
	if _, ok := words["orphans"]; !ok && w.gangs[name] == nil {
		w.makeGang(name, words, tasks, created)
	}
	if _, ok := words["nopods"]; ok {
		return []string{"submitted " + name}
	}
	role, prefix := words["role"], name
	if role != "" {
		prefix += "-" + role
	}
	first := 0
	for w.pods[fmt.Sprintf("%s-%d", prefix, first)] != nil {
		first++
	}
	for i := range tasks {
		w.makePod(fmt.Sprintf("%s-%d", prefix, first+i), name, args[1:], created)
	}
	return []string{fmt.Sprintf("submitted %s, %d pods", name, tasks)}
}

func (w *world) makeGang(name string, words map[string]string, tasks int, created metav1.Time) {
	b := make.Gang(name).Min(tasks)
	for _, key := range slices.Sorted(maps.Keys(words)) {
		value := words[key]
		kind, rest, _ := strings.Cut(key, ":")
		switch kind {
		case "min":
			b.Min(number(w, value))
		case "mintask":
			b.MinTask(rest, number(w, value))
		case "queue":
			b.Queue(value)
		case "namespace":
			b.Namespace(value)
		case "class":
			b.PriorityClass(value)
		case "minres":
			b.MinResource(long(rest), value)
		case "estimate":
			b.Annotation("vc-batch.dev/running-estimate", value)
		case "account":
			b.Label(keys.Account, value)
		case "qos":
			b.Label(keys.QOS, value)
		case "user":
			b.Annotation(keys.User, value)
		case "groupnote":
			b.Annotation(rest, value)
		case "grouplabel":
			b.Label(rest, value)
		case "topology":
			b.Topology(nearness(w, value))
		case "subgroups":
			b.SubGroups(subGroups(w, rest, value, words["subtopology:"+rest]))
		}
	}
	g := b.Obj()
	g.CreationTimestamp = created
	g.UID = types.UID(fmt.Sprintf("gang-%s-%d", name, w.made))
	w.gangs[name] = g
	w.model.Apply(model.GangFrom(g))
}

func (w *world) makePod(name, gang string, words []string, created metav1.Time) {
	b := make.Pod(name).Gang(gang)
	b.Obj().UID = types.UID(fmt.Sprintf("pod-%s-%d", name, w.made))
	b.Obj().CreationTimestamp = created
	for _, word := range words { // labels first, because spread selects by labels
		if key, value := pair(word); strings.HasPrefix(key, "label:") {
			b.Label(key[len("label:"):], value)
		}
	}
	affinity := &corev1.Affinity{}
	for _, word := range words {
		key, value := pair(word)
		kind, rest, _ := strings.Cut(key, ":")
		switch kind {
		case "now", "orphans", "tasks", "min", "mintask", "class", "minres", "nopods", "label", "groupnote", "grouplabel", "estimate", "topology", "subgroups", "subtopology":
		case "prefer", "avoid", "wish", "softspread", "image":
			w.wishes(b.Obj(), affinity, kind, rest, value)
		case "account":
			b.Label(keys.Account, value).Label(keys.JobName, "job")
		case "qos":
			b.Label(keys.QOS, value).Label(keys.JobName, "job")
		case "user":
			b.Annotation(keys.User, value)
		case "queue": // as the job controller does
			b.Annotation(keys.QueueName, value)
		case "partof": // pods of one part have the same label
			b.Label("part", strconv.Itoa(number(w, name[strings.LastIndex(name, "-")+1:])/number(w, value)))
		case "namespace":
			b.Namespace(value)
		case "note":
			b.Annotation(rest, value)
		case "box":
			box(b.Obj(), rest, value)
		case "max":
			limit(b.Obj(), rest, value)
		case "guaranteed":
		case "claim":
			mount(b.Obj(), value)
		case "deviceclaim":
			useDevices(b.Obj(), value)
		case "podclass":
			b.Obj().Spec.PriorityClassName = value
		case "role":
			b.Role(value)
		case "select":
			b.Select(rest, value)
		case "in": // in:KEY=VALUE: required node affinity
			affinity.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: rest, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}},
			}}}}
		case "tolerate":
			b.Tolerate(value)
		case "port":
			b.HostPort(int32(number(w, value)))
		case "spread":
			b.Spread(rest, int32(number(w, value)))
		case "priority":
			b.Priority(int32(number(w, value)))
		case "queuegate":
			b.Annotation(keys.QueueAllocationGate, "true").Gate(keys.QueueAllocationGate)
		case "gate":
			b.Gate(value)
		case "limit":
			length, err := time.ParseDuration(value)
			if err != nil {
				w.fatal("%v", err)
			}
			seconds := int64(length / time.Second)
			b.Obj().Spec.ActiveDeadlineSeconds = &seconds
		case "never":
			never := corev1.PreemptNever
			b.Obj().Spec.PreemptionPolicy = &never
		case "system":
			b.Obj().Spec.PriorityClassName = cmp.Or(value, "system-cluster-critical")
		case "protected":
			b.Annotation("volcano.sh/preemptable", "false")
		case "anti":
			affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms(b.Obj().Labels, rest)}
		case "near":
			affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms(b.Obj().Labels, rest)}
		default:
			b.Resource(long(key), value)
		}
	}
	if affinity.PodAffinity != nil || affinity.PodAntiAffinity != nil || affinity.NodeAffinity != nil {
		b.Affinity(affinity)
	}
	if slices.Contains(words, "guaranteed") {
		guarantee(b.Obj())
	}
	w.pods[name] = b.Obj()
	w.update(b.Obj())
}

func terms(labels map[string]string, key string) []corev1.PodAffinityTerm {
	if key == "hostname" {
		key = corev1.LabelHostname
	}
	return []corev1.PodAffinityTerm{{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: labels}}}
}
