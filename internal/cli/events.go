package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/render"
)

// maxAskedOneByOne is the number of objects whose events are asked for one by one, behind the first.
const maxAskedOneByOne = 20

// EventsAbout collects the events about the given objects, oldest first. Events are
// found by the UID of what they are about, so namesakes of the past stay out. Who may
// not read events gets none.
func EventsAbout(ctx context.Context, c client.Reader, namespace string, about ...client.Object) ([]corev1.Event, error) {
	var events []corev1.Event
	for i, object := range about {
		if i > maxAskedOneByOne {
			break
		}
		page := &corev1.EventList{}
		selector := fields.OneTermEqualSelector("involvedObject.uid", string(object.GetUID()))
		err := Pages(ctx, c, page, func() error {
			events = append(events, page.Items...)
			return nil
		}, client.InNamespace(namespace), client.MatchingFieldsSelector{Selector: selector})
		if apierrors.IsForbidden(err) {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return EventTime(&a).Time.Compare(EventTime(&b).Time) })
	return events, nil
}

// MaxEvents is how many events a view shows, the last ones.
const MaxEvents = 20

// EventTable is the last events as a view shows them; object names what one is about.
func EventTable(events []corev1.Event, now time.Time, object func(*corev1.Event) string) render.Table {
	table := render.Table{Header: []string{"AGE", "TYPE", "REASON", "OBJECT", "MESSAGE"}, FreeText: true}
	table.CanSpare("OBJECT", "TYPE")
	events = events[max(0, len(events)-MaxEvents):]
	for i := range events {
		event := &events[i]
		age := render.Age(now, EventTime(event).Time)
		if count := EventCount(event); count > 1 {
			age += fmt.Sprintf(" (x%d)", count)
		}
		table.Rows = append(table.Rows, []string{age, event.Type, event.Reason, object(event), event.Message})
	}
	return table
}
