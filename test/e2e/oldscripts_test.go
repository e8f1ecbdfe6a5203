package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// oldLine is one line of a script for Volcano's command line.
type oldLine struct {
	// line is run by sh. The test sets $NS, $KUBECONFIG, $SERVER and $DIR.
	line string
	// out is a regular expression, anchored at the beginning of a line, that stdout must match. If it is empty, stdout
	// must be empty. err is the same for stderr; for a line that fails, it follows "error: ". If it is empty, stderr
	// may contain only hints about better spellings. $NS is replaced by the namespace.
	out, err string
	code     int
	// until repeats the line until its output matches, because the cluster needs a moment.
	until bool
}

// oldScript lists every invocation of Volcano's vcctl and short programs, in an order in which a user could run them.
var oldScript = []oldLine{
	{line: "vcctl version", out: `(?s)^API Version: v1alpha1\nVersion: .*\nGit SHA: .*\nBuilt At: .*\nGo Version: go.*\nGo OS/Arch: linux/`},

	// job run: from flags, short and long, and from a file
	{line: "vcctl job run -n $NS -N old -i busybox -m 1 -r 2 -R cpu=100m,memory=10Mi -L cpu=200m,memory=20Mi -S volcano", out: `^run job old successfully\n$`},
	{line: "vcctl job run --namespace $NS --name long --image busybox --min 1 --replicas 1 --requests cpu=100m,memory=10Mi --limits cpu=100m,memory=10Mi --scheduler volcano", out: `^run job long successfully\n$`},
	{line: "vcctl job run -n $NS -f $DIR/job.yaml", out: `^job.batch.volcano.sh/from-file created\n$`},
	{line: "vcctl job run --namespace $NS --filename $DIR/job.yaml", err: `job "from-file" already exists`, code: 1},
	{line: "sed s/from-file/second/ $DIR/job.yaml > $DIR/second.yaml; VCCTL_COMPAT=true vcctl job run -n $NS -f $DIR/second.yaml", out: `^run job second successfully\n$`},
	{line: "vcctl job run -n $NS -i busybox", err: `job name cannot be left blank`, code: 1},
	{line: "vcctl job run -n $NS -f $DIR/nosuch.yaml", err: `file ".*/nosuch.yaml": no such file or directory`, code: 1},

	// job list
	{line: "vcctl job list -n $NS", out: `(?m)^old `},
	{line: "vcctl job list --namespace $NS --queue default", out: `(?m)^long `},
	{line: "vcctl job list -n $NS -q nosuch", err: `^warning: --queue: queue "nosuch" does not exist\nNo resources found in $NS namespace\.\n$`},
	{line: "vcctl job list -n $NS -S volcano", out: `(?m)^Name +Creation +Phase +JobType +Replicas +Min +Pending +Running +Succeeded +Failed +Unknown +RetryCount *\n`},
	{line: "vcctl job list -n $NS --scheduler nosuch", out: `^No resources found\n$`},
	{line: "vcctl job list -n $NS --selector ld", out: `(?m)^Name .*\nold +\d{4}-\d\d-\d\d +\w+ +Batch +2 +1 `, until: true},
	{line: "vcctl job list --all-namespaces --selector from-f", out: `(?m)^Namespace +Name +Creation .*\n$NS +from-file `, until: true},
	{line: "VCCTL_COMPAT=true vcctl job list -n $NS", out: `(?m)^old +\d{4}-\d\d-\d\d +(Completed|Running|Pending) `},
	{line: "VCCTL_COMPAT=true vcctl job list -n $NS-none", out: `^No resources found\n$`},

	// job view
	{line: "vcctl job view -n $NS -N sleeper", err: `job "sleeper" does not exist`, code: 1},
	{line: "vcctl job view -n $NS -N old", out: `(?s)^Name:\s+old\nNamespace:\s+$NS\n.*Kind:\s+Job\n.*Status:\n.*Phase:\s+\w+\n.*Events:\nType +\s*Reason +\s*Age +\s*Form +\s*Message\n`, until: true},
	{line: "vcctl job view --namespace $NS --name long", out: `(?m)^Name:\s+long$`},
	{line: "vcctl job view -n $NS", err: `job name \(specified by --name or -N\) is mandatory to view a particular job`, code: 1},

	// suspend and resume print nothing
	{line: "vsub -N $NS -n sleeper -i busybox -m 1 -r 1 -R cpu=100m,memory=10Mi -L cpu=100m,memory=10Mi -S volcano -c 'sh -c \"sleep 300\"'", out: `^run job sleeper successfully\n$`},
	{line: "vjobs -N $NS -n sleeper", out: `(?m)^\s+Phase:\s+Running$`, until: true},
	{line: "vcctl job suspend -n $NS -N sleeper"},
	{line: "vjobs -N $NS", out: `(?m)^sleeper +\S+ +Aborted `, until: true},
	{line: "vcctl job resume --namespace $NS --name sleeper"},
	{line: "vjobs -N $NS", out: `(?m)^sleeper +\S+ +Running `, until: true},
	{line: "vsuspend -N $NS -n sleeper"},
	{line: "vjobs --namespace $NS", out: `(?m)^sleeper +\S+ +Aborted `, until: true},
	{line: "vresume --namespace $NS --name sleeper"},
	{line: "vjobs -N $NS -S volcano", out: `(?m)^sleeper +\S+ +Running `, until: true},
	{line: "vjobs --all-namespaces --selector sleep", out: `(?m)^$NS +sleeper `},
	{line: "vcctl job suspend -n $NS", err: `job name is mandatory to suspend a particular job`, code: 1},
	{line: "vcctl job resume -n $NS", err: `job name is mandatory to resume a particular job`, code: 1},
	{line: "vsuspend -N $NS", err: `job name is mandatory to suspend a particular job`, code: 1},
	{line: "vresume -N $NS", err: `job name is mandatory to resume a particular job`, code: 1},

	// delete and cancel
	{line: "vcctl job delete -n $NS -N long", out: `^delete job long successfully\n$`},
	{line: "vcctl job delete --namespace $NS --name old", out: `^delete job old successfully\n$`},
	{line: "vcctl job delete -n $NS -N old", err: `job "old" does not exist`, code: 1},
	{line: "vcctl job delete -n $NS", err: `job name is mandatory to delete a particular job`, code: 1},
	{line: "vcancel -N $NS -n sleeper", out: `^cancel job sleeper successfully\n$`},
	{line: "vcancel -N $NS -n sleeper", err: `job "sleeper" does not exist`, code: 1},
	{line: "vcancel", err: `job name is mandatory to cancel a particular job`, code: 1},

	// vsub's environment
	{line: "VOLCANO_DEFAULT_IMAGE=busybox VOLCANO_DEFAULT_JOB_NAMESPACE=$NS VOLCANO_SCHEDULER_NAME=volcano vsub --name env --min 1 --replicas 1 --requests cpu=100m,memory=10Mi --limits cpu=100m,memory=10Mi --command true", out: `^run job env successfully\n$`},
	{line: "vjobs -N $NS", out: `(?m)^env `},
	{line: "vsub -N $NS", err: `job name cannot be left blank`, code: 1},

	// queues: -n is the name
	{line: "vcctl queue create -n $NS-q -w 2 -S Open", err: `(?m)^warning: --state has no effect because a new queue is always open; to close the queue, use vcctl queue close $NS-q$`},
	{line: "vcctl queue create --name $NS-r --weight 3 --state Open", err: `(?m)^warning: --state has no effect because a new queue is always open; to close the queue, use vcctl queue close $NS-r$`},
	{line: "vcctl queue list", out: `(?m)^$NS-q `},
	{line: "VCCTL_COMPAT=true vcctl queue list", out: `(?m)^Name +Weight +State +Parent +Inqueue +Pending +Running +Unknown +Completed *\n(.*\n)*$NS-q +2 +Open +root +0 +0 +0 +0 +0 *$`, until: true},
	{line: "vcctl queue get -n $NS-q", out: `(?m)^Name +Weight +State +Parent .*\n$NS-q +2 +Open +root `, until: true},
	{line: "vcctl queue get --name $NS-r", out: `(?m)^$NS-r +3 `},
	{line: "vcctl queue get", err: `name is mandatory to get the particular queue details`, code: 1},
	{line: "vqueues", out: `(?m)^Name +Weight +State +Inqueue +Pending +Running +Unknown *\n(.*\n)*$NS-q +2 +Open `},
	{line: "vqueues -n $NS-r", out: `(?m)^Name .*\n$NS-r +3 +Open +0 +0 +0 +0 *\n$`, until: true},
	{line: "vqueues --name nosuch", err: `queue "nosuch" does not exist`, code: 1},
	{line: "vcctl queue operate -n $NS-q -a close"},
	{line: "vqueues -n $NS-q", out: `(?m)^$NS-q +\d +Closed `, until: true},
	{line: "vcctl queue operate --name $NS-q --action open"},
	{line: "vqueues -n $NS-q", out: `(?m)^$NS-q +\d +Open `, until: true},
	{line: "vcctl queue operate -n $NS-q -a update -w 5"},
	{line: "vqueues -n $NS-q", out: `(?m)^$NS-q +5 +Open `},
	{line: "vcctl queue operate -n $NS-q -a update", err: `when update queue $NS-q, weight must be specified, the value must be greater than 0`, code: 1},
	{line: "vcctl queue operate -n $NS-q", err: `action can not be null`, code: 1},
	{line: "vcctl queue operate -n $NS-q -a shut", err: `action shut invalid, valid actions are open, close and update`, code: 1},
	{line: "vcctl queue operate -a open", err: `queue name must be specified`, code: 1},
	{line: "vcctl queue operate -n $NS-q -a close"},
	{line: "vqueues -n $NS-q", out: `(?m)^$NS-q +\d +Closed `, until: true},
	{line: "vcctl queue delete -n $NS-q"},
	{line: "vcctl queue delete", err: `queue name must be specified`, code: 1},

	// templates and flows
	{line: "vcctl jobtemplate create -f $DIR/templates.yaml", out: `^Created JobTemplate: $NS/first\nCreated JobTemplate: $NS/then\n$`},
	{line: "vcctl jobtemplate create --file $DIR/templates.yaml", err: `jobtemplate "first" already exists`, code: 1},
	{line: "vcctl jobtemplate list -n $NS", out: `(?mi)^name .*\nfirst `},
	{line: "VCCTL_COMPAT=true vcctl jobtemplate list --namespace $NS", out: `(?m)^Name +Namespace *\nfirst +$NS *\nthen +$NS *$`},
	{line: "vcctl jobtemplate get -n $NS -N first", out: `(?m)^Name +Namespace *\nfirst +$NS *$`},
	{line: "vcctl jobtemplate describe -n $NS -N first -o yaml", out: `(?m)^kind: JobTemplate\n(.*\n)*  name: first$`},
	{line: "vcctl jobtemplate describe --namespace $NS --name first --format json", out: `(?m)^    "kind": "JobTemplate",$`},
	{line: "vcctl jobtemplate describe -n $NS --format xml", err: `Unsupported format: xml`, code: 1},
	{line: "vcctl jobflow create -f $DIR/flow.yaml", out: `^Created JobFlow: $NS/flow\n$`},
	{line: "VCCTL_COMPAT=true vcctl jobflow list -n $NS", out: `(?m)^Name +Namespace +Phase +Age *\nflow +$NS +`},
	{line: "vcctl jobflow list --all-namespaces", out: `(?m)^$NS +flow `},
	{line: "vcctl jobflow get -n $NS -N flow", out: `(?m)^Name +Namespace +Phase +Age *\nflow +$NS +Succeed`, until: true},
	{line: "vcctl jobflow describe -n $NS -N flow -o yaml", out: `(?m)^kind: JobFlow\n(.*\n)*  name: flow$`},
	{line: "vcctl jobflow describe --namespace $NS --format json", out: `(?m)^    "kind": "JobFlow",$`},
	{line: "vcctl jobflow delete -n $NS -N flow", out: `^Deleted JobFlow: $NS/flow\n$`},
	{line: "vcctl jobflow delete -n $NS -N flow", err: `job flow "flow" does not exist`, code: 1},
	{line: "vcctl jobtemplate delete -n $NS -N first", out: `^Deleted JobTemplate: $NS/first\n$`},
	{line: "vcctl jobtemplate delete --file $DIR/templates.yaml --ignore-not-found", out: `^Deleted JobTemplate: $NS/then\n$`},

	// pods
	{line: "vcctl pod list -n $NS", out: `(?m)^from-file-main-0 `},
	{line: "vcctl pod list --namespace $NS --job from-file", out: `(?m)^from-file-main-0 `},
	{line: "VCCTL_COMPAT=true vcctl pod list -n $NS -j from-file", out: `^Name +Ready +Status +Restart +Age *\nfrom-file-main-0 +0/1 +Completed +0 +`, until: true},
	{line: "VCCTL_COMPAT=true vcctl pod list --all-namespaces --queue default", out: `(?m)^Namespace +Name +Ready .*\n(.*\n)*$NS +from-file-main-0 `},
	{line: "vcctl pod list -n $NS -j from-file -q nosuch", err: `the input vcjob from-file does not match the queue nosuch`, code: 1},

	// options that select the cluster
	{line: "KUBECONFIG=/nosuch vcctl job list -n $NS -k $DIR/kubeconfig", out: `(?m)^from-file `},
	{line: "KUBECONFIG=/nosuch vcctl job list -n $NS --kubeconfig $DIR/kubeconfig --master $SERVER", out: `(?m)^from-file `},
	{line: "vcctl job list -n $NS -s $SERVER", out: `(?m)^from-file `},
	{line: "KUBECONFIG=/nosuch vjobs -N $NS -k $DIR/kubeconfig -s $SERVER", out: `(?m)^from-file `},
}

