package jobsummary

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Query selects the objects to list.
type Query struct {
	// Namespace is the namespace of the jobs; empty means all.
	Namespace string
	// Pods includes the pods of the jobs; Ended includes pods that have ended.
	Pods, Ended bool
	// Arrays excludes jobs that are not arrays.
	Arrays bool
}

// JoinEntries returns an entry for each job with its PodGroup and its pods, sorted by name.
func JoinEntries(q Query, jobs []*batchv1alpha1.Job, groups []*schedulingv1beta1.PodGroup, pods []*corev1.Pod) []Entry {
	byOwner := make(map[types.UID]*schedulingv1beta1.PodGroup, len(groups))
	for _, group := range groups {
		for i := range group.OwnerReferences {
			byOwner[group.OwnerReferences[i].UID] = group
		}
	}
	byJob := podsByJob(q, pods)
	entries := make([]Entry, len(jobs))
	for i, job := range jobs {
		entries[i] = Entry{Job: job, Group: byOwner[job.UID], Pods: byJob[types.NamespacedName{Namespace: job.Namespace, Name: job.Name}]}
	}
	return entries
}

// podsByJob groups pods by the job that their label names, and sorts them by name, as in lists from the API server.
func podsByJob(q Query, pods []*corev1.Pod) map[types.NamespacedName][]*corev1.Pod {
	if !q.Pods {
		return nil
	}
	byJob := map[types.NamespacedName][]*corev1.Pod{}
	for _, pod := range pods {
		over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		name, ours := pod.Labels[keys.JobName]
		if !ours || (over && !q.Ended) {
			continue
		}
		key := types.NamespacedName{Namespace: pod.Namespace, Name: name}
		byJob[key] = append(byJob[key], pod)
	}
	for _, pods := range byJob {
		slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	}
	return byJob
}
