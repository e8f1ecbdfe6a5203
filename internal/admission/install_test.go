package admission

import (
	"context"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/vc-batch/vc/api/keys"
)

// described returns the configurations for these options.
func described(t *testing.T, options Options, bundle string) webhookConfigurations {
	t.Helper()
	pods, err := newPodRules(options)
	if err != nil {
		t.Fatal(err)
	}
	mutating, validating := options.enabledRules(pods)
	return webhookConfigsFor(target{url: "https://127.0.0.1:1"}, []byte(bundle), mutating, validating)
}

func TestWhatIsInstalled(t *testing.T) {
	t.Parallel()
	options := Options{SchedulerNames: []string{"volcano", "mine"}}
	all := described(t, options, "ca")
	names := map[string]admissionregistrationv1.FailurePolicyType{}
	for _, c := range all.mutating {
		if len(c.Webhooks) == 0 {
			names[c.Name] = "off"
			continue
		}
		names[c.Name+" "+c.Webhooks[0].Name] = *c.Webhooks[0].FailurePolicy
	}
	for _, c := range all.validating {
		for _, hook := range c.Webhooks {
			names[c.Name+" "+hook.Name] = *hook.FailurePolicy
		}
	}
	for name, want := range map[string]admissionregistrationv1.FailurePolicyType{
		"volcano-admission-service-cronjobs-mutate mutatecronjob.volcano.sh":             admissionregistrationv1.Ignore,
		"volcano-admission-service-jobflows-mutate mutatejobflow.volcano.sh":             admissionregistrationv1.Ignore,
		"volcano-admission-service-jobs-mutate mutatejob.volcano.sh":                     admissionregistrationv1.Ignore,
		"volcano-admission-service-pods-mutate":                                          "off",
		"volcano-admission-service-accounts-mutate":                                      "off", // nothing is recorded
		"volcano-admission-service-qoses-mutate":                                         "off",
		"volcano-admission-service-queues-mutate mutatequeue.volcano.sh":                 admissionregistrationv1.Ignore,
		"volcano-admission-service-podgroups-mutate mutatepodgroup.volcano.sh":           admissionregistrationv1.Ignore,
		"volcano-admission-service-jobs-validate validatejob.volcano.sh":                 admissionregistrationv1.Fail,
		"volcano-admission-service-queues-validate validatequeue.volcano.sh":             admissionregistrationv1.Fail,
		"volcano-admission-service-podgroups-validate validatepodgroup.volcano.sh":       admissionregistrationv1.Fail,
		"volcano-admission-service-podgroups-validate validatepodgroupofpods.volcano.sh": admissionregistrationv1.Ignore,
		"volcano-admission-service-hypernodes-validate validatehypernode.volcano.sh":     admissionregistrationv1.Fail,
		"volcano-admission-service-cronjobs-validate validatecronjob.volcano.sh":         admissionregistrationv1.Fail,
		"volcano-admission-service-jobflows-validate validatejobflow.volcano.sh":         admissionregistrationv1.Fail,
		"volcano-admission-service-jobtemplates-validate validatejobtemplate.volcano.sh": admissionregistrationv1.Fail,
		"volcano-admission-service-pods-validate validatepod.volcano.sh":                 admissionregistrationv1.Ignore,
		"volcano-admission-service-accounts-validate validateaccount.volcano.sh":         admissionregistrationv1.Fail,
		"volcano-admission-service-qoses-validate validateqos.volcano.sh":                admissionregistrationv1.Fail,
	} {
		if names[name] != want {
			t.Errorf("%s: want %s, got %q", name, want, names[name])
		}
		delete(names, name)
	}
	if len(names) > 0 {
		t.Errorf("unexpected: %v", names)
	}
	for _, c := range all.validating {
		if c.Webhooks[0].Rules[0].Resources[0] == "pods" && len(c.Webhooks[0].MatchConditions) == 0 {
			t.Error("every pod of the cluster would be sent to us")
		}
		selector, err := metav1.LabelSelectorAsSelector(c.Webhooks[0].ObjectSelector)
		if err != nil {
			t.Fatal(err)
		}
		ofAJob := labels.Set{keys.JobName: "train"}
		if pods := c.Webhooks[0].Rules[0].Resources[0] == "pods"; selector.Matches(ofAJob) == pods || !selector.Matches(labels.Set{}) {
			t.Errorf("%s is asked about objects with %s: %v, without: %v", c.Name, ofAJob, selector.Matches(ofAJob), selector.Matches(labels.Set{}))
		}
	}
}

func TestWhatAnEarlierVolcanoLeftIsTakenOver(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	client := fake.NewClientset(&admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "volcano-admission-service-jobs-validate", Labels: map[string]string{"kept": "yes"}},
		Webhooks:   []admissionregistrationv1.ValidatingWebhook{{Name: "validatejob.volcano.sh"}, {Name: "old"}},
	})
	api := client.AdmissionregistrationV1()
	cluster := &Cluster{Mutating: api.MutatingWebhookConfigurations(), Validating: api.ValidatingWebhookConfigurations()}
	for _, bundle := range []string{"first", "second", "second"} {
		if _, err := installWebhooks(ctx, cluster, described(t, Options{SchedulerNames: []string{"volcano"}}, bundle)); err != nil {
			t.Fatal(err)
		}
		got, err := api.ValidatingWebhookConfigurations().Get(ctx, "volcano-admission-service-jobs-validate", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Webhooks) != 1 || string(got.Webhooks[0].ClientConfig.CABundle) != bundle || got.Labels["kept"] != "yes" {
			t.Errorf("after %s: %+v", bundle, got)
		}
	}
	client.ClearActions()
	if _, err := installWebhooks(ctx, cluster, described(t, Options{SchedulerNames: []string{"volcano"}}, "second")); err != nil {
		t.Fatal(err)
	}
	for _, action := range client.Actions() {
		if action.GetVerb() != "get" {
			t.Errorf("nothing changed, and yet: %s", action.GetVerb())
		}
	}
}

func TestNewConfigurationsBelongToTheOwnerAndAreNotCreatedWithoutIt(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "vc-admission", UID: "u1"}})
	api := client.AdmissionregistrationV1()
	cluster := &Cluster{Mutating: api.MutatingWebhookConfigurations(), Validating: api.ValidatingWebhookConfigurations()}
	cluster.Owner = func(ctx context.Context) (*rbacv1.ClusterRole, error) {
		return client.RbacV1().ClusterRoles().Get(ctx, "vc-admission", metav1.GetOptions{})
	}
	install := func() error {
		_, err := installWebhooks(t.Context(), cluster, described(t, Options{SchedulerNames: []string{"volcano"}}, "bundle"))
		return err
	}
	if err := install(); err != nil {
		t.Fatal(err)
	}
	const name = "volcano-admission-service-jobs-validate"
	got, err := api.ValidatingWebhookConfigurations().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if owners := got.OwnerReferences; len(owners) != 1 || owners[0].Kind != "ClusterRole" || owners[0].UID != "u1" {
		t.Errorf("the owners are %+v, want ClusterRole vc-admission", owners)
	}
	if err := client.RbacV1().ClusterRoles().Delete(t.Context(), "vc-admission", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := api.ValidatingWebhookConfigurations().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := install(); err == nil || !strings.Contains(err.Error(), "--webhook-owner") {
		t.Errorf("want an error that names the flag, got %v", err)
	}
	if _, err := api.ValidatingWebhookConfigurations().Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the configuration was created without its owner: %v", err)
	}
}
