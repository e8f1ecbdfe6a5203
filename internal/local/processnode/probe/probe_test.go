package probe

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestCounterWaitsForItsThresholds(t *testing.T) {
	counter := NewCounter(&corev1.Probe{SuccessThreshold: 2, FailureThreshold: 3})
	var told []string
	for i, answer := range "++--+++---+++---" {
		result, tell := counter.CountOutcome(answer == '+')
		if tell {
			told = append(told, strconv.Itoa(i)+map[Result]string{Success: "good", Failure: "bad"}[result])
		}
	}
	want := []string{"1good", "9bad", "11good", "15bad"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRunAsksEveryPeriodAfterTheDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		var asked []time.Duration
		target := Target{Exec: func(context.Context, []string) error {
			asked = append(asked, time.Since(start))
			if len(asked) == 4 {
				cancel()
			}
			return errors.New("no")
		}}
		var results []Result
		Run(ctx, &corev1.Probe{InitialDelaySeconds: 5, PeriodSeconds: 2, FailureThreshold: 3, ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{}}},
			target, func(result Result, _ string) { results = append(results, result) })
		if diff := cmp.Diff([]time.Duration{5 * time.Second, 7 * time.Second, 9 * time.Second, 11 * time.Second}, asked); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if diff := cmp.Diff([]Result{Failure}, results); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ok" || r.Host != "named" {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer server.Close()
	host, text, _ := net.SplitHostPort(server.Listener.Addr().String())
	port, _ := strconv.Atoi(text)
	target := Target{Address: host, Ports: []corev1.ContainerPort{{Name: "web", ContainerPort: int32(port)}}}
	headers := []corev1.HTTPHeader{{Name: "Host", Value: "named"}}
	cases := map[string]struct {
		handler corev1.ProbeHandler
		err     string
	}{
		"a good page at a named port":      {corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "ok", Port: intstr.FromString("web"), HTTPHeaders: headers}}, ""},
		"a bad page":                       {corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/bad", Port: intstr.FromInt(port)}}, "HTTP probe failed with statuscode: 418"},
		"a port that has no such name":     {corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("none")}}, `container has no port named "none"`},
		"an open port":                     {corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt(port)}}, ""},
		"a closed port":                    {corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt(1)}}, "connection refused"},
		"a gRPC service that is not there": {corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 1}}, "connection refused"},
		"a probe that does not say how":    {corev1.ProbeHandler{}, "neither"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := RunSingleProbe(t.Context(), c.handler, 5*time.Second, target)
			if (err == nil) != (c.err == "") || (err != nil && !strings.Contains(err.Error(), c.err)) {
				t.Errorf("got %v, want %q", err, c.err)
			}
		})
	}
}
