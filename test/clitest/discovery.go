package clitest

import (
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
)

// claim lists the kinds that a server serves in an API group version.
type claim struct {
	groupVersion string
	kinds        []string
}

// served contains the default claims of a server.
var served = []claim{
	{"account.vc-batch.dev/v1alpha1", []string{"Account", "QOS"}},
	{"batch.volcano.sh/v1alpha1", []string{"Job", "CronJob"}},
	{"scheduling.volcano.sh/v1beta1", []string{"PodGroup", "Queue"}},
	{"bus.volcano.sh/v1alpha1", []string{"Command"}},
	{"flow.volcano.sh/v1alpha1", []string{"JobFlow", "JobTemplate"}},
	{"topology.volcano.sh/v1alpha1", []string{"HyperNode"}},
	{"insight.vc-batch.dev/v1alpha1", []string{"Plan"}},
}

// SetServedKinds makes the server claim to serve exactly the given kinds of a group version.
func (s *Server) SetServedKinds(groupVersion string, kinds ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims = []claim{{groupVersion, kinds}}
}

// ActAsVolcano makes the server look like a cluster of the given Kubernetes version that has Volcano installed.
func (s *Server) ActAsVolcano(kubernetes string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kubernetes, s.volcano = kubernetes, true
	s.claims = slices.DeleteFunc(slices.Clone(s.claims), func(c claim) bool { return strings.HasPrefix(c.groupVersion, "insight.") })
}

// serveDiscovery responds to discovery requests. It reports whether the request was one.
func (s *Server) serveDiscovery(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.URL.Path {
	case "/version":
		writeJSON(w, http.StatusOK, version.Info{Major: "1", Minor: "36", GitVersion: s.kubernetes})
	case "/readyz":
		_, _ = w.Write([]byte("ok"))
	case "/api":
		writeJSON(w, http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	case "/apis":
		writeJSON(w, http.StatusOK, s.groupList())
	case "/api/v1":
		writeJSON(w, http.StatusOK, metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "v1",
			APIResources: []metav1.APIResource{{Name: "serviceaccounts", Kind: "ServiceAccount", Namespaced: true, Verbs: metav1.Verbs{"create"}},
				{Name: "pods/eviction", Kind: "Eviction", Group: "policy", Version: "v1", Namespaced: true, Verbs: metav1.Verbs{"create"}}}})
	case "/openapi/v3":
		writeJSON(w, http.StatusOK, map[string]any{"paths": map[string]any{"apis/scheduling.volcano.sh/v1beta1": map[string]any{"serverRelativeURL": "/openapi/v3/apis/scheduling.volcano.sh/v1beta1"}}})
	case "/openapi/v3/apis/scheduling.volcano.sh/v1beta1":
		fields := map[string]any{"phase": map[string]any{}}
		if !s.volcano {
			fields["explanation"] = map[string]any{}
		}
		status := map[string]any{"properties": fields}
		writeJSON(w, http.StatusOK, map[string]any{"components": map[string]any{"schemas": map[string]any{
			"sh.volcano.scheduling.v1beta1.PodGroup": map[string]any{"properties": map[string]any{"status": status}}}}})
	default:
		return s.serveResources(w, r)
	}
	return true
}

func (s *Server) groupList() metav1.APIGroupList {
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for _, one := range s.claims {
		group, v, _ := strings.Cut(one.groupVersion, "/")
		gv := metav1.GroupVersionForDiscovery{GroupVersion: one.groupVersion, Version: v}
		list.Groups = append(list.Groups, metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{gv}, PreferredVersion: gv})
	}
	return list
}

// serveResources responds to requests for the kinds of a group version. It reports whether the request was one.
func (s *Server) serveResources(w http.ResponseWriter, r *http.Request) bool {
	for _, one := range s.claims {
		if r.URL.Path != "/apis/"+one.groupVersion {
			continue
		}
		list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: one.groupVersion}
		for _, kind := range one.kinds {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: resourceName(kind), Kind: kind, Namespaced: !slices.Contains([]string{"Account", "HyperNode", "QOS", "Queue"}, kind), Verbs: metav1.Verbs{"get", "list"}})
		}
		writeJSON(w, http.StatusOK, list)
		return true
	}
	return false
}
