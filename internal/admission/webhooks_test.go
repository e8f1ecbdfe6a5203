package admission

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// jobChecks is the name of the configuration of the webhook that checks jobs.
const jobChecks = ConfigurationPrefix + "jobs-validate"

// newTestWebhooks returns webhooks with a certificate in a cluster.
func newTestWebhooks(t *testing.T, client *fake.Clientset) *Webhooks {
	t.Helper()
	api := client.AdmissionregistrationV1()
	cluster := Cluster{Queues: NewQueueIndexer(), Secrets: client.CoreV1().Secrets("vc-system"), Mutating: api.MutatingWebhookConfigurations(), Validating: api.ValidatingWebhookConfigurations()}
	w, err := New(Options{ServiceNamespace: "vc-system", ServiceName: "webhooks", Now: func() time.Time { return epoch }}, cluster, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.LoadCertificate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestMaintenanceRepairsConfigurations(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(ctx context.Context, client *fake.Clientset) error{
		"deleted": func(ctx context.Context, client *fake.Clientset) error {
			return client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(ctx, jobChecks, metav1.DeleteOptions{})
		},
		"emptied": func(ctx context.Context, client *fake.Clientset) error {
			_, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Update(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: jobChecks}}, metav1.UpdateOptions{})
			return err
		},
		"with another authority": func(ctx context.Context, client *fake.Clientset) error {
			api := client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
			c, err := api.Get(ctx, jobChecks, metav1.GetOptions{})
			if err != nil {
				return err
			}
			c.Webhooks[0].ClientConfig.CABundle = []byte("another")
			_, err = api.Update(ctx, c, metav1.UpdateOptions{})
			return err
		},
		"and nothing is damaged": func(context.Context, *fake.Clientset) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := fake.NewClientset()
			w := newTestWebhooks(t, client)
			if next, err := w.Maintain(t.Context()); err != nil || next.Pause != 0 || next.Wait != renewalCheck {
				t.Fatalf("first installation: %+v %v", next, err)
			}
			if err := damage(t.Context(), client); err != nil {
				t.Fatal(err)
			}
			next, err := w.Maintain(t.Context())
			if wasDamaged := name != "and nothing is damaged"; err != nil || next.Pause > 0 != wasDamaged {
				t.Errorf("%+v %v", next, err)
			}
			c, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), jobChecks, metav1.GetOptions{})
			if err != nil || len(c.Webhooks) != 1 || string(c.Webhooks[0].ClientConfig.CABundle) != string(w.keeper.caBundle()) {
				t.Errorf("%+v %v", c, err)
			}
		})
	}
}

func TestOnlyTheFirstInstallationMustSucceed(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	isDown := true
	client.PrependReactor("*", "validatingwebhookconfigurations", func(clienttesting.Action) (bool, runtime.Object, error) {
		return isDown, nil, errors.New("connection refused")
	})
	w := newTestWebhooks(t, client)
	if _, err := w.Maintain(t.Context()); err == nil {
		t.Error("want an error, because the process cannot continue")
	}
	isDown = false
	if _, err := w.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	isDown = true
	if next, err := w.Maintain(t.Context()); err != nil || next.Wait != repairRetry {
		t.Errorf("want another attempt after %s: %+v %v", repairRetry, next, err)
	}
}

// TestConfigurationsDeletedBeforeTheFirstListAreNoticed starts the watch after all configurations were deleted, so that
// it has nothing to report.
func TestConfigurationsDeletedBeforeTheFirstListAreNoticed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		changes := 0
		done := make(chan error, 1)
		go func() { done <- watchConfigurations(ctx, fake.NewClientset(), func() { changes++ }) }()
		time.Sleep(time.Second)
		cancel()
		if err := <-done; err != nil || changes == 0 {
			t.Errorf("%d changes, %v", changes, err)
		}
	})
}

func TestAReviewOfAnUnknownPathIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := newTestWebhooks(t, fake.NewClientset()).Review(t.Context(), "/nothing", admission.Request{}); err == nil {
		t.Error("want an error")
	}
}
