package facts

// What the API server knows the lists by.
const (
	GroupName = "listing.vc-batch.dev"
	Version   = "v1"
	Resource  = "jobfacts"
	// Root is the path below which they are.
	Root = "/apis/" + GroupName + "/" + Version
	// Pods is the parameter that asks for pods, too: PodsLive for those that have not ended, PodsAll for all.
	Pods     = "pods"
	PodsLive = "live"
	PodsAll  = "all"
	// Arrays is the parameter that, whatever its value, asks for arrays alone. A daemon that does not know it tells of all jobs.
	Arrays = "arrays"
)

// Path is the list of a namespace, or of all when it is empty.
func Path(namespace string) string {
	if namespace == "" {
		return Root + "/" + Resource
	}
	return Root + "/namespaces/" + namespace + "/" + Resource
}
