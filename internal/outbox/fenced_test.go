package outbox

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// TestAnEvictionStopsIfLeadershipIsLostBetweenItsRequests: the process is suspended after it has written the victim's
// conditions, and continues when another process leads.
func TestAnEvictionStopsIfLeadershipIsLostBetweenItsRequests(t *testing.T) {
	var r *rig
	api := &fakeAPI{answer: func(call string, _ int) error {
		if strings.HasPrefix(call, "condition") {
			r.closeFence(errors.New("lost"))
		}
		return nil
	}}
	inBubble(t, api, func(t *testing.T, running *rig) {
		r = running
		r.Put(eviction("v"))
		after(3 * time.Second)
		if diff := cmp.Diff([]string{"condition v"}, withoutEvents(api.seen())); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]model.Delta{model.EvictFailed{UID: "v", Err: ErrFenced.Error()}}, r.reports()); diff != "" {
			t.Errorf("reports (-want +got):\n%s", diff)
		}
	})
}

// TestDevicesAreNotWrittenIfLeadershipIsLostBetweenRequests: each request before the loss of leadership is the last one.
func TestDevicesAreNotWrittenIfLeadershipIsLostBetweenRequests(t *testing.T) {
	all := []string{"get devices cards", "hold devices cards", "give devices to p cards"}
	for last := 1; last < len(all); last++ {
		t.Run(all[last-1], func(t *testing.T) {
			isFenced := false
			api := &fakeAPI{answer: func(call string, _ int) error {
				isFenced = isFenced || call == all[last-1]
				return nil
			}}
			fence := func() error {
				if isFenced {
					return errors.New("lost")
				}
				return nil
			}
			o := New(Options{API: api, Attach: newAttachServer(api), Fence: fence, Report: func(model.Delta) {}})
			work := &attached{o: o, bind: decision.Bind{Pod: object("p"), Node: "n1", Attach: &decision.Attach{Devices: []decision.DeviceClaim{givesCards}}}}
			if err := work.requestBindings(context.Background()); !errors.Is(err, ErrFenced) {
				t.Errorf("error %v, want %v", err, ErrFenced)
			}
			if diff := cmp.Diff(all[:last], api.seen()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}