const oldJob = `apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: from-file}
spec:
  schedulerName: volcano
  minAvailable: 1
  tasks:
  - name: main
    replicas: 1
    template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox, command: ["true"], resources: {requests: {cpu: 100m}}}]}}
`

const oldTemplates = `apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: first, namespace: old}
spec:
  schedulerName: volcano
  minAvailable: 1
  tasks:
  - {name: main, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox, command: ["true"]}]}}}
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: then, namespace: old}
spec:
  schedulerName: volcano
  minAvailable: 1
  tasks:
  - {name: main, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox, command: ["true"]}]}}}
`

const oldFlow = `apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: flow, namespace: old}
spec:
  jobRetainPolicy: retain
  flows:
  - {name: first}
  - {name: then, dependsOn: {targets: [first]}}
`

// TestOldScripts runs every invocation of Volcano's command line on a real cluster and checks the words that scripts
// search for.
func TestOldScripts(t *testing.T) {
	c := startCluster(t, "--process-nodes", "1", "--node-cpu", "4", "--node-memory", "4Gi")
	namespace := "old"
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"vsub", "vjobs", "vqueues", "vcancel", "vsuspend", "vresume"} {
		if err := os.Symlink("vcctl", filepath.Join(binaries, name)); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"job.yaml": oldJob, "templates.yaml": oldTemplates, "flow.yaml": oldFlow} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fill := strings.NewReplacer("$NS", namespace).Replace
	for _, l := range oldScript {
		r, problem := result{}, ""
		for deadline := time.Now().Add(60 * time.Second); ; {
			r = c.old(l.line, "NS="+namespace, "SERVER="+c.config.Host, "DIR="+c.dir)
			problem = l.judge(r, fill)
			if problem == "" || !l.until || time.Now().After(deadline) {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if problem != "" {
			t.Errorf("%s\n%s\nexit %d, stdout:\n%s\nstderr:\n%s", l.line, problem, r.code, r.stdout, r.stderr)
		}
	}
}

// old runs a line of a script in a shell.
func (c *cluster) old(line string, env ...string) result {
	c.t.Helper()
	sh := exec.CommandContext(c.t.Context(), "sh", "-c", line)
	sh.Env = append(append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "HOME="+c.dir, "PATH="+binaries+string(os.PathListSeparator)+os.Getenv("PATH")), env...)
	var stdout, stderr bytes.Buffer
	sh.Stdout, sh.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := sh.Run(); err != nil && !errors.As(err, &exit) {
		c.t.Fatalf("%s: %v", line, err)
	}
	return result{stdout.String(), stderr.String(), sh.ProcessState.ExitCode()}
}

// better matches a hint about a better spelling than Volcano's.
var better = regexp.MustCompile(`^warning: .* is Volcano's old syntax, which still works; use .+ instead`)

// judge describes the difference between the output of a line and the expected one. It returns "" if there is no
// difference.
func (l oldLine) judge(r result, fill func(string) string) string {
	err := fill(l.err)
	if l.code != 0 && err != "" {
		err = "(?m)^error: " + err
	}
	switch {
	case l.code != 0 && l.err == "" || l.out != "" && !regexp.MustCompile(`^(\(\?\w+\))?\^`).MatchString(l.out):
		return "the test could see nothing: out begins with ^, and an error is named"
	case l.err == "" && slices.ContainsFunc(strings.Split(strings.TrimSuffix(r.stderr, "\n"), "\n"), func(line string) bool { return line != "" && !better.MatchString(line) }):
		return "stderr says more than which spelling is better"
	case r.code != l.code:
		return "it ends with another code"
	case l.out == "" && r.stdout != "":
		return "it is not silent"
	case !regexp.MustCompile(fill(l.out)).MatchString(r.stdout):
		return "stdout does not match " + fill(l.out)
	case !regexp.MustCompile(err).MatchString(r.stderr):
		return "stderr does not match " + err
	}
	return ""
}
