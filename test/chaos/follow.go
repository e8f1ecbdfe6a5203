package chaos

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// followAll passes the history of pods, PodGroups and Jobs to the rules until ctx ends, each in its own order.
func (w *World) followAll(ctx context.Context) {
	w.background.Go(func() {
		follow(ctx, w.client, &corev1.PodList{}, func(all []runtime.Object) {
			pods := make([]*corev1.Pod, len(all))
			for i, o := range all {
				pods[i] = o.(*corev1.Pod)
			}
			w.rules.Pods(pods, time.Now())
		}, func(o runtime.Object, gone bool) { w.rules.PodSeen(o.(*corev1.Pod), gone, time.Now()) })
	})
	w.background.Go(func() {
		each := func(o runtime.Object, gone bool) { w.rules.GroupSeen(o.(*schedulingv1beta1.PodGroup), gone) }
		follow(ctx, w.client, &schedulingv1beta1.PodGroupList{}, every(each), each)
	})
	w.background.Go(func() {
		each := func(o runtime.Object, _ bool) { w.rules.JobSeen(o.(*batchv1alpha1.Job)) }
		follow(ctx, w.client, &batchv1alpha1.JobList{}, every(each), each)
	})
}

func every(each func(runtime.Object, bool)) func([]runtime.Object) {
	return func(all []runtime.Object) {
		for _, o := range all {
			each(o, false)
		}
	}
}

// follow lists objects, calls all with them, and then calls each for every change, in the order of the API server's
// history. It starts again if the watch breaks.
func follow(ctx context.Context, c client.WithWatch, list client.ObjectList, all func([]runtime.Object), each func(o runtime.Object, gone bool)) {
	for ctx.Err() == nil {
		if objects, err := listed(ctx, c, list); err == nil {
			all(objects)
			changes(ctx, c, list, each)
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func listed(ctx context.Context, c client.WithWatch, list client.ObjectList) ([]runtime.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := c.List(ctx, list); err != nil {
		return nil, err
	}
	return meta.ExtractList(list)
}

// changes calls each for the changes after list until the watch ends.
func changes(ctx context.Context, c client.WithWatch, list client.ObjectList, each func(o runtime.Object, gone bool)) {
	watched, err := c.Watch(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}})
	if err != nil {
		return
	}
	defer watched.Stop()
	for e := range watched.ResultChan() {
		switch e.Type {
		case watch.Added, watch.Modified:
			each(e.Object, false)
		case watch.Deleted:
			each(e.Object, true)
		case watch.Error:
			return
		}
	}
}
