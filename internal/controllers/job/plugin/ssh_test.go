package plugin

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func configOf(t *testing.T, args []string, replicas int32) string {
	t.Helper()
	job := testJob(map[string][]string{"ssh": args})
	job.Spec.Tasks[1].Replicas = replicas
	return string(object[*corev1.Secret](t, job).Data["config"])
}

func TestSshWithTheUsualPortIsVolcanosFileToTheByte(t *testing.T) {
	t.Parallel()
	want := "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n" +
		"Host j-ps-0\n  HostName j-ps-0.j\n  Port 22\nHost j-big-worker-0\n  HostName j-big-worker-0.j\n  Port 22\n"
	if got := configOf(t, nil, 1); got != want {
		t.Errorf("config %q", got)
	}
}

func TestSshConfigOfTenThousandHostsFitsIntoASecret(t *testing.T) {
	t.Parallel()
	got := configOf(t, nil, 20_000)
	if len(got) > 1<<20 {
		t.Errorf("%d bytes", len(got))
	}
	if want := "Host j-big-worker-*\n  HostName %h.j\n  Port 22\n"; !strings.HasSuffix(got, want) {
		t.Errorf("it ends with %q", got[max(0, len(got)-100):])
	}
}

func TestSshFollowsThePodsAndKeepsTheKeys(t *testing.T) {
	t.Parallel()
	job := testJob(map[string][]string{"ssh": {}})
	first := object[*corev1.Secret](t, job)
	job.Spec.Tasks[1].Replicas = 3
	set, err := For(job)
	if err != nil {
		t.Fatal(err)
	}
	write, changed, err := set.Objects(job)[0].Merge(first, nil)
	if err != nil || !changed {
		t.Fatalf("changed %v, %v", changed, err)
	}
	second := write.(*corev1.Secret)
	if string(second.Data["id_rsa"]) != string(first.Data["id_rsa"]) {
		t.Error("a scaled job has other keys than its running pods")
	}
	if !strings.Contains(string(second.Data["config"]), "Host j-big-worker-2\n") {
		t.Errorf("the new host is not in %s", second.Data["config"])
	}
	if _, changed, _ := set.Objects(job)[0].Merge(second, nil); changed {
		t.Error("it is written again although nothing changed")
	}
}

func TestSSHRefillsASecretThatAUserEmptied(t *testing.T) {
	t.Parallel()
	job := testJob(map[string][]string{"ssh": {}})
	set, _ := For(job)
	write, changed, err := set.Objects(job)[0].Merge(&corev1.Secret{}, nil)
	if err != nil || !changed {
		t.Fatalf("changed %v, %v", changed, err)
	}
	for _, key := range []string{"id_rsa", "id_rsa.pub", "authorized_keys", "config"} {
		if len(write.(*corev1.Secret).Data[key]) == 0 {
			t.Errorf("%s is empty", key)
		}
	}
}
