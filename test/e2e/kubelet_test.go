package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func (c *cluster) pod(name string) *corev1.Pod {
	c.t.Helper()
	var p corev1.Pod
	if err := c.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, &p); err != nil {
		c.t.Fatal(err)
	}
	return &p
}

func (c *cluster) podPhase(name string, phase corev1.PodPhase, d time.Duration) *corev1.Pod {
	c.t.Helper()
	var p *corev1.Pod
	c.eventually(d, fmt.Sprintf("pod %s is %s", name, phase), func() error {
		if p = c.pod(name); p.Status.Phase != phase {
			return fmt.Errorf("it is %s: %s %s %+v", p.Status.Phase, p.Status.Reason, p.Status.Message, p.Status.ContainerStatuses)
		}
		return nil
	})
	return p
}

// podYAML returns a pod of our scheduler with one container.
func podYAML(name, restart, command, more string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: default, labels: {app: %s}}
spec:
  schedulerName: volcano
  restartPolicy: %s
  terminationGracePeriodSeconds: 3
  containers:
  - name: main
    image: none:local
    command: [/bin/sh, -c, %q]
%s---
`, name, name, restart, command, more)
}

// TestKubectlAgainstAProcessNode checks the everyday tasks of kubectl users. Every step calls kubectl itself.
func TestKubectlAgainstAProcessNode(t *testing.T) {
	c := bigNode(t)
	c.create(podYAML("talker", "Never", "echo one; echo two; cat; exec sleep 600", "    stdin: true\n"))
	c.podPhase("talker", corev1.PodRunning, 30*time.Second)

	t.Run("logs", func(t *testing.T) {
		c.eventually(10*time.Second, "both lines are logged", func() error {
			if got := c.kubectl("logs", "talker"); got != "one\ntwo\n" {
				return fmt.Errorf("%q", got)
			}
			return nil
		})
		if got := c.kubectl("logs", "talker", "--tail=1"); got != "two\n" {
			t.Errorf("--tail=1: %q", got)
		}
	})
	t.Run("logs -f follows until the pod ends", func(t *testing.T) {
		c.create(podYAML("counter", "Never", "for i in 1 2 3 4 5; do echo $i; sleep 0.3; done", ""))
		c.podPhase("counter", corev1.PodRunning, 30*time.Second)
		if got := c.kubectl("logs", "-f", "counter"); got != "1\n2\n3\n4\n5\n" {
			t.Errorf("%q", got)
		}
	})
	t.Run("exec gives output and exit code", func(t *testing.T) {
		if got := c.must("typed", "kubectl", "exec", "-i", "talker", "--", "sh", "-c", "cat; hostname"); got != "typedtalker\n" {
			t.Errorf("%q", got)
		}
		if r := c.run("", "kubectl", "exec", "talker", "--", "sh", "-c", "echo bad >&2; exit 7"); r.code != 7 || !strings.Contains(r.stderr, "bad") {
			t.Errorf("exit %d, stderr %q", r.code, r.stderr)
		}
	})
	t.Run("attach sends what is typed", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		c.runContext(ctx, "typed at attach\n", "kubectl", "attach", "-i", "talker")
		c.eventually(5*time.Second, "cat repeats it", func() error {
			return containsAll(c.kubectl("logs", "talker"), "typed at attach")
		})
	})
	t.Run("cp there and back", func(t *testing.T) {
		dir := t.TempDir()
		c.kubectl("exec", "talker", "--", "sh", "-c", "mkdir -p /tmp/cp && echo from the pod > /tmp/cp/out")
		c.kubectl("cp", "talker:/tmp/cp/out", filepath.Join(dir, "out"))
		c.kubectl("cp", filepath.Join(dir, "out"), "talker:/tmp/cp/in")
		if got := c.kubectl("exec", "talker", "--", "cat", "/tmp/cp/in"); got != "from the pod\n" {
			t.Errorf("%q", got)
		}
		if out, err := exec.Command("ls", "/tmp/cp").Output(); err == nil {
			t.Errorf("the pod wrote on the machine: %s", out)
		}
	})
	t.Run("port-forward", func(t *testing.T) {
		c.create(podYAML("server", "Never", "mkdir /tmp/w; cd /tmp/w; echo served > f; exec python3 -m http.server 8080", "    readinessProbe: {httpGet: {path: /f, port: 8080}, periodSeconds: 1}\n"))
		c.eventually(30*time.Second, "the server is ready", func() error {
			for _, cond := range c.pod("server").Status.Conditions {
				if cond.Type == corev1.PodReady && cond.Status == corev1.ConditionTrue {
					return nil
				}
			}
			return fmt.Errorf("%+v", c.pod("server").Status.ContainerStatuses)
		})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		forward := exec.CommandContext(ctx, filepath.Join(binaries, "kubectl"), "--kubeconfig", c.kubeconfig, "port-forward", "server", ":8080")
		out, err := forward.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := forward.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n') // Forwarding from 127.0.0.1:PORT -> 8080
		if err != nil {
			t.Fatal(err)
		}
		addr := strings.Fields(line)[2]
		conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET /f HTTP/1.0\r\n\r\n")
		var answer strings.Builder
		scanLines(conn, func(l string) { answer.WriteString(l + "\n") })
		if !strings.Contains(answer.String(), "served") {
			t.Errorf("%q", answer.String())
		}
		cancel()
		_ = forward.Wait()
	})
	t.Run("delete waits for the grace period and the pod's last words", func(t *testing.T) {
		c.create(podYAML("polite", "Never", "trap 'echo bye; exit 0' TERM; echo hello; while :; do sleep 0.1; done", ""))
		c.podPhase("polite", corev1.PodRunning, 30*time.Second)
		follow := exec.Command(filepath.Join(binaries, "kubectl"), "--kubeconfig", c.kubeconfig, "logs", "-f", "polite")
		var problems strings.Builder
		follow.Stderr = &problems
		out, err := follow.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := follow.Start(); err != nil {
			t.Fatal(err)
		}
		// Following the log before the deletion shows all of it. Until it prints "hello", the shell has no trap.
		said := bufio.NewReader(out)
		first, err := said.ReadString('\n')
		if first != "hello\n" {
			t.Errorf("followed %q (%v)", first, err)
		}
		began := time.Now()
		c.kubectl("delete", "pod", "polite")
		if rest, err := io.ReadAll(said); string(rest) != "bye\n" || err != nil {
			t.Errorf("then followed %q (%v)", rest, err)
		}
		if err := follow.Wait(); err != nil {
			t.Errorf("kubectl logs -f: %v: %s", err, problems.String())
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("deleting took %s: the shell's trap was not heard", took)
		}
	})
	t.Run("pods that name no scheduler run too: there is no other here", func(t *testing.T) {
		c.kubectl("create", "deployment", "web", "--image=none:local", "--replicas=2", "--", "sleep", "600")
		c.kubectl("rollout", "status", "deployment/web", "--timeout=30s")
	})
	t.Run("a plain pod of another scheduler is not ours", func(t *testing.T) {
		c.create(strings.Replace(podYAML("stranger", "Never", "true", ""), "schedulerName: volcano", "schedulerName: other", 1))
		if p := c.pod("stranger"); p.Spec.NodeName != "" || len(p.Annotations) > 0 {
			t.Errorf("touched: node %q, annotations %v", p.Spec.NodeName, p.Annotations)
		}
	})
}

// TestPodsOfAProcessNode checks what the kubelet guarantees to containers. The pods print the values themselves.
func TestPodsOfAProcessNode(t *testing.T) {
	c := bigNode(t)
	c.create(`apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: default}
