package translate

import (
	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// setTasks sets the tasks of the job. These are the head, which runs the script, and the other nodes, which wait for
// steps.
func (b *topic) setTasks() {
	b.pod.RestartPolicy, b.pod.TerminationGracePeriodSeconds = corev1.RestartPolicyNever, new(launchconfig.GraceSeconds)
	b.container = corev1.Container{Name: "main", Image: b.containerImage(), Resources: b.containerResources()}
	b.head.Name, b.head.Replicas = launchconfig.HeadTask, 1
	b.job.MinAvailable = int32(b.size.least)
	switch {
	case b.r.Array != nil:
		b.setUpArray()
	case b.hasNodeTask():
		b.node.Name, b.node.Replicas = launchconfig.NodeTask, int32(b.size.nodes)-1
		if b.size.least < b.size.nodes {
			b.node.MinAvailable = new(int32(b.size.least) - 1)
			b.launch.MinNodes = b.size.least
		}
		b.recordFields("nodes", "spec.tasks[1].replicas")
	}
	b.recordFields("nodes", "spec.minAvailable")
	b.recordFields("ntasks", "launch.tasks")
	b.recordFields("wrap", "ConfigMap["+launchconfig.ScriptKey+"]")
	b.recordFields("container-image", "spec.tasks[0].template.spec.containers[0].image")
	b.setUpNetwork()
	b.setServiceAccount()
}

// setServiceAccount assigns the profile's service account to the pods, so that commands in the job can access the
// cluster.
func (b *topic) setServiceAccount() {
	if !b.Facts.ServiceAccount {
		return
	}
	b.launch.ServiceAccount = b.p.ServiceAccount
	if b.usesLocalPrograms() {
		b.launch.Program = b.Program
	}
	b.pod.ServiceAccountName = b.p.ServiceAccount
}

// setUpArray sets up the single task that contains all elements of an array.
func (b *topic) setUpArray() {
	a := b.r.Array
	count, nodes := int32(a.Elements.Count()), int32(b.size.nodes)
	b.head.Replicas = count * nodes
	b.head.MinAvailable = new(nodes)
	if nodes > 1 {
		b.head.MinAvailable = nil
		b.head.PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: count, PartitionSize: nodes, MinPartitions: 1}
	}
	b.job.MinAvailable = nodes
	b.annotate("array", keys.Array, a.Elements.String())
	b.recordFields("array", "spec.tasks[0].replicas")
	if a.Limit > 0 {
		b.annotate("array", keys.ArrayLimit, formatNumber(int64(a.Limit)))
	}
	first, last := a.Elements[0].First, a.Elements[len(a.Elements)-1].Last
	b.launch.Array = &launchconfig.Array{Count: int(count), Min: int(first), Max: int(last), Step: stepBetween(a.Elements), Elements: a.Elements.String()}
}

// stepBetween returns the distance between elements, or 1 if the distance is not constant.
func stepBetween(elements batchv1alpha1.Indices) int {
	step, before := int32(0), int32(-1)
	for n := range elements.All() {
		if before >= 0 {
			if step != 0 && n-before != step {
				return 1
			}
			step = n - before
		}
		before = n
	}
	return int(max(step, 1))
}

// setUpNetwork sets up name resolution between the pods of a job or array element.
func (b *topic) setUpNetwork() {
	b.job.Plugins = map[string][]string{"env": {}}
	if b.size.nodes == 1 {
		return
	}
	b.job.Plugins["svc"] = []string{"--publish-not-ready-addresses=true"}
	if b.size.nodes > largestInEnvironment || b.r.Array != nil {
		b.job.Plugins["svc"] = append(b.job.Plugins["svc"], "--inject-hosts-env=false")
	}
	if b.r.MPI == "ssh" {
		b.job.Plugins["ssh"] = []string{}
		b.recordFields("mpi", "spec.plugins.ssh")
	}
	domain := b.p.ClusterDomain
	if domain == "" {
		domain = "cluster.local"
	}
	b.pod.DNSConfig = &corev1.PodDNSConfig{Searches: []string{b.name + "." + b.target.namespace + ".svc." + domain}}
}

// largestInEnvironment is the maximum number of host names that are passed in environment variables.
const largestInEnvironment = 256
