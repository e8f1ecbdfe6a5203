package admission

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
)

const oneGroup = "resourceGroups: [{resourceGroup: g, object: {key: namespace, value: [nlp]}, labels: {zone: a}}]"

func TestPodsThatAskForItAreGated(t *testing.T) {
	t.Parallel()
	gated := `{"metadata":{"annotations":{"scheduling.volcano.sh/queue-allocation-gate":"true"}},"spec":{"schedulerName":"volcano"}}`
	for name, test := range map[string]struct {
		gate bool
		pod  string
		want int // number of added gates
	}{
		"one that asks":                    {true, gated, 1},
		"the feature is off":               {false, gated, 0},
		"another scheduler's":              {true, strings.Replace(gated, `:"volcano"`, `:"other"`, 1), 0},
		"any other value":                  {true, strings.Replace(gated, `"true"`, `"yes"`, 1), 0},
		"one that has the gate already":    {true, strings.Replace(gated, `"schedulerName"`, `"schedulingGates":[{"name":"scheduling.volcano.sh/queue-allocation-gate"}],"schedulerName"`, 1), 0},
		"one with a gate of somebody else": {true, strings.Replace(gated, `"schedulerName"`, `"schedulingGates":[{"name":"mine"}],"schedulerName"`, 1), 1},
	} {
		pods, err := newPodRules(Options{SchedulerNames: []string{"volcano"}, QueueGate: test.gate})
		if err != nil {
			t.Fatal(err)
		}
		response := (&hooks{pods: pods}).mutatePod(t.Context(), request(admissionv1.Create, "Pod", test.pod, ""))
		if !response.Allowed || len(response.Patches) != test.want {
			t.Errorf("%s: %v %v", name, response.Allowed, response.Patches)
		}
	}
}

func TestTheFileOfResourceGroupsIsFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "groups.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	options := Options{SchedulerNames: []string{"volcano"}, AdmissionConf: path}
	if _, err := newPodRules(options); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a file that is not there: %v", err)
	}
	write("resourceGroups: 7")
	if _, err := newPodRules(options); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a file that is none: %v", err)
	}
	write("")
	rules, err := newPodRules(options)
	if err != nil {
		t.Fatal(err)
	}
	if !rules.webhookRule().off {
		t.Error("without groups pods are sent to us")
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		poll, changes := make(chan time.Time), 0
		go rules.followFile(ctx, poll, func() { changes++ })
		turn := func(text string, want int, off bool) {
			t.Helper()
			write(text)
			poll <- time.Time{}
			synctest.Wait()
			if changes != want || rules.webhookRule().off != off {
				t.Errorf("after %q: %d changes, want %d; off is %v", text, changes, want, rules.webhookRule().off)
			}
		}
		turn("", 0, true)
		turn(oneGroup, 1, false)
		turn("resourceGroups: 7", 1, false) // the last valid one stays
		turn(oneGroup, 2, false)
		turn("", 3, true)
		cancel()
		synctest.Wait()
	})
	if got := rules.groups.Load(); len(got.Groups) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestAPodOfAGroupIsPatched(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "groups.yaml")
	if err := os.WriteFile(path, []byte(oneGroup), 0o600); err != nil {
		t.Fatal(err)
	}
	pods, err := newPodRules(Options{SchedulerNames: []string{"volcano"}, AdmissionConf: path})
	if err != nil {
		t.Fatal(err)
	}
	response := (&hooks{pods: pods}).mutatePod(t.Context(), request(admissionv1.Create, "Pod", `{"metadata":{"name":"p"},"spec":{"containers":[]}}`, ""))
	if len(response.Patches) != 1 || response.Patches[0].Path != "/spec/nodeSelector" {
		t.Errorf("%v", response.Patches)
	}
	if condition := pods.webhookRule().conditions[0].Expression; condition != `request.namespace in ["nlp"]` {
		t.Errorf("condition %s", condition)
	}
}
