package processnode

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/local/processnode/cgroup"
	"github.com/vc-batch/vc/internal/local/processnode/logfile"
	"github.com/vc-batch/vc/internal/local/processnode/shim"
	"github.com/vc-batch/vc/internal/podusage"
)

func TestOtherRoots(t *testing.T) {
	text := `22 27 0:21 / /proc rw - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
28 27 254:1 / /home\040of rw shared:5 - xfs /dev/vdb rw
29 27 0:25 / /tmp rw - tmpfs tmpfs rw
30 27 254:2 / /state/nodes/x rw - ext4 /dev/vdc rw
31 27 254:0 /var/hosts /etc/hosts rw - ext4 /dev/vda rw
32 28 254:1 / /home\040of rw - xfs /dev/vdb rw
garbage
`
	if diff := cmp.Diff([]string{"/home of"}, parseRoots(text, "/state/nodes")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestParseLogRequest(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		query string
		want  logRequest
		bad   bool
	}{
		"nothing":                    {"", logRequest{options: logfile.Options{Tail: -1, LimitBytes: -1}}, false},
		"no lines":                   {"tailLines=0", logRequest{options: logfile.Options{Tail: 0, LimitBytes: -1}}, false},
		"seconds":                    {"sinceSeconds=60&follow=true", logRequest{follow: true, options: logfile.Options{Tail: -1, LimitBytes: -1, Since: now.Add(-time.Minute)}}, false},
		"a time":                     {"sinceTime=2026-01-01T11:00:00Z&timestamps=1&previous=1", logRequest{previous: true, options: logfile.Options{Tail: -1, LimitBytes: -1, Timestamps: true, Since: now.Add(-time.Hour)}}, false},
		"a stream":                   {"stream=Stderr", logRequest{options: logfile.Options{Tail: -1, LimitBytes: -1, Stream: logfile.Stderr}}, false},
		"less than no lines":         {"tailLines=-1", logRequest{}, true},
		"a limit that is no number":  {"limitBytes=many", logRequest{}, true},
		"a time that is none":        {"sinceTime=yesterday", logRequest{}, true},
		"a flag that is neither nor": {"follow=perhaps", logRequest{}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			query, err := url.ParseQuery(c.query)
			if err != nil {
				t.Fatal(err)
			}
			got, err := parseLogRequest(query, now)
			if (err != nil) != c.bad {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(logRequest{})); diff != "" && !c.bad {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestStatusPatchIsForOnePodAndOnlyTheDifference(t *testing.T) {
	old := corev1.PodStatus{Phase: corev1.PodPending, HostIP: "127.0.0.1", Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}}
	fresh := *old.DeepCopy()
	fresh.Phase = corev1.PodRunning
	patch, err := statusPatch("uid-1", old, fresh, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(patch, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"metadata": map[string]any{"uid": "uid-1"}, "status": map[string]any{"phase": "Running"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestIdentify(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may become somebody else")
	}
	pod := &corev1.PodSecurityContext{RunAsUser: ptrTo(int64(1)), RunAsGroup: ptrTo(int64(2)), FSGroup: ptrTo(int64(3)), SupplementalGroups: []int64{4}}
	var process shim.Process
	if err := setIdentity(&process, pod, &corev1.SecurityContext{RunAsUser: ptrTo(int64(9))}); err != nil {
		t.Fatal(err)
	}
	want := shim.Process{UID: ptrTo(int64(9)), GID: ptrTo(int64(2)), Groups: []int64{4, 3}}
	if diff := cmp.Diff(want, process); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := setIdentity(&shim.Process{}, nil, &corev1.SecurityContext{RunAsNonRoot: ptrTo(true)}); err == nil {
		t.Error("runAsNonRoot as root is accepted")
	}
}

func TestResolvConf(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{DNSPolicy: corev1.DNSNone, DNSConfig: &corev1.PodDNSConfig{
		Nameservers: []string{"1.1.1.1"}, Searches: []string{"a", "b"}, Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: ptrTo("2")}, {Name: "rotate"}},
	}}}
	if diff := cmp.Diff("nameserver 1.1.1.1\nsearch a b\noptions ndots:2\noptions rotate\n", resolvConfText(pod)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestBadConfigurations(t *testing.T) {
	dir := t.TempDir()
	good := Config{Name: "n", REST: &rest.Config{}, Dir: dir}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]func(*Config){
		"no name":                        func(c *Config) { c.Name = "" },
		"a name that is none":            func(c *Config) { c.Name = "Not A Name" },
		"no API server":                  func(c *Config) { c.REST = nil },
		"no directory":                   func(c *Config) { c.Dir = "" },
		"a directory that cannot be one": func(c *Config) { c.Dir = filepath.Join(file, "x") },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			config := good
			change(&config)
			if _, err := New(config); err == nil {
				t.Error("accepted")
			} else {
				t.Log(err)
			}
		})
	}
}

func TestAPIAddress(t *testing.T) {
	for host, want := range map[string]string{"https://127.0.0.1:6443": "127.0.0.1:6443", "https://api.example": "api.example:443", "1.2.3.4:80": "1.2.3.4:80", "": ""} {
		if got := apiAddress(host); got != want {
			t.Errorf("%q: got %q, want %q", host, got, want)
		}
	}
}

// The use of a pod is the sum of what its containers used, also before the node's process was restarted.
func TestTheUseOfAPodIsTheSumOfItsContainers(t *testing.T) {
	t.Parallel()
	use := podUse{before: podusage.Use{CPUMilliseconds: 100, PeakMemoryBytes: 5}}
	if use.add("main", cgroup.Use{}) {
		t.Error("a use that was not measured was added")
	}
	for _, one := range []struct {
		container string
		cpu       time.Duration
		peak      int64
	}{{"main", time.Second, 10}, {"main", time.Second, 30}, {"sidecar", 500 * time.Millisecond, 7}} {
		if !use.add(one.container, cgroup.Use{CPUTime: &one.cpu, PeakMemoryBytes: &one.peak}) {
			t.Error("a measured use was not added")
		}
	}
	// A running container had a higher peak than it has at its end.
	for _, peak := range []int64{12, 9} {
		use.keepPeak("sidecar", cgroup.Use{PeakMemoryBytes: &peak})
	}
	want := podusage.Use{CPUMilliseconds: 2600, PeakMemoryBytes: 42}
	if got := use.total(); got != want {
		t.Errorf("use %+v, want %+v", got, want)
	}
	patch, err := statusPatch("uid-1", corev1.PodStatus{}, corev1.PodStatus{Phase: corev1.PodSucceeded}, &want)
	if err != nil || !strings.Contains(string(patch), `vc-batch.dev/used`) {
		t.Errorf("patch %s, error %v", patch, err)
	}
}

// A user could create a pod with an invented use. Only the node sets the start time.
func TestAPodThatHasNotStartedHasUsedNothing(t *testing.T) {
	t.Parallel()
	want := podusage.Use{CPUMilliseconds: 100, PeakMemoryBytes: 5}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{keys.Used: want.Encode()}}}
	if got := usedBefore(pod); got != (podusage.Use{}) {
		t.Errorf("a pod that has not started used %+v", got)
	}
	pod.Status.StartTime = &metav1.Time{Time: time.Unix(1, 0)}
	if got := usedBefore(pod); got != want {
		t.Errorf("a pod that a node has started used %+v, want %+v", got, want)
	}
}
