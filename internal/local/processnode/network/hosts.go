package network

import (
	"fmt"
	"slices"
	"strings"
)

// Name is the network name of a pod.
type Name struct {
	Namespace string
	Hostname  string
	Subdomain string // if "", other pods cannot refer to the pod by name
	Address   string
}

// Alias is an additional line in a hosts file (spec.hostAliases).
type Alias struct {
	Address string
	Names   []string
}

// FormatHosts returns the text of a pod's /etc/hosts. It contains the pod itself and every pod of its namespace that
// has a subdomain, with the names that they would have in cluster DNS. Pods with the same subdomain are also listed
// with their short host name.
func FormatHosts(own Name, all []Name, aliases []Alias) string {
	var out strings.Builder
	out.WriteString("# Written by the process node; rewritten whenever a pod is added or removed.\n")
	out.WriteString("127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n")
	if own.Address != "" {
		names := own.Hostname
		if own.Subdomain != "" {
			names = strings.Join(qualifiedNames(own), " ") + " " + own.Hostname
		}
		fmt.Fprintf(&out, "%s\t%s\n", own.Address, names)
	}
	// Pods on the machine's network (hostNetwork) share an address, so only the complete Name identifies such a pod.
	others := slices.DeleteFunc(slices.Clone(all), func(other Name) bool {
		isNeighbour := other.Namespace == own.Namespace && other != own
		hasEntry := other.Subdomain != "" && other.Address != ""
		return !isNeighbour || !hasEntry
	})
	slices.SortFunc(others, func(a, b Name) int {
		return strings.Compare(a.Subdomain+"\x00"+a.Hostname+"\x00"+a.Address, b.Subdomain+"\x00"+b.Hostname+"\x00"+b.Address)
	})
	for _, other := range slices.Compact(others) {
		names := qualifiedNames(other)
		if other.Subdomain == own.Subdomain {
			names = append(names, other.Hostname)
		}
		fmt.Fprintf(&out, "%s\t%s\n", other.Address, strings.Join(names, " "))
	}
	for _, alias := range aliases {
		fmt.Fprintf(&out, "%s\t%s\n", alias.Address, strings.Join(alias.Names, " "))
	}
	return out.String()
}

func qualifiedNames(n Name) []string {
	short := n.Hostname + "." + n.Subdomain
	return []string{short + "." + n.Namespace + ".svc.cluster.local", short, short + "." + n.Namespace, short + "." + n.Namespace + ".svc"}
}
