package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/accounting/kubeletstats"
	"github.com/vc-batch/vc/internal/accounting/serve"
	"github.com/vc-batch/vc/internal/admission"
	"github.com/vc-batch/vc/internal/aggregatedapi"
	"github.com/vc-batch/vc/internal/daemon"
	"github.com/vc-batch/vc/internal/local/simnode"
)

// TestTheDaemonWorksWithTheRightsOfInstallYAML runs each component of vcd with a token of the service account in its
// Deployment, and takes a job and its queue through their lives. No request may be forbidden.
func TestTheDaemonWorksWithTheRightsOfInstallYAML(t *testing.T) {
	c := admin(t)
	refused := &forbidden{}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	stop := func() { cancel(); running.Wait() }
	defer stop()
	removeWebhooks(t)
	if err := apply(t.Context(), plane.RESTConfig(), deploy.InstallYAML); err != nil {
		t.Fatal(err)
	}

	// With a Service, the certificate is stored in a Secret. That Service is not reachable here, so admission is
	// started again with a URL.
	serviceCtx, stopService := context.WithCancel(ctx)
	serviceDone := start(t, serviceCtx, refused, daemon.Admission, admission.Options{
		ListenAddress: "127.0.0.1:0", ServiceNamespace: deploy.Namespace, ServiceName: deploy.AdmissionService,
	})
	stopService()
	<-serviceDone
	secret := &corev1.Secret{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: deploy.Namespace, Name: admission.SecretName}, secret); err != nil || len(secret.Data["ca.crt"]) == 0 {
		t.Errorf("the webhooks' certificate is not in its Secret: %v", err)
	}
	for _, component := range daemon.ComponentNames() {
		done := start(t, ctx, refused, component, admission.Options{ListenAddress: "127.0.0.1:0"})
		running.Go(func() { <-done })
	}
	everyWebhookIsFilledIn(t, c)
	fleet, err := simnode.New(simnode.Config{RESTConfig: plane.RESTConfig(), Count: 1})
	if err != nil {
		t.Fatal(err)
	}
	running.Go(func() {
		if err := fleet.Run(ctx); err != nil {
			t.Errorf("nodes: %v", err)
		}
	})

	t.Run("a job and all that is made for it", func(t *testing.T) { jobLife(t, c) })
	if t.Failed() {
		describe(t, c)
	}
	t.Run("a plain pod", func(t *testing.T) { plainPod(t, c) })
	t.Run("a pod that is too large", func(t *testing.T) { largePod(t, c) })
	t.Run("a queue that is closed and opened", func(t *testing.T) { queueLife(t, c) })
	t.Run("hyperNodes from labels", func(t *testing.T) { discovery(t, c) })
	t.Run("a cron job", func(t *testing.T) { cronLife(t, c) })
	t.Run("the status that the scheduler writes of queues", func(t *testing.T) {
		eventually(t, func(ctx context.Context) error {
			queue := &schedulingv1beta1.Queue{}
			if err := c.Get(ctx, client.ObjectKey{Name: "default"}, queue); err != nil {
				return err
			}
			if cpu := queue.Status.Allocated[corev1.ResourceCPU]; cpu.IsZero() {
				return fmt.Errorf("nothing is allocated: %v", queue.Status)
			}
			return nil
		})
	})
	stop()
	for _, request := range refused.all() {
		t.Errorf("forbidden: %s", request)
	}
}

// TestAccountingWorksWithTheRightsOfTheChart runs accounting with a token of its service account. No request may be
// forbidden, and the registration of its API must belong to its ClusterRole.
func TestAccountingWorksWithTheRightsOfTheChart(t *testing.T) {
	c := admin(t)
	removeWebhooks(t)
	must(t, apply(t.Context(), plane.RESTConfig(), deploy.InstallYAML))
	for _, object := range deploy.AccountingRBAC() {
		must(t, client.IgnoreAlreadyExists(c.Create(t.Context(), object.(client.Object))))
	}
	registration := &unstructured.Unstructured{}
	registration.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"})
	registration.SetName(serve.Group.RegistrationName())
	t.Cleanup(func() {
		// Nothing serves the API any more, which would block the deletion of namespaces.
		if err := client.IgnoreNotFound(c.Delete(context.Background(), registration)); err != nil {
			t.Error(err)
		}
	})
	refused := &forbidden{}
	ctx, cancel := context.WithCancel(t.Context())
	done := start(t, ctx, refused, daemon.Accounting, admission.Options{})
	stop := sync.OnceFunc(func() { cancel(); <-done })
	defer stop()
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(registration), registration); err != nil {
			return err
		}
		if owners := registration.GetOwnerReferences(); len(owners) != 1 || owners[0].Kind != "ClusterRole" || owners[0].Name != deploy.AccountingAccount {
			return fmt.Errorf("the registration belongs to %v", owners)
		}
		return c.Get(ctx, client.ObjectKey{Namespace: deploy.Namespace, Name: deploy.AccountingCertificate}, &corev1.Secret{})
	})
	job := newJob("recorded")
	must(t, c.Create(t.Context(), job))
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(job), job); err != nil {
			return err
		}
		if !slices.Contains(job.Finalizers, keys.Recorded) {
			return fmt.Errorf("the job has the finalizers %v", job.Finalizers)
		}
		return nil
	})
	must(t, c.Delete(t.Context(), job))
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(job), job); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the deleted job still exists: %v", err)
		}
		return nil
	})
	stop()
	for _, request := range refused.all() {
		t.Errorf("forbidden: %s", request)
	}
}

