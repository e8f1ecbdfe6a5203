package randomcluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// truth is the state of the API, summed up independently of the scheduler's model.
type truth struct {
	nodes map[string]*onNode
	// cpu is held on nodes by the pods of a queue until they have ended, including pods that are being deleted.
	cpu map[string]int64
}

// onNode is the total request of the pods on a node.
type onNode struct {
	pods     int64
	requests corev1.ResourceList
	ports    map[int32][]string // pods that use it, by port
}

// truth sums the pods with a node and the pods that are being bound. Ended pods hold nothing.
func (r *Cluster) truth() truth {
	u := truth{nodes: map[string]*onNode{}, cpu: map[string]int64{}}
	for _, pods := range []map[string]*corev1.Pod{r.Pods, r.Foreign} {
		for name, p := range pods {
			node := p.Spec.NodeName
			if to, coming := r.Coming[p.UID]; coming {
				node = to
			}
			if node == "" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
				continue
			}
			u.at(node).add(name, p)
			if queue := r.queueOf[p.Annotations[keys.GroupName]]; queue != "" {
				u.cpu[queue] += p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
			}
		}
	}
	return u
}

func (u *truth) at(node string) *onNode {
	if u.nodes[node] == nil {
		u.nodes[node] = &onNode{requests: corev1.ResourceList{}, ports: map[int32][]string{}}
	}
	return u.nodes[node]
}

func (n *onNode) add(name string, p *corev1.Pod) {
	n.pods++
	for resource, amount := range p.Spec.Containers[0].Resources.Requests {
		sum := n.requests[resource]
		sum.Add(amount)
		n.requests[resource] = sum
	}
	for _, port := range p.Spec.Containers[0].Ports {
		n.ports[port.HostPort] = append(n.ports[port.HostPort], name)
	}
}

// checkNodes checks that each binding fits on its node, together with all other pods.
func (r *Cluster) checkNodes(d *decision.Decisions, u truth) error {
	for i := range d.Binds {
		b := &d.Binds[i]
		node, p, on := r.Nodes[b.Node], r.Pods[b.Pod.Name], u.nodes[b.Node]
		if node == nil {
			return fmt.Errorf("%s is bound to %s, which does not exist", b.Pod.Name, b.Node)
		}
		if slots := node.Status.Allocatable[corev1.ResourcePods]; on.pods > slots.Value() {
			return fmt.Errorf("%d pods are on %s, which takes %s, after %+v", on.pods, b.Node, slots.String(), b)
		}
		for name, amount := range p.Spec.Containers[0].Resources.Requests {
			has, sum := node.Status.Allocatable[name], on.requests[name]
			if amount.Sign() > 0 && sum.Cmp(has) > 0 {
				return fmt.Errorf("pods on %s ask for %s of %s, and it has %s, after %+v", b.Node, sum.String(), name, has.String(), b)
			}
		}
		for _, port := range p.Spec.Containers[0].Ports {
			if takers := on.ports[port.HostPort]; len(takers) > 1 {
				return fmt.Errorf("port %d of %s is taken by %v, after %+v", port.HostPort, b.Node, takers, b)
			}
		}
	}
	return nil
}

// checkModel compares the model's own sums with the truth, because decisions depend on them.
func (r *Cluster) checkModel(u truth) error {
	for name := range r.Nodes {
		id, ok := r.Model.Nodes.Find(name)
		if !ok {
			return fmt.Errorf("the model does not know node %s", name)
		}
		row, on := r.Model.Nodes.Row(r.Model.Nodes.Used, id), u.at(name)
		cpu, gpu := on.requests["cpu"], on.requests["nvidia.com/gpu"]
		if row[resource.CPU] != cpu.MilliValue() || row[resource.Pods] != on.pods {
			return fmt.Errorf("on %s are %d pods that ask for %s of cpu; the model says %d and %dm", name, on.pods, cpu.String(), row[resource.Pods], row[resource.CPU])
		}
		if index, known := r.Model.Resources.Find("nvidia.com/gpu"); known && row[index] != gpu.Value() {
			return fmt.Errorf("pods on %s ask for %s cards; the model says %d", name, gpu.String(), row[index])
		}
	}
	return nil
}
