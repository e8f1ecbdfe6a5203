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
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
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

func TestRunSingleProbe(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			http.Redirect(w, r, "http://other.invalid/", http.StatusFound)
		} else if r.URL.Path != "/ok" || r.Host != "named" {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer server.Close()
	health := health.NewServer()
	health.SetServingStatus("ill", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	grpcServer := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(grpcServer, health)
	grpcListener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = grpcServer.Serve(grpcListener) }()
	defer grpcServer.Stop()
	grpcPort := int32(grpcListener.Addr().(*net.TCPAddr).Port)
	port := int32(server.Listener.Addr().(*net.TCPAddr).Port)
	target := Target{Address: "127.0.0.1", Container: &corev1.Container{Ports: []corev1.ContainerPort{{Name: "web", ContainerPort: port}}}}
	named := intstr.FromString("web")
	web := func(port intstr.IntOrString, path string) corev1.ProbeHandler {
		headers := []corev1.HTTPHeader{{Name: "Host", Value: "named"}}
		return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Scheme: corev1.URISchemeHTTPS, Path: path, Port: port, HTTPHeaders: headers}}
	}
	cases := map[string]struct {
		handler corev1.ProbeHandler
		err     string
	}{
		"a good page at a named port":        {web(named, "ok"), ""},
		"a bad page":                         {web(intstr.FromInt32(port), "/bad"), "HTTP probe failed with statuscode: 418"},
		"a page that leads to another host":  {web(named, "/elsewhere"), ""},
		"a page at a port that has no name":  {web(intstr.FromString("none"), "/"), `container has no port named "none"`},
		"a port that has no such name":       {corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("none")}}, `container has no port named "none"`},
		"an open port":                       {corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)}}, ""},
		"a closed port":                      {corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(1)}}, "connection refused"},
		"a gRPC service that serves":         {corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: grpcPort}}, ""},
		"a gRPC service that does not serve": {corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: grpcPort, Service: ptr.To("ill")}}, `service unhealthy (responded with "NOT_SERVING")`},
		"a probe that does not say how":      {corev1.ProbeHandler{}, "must specify exec"},
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

func TestAGRPCProbeWaitsForItsServiceUntilTheTimeout(t *testing.T) {
	handler := corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 1}}
	err := RunSingleProbe(t.Context(), handler, 50*time.Millisecond, Target{Address: "127.0.0.1"})
	if want := `timeout: failed to connect service "127.0.0.1:1" within 50ms`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestAHookMayTakeLongButEndsWithItsContainer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var agent string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		agent = r.UserAgent()
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	port := int32(server.Listener.Addr().(*net.TCPAddr).Port)
	action := &corev1.HTTPGetAction{Port: intstr.FromInt32(port)}
	if err := GetForHook(ctx, action, Target{Address: "127.0.0.1", Container: &corev1.Container{}}); err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("got %v", err)
	}
	if !strings.HasPrefix(agent, "kube-lifecycle/") {
		t.Errorf("user agent %q", agent)
	}
}
