package sim

import (
	"context"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/admission"
	"github.com/vc-batch/vc/internal/jobid"
	"github.com/vc-batch/vc/test/apiserver"
)

// webhookServiceName is the name of the Service in front of the admission processes. Its namespace is leaseNamespace.
const webhookServiceName = "vc-webhooks"

// Timeouts of requests from the admission processes to the API server.
const (
	reviewTimeout  = 5 * time.Second // for reads during a review
	numbersTimeout = 2 * time.Second // for the numbers of jobs
)

// admissionProgram is the state of one admission process: its webhooks, its cache of queues, and the loop that maintains
// the configurations.
type admissionProgram struct {
	process   *process
	webhooks  *admission.Webhooks
	isServing bool // the process has a certificate
	isReady   bool // the configurations have been installed
	changed   bool // a configuration has changed since the last maintenance began
	wake      func()
}

// startAdmission starts the webhooks and the loop that repairs their configurations. All admission processes are active, so
// they need no lease.
func startAdmission(p *process, user string, _ func() error) {
	w := p.world
	a := &admissionProgram{process: p}
	w.webhookService.programs[p] = a
	reads := apiserver.NewClient(w.scheme, w.newLink(p, user+"/review", reviewTimeout, nil).send)
	numbers := apiserver.NewClient(w.scheme, w.newLink(p, user+"/numbers", numbersTimeout, nil).send)
	writes := apiserver.NewClient(w.scheme, w.newLink(p, user, controllersTimeout, nil).send)
	queues := admission.NewQueueIndexer()
	webhooks, err := admission.New(admission.Options{
		ServiceNamespace: leaseNamespace, ServiceName: webhookServiceName, RequirePriorityClassUse: true,
		JobIDs: &jobNumbers{process: p, allocator: jobid.New(jobid.ConfigMap{API: numbers, Namespace: leaseNamespace}, p.wallTime)},
		Ready:  func() { a.isReady = true },
		Now:    p.wallTime,
	}, admission.Cluster{
		Queues: queues, Jobs: reads,
		ReadQueue: func(ctx context.Context, name string) (*schedulingv1beta1.Queue, error) {
			queue := &schedulingv1beta1.Queue{}
			if err := reads.Get(ctx, client.ObjectKey{Name: name}, queue); err != nil {
				return nil, client.IgnoreNotFound(err)
			}
			return queue, nil
		},
		ListQueues: func(ctx context.Context) ([]schedulingv1beta1.Queue, error) {
			list := &schedulingv1beta1.QueueList{}
			err := reads.List(ctx, list)
			return list.Items, err
		},
		Namespaces: typedClient[*corev1.Namespace]{api: reads, newObject: func() *corev1.Namespace { return &corev1.Namespace{} }},
		Reviews:    typedClient[*authorizationv1.SubjectAccessReview]{api: reads},
		Secrets:    typedClient[*corev1.Secret]{api: writes, namespace: leaseNamespace, newObject: func() *corev1.Secret { return &corev1.Secret{} }},
		Mutating: typedClient[*admissionregistrationv1.MutatingWebhookConfiguration]{api: writes, newObject: func() *admissionregistrationv1.MutatingWebhookConfiguration {
			return &admissionregistrationv1.MutatingWebhookConfiguration{}
		}},
		Validating: typedClient[*admissionregistrationv1.ValidatingWebhookConfiguration]{api: writes, newObject: func() *admissionregistrationv1.ValidatingWebhookConfiguration {
			return &admissionregistrationv1.ValidatingWebhookConfiguration{}
		}},
	}, "")
	if err != nil {
		panic(err) // the options are constants
	}
	a.webhooks = webhooks
	p.spawn(func() { a.run(user, queues) }, nil)
}

// run serves the webhooks and maintains them, like admission.Run. An error ends the process.
func (a *admissionProgram) run(user string, queues cache.Indexer) {
	w := a.process.world
	if err := a.webhooks.LoadCertificate(context.Background()); err != nil {
		a.exit(err)
		return
	}
	a.isServing = true
	missing := 2 // lists of configurations
	for _, kind := range configurationKinds {
		w.watchKind(a.process, user, kind, &configurationReceiver{program: a}, func() {
			if missing--; missing == 0 {
				a.notify()
			}
		})
	}
	w.wait(func(resume func()) { w.watchKind(a.process, user, queueKind, &queueReceiver{queues}, resume) })
	for {
		next, err := a.webhooks.Maintain(context.Background())
		if err != nil {
			a.exit(err)
			return
		}
		w.sleep(next.Pause)
		a.waitForChange(next.Wait)
	}
}