data: {colour: green, file.txt: "from a config map\n"}
---
apiVersion: v1
kind: Secret
metadata: {name: hidden, namespace: default}
stringData: {token: s3cret}
`)
	t.Run("environment and volumes", func(t *testing.T) {
		c.create(`apiVersion: v1
kind: Pod
metadata: {name: env, namespace: default, labels: {tier: gold}, annotations: {note: hi}}
spec:
  schedulerName: volcano
  restartPolicy: Never
  hostname: somebody
  subdomain: somewhere
  initContainers:
  - {name: first, image: i, command: [sh, -c, "echo from init > /shared/init"], volumeMounts: [{name: shared, mountPath: /shared}]}
  containers:
  - name: main
    image: i
    workingDir: /etc/config
    command: [sh, -c]
    args: ["pwd; cat file.txt /shared/init /secrets/token; echo; cat /info/labels; echo; echo $COLOUR $TOKEN $NAME $CPU $(WHO); hostname; ls /var/run/secrets/kubernetes.io/serviceaccount/"]
    env:
    - {name: COLOUR, valueFrom: {configMapKeyRef: {name: settings, key: colour}}}
    - {name: TOKEN, valueFrom: {secretKeyRef: {name: hidden, key: token}}}
    - {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1m}}}
    - {name: WHO, value: me}
    resources: {limits: {cpu: 500m, memory: 64Mi}}
    volumeMounts:
    - {name: config, mountPath: /etc/config}
    - {name: shared, mountPath: /shared}
    - {name: secret, mountPath: /secrets, readOnly: true}
    - {name: info, mountPath: /info}
  volumes:
  - {name: config, configMap: {name: settings}}
  - {name: secret, secret: {secretName: hidden}}
  - {name: shared, emptyDir: {}}
  - {name: info, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
`)
		c.podPhase("env", corev1.PodSucceeded, 30*time.Second)
		want := "/etc/config\nfrom a config map\nfrom init\ns3cret\ntier=\"gold\"\ngreen s3cret env 500 me\nsomebody\nca.crt\nnamespace\ntoken\n"
		if got := c.logs("default", "env"); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
	t.Run("exit codes and reasons", func(t *testing.T) {
		c.create(podYAML("three", "Never", "exit 3", "") +
			strings.Replace(podYAML("nofile", "Never", "x", ""), "[/bin/sh, -c, \"x\"]", "[/no/such/program]", 1))
		p := c.podPhase("three", corev1.PodFailed, 30*time.Second)
		if s := p.Status.ContainerStatuses[0].State.Terminated; s == nil || s.ExitCode != 3 || s.Reason != "Error" {
			t.Errorf("%+v", p.Status.ContainerStatuses[0].State)
		}
		p = c.podPhase("nofile", corev1.PodFailed, 30*time.Second)
		if s := p.Status.ContainerStatuses[0].State.Terminated; s == nil || s.ExitCode == 0 || !strings.Contains(s.Message, "/no/such/program") {
			t.Errorf("%+v", p.Status.ContainerStatuses[0].State)
		}
	})
	t.Run("restarts, and the log of the last run", func(t *testing.T) {
		c.create(podYAML("again", "OnFailure", "echo run; [ -e /data/x ] || { touch /data/x; exit 1; }; echo done", "    volumeMounts: [{name: d, mountPath: /data}]\n  volumes: [{name: d, emptyDir: {}}]\n"))
		p := c.podPhase("again", corev1.PodSucceeded, 60*time.Second)
		if n := p.Status.ContainerStatuses[0].RestartCount; n != 1 {
			t.Errorf("restarted %d times", n)
		}
		if got := c.kubectl("logs", "again", "--previous"); got != "run\n" {
			t.Errorf("--previous: %q", got)
		}
	})
	t.Run("liveness", func(t *testing.T) {
		c.create(podYAML("sick", "Always", "sleep 600", "    livenessProbe: {exec: {command: ['false']}, periodSeconds: 1, failureThreshold: 1}\n"))
		c.eventually(60*time.Second, "it was restarted", func() error {
			if s := c.pod("sick").Status.ContainerStatuses; len(s) == 0 || s[0].RestartCount < 1 {
				return fmt.Errorf("%+v", s)
			}
			return nil
		})
	})
	t.Run("active deadline", func(t *testing.T) {
		c.create(strings.Replace(podYAML("late", "Never", "sleep 600", ""), "  restartPolicy", "  activeDeadlineSeconds: 1\n  restartPolicy", 1))
		if p := c.podPhase("late", corev1.PodFailed, 30*time.Second); p.Status.Reason != "DeadlineExceeded" {
			t.Errorf("reason %q", p.Status.Reason)
		}
	})
	t.Run("memory limit", func(t *testing.T) {
		c.create(podYAML("greedy", "Never", "exec tail /dev/zero", "    resources: {limits: {memory: 32Mi}}\n"))
		p := c.podPhase("greedy", corev1.PodFailed, 60*time.Second)
		if s := p.Status.ContainerStatuses[0].State.Terminated; s == nil || s.Reason != "OOMKilled" {
			t.Errorf("%+v", p.Status.ContainerStatuses[0].State)
		}
	})
	t.Run("without a command it waits, and an event says why", func(t *testing.T) {
		c.create("apiVersion: v1\nkind: Pod\nmetadata: {name: image-only, namespace: default}\nspec: {schedulerName: volcano, containers: [{name: c, image: 'nginx:latest'}]}\n")
		c.podPhase("image-only", corev1.PodRunning, 30*time.Second)
		c.eventually(10*time.Second, "an event names the image", func() error {
			return containsAll(c.kubectl("get", "events", "--field-selector", "involvedObject.name=image-only", "-o", "jsonpath={.items[*].message}"), "command")
		})
	})
}
