package ssh

import (
	"fmt"
	"slices"
	"strings"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/pluginapi"
)

// maxConfigBytes is the maximum size of the config file. A Secret can hold 1 MiB, including the keys.
const maxConfigBytes = 900 << 10

// hostBytes is the size of a host's entry without the host name, which occurs twice, and without the subdomain.
const hostBytes = len("Host \n  HostName .\n  Port 65535\n")

// clientConfigFor returns the ssh client configuration, with an entry for the short name of every host of the job. If
// this would be too large for a Secret, the hosts of each task share an entry.
func (p *plugin) clientConfigFor(job *batchv1alpha1.Job) []byte {
	var b strings.Builder
	b.WriteString("StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n")
	hosts, size := make([][]pluginapi.Host, len(job.Spec.Tasks)), 0
	for i := range job.Spec.Tasks {
		if !pluginapi.IsListable(job) {
			// too large anyway; two hosts are enough for a shared entry
			hosts[i], size = pluginapi.FirstHosts(job, i, 2), maxConfigBytes+1
			continue
		}
		hosts[i] = pluginapi.HostsOfTask(job, i)
		for _, h := range hosts[i] {
			size += hostBytes + 2*len(h.Name) + len(h.Subdomain)
		}
	}
	p.writeDomains(&b, hosts)
	for i := range hosts {
		if size > maxConfigBytes && len(hosts[i]) > 1 {
			p.writeHostEntry(&b, pluginapi.PodNameFor(job, i, 0)[:len(pluginapi.PodNameFor(job, i, 0))-1]+"*", "%h."+hosts[i][0].Subdomain)
			continue
		}
		for _, h := range hosts[i] {
			p.writeHostEntry(&b, h.Name, h.FQDN())
		}
	}
	return []byte(b.String())
}

func (p *plugin) writeHostEntry(b *strings.Builder, host, name string) {
	fmt.Fprintf(b, "Host %s\n  HostName %s\n  Port %d\n", host, name, p.port)
}

// writeDomains sets the port for hosts that are addressed by their full names, as in the host lists and MPI_HOST,
// including hosts added later. The default port needs no entry. These entries come first, and no later entry matches a
// full name.
func (p *plugin) writeDomains(b *strings.Builder, hosts [][]pluginapi.Host) {
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
