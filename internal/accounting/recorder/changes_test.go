package recorder

import (
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/vc-batch/vc/api"
	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/accounting/audit"
	"github.com/vc-batch/vc/internal/accounting/spool"
)

var changed = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// changeWorld is an API server with a recorder of changes.
type changeWorld struct {
	*testing.T
	client.Client
	spool    *spool.Spool
	recorder *ChangeRecorder
}

func newChangeWorld(t *testing.T, objects ...client.Object) *changeWorld {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{api.AddToScheme, clientgoscheme.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	w := &changeWorld{T: t, Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), spool: openSpool(t, t.TempDir(), 1<<20)}
	w.restart()
	return w
}

// restart replaces the recorder by a new one, which knows nothing about the past.
func (w *changeWorld) restart() {
	w.recorder = &ChangeRecorder{Accounts: w.accounts, API: w.Client, Namespace: "vc", Cluster: "prod", Spool: w.spool, Log: logr.Discard()}
}

func (w *changeWorld) accounts() *accountv1alpha1.Tree {
	list := &accountv1alpha1.AccountList{}
	if err := w.List(w.Context(), list); err != nil {
		w.Fatal(err)
	}
	var accounts []*accountv1alpha1.Account
	for i := range list.Items {
		accounts = append(accounts, &list.Items[i])
	}
	qos := &accountv1alpha1.QOSList{}
	if err := w.List(w.Context(), qos); err != nil {
		w.Fatal(err)
	}
	var services []*accountv1alpha1.QOS
	for i := range qos.Items {
		services = append(services, &qos.Items[i])
	}
	return accountv1alpha1.NewTree(accounts, services...)
}

func (w *changeWorld) record(now time.Time) {
	w.Helper()
	w.recorder.nextLook = time.Time{}
	if err := w.recorder.RecordChanges(w.Context(), now); err != nil {
		w.Fatal(err)
	}
}

// spooled returns the IDs of the changes in the spool with their actors, and removes them.
func (w *changeWorld) spooled() string {
	w.Helper()
	var found []string
	for {
		batch, ok, err := w.spool.Oldest()
		if err != nil {
			w.Fatal(err)
		}
		if !ok {
			return strings.Join(found, " ")
		}
		for _, c := range batch.Changes {
			found = append(found, c.Cluster+"/"+c.ID+"/"+c.Actor)
		}
		if err := w.spool.Remove(batch); err != nil {
			w.Fatal(err)
		}
	}
}

func (w *changeWorld) configMaps() int {
	w.Helper()
	list := &corev1.ConfigMapList{}
	if err := w.List(w.Context(), list); err != nil {
		w.Fatal(err)
	}
	return len(list.Items)
}

func accountWith(annotations map[string]string) *accountv1alpha1.Account {
	return &accountv1alpha1.Account{ObjectMeta: metav1.ObjectMeta{Name: "physics", UID: "u1", Annotations: annotations}}
}

func qosWith(annotations map[string]string) *accountv1alpha1.QOS {
	return &accountv1alpha1.QOS{ObjectMeta: metav1.ObjectMeta{Name: "physics", UID: "q1", Annotations: annotations}}
}

func deletionBy(t *testing.T, name, user string, at time.Time, object audit.Object) *corev1.ConfigMap {
	t.Helper()
	deletion, err := audit.NewDeletion(audit.Request{ID: name, User: user, Time: at}, object)
	if err != nil {
		t.Fatal(err)
	}
	data, err := deletion.Data()
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "vc", UID: types.UID(name), Labels: map[string]string{audit.DeletionLabel: "true"}}, Data: data}
}

func TestChangesAreRecordedAndAcknowledged(t *testing.T) {
	t.Parallel()
	w := newChangeWorld(t, accountWith(map[string]string{audit.Unrecorded: `[{"ID":"r1","Actor":"ada"},{"ID":"r2","Actor":"ben"}]`}))
	w.record(changed)
	if got := w.spooled(); got != "prod/r1/ada prod/r2/ben" {
		t.Errorf("spooled %q", got)
	}
	annotations := w.accounts().Account("physics").Annotations
	if annotations[audit.Unrecorded] != "" || annotations[audit.Acknowledged] != "r1,r2" {
		t.Errorf("annotations %v", annotations)
	}
	if w.record(changed); w.spooled() != "" {
		t.Error("the changes are recorded again")
	}
}

// TestChangesOfQOSAreRecordedBesideThoseOfAccounts has a QOS and an account with the same name. Only the QOS is deleted.
func TestChangesOfQOSAreRecordedBesideThoseOfAccounts(t *testing.T) {
	t.Parallel()
	qos := qosWith(map[string]string{audit.Unrecorded: `[{"ID":"r1","Actor":"ada","QOS":"physics"}]`})
	w := newChangeWorld(t, accountWith(map[string]string{audit.Unrecorded: `[{"ID":"r2","Actor":"ben"}]`}), qos)
	w.record(changed)
	if got := w.spooled(); got != "prod/r2/ben prod/r1/ada" {
		t.Errorf("spooled %q", got)
	}
	annotations := w.accounts().QOS("physics").Annotations
	if annotations[audit.Unrecorded] != "" || annotations[audit.Acknowledged] != "r1" {
		t.Errorf("annotations %v", annotations)
	}
	if err := w.Create(t.Context(), deletionBy(t, "first", "eve", changed, qosWith(nil))); err != nil {
		t.Fatal(err)
	}
	if w.record(changed); w.spooled() != "" || w.configMaps() != 1 {
		t.Error("the deletion of a QOS that exists is recorded or forgotten")
	}
	if err := w.Delete(t.Context(), qosWith(nil)); err != nil {
		t.Fatal(err)
	}
	if w.record(changed); w.spooled() != "prod/q1/deletion/eve" || w.configMaps() != 0 {
		t.Error("the deletion of the QOS is not recorded")
	}
}

func TestADeletionIsRecordedOnceTheAccountIsGone(t *testing.T) {
	t.Parallel()
	account := accountWith(map[string]string{audit.Unrecorded: `[{"ID":"r1","Actor":"ben"}]`})
	w := newChangeWorld(t, deletionBy(t, "first", "ada", changed, account), deletionBy(t, "second", "eve", changed.Add(time.Second), account))
	w.record(changed)
	if got := w.spooled(); got != "prod/r1/ben prod/u1/deletion/eve prod/r1/ben prod/u1/deletion/ada" {
		t.Errorf("spooled %q", got) // the database stores the first of each ID
	}
	if w.configMaps() != 0 {
		t.Error("the ConfigMaps of recorded deletions stay")
	}
}

func TestAFailedDeletionIsNotRecorded(t *testing.T) {
	t.Parallel()
	account := accountWith(nil)
	w := newChangeWorld(t, account.DeepCopy(), deletionBy(t, "first", "ada", changed, account))
	w.record(changed.Add(deletionPatience - time.Second))
	if w.spooled() != "" || w.configMaps() != 1 {
		t.Error("a deletion that may still happen is recorded or forgotten")
	}
	w.record(changed.Add(deletionPatience))
	if w.spooled() != "" || w.configMaps() != 0 {
		t.Error("a failed deletion is recorded or stays")
	}
}

func TestADeletedAccountMayExistAgain(t *testing.T) {
	t.Parallel()
	again := accountWith(nil)
	again.UID = "u2"
	w := newChangeWorld(t, again, deletionBy(t, "first", "ada", changed, accountWith(nil)))
	if w.record(changed); w.spooled() != "prod/u1/deletion/ada" {
		t.Error("the deletion of the first account is not recorded")
	}
}