// TestATokenForKubeletsPermitsOnlyMeasuring requests a token as accounting does. A person with this token can read the stats
// of nodes and nothing else, and accounting can request tokens of no other service account.
func TestATokenForKubeletsPermitsOnlyMeasuring(t *testing.T) {
	c := admin(t)
	removeWebhooks(t)
	must(t, apply(t.Context(), plane.RESTConfig(), deploy.InstallYAML))
	for _, object := range deploy.AccountingRBAC() {
		must(t, client.IgnoreAlreadyExists(c.Create(t.Context(), object.(client.Object))))
	}
	recorder, err := newClient(as(t, deploy.AccountingAccount, &forbidden{}))
	must(t, err)
	var token string
	eventually(t, func(ctx context.Context) (err error) {
		token, err = kubeletstats.NewTokens(recorder, deploy.Namespace).Token(ctx, time.Now())
		return err
	})
	config := rest.AnonymousClientConfig(plane.RESTConfig())
	config.BearerToken = token
	kubelet, err := newClient(config)
	must(t, err)
	for _, right := range []struct {
		verb, group, resource, subresource string
		allowed                            bool
	}{
		{"get", "", "nodes", "stats", true},
		{"get", "", "nodes", "", false},
		{"get", "", "nodes", "proxy", false},
		{"list", "", "pods", "", false},
		{"patch", "", "pods", "status", false},
		{"create", "", "serviceaccounts", "token", false},
		{"patch", "batch.volcano.sh", "jobs", "", false},
		{"patch", "account.vc-batch.dev", "accounts", "", false},
	} {
		review := &authorizationv1.SelfSubjectAccessReview{}
		review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
			Verb: right.verb, Group: right.group, Resource: right.resource, Subresource: right.subresource, Namespace: deploy.Namespace,
		}
		eventually(t, func(ctx context.Context) error {
			if err := kubelet.Create(ctx, review); err != nil {
				return err
			}
			if review.Status.Allowed != right.allowed {
				return fmt.Errorf("%+v: allowed %v", right, review.Status.Allowed)
			}
			return nil
		})
	}
	other := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: deploy.Namespace, Name: deploy.ControllersAccount}}
	if err := recorder.SubResource("token").Create(t.Context(), other, &authenticationv1.TokenRequest{}); !apierrors.IsForbidden(err) {
		t.Errorf("accounting requests a token of %s: %v", other.Name, err)
	}
}

// everyWebhookIsFilledIn fails if vcd has left a configuration of install.yaml empty, or has created one that is not in
// install.yaml.
func everyWebhookIsFilledIn(t *testing.T, c client.Client) {
	t.Helper()
	mutating, validating := &admissionregistrationv1.MutatingWebhookConfigurationList{}, &admissionregistrationv1.ValidatingWebhookConfigurationList{}
	if err := errors.Join(c.List(t.Context(), mutating), c.List(t.Context(), validating)); err != nil {
		t.Fatal(err)
	}
	hooks := map[string]int{}
	for _, configuration := range mutating.Items {
		hooks[configuration.Name] = len(configuration.Webhooks)
	}
	for _, configuration := range validating.Items {
		hooks[configuration.Name] = len(configuration.Webhooks)
	}
	// Without the features that change them, pods, accounts and QOS are not sent to vcd to be changed.
	for _, unused := range []string{"volcano-admission-service-pods-mutate", "volcano-admission-service-accounts-mutate", "volcano-admission-service-qoses-mutate"} {
		if hooks[unused] != 0 {
			t.Errorf("%s has %d webhooks, which would change nothing", unused, hooks[unused])
		}
		delete(hooks, unused)
	}
	for name, n := range hooks {
		if n < 1 || !bytes.Contains(deploy.InstallYAML, []byte("name: "+name+"\n")) {
			t.Errorf("%s has %d webhooks, or is not in install.yaml", name, n)
		}
	}
	if len(hooks) != 15 {
		t.Errorf("want 15 webhook configurations, got %v", hooks)
	}
}

// start runs a component with its own account and returns when it works. The channel is closed when it has ended.
func start(t *testing.T, ctx context.Context, refused *forbidden, component string, hooks admission.Options) <-chan struct{} {
	t.Helper()
	return startOn(t, ctx, plane.RESTConfig(), refused, component, hooks)
}