// exit ends the process because of an error. It is started again.
func (a *admissionProgram) exit(err error) {
	w := a.process.world
	w.trace("%s: %v", a.process.name, err)
	if r := w.replicaOf(a.process); r != nil {
		r.crash(between(w.randomFor("restart of "+a.process.name), shortestRestart, longestRestart))
	}
}

// waitForChange waits until a configuration changes, but no longer than a time.
func (a *admissionProgram) waitForChange(longest time.Duration) {
	if !a.changed {
		a.process.world.wait(func(resume func()) {
			isOver := false
			a.wake = func() {
				if !isOver {
					isOver = true
					resume()
				}
			}
			a.process.after(longest, a.wake)
		})
	}
	a.changed = false
}

// notify is called when a configuration has changed.
func (a *admissionProgram) notify() {
	a.changed = true
	if a.wake != nil {
		a.process.after(0, a.wake)
	}
}

// configurationKinds are the kinds of webhook configurations.
var configurationKinds = []schema.GroupVersionKind{
	admissionregistrationv1.SchemeGroupVersion.WithKind("MutatingWebhookConfiguration"),
	admissionregistrationv1.SchemeGroupVersion.WithKind("ValidatingWebhookConfiguration"),
}

// configurationReceiver notifies an admission process of changed configurations. Like an informer, it notices objects
// that are missing in a later list.
type configurationReceiver struct {
	program    *admissionProgram
	hasObjects bool // there may be configurations
}

func (r *configurationReceiver) replace(objects []client.Object) {
	hadObjects := r.hasObjects
	r.hasObjects = len(objects) > 0
	if hadObjects || r.hasObjects {
		r.program.notify()
	}
}

func (r *configurationReceiver) apply(apiserver.Change) {
	r.hasObjects = true
	r.program.notify()
}

// queueReceiver updates an admission process's cache of queues.
type queueReceiver struct{ queues cache.Indexer }

func (r *queueReceiver) replace(objects []client.Object) {
	list := make([]any, len(objects))
	for i := range objects {
		list[i] = objects[i]
	}
	r.check(r.queues.Replace(list, ""))
}

func (r *queueReceiver) apply(c apiserver.Change) {
	if c.Object == nil {
		r.check(r.queues.Delete(c.Old))
		return
	}
	r.check(r.queues.Update(c.Object))
}

func (r *queueReceiver) check(err error) {
	if err != nil {
		panic(err) // the key of a queue is its name
	}
}

// typedClient reads and writes objects of one kind like the typed clients of client-go.
type typedClient[T client.Object] struct {
	api       *apiserver.Client
	namespace string
	newObject func() T
}

// Get reads an object.
func (c typedClient[T]) Get(ctx context.Context, name string, _ metav1.GetOptions) (T, error) {
	o := c.newObject()
	return o, c.api.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: name}, o)
}

// Create creates an object.
func (c typedClient[T]) Create(ctx context.Context, object T, _ metav1.CreateOptions) (T, error) {
	o := c.own(object)
	return o, c.api.Create(ctx, o)
}

// Update replaces an object.
func (c typedClient[T]) Update(ctx context.Context, object T, _ metav1.UpdateOptions) (T, error) {
	o := c.own(object)
	return o, c.api.Update(ctx, o)
}

// own returns a copy of an object in the client's namespace.
func (c typedClient[T]) own(object T) T {
	o := object.DeepCopyObject().(T)
	o.SetNamespace(c.namespace)
	return o
}

// jobNumbers lets one review after the other take numbers for jobs. The lock of the allocator cannot be used, because it
// waits for the system's clock.
type jobNumbers struct {
	process   *process
	allocator *jobid.Allocator
	isTaken   bool
	waiting   []func()
}

// Take returns the first of n consecutive numbers.
func (j *jobNumbers) Take(ctx context.Context, n int) (int64, error) {
	for j.isTaken {
		j.process.world.wait(func(resume func()) { j.waiting = append(j.waiting, resume) })
	}
	j.isTaken = true
	defer func() {
		j.isTaken = false
		for _, resume := range j.waiting {
			j.process.after(0, resume)
		}
		j.waiting = nil
	}()
	return j.allocator.Take(ctx, n)
}

// isAuthorized reports whether a user has a permission. Users may not write the status of jobs.
func isAuthorized(a authorizer.Attributes) bool {
	writesStatus := a.GetResource() == "jobs" && a.GetSubresource() == "status"
	return a.GetUser().GetName() != userName || !writesStatus
}
