package install

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/joblist/jobsummary"
)

// TestAUserNotesNoNamespaceInWhichNoJobsMayBeRead works without webhooks: a policy of the API server enforces the rule.
func TestAUserNotesNoNamespaceInWhichNoJobsMayBeRead(t *testing.T) {
	removeWebhooks(t)
	mei, c := editor(t, "mei-waits", "default"), admin(t)
	noted := func(name, namespaces string) client.Object {
		job := newJob(name)
		job.Annotations = map[string]string{keys.Dependency: "afterany:kube-system/secret", keys.DependencyNamespaces: namespaces}
		return job
	}
	eventually(t, func(ctx context.Context) error { // the policy may not be active yet
		if err := mei.Create(ctx, noted("spy", "kube-system"), client.DryRunAll); !apierrors.IsForbidden(err) {
			return errors.Join(errors.New("a user may wait for jobs of kube-system"), err)
		}
		return nil
	})
	if err := mei.Create(t.Context(), noted("both", "default,kube-system"), client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Errorf("a note of two namespaces, one of which may be read: %v", err)
	}
	own := noted("own", "default")
	if err := mei.Create(t.Context(), own); err != nil {
		t.Errorf("a note of a namespace that may be read: %v", err)
	}
	change := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+keys.DependencyNamespaces+`":"kube-system"}}}`))
	if err := mei.Patch(t.Context(), own, change, client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Errorf("a change of the note: %v", err)
	}
	of := noted("of-the-administrator", "kube-system")
	if err := c.Create(t.Context(), of); err != nil {
		t.Errorf("a note of an administrator: %v", err)
	}
	label := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`))
	if err := mei.Patch(t.Context(), of, label); err != nil {
		t.Errorf("a change beside the note: %v", err)
	}
	for _, job := range []client.Object{own, of} {
		must(t, c.Delete(t.Context(), job))
	}
}

// TestTheControllersRegisterNoAPIButTheirs tests a policy. RBAC cannot limit the names of created objects.
func TestTheControllersRegisterNoAPIButTheirs(t *testing.T) {
	controllers, err := newClient(as(t, deploy.ControllersAccount, &forbidden{}))
	must(t, err)
	service := func(group string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
			"metadata": map[string]any{"name": "v1." + group},
			"spec": map[string]any{"group": group, "version": "v1", "groupPriorityMinimum": int64(1), "versionPriority": int64(1),
				"service": map[string]any{"namespace": "default", "name": "s"}},
		}}
	}
	eventually(t, func(ctx context.Context) error {
		if err := controllers.Create(ctx, service("evil.example"), &client.CreateOptions{DryRun: []string{metav1.DryRunAll}}); !apierrors.IsForbidden(err) {
			return errors.Join(errors.New("the controllers may register any API"), err)
		}
		return nil
	})
	err = controllers.Create(t.Context(), service(jobsummary.GroupName), &client.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if client.IgnoreAlreadyExists(err) != nil {
		t.Errorf("the controllers' own API: %v", err)
	}
}
