package scenarios

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/internal/model"
)

// quota sets what the pods of namespace default may have together; without
// amounts it removes the quota.
func (w *world) quota(args []string) []string {
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: args[0], Namespace: "default"}}
	q.Spec.Hard, q.Status.Used = corev1.ResourceList{}, corev1.ResourceList{}
	for _, word := range args[1:] {
		key, value := pair(word)
		to := q.Spec.Hard
		if name, used := strings.CutPrefix(key, "used:"); used {
			key, to = name, q.Status.Used
		}
		to[corev1.ResourceName(long(key))] = resource.MustParse(value)
	}
	w.quotas[args[0]] = q
	w.model.Apply(model.QuotaFrom(q))
	return []string{"quota " + args[0]}
}
