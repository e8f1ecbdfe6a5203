package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/apiserver"
)

// smallNamespace is a second namespace, which has a ResourceQuota.
const smallNamespace = "small"

var quotaKind = corev1.SchemeGroupVersion.WithKind("ResourceQuota")

func init() {
	registerAction("submit-to-quota", 4, func(s *drawing) *action {
		s.small++
		job := newSimpleJob(fmt.Sprintf("small-%d", s.small), s.queueNames()[s.IntN(len(s.queueNames()))], 1+s.Int32N(4), []string{"500m", "1"}[s.IntN(2)])
		job.Namespace = smallNamespace
		job.Spec.Policies = drawPolicies(s.Rand)
		job.Spec.MinAvailable = 1 + s.Int32N(job.Spec.Tasks[0].Replicas)
		return s.action(func(w *World) { w.users.submit(job) }, "user submits %s to namespace %s: %s", job.Name, smallNamespace, describeJob(job))
	})
	registerAction("change-quota", 1, func(s *drawing) *action {
		hard := drawQuota(s.Rand)
		return s.action(func(w *World) {
			w.users.changeQuota(hard)
		}, "administrator changes the quota of namespace %s to %s", smallNamespace, describeQuota(hard))
	})
	registerAction("own-plugin-object", 2, func(s *drawing) *action {
		name := s.newJobName()
		job := newSimpleJob(name, s.queueNames()[s.IntN(len(s.queueNames()))], 1+s.Int32N(3), "1")
		job.Spec.Plugins = map[string][]string{batchv1alpha1.PluginService: {}, batchv1alpha1.PluginSSH: {"--ssh-private-key=private", "--ssh-public-key=public"}}
		kind, object := drawUserObject(s, name)
		until := between(s.Rand, 10*time.Second, 3*time.Minute)
		text := fmt.Sprintf("user creates %s %s, and then submits %s with plugins: %s", kind.Kind, object.GetName(), name, describeJob(job))
		if s.IntN(2) == 0 {
			return s.action(func(w *World) {
				w.users.create(kind, object)
				w.users.submit(job)
			}, "%s", text)
		}
		return s.action(func(w *World) {
			w.users.create(kind, object)
			w.users.submit(job)
			w.add(w.now.Add(until), nil, func() {
				_, _ = w.users.do(&apiserver.Request{Verb: apiserver.Delete, Kind: kind, Namespace: userNamespace, Name: object.GetName()})
			})
		}, "%s; %s later, the user deletes %s", text, until.Round(time.Second), object.GetName())
	})
}

// drawUserObject draws an object of the user that has the name of an object which plugins create for a job.
func drawUserObject(s *drawing, job string) (schema.GroupVersionKind, client.Object) {
	meta := metav1.ObjectMeta{Namespace: userNamespace, Name: job, Annotations: map[string]string{ofUser: "true"}}
	switch s.IntN(3) {
	case 0:
		meta.Name += "-svc"
		return corev1.SchemeGroupVersion.WithKind("ConfigMap"), &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"app.conf": "x=1"}}
	case 1:
		meta.Name += "-ssh"
		return corev1.SchemeGroupVersion.WithKind("Secret"), &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"password": []byte("hunter2")}}
	default:
		service := &corev1.Service{ObjectMeta: meta}
		service.Spec = corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"app": "web"}}
		return corev1.SchemeGroupVersion.WithKind("Service"), service
	}
}

// drawQuota draws the limits of a quota for few pods.
func drawQuota(random *rand.Rand) corev1.ResourceList {
	if random.IntN(2) == 0 {
		return corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(int64(1+random.IntN(5)), resource.DecimalSI)}
	}
	return corev1.ResourceList{corev1.ResourceRequestsCPU: *resource.NewQuantity(int64(1+random.IntN(4)), resource.DecimalSI)}
}

func describeQuota(hard corev1.ResourceList) string {
	if pods, limited := hard[corev1.ResourcePods]; limited {
		return pods.String() + " pods"
	}
	cpu := hard[corev1.ResourceRequestsCPU]
	return "cpu " + cpu.String()
}

// newQuota returns the quota of the small namespace.
func newQuota(hard corev1.ResourceList) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: smallNamespace, Name: "quota"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
}

// changeQuota changes the limits of the small namespace.
func (u *users) changeQuota(hard corev1.ResourceList) {
	current := u.world.quota()
	if current == nil {
		return
	}
	update := current.DeepCopy()
	update.Spec.Hard = hard
	_, _ = u.do(&apiserver.Request{Verb: apiserver.Update, Kind: quotaKind, Namespace: smallNamespace, Name: update.Name, Object: update})
}

// quota returns the quota of the small namespace, or nil.
func (w *World) quota() *corev1.ResourceQuota {
	for _, o := range w.objectsAt(quotaKind, len(w.changes[quotaKind])) {
		return o.(*corev1.ResourceQuota)
	}
	return nil
}