// startOn is like start, for the cluster of an administrator's configuration.
func startOn(t *testing.T, ctx context.Context, admin *rest.Config, refused *forbidden, component string, hooks admission.Options) <-chan struct{} {
	t.Helper()
	account := map[string]string{
		daemon.Scheduler: deploy.SchedulerAccount, daemon.Controllers: deploy.ControllersAccount, daemon.Admission: deploy.AdmissionAccount,
		daemon.Accounting: deploy.AccountingAccount,
	}[component]
	ready, done := make(chan struct{}), make(chan struct{})
	failed := make(chan error, 1)
	options := daemon.Options{
		Config: asOn(t, admin, account, refused), Components: []string{component}, LeaderElect: true, LeaseNamespace: deploy.Namespace,
		Admission: hooks, Listing: aggregatedapi.Options{ListenAddress: "127.0.0.1:0"}, Ready: func(string) { close(ready) },
	}
	if component == daemon.Accounting {
		options.Accounting = daemon.AccountingOptions{
			Store: "sqlite:" + t.TempDir(), SpoolDir: t.TempDir(),
			API: aggregatedapi.Options{ListenAddress: "127.0.0.1:0", Service: deploy.AccountingWorkload, Owner: deploy.AccountingAccount},
		}
	}
	go func() {
		defer close(done)
		failed <- daemon.Run(ctx, options)
	}()
	select {
	case <-ready:
	case err := <-failed:
		t.Fatalf("%s ended: %v", component, err)
	case <-time.After(patience):
		t.Fatalf("%s is not ready after %s; forbidden: %v", component, patience, refused.all())
	}
	return done
}

// as returns the configuration of a client with a token of one of our service accounts.
func as(t *testing.T, account string, refused *forbidden) *rest.Config {
	t.Helper()
	return asOn(t, plane.RESTConfig(), account, refused)
}

// asOn is like as, for the cluster of an administrator's configuration.
func asOn(t *testing.T, admin *rest.Config, account string, refused *forbidden) *rest.Config {
	t.Helper()
	c, err := newClient(admin)
	must(t, err)
	request := &authenticationv1.TokenRequest{}
	of := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: deploy.Namespace, Name: account}}
	if err := c.SubResource("token").Create(t.Context(), of, request); err != nil {
		t.Fatalf("token of %s: %v", account, err)
	}
	config := rest.AnonymousClientConfig(admin)
	config.BearerToken = request.Status.Token
	config.QPS = -1
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if err == nil && response.StatusCode == http.StatusForbidden {
				refused.add(account + ": " + r.Method + " " + r.URL.Path)
			}
			return response, err
		})
	})
	return config
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// forbidden collects requests that RBAC rejected.
type forbidden struct {
	mu       sync.Mutex
	requests []string
}

func (f *forbidden) add(request string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.requests, request) {
		f.requests = append(f.requests, request)
	}
}

func (f *forbidden) all() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

func TestOnlyWhoMayUpdateAQueueMayCommandIt(t *testing.T) {
	removeWebhooks(t)
	user, err := plane.ConfigFor("mei")
	if err != nil {
		t.Fatal(err)
	}
	mei, err := newClient(user)
	if err != nil {
		t.Fatal(err)
	}
	c := admin(t)
	bind(t, c, "mei", "edit")
	makeQueue(t, c, "default", schedulingv1beta1.QueueStateOpen)
	queue, job := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, newJob("any")
	job.UID = "u"
	eventually(t, func(ctx context.Context) error { return c.Get(ctx, client.ObjectKeyFromObject(queue), queue) })
	eventually(t, func(ctx context.Context) error {
		err := mei.Create(ctx, newCommand("Queue", queue, busv1alpha1.CloseQueueAction))
		if err == nil {
			return errors.New("anybody may close a queue")
		}
		if !strings.Contains(err.Error(), `user "mei" cannot update queues.scheduling.volcano.sh "default"`) || !apierrors.IsForbidden(err) {
			return err
		}
		return nil
	})
	if err := mei.Create(t.Context(), newCommand("Job", job, busv1alpha1.AbortJobAction)); err != nil {
		t.Errorf("a command to a job: %v", err)
	}
	if err := mei.Get(t.Context(), client.ObjectKeyFromObject(queue), queue); err != nil {
		t.Errorf("a look at a queue: %v", err)
	}
	if err := c.Create(t.Context(), newCommand("Queue", queue, "Nothing")); err != nil {
		t.Errorf("a command of who may: %v", err)
	}
}

// bind gives a user a cluster role in the namespace default.
func bind(t *testing.T, c client.Client, user, role string) {
	t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user + "-" + role, Namespace: "default"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}
	if err := c.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
}

// describe logs the objects for a failed test.
func describe(t *testing.T, c client.Client) {
	t.Helper()
	groups, events := &schedulingv1beta1.PodGroupList{}, &corev1.EventList{}
	if err := errors.Join(c.List(t.Context(), groups), c.List(t.Context(), events)); err != nil {
		t.Log(err)
	}
	for _, group := range groups.Items {
		t.Logf("%s: %+v", group.Name, group.Status)
	}
	for _, event := range events.Items {
		t.Logf("%s %s: %s %s", event.InvolvedObject.Kind, event.InvolvedObject.Name, event.Reason, event.Message)
	}
}
