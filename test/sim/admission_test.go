package sim

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/test/apiserver"
)

// runActions runs a world without faults in which only the given actions happen, up to a time.
func runActions(t *testing.T, length time.Duration, actions ...action) *World {
	t.Helper()
	s := newScript(1, nil)
	s.actions = actions
	w := newScriptedWorld(s, worldOptions{})
	t.Cleanup(w.close)
	w.runUntil(epoch.Add(length))
	if w.violation != nil {
		t.Fatal(w.violation)
	}
	return w
}

// TestPlainPodsAreScheduledWhileTheWebhooksDoNotRespond verifies that an outage of admission stops jobs, but not pods
// that belong to no job.
func TestPlainPodsAreScheduledWhileTheWebhooksDoNotRespond(t *testing.T) {
	for name, outage := range map[string]func(w *World){
		"down":      func(w *World) { w.webhookService.isDown = true },
		"very slow": func(w *World) { w.webhookService.slow = time.Hour },
	} {
		w := runActions(t, 2*time.Minute,
			action{at: 20 * time.Second, do: outage},
			action{at: 30 * time.Second, do: func(w *World) { w.users.createPod(newPlainPod("plain", "1")) }},
			action{at: 30 * time.Second, do: func(w *World) {
				w.users.submit(drawJob(newRandom(1, "job"), "job", []string{"default"}))
			}},
		)
		if pod := w.pod(userNamespace, "plain"); pod == nil || pod.Spec.NodeName == "" {
			t.Errorf("%s: the pod was not scheduled", name)
		}
		if w.job("job") != nil {
			t.Errorf("%s: a job was stored without a check", name)
		}
	}
}

// TestConfigurationsAreRepairedSoon verifies that jobs can be submitted soon after a configuration was damaged.
func TestConfigurationsAreRepairedSoon(t *testing.T) {
	deletion := func(w *World, o client.Object) {
		_, _ = w.users.do(&apiserver.Request{Verb: apiserver.Delete, Kind: w.kindOf(o), Name: o.GetName()})
	}
	for name, damage := range map[string]func(w *World){
		"deleted": func(w *World) {
			for _, o := range w.configurations() {
				deletion(w, o)
			}
		},
		"one deleted": func(w *World) { deletion(w, w.configurations()[5]) },
		"another authority": func(w *World) {
			for _, o := range w.configurations() {
				replaceAuthority(w, o.DeepCopyObject().(client.Object))
			}
		},
		"another certificate": deleteCertificate,
		"removed":             func(w *World) { w.removeAdmission(5 * time.Second) },
	} {
		w := runActions(t, 50*time.Second,
			action{at: 20 * time.Second, do: damage},
			action{at: 40 * time.Second, do: func(w *World) {
				w.users.submit(drawJob(newRandom(1, "job"), "job", []string{"default"}))
			}},
		)
		if w.job("job") == nil {
			t.Errorf("%s: the job was rejected", name)
		}
		w.calm, w.now = true, epoch.Add(storyLength+repairTime)
		if w.checkConfigurations(); w.violation != nil {
			t.Errorf("%s: %v", name, w.violation)
		}
	}
}
