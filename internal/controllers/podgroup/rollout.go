package podgroup

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
)

// desiredReplicas is the annotation in which a Deployment stores its total number of pods on its ReplicaSets.
const desiredReplicas = "deployment.kubernetes.io/desired-replicas"

// limitDuringRollout limits the minimum of a ReplicaSet's PodGroup during a rollout of its Deployment. Until the pods
// of the new ReplicaSet are ready, it has only as many pods as maxSurge and maxUnavailable permit, so a PodGroup that
// required all of them would wait forever. The minimum follows the number of replicas, up to the requested minimum.
func limitDuringRollout(owner client.Object, pod *corev1.Pod, inherited map[string]string) {
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
