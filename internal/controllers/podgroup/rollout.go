package podgroup

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
)

// desiredReplicas is the annotation by which a Deployment tells its ReplicaSets how many pods it wants in all.
const desiredReplicas = "deployment.kubernetes.io/desired-replicas"

// rollout bounds the minimum of a ReplicaSet's group while its Deployment moves pods from one ReplicaSet to the next: that
// of the new one gets as many pods as maxSurge and maxUnavailable allow until these are ready, so that a group which asked
// for all of them would wait for ever. The minimum follows the replicas, up to what was asked for.
func rollout(owner client.Object, pod *corev1.Pod, inherited map[string]string) {
	set, ok := owner.(*appsv1.ReplicaSet)
	if !ok || set.Spec.Replicas == nil {
		return
	}
	desired, err := strconv.ParseInt(set.Annotations[desiredReplicas], 10, 32)
	replicas := *set.Spec.Replicas
	if err != nil || int64(replicas) >= desired || minMember(pod.Annotations, inherited) <= replicas {
		return
	}
	inherited[keys.GroupMinMember] = strconv.Itoa(int(max(replicas, 1)))
}
