package accountwatch

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
)

func TestTheTreeIsBuiltAgainAfterAChange(t *testing.T) {
	t.Parallel()
	w, err := New(&rest.Config{Host: "https://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	empty := w.Accounts()
	if w.Accounts() != empty {
		t.Error("the tree is built again without a change")
	}
	if err := w.accounts.informer.GetStore().Add(&accountv1alpha1.Account{ObjectMeta: metav1.ObjectMeta{Name: "physics"}}); err != nil {
		t.Fatal(err)
	}
	w.forgetTree()
	if w.Accounts().Account("physics") == nil {
		t.Error("the new account is missing")
	}
	if err := w.qos.informer.GetStore().Add(&accountv1alpha1.QOS{ObjectMeta: metav1.ObjectMeta{Name: "high"}}); err != nil {
		t.Fatal(err)
	}
	w.forgetTree()
	if w.Accounts().QOS("high") == nil {
		t.Error("the new QOS is missing")
	}
}

// TestAClusterWithoutTheKindIsReady starts a watch before the CRD is installed: components must not wait for it.
func TestAClusterWithoutTheKindIsReady(t *testing.T) {
	t.Parallel()
	for code, wantReady := range map[int]bool{http.StatusNotFound: true, http.StatusForbidden: false} {
		var requests atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			requests.Add(1)
			w.WriteHeader(code)
		}))
		defer server.Close()
		w, err := New(&rest.Config{Host: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go w.Run(ctx)
		enough := func() bool { return w.IsReady() || requests.Load() > 2 }
		if !cache.WaitForCacheSync(ctx.Done(), enough) {
			t.Fatal("the watch did not list accounts")
		}
		if w.IsReady() != wantReady {
			t.Errorf("code %d: ready is %v", code, w.IsReady())
		}
	}
}
