package v1alpha1

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
)

// apart gives the pods of a task required anti-affinity, by default to the pods with a label.
func apart(task int, label, value string, changes ...func(*corev1.PodAffinityTerm)) func(*Job) {
	return func(j *Job) {
		term := corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{label: value}}}
		for _, change := range changes {
			change(&term)
		}
		j.Spec.Tasks[task].Template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
	}
}

// onPort gives the container of a task a host port.
func onPort(task int, port corev1.ContainerPort) func(*Job) {
	return func(j *Job) { j.Spec.Tasks[task].Template.Spec.Containers[0].Ports = []corev1.ContainerPort{port} }
}

func TestThePodsThatExcludeEachOtherDetermineTheNodesOfAJob(t *testing.T) {
	t.Parallel()
	both := func(changes ...func(*Job)) func(*Job) {
		return func(j *Job) {
			for _, change := range changes {
				change(j)
			}
		}
	}
	mates := func(task int, changes ...func(*corev1.PodAffinityTerm)) func(*Job) {
		return apart(task, keys.JobName, "train", changes...)
	}
	everywhere := func(term *corev1.PodAffinityTerm) { term.NamespaceSelector = &metav1.LabelSelector{} }
	elsewhere := func(term *corev1.PodAffinityTerm) { term.Namespaces = []string{"cv"} }
	somewhere := func(term *corev1.PodAffinityTerm) {
		term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	}
	here := func(term *corev1.PodAffinityTerm) { term.Namespaces = []string{"cv", "nlp"} }
	byZone := func(term *corev1.PodAffinityTerm) { term.TopologyKey = corev1.LabelTopologyZone }
	samePartition := func(term *corev1.PodAffinityTerm) { term.MatchLabelKeys = []string{keys.PartitionID} }
	partitions := func(j *Job) {
		j.Spec.Tasks[0].Replicas, j.Spec.Tasks[0].PartitionPolicy = 6, &PartitionPolicySpec{TotalPartitions: 2, PartitionSize: 3}
	}
	array := func(j *Job) { j.Annotations = map[string]string{keys.Array: "0-9"} }
	port := corev1.ContainerPort{ContainerPort: 80, HostPort: 8080}
	for name, test := range map[string]struct {
		change func(*Job)
		tasks  []string // with two pods each
		want   int64
	}{
		"pods that may share a node":                              {nil, []string{"a", "b"}, 1},
		"a job without pods":                                      {func(j *Job) { j.Spec.Tasks[0].Replicas = 0 }, []string{"a"}, 0},
		"all pods on nodes of their own, as with sbatch -N":       {both(mates(0), mates(1)), []string{"a", "b"}, 4},
		"one task excludes the pods of both":                      {mates(0), []string{"a", "b"}, 3},
		"one task excludes itself only":                           {apart(0, keys.TaskSpec, "a"), []string{"a", "b"}, 2},
		"two tasks exclude themselves, but not each other":        {both(apart(0, keys.TaskSpec, "a"), apart(1, keys.TaskSpec, "b")), []string{"a", "b"}, 2},
		"two tasks exclude each other, but not themselves":        {apart(0, keys.TaskSpec, "b"), []string{"a", "b"}, 2},
		"pods of other jobs are excluded":                         {apart(0, keys.JobName, "other"), []string{"a"}, 1},
		"pods in all namespaces are excluded":                     {mates(0, everywhere), []string{"a"}, 2},
		"pods in a list of namespaces with this one are excluded": {mates(0, here), []string{"a"}, 2},
		"pods in another namespace are excluded":                  {mates(0, elsewhere), []string{"a"}, 1},
		"pods in namespaces with a label are excluded":            {mates(0, somewhere), []string{"a"}, 1},
		"pods exclude each other from zones":                      {mates(0, byZone), []string{"a"}, 1},
		"an index that only one pod has":                          {apart(0, keys.TaskIndex, "0"), []string{"a"}, 1},
		"an invalid selector": {mates(0, func(term *corev1.PodAffinityTerm) {
			term.LabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Resembles"}}
		}), []string{"a"}, 1},
		"pods of one partition exclude each other":  {both(partitions, mates(0, samePartition)), []string{"a"}, 3},
		"pods of one partition of another task":     {both(partitions, mates(0, samePartition)), []string{"a", "b"}, 3},
		"pods of all partitions exclude each other": {both(partitions, mates(0)), []string{"a"}, 6},
		"one element of an array counts":            {both(array, mates(0)), []string{"a"}, 1},
		"one element of an array with several pods": {both(array, func(j *Job) {
			j.Spec.Tasks[0].Replicas, j.Spec.Tasks[0].PartitionPolicy = 40, &PartitionPolicySpec{TotalPartitions: 10, PartitionSize: 4}
		}, mates(0)), []string{"a"}, 4},
		"a host port":                                    {onPort(0, port), []string{"a"}, 2},
		"a port of the container only":                   {onPort(0, corev1.ContainerPort{ContainerPort: 80}), []string{"a"}, 1},
		"a port of the container in the host's network":  {both(onPort(0, corev1.ContainerPort{ContainerPort: 80}), func(j *Job) { j.Spec.Tasks[0].Template.Spec.HostNetwork = true }), []string{"a"}, 2},
		"the same host port in two tasks":                {both(onPort(0, port), onPort(1, port)), []string{"a", "b"}, 4},
		"different host ports in two tasks":              {both(onPort(0, port), onPort(1, corev1.ContainerPort{ContainerPort: 80, HostPort: 8081})), []string{"a", "b"}, 2},
		"the same host port of different protocols":      {both(onPort(0, port), onPort(1, corev1.ContainerPort{HostPort: 8080, Protocol: corev1.ProtocolUDP})), []string{"a", "b"}, 2},
		"the same host port on different addresses":      {both(onPort(0, corev1.ContainerPort{HostPort: 8080, HostIP: "10.0.0.1"}), onPort(1, corev1.ContainerPort{HostPort: 8080, HostIP: "10.0.0.2"})), []string{"a", "b"}, 2},
		"the same host port on one and on all addresses": {both(onPort(0, corev1.ContainerPort{HostPort: 8080, HostIP: "10.0.0.1"}), onPort(1, corev1.ContainerPort{HostPort: 8080, HostIP: "0.0.0.0"})), []string{"a", "b"}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := SeparateNodes(jobOf(test.change, test.tasks...)); got != test.want {
				t.Errorf("%d nodes, want %d", got, test.want)
			}
		})
	}
}
