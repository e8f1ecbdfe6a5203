package hypernode

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	portsPath  = "ufmRest/resources/ports"
	askTime    = 30 * time.Second
	maxAnswer  = 64 << 20 // bytes; enough for several hundred thousand ports
	retryUFM   = time.Minute
	hostPort   = "computer" // in the descriptions of host ports
	switchPort = "switch"
	ufmKind    = "ufm"
)

// credentials holds a user name and password for a fabric manager.
type credentials struct{ user, password string }

// port holds the relevant fields of a port in UFM's list: its description, the system that it belongs to, and the
// node at the other end of its cable.
type port struct {
	Description string `json:"description"`
	SystemName  string `json:"system_name"`
	Peer        string `json:"peer_node_name"`
}

// isLink reports whether this port is connected and is of the given kind, hostPort or switchPort.
func (p *port) isLink(kind string) bool {
	return p.SystemName != "" && p.Peer != "" && strings.Contains(strings.ToLower(p.Description), kind)
}

// answer is the most recent list of ports from a fabric manager.
type answer struct {
	from  ufmSource
	at    time.Time
	ports []port
}

// isSameService reports whether an earlier source is the same service with the same credentials.
func (s *ufmSource) isSameService(earlier *ufmSource) bool {
	if earlier.endpoint == nil || earlier.endpoint.String() != s.endpoint.String() {
		return false
	}
	return earlier.insecure == s.insecure && earlier.secret == s.secret
}

// updateFromUFM queries the fabric manager when its interval has passed, and applies the most recent list of ports to
// the current nodes. It returns the time until the next query.
func (r *Reconciler) updateFromUFM(ctx context.Context, s *ufmSource, nodes []node) (time.Duration, error) {
	if due := r.asked.at.Add(s.interval).Sub(r.Now()); due <= 0 || !s.isSameService(&r.asked.from) {
		ports, err := r.queryFabricManager(ctx, s)
		if err != nil {
			return min(retryUFM, s.interval), err
		}
		r.asked = answer{from: *s, at: r.Now(), ports: ports}
	}
	if err := r.updateHyperNodes(ctx, sourceUFM, domainsByPorts(r.asked.ports, nodes)); err != nil {
		return min(time.Second, s.interval), err
	}
	return r.asked.at.Add(s.interval).Sub(r.Now()), nil
}

func (r *Reconciler) queryFabricManager(ctx context.Context, s *ufmSource) ([]port, error) {
	var secret corev1.Secret
	key := client.ObjectKey{Namespace: s.secret.Namespace, Name: s.secret.Name}
	if err := r.API.Get(ctx, key, &secret); err != nil {
		return nil, fmt.Errorf("secret %s for the UFM: %w", key, err)
	}
	c := credentials{user: string(secret.Data["username"]), password: string(secret.Data["password"])}
	if c.user == "" || c.password == "" {
		return nil, fmt.Errorf("secret %s for the UFM must contain the keys username and password", key)
	}
	return r.ask(ctx, s, c)
}

// requestPorts requests the list of ports.
func requestPorts(ctx context.Context, s *ufmSource, c credentials) ([]port, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.endpoint.JoinPath(portsPath).String(), nil)
	if err != nil {
		return nil, fmt.Errorf("UFM %s: %w", s.endpoint.Host, err)
	}
	req.SetBasicAuth(c.user, c.password)
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: s.insecure}, //nolint:gosec // the configuration requests it
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return nil, fmt.Errorf("UFM %s: %w", s.endpoint.Host, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("UFM %s answers %s", s.endpoint.Host, resp.Status)
	}
	var ports []port
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&ports); err != nil {
		return nil, fmt.Errorf("UFM %s: port list: %w", s.endpoint.Host, err)
	}
	return ports, nil
}

// domainsByPorts returns the domains of a fabric. A domain of tier 1 contains the nodes that are connected to the same
// leaf switch, or to the same group of leaf switches if hosts have several adapters. A domain of tier 2 contains the
// groups that are connected through higher switches.
func domainsByPorts(ports []port, nodes []node) []domain {
	known := map[string]bool{}
	for i := range nodes {
		known[nodes[i].name] = true
	}
	leaves := components{} // leaf switches that share hosts
	hosts := map[string]map[string]bool{}
	for _, p := range ports {
		if !p.isLink(hostPort) {
			continue
		}
		if hosts[p.SystemName] == nil {
			hosts[p.SystemName] = map[string]bool{}
		}
		hosts[p.SystemName][p.Peer] = true
	}
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		switches := slices.Sorted(maps.Keys(hosts[host]))
		for _, s := range switches {
			leaves.uniteComponents(switches[0], s)
		}
	}
	members := map[string]map[string]bool{} // for each group, the set of its nodes
	for host, switches := range hosts {
		if !known[host] {
			continue
		}
		group := leaves.findRepresentative(slices.Min(slices.Collect(maps.Keys(switches))))
		if members[group] == nil {
			members[group] = map[string]bool{}
		}
		members[group][host] = true
	}
	spines := components{} // sets of connected groups and higher-level switches
	for _, p := range ports {
		if p.isLink(switchPort) && len(hosts[p.Peer]) == 0 {
			spines.uniteComponents(leaves.findRepresentative(p.SystemName), leaves.findRepresentative(p.Peer))
		}
	}
	return fabricDomains(members, spines)
}

// fabricDomains creates the domains from the groups of nodes and the connections between the groups.
func fabricDomains(members map[string]map[string]bool, spines components) []domain {
	var domains []domain
	above := map[string][]string{}
	for _, group := range slices.Sorted(maps.Keys(members)) {
		domains = append(domains, domain{kind: ufmKind, tier: 1, id: group, members: slices.Sorted(maps.Keys(members[group]))})
		spine := spines.findRepresentative(group)
		above[spine] = append(above[spine], group)
	}
	for _, spine := range slices.Sorted(maps.Keys(above)) {
		if groups := above[spine]; len(groups) > 1 {
			domains = append(domains, domain{kind: ufmKind, tier: 2, id: spine, members: groups})
		}
	}
	return domains
}

// components is a set of disjoint sets of names (union-find). Each set is represented by its smallest name.
type components map[string]string

func (c components) findRepresentative(name string) string {
	for c[name] != "" && c[name] != name {
		name = c[name]
	}
	return name
}

func (c components) uniteComponents(a, b string) {
	a, b = c.findRepresentative(a), c.findRepresentative(b)
	if cmp.Compare(a, b) > 0 {
		a, b = b, a
	}
	c[a], c[b] = a, a
}
