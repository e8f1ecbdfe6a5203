package controllers

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/api"
)

// register is a manager without a cluster that collects the runnables added to it.
type register struct {
	manager.Manager
	added []manager.Runnable
}

func (r *register) Add(added manager.Runnable) error {
	r.added = append(r.added, added)
	return nil
}

func (r *register) GetFieldIndexer() client.FieldIndexer { return r }

func (r *register) IndexField(context.Context, client.Object, string, client.IndexerFunc) error {
	return nil
}

func TestEveryControllerTriesAgainAfterEightSecondsAtMost(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	m, err := manager.New(&rest.Config{Host: "http://127.0.0.1:1"}, manager.Options{
		Scheme: scheme, Metrics: metrics.Options{BindAddress: "0"},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return meta.NewDefaultRESTMapper(nil), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &register{Manager: m}
	if err := Add(r, Options{}); err != nil {
		t.Fatal(err)
	}
	// Seven packages; one of them has three controllers: for pods, ReplicaSets and StatefulSets.
	if len(r.added) != 9 {
		t.Errorf("%d controllers, want 9", len(r.added))
	}
	limiters := map[workqueue.TypedRateLimiter[reconcile.Request]]bool{}
	for _, c := range r.added {
		// The type belongs to controller-runtime, but its fields are exported.
		fields := reflect.ValueOf(c).Elem()
		name := fields.FieldByName("Name").String()
		limiter, ok := fields.FieldByName("RateLimiter").Interface().(workqueue.TypedRateLimiter[reconcile.Request])
		if !ok || limiters[limiter] {
			t.Errorf("%s has no rate limiter, or that of another controller", name)
			continue
		}
		limiters[limiter] = true
		var last time.Duration
		for range 40 {
			last = limiter.When(reconcile.Request{NamespacedName: types.NamespacedName{Name: "failing"}})
		}
		if last != 8*time.Second {
			t.Errorf("%s waits %s after 40 failures", name, last)
		}
	}
}

func TestControllersAndTheirWatches(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		list string // value of --controllers, separated by spaces
		want []string
	}{
		"all controllers": {"*", []string{
			"job-controller: Job Pod PodGroup Job Command",
			"pg-controller: Pod PodGroup",
			"pg-replicaset-controller: ReplicaSet PodGroup",
			"pg-statefulset-controller: StatefulSet PodGroup",
			"queue-controller: Queue Queue PodGroup Command",
			"cronjob-controller: CronJob Job",
			"jobflow-controller: JobFlow Job JobTemplate",
			"jobtemplate-controller: JobTemplate Job",
			"hyperNode-controller: ConfigMap HyperNode",
		}},
		"two controllers":        {"queue-controller jobtemplate-controller", []string{"queue-controller: Queue Queue PodGroup Command", "jobtemplate-controller: JobTemplate Job"}},
		"only a part of another": {"gc-controller", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			selection, err := ParseSelection(strings.Fields(c.list))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, one := range All(nil, nil, nil, Options{Selection: selection}) {
				line := one.Name + ":"
				for _, w := range one.AllWatches() {
					line += " " + reflect.TypeOf(w.Kind).Elem().Name()
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("controllers and the kinds that they watch (-want +got):\n%s", diff)
			}
		})
	}
}
