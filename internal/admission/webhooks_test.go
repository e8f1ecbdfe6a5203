package admission

import (
	"context"
	"io"
	"net/url"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// jobChecks is the name of the configuration of the webhook that checks jobs.
const jobChecks = ConfigurationPrefix + "jobs-validate"

// newWebhooks returns webhooks without a certificate.
func newWebhooks(t *testing.T, client *fake.Clientset) *Webhooks {
	t.Helper()
	api := client.AdmissionregistrationV1()
	cluster := Cluster{Queues: NewQueueIndexer(), Secrets: client.CoreV1().Secrets("vc-system"), Mutating: api.MutatingWebhookConfigurations(), Validating: api.ValidatingWebhookConfigurations()}
	w, err := New(Options{ServiceNamespace: "vc-system", ServiceName: "webhooks", Now: func() time.Time { return epoch }}, cluster, "")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// newTestWebhooks returns webhooks that have loaded their certificate.
func newTestWebhooks(t *testing.T, client *fake.Clientset) *Webhooks {
	t.Helper()
	w := newWebhooks(t, client)
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

func TestOnlyTheFirstInstallationMustNotBeRejected(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	var answer error
	client.PrependReactor("*", "validatingwebhookconfigurations", func(clienttesting.Action) (bool, runtime.Object, error) {
		return answer != nil, nil, answer
	})
	w := newTestWebhooks(t, client)
	rejected := apierrors.NewForbidden(schema.GroupResource{Resource: "validatingwebhookconfigurations"}, "", nil)
	brokenConnection := &url.Error{Op: "Post", URL: "https://api:6443", Err: io.ErrUnexpectedEOF}

	answer = rejected
	if _, err := w.Maintain(t.Context()); err == nil {
		t.Error("want an error, because the process cannot continue")
	}
	answer = brokenConnection
	if next, err := w.Maintain(t.Context()); err != nil || next.Wait != installRetry {
		t.Errorf("want another attempt after %s, because the API server is unreachable: %+v %v", installRetry, next, err)
	}
	answer = nil
	if _, err := w.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	answer = rejected
	if next, err := w.Maintain(t.Context()); err != nil || next.Wait != repairRetry {
		t.Errorf("want another attempt after %s: %+v %v", repairRetry, next, err)
	}
}

func TestTheCertificateIsLoadedWhenTheServerRecovers(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	isDown := true
	client.PrependReactor("get", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return isDown, nil, &url.Error{Op: "Get", URL: "https://api:6443", Err: syscall.ECONNREFUSED}
	})
	w := newWebhooks(t, client)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		time.AfterFunc(time.Minute, func() { isDown = false })
		if err := (&service{webhooks: w}).loadCertificate(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < time.Minute || took > time.Minute+installRetry {
			t.Errorf("loaded after %s", took)
		}
	})
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
