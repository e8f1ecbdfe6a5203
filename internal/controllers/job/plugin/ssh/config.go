package ssh

import (
	"fmt"
	"slices"
	"strings"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/kit"
)

// maxConfigBytes bounds the file: it shares the 1 MiB of a Secret with the keys.
const maxConfigBytes = 900 << 10

// hostBytes is what a host's lines take beside its name, three times, and its subdomain.
const hostBytes = len("Host \n  HostName .\n  Port 65535\n")

// config is the client's configuration: every host of the job by its short name. When that is too much for a Secret, the hosts of a task
// share lines.
func (p *plugin) config(job *batch.Job) []byte {
	var b strings.Builder
	b.WriteString("StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n")
	hosts, size := make([][]kit.Host, len(job.Spec.Tasks)), 0
	for i := range job.Spec.Tasks {
		if !kit.Listable(job) {
			hosts[i], size = kit.FirstHosts(job, i, 2), maxConfigBytes+1 // enough to know that they share lines
			continue
		}
		hosts[i] = kit.Hosts(job, i)
		for _, h := range hosts[i] {
			size += hostBytes + 2*len(h.Name) + len(h.Subdomain)
		}
	}
	p.writeDomains(&b, hosts)
	for i := range hosts {
		if size > maxConfigBytes && len(hosts[i]) > 1 {
			p.write(&b, kit.PodName(job, i, 0)[:len(kit.PodName(job, i, 0))-1]+"*", "%h."+hosts[i][0].Subdomain)
			continue
		}
		for _, h := range hosts[i] {
			p.write(&b, h.Name, h.FQDN())
		}
	}
	return []byte(b.String())
}

func (p *plugin) write(b *strings.Builder, host, name string) {
	fmt.Fprintf(b, "Host %s\n  HostName %s\n  Port %d\n", host, name, p.port)
}

// writeDomains gives the port to hosts that are called by their long names, as host lists and MPI_HOST have them, and to those of pods that
// come later. For the usual port nothing has to be said. It stands first: a long name takes nothing from the lines that follow.
func (p *plugin) writeDomains(b *strings.Builder, hosts [][]kit.Host) {
	if p.port == defaultPort {
		return
	}
	var domains []string
	for _, task := range hosts {
		if len(task) > 0 && !slices.Contains(domains, task[0].Subdomain) {
			domains = append(domains, task[0].Subdomain)
		}
	}
	for _, domain := range domains {
		fmt.Fprintf(b, "Host *.%s\n  HostName %%h\n  Port %d\n", domain, p.port)
	}
}
