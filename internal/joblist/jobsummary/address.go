package jobsummary

// The names of the lists in the API.
const (
	GroupName = "listing.vc-batch.dev"
	Version   = "v1"
	Resource  = "jobfacts"
	// Root is the path of the API group version.
	Root = "/apis/" + GroupName + "/" + Version
	// Pods is the query parameter that includes pods: PodsLive for pods that have not ended, PodsAll for all.
	Pods     = "pods"
	PodsLive = "live"
	PodsAll  = "all"
	// Arrays is the query parameter that, with any value, restricts the list to array jobs. An older daemon ignores it
	// and lists all jobs.
	Arrays = "arrays"
)

// ListPathFor returns the path of the list for a namespace, or for all namespaces if it is empty.
func ListPathFor(namespace string) string {
	if namespace == "" {
		return Root + "/" + Resource
	}
	return Root + "/namespaces/" + namespace + "/" + Resource
}
