package translate

import (
	corev1 "k8s.io/api/core/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/request"
)

// Node describes a set of identical nodes that accept pods.
type Node struct {
	// Count is the number of nodes.
	Count int64
	// Group is the node group, or "" if the nodes do not belong to one.
	Group string
	// Labels holds the labels whose keys SelectableLabels returns.
	Labels      map[string]string
	Allocatable corev1.ResourceList
	// Away is true if the nodes currently accept no pods, because they are drained or not ready.
	Away bool
}

// Input holds all data from which a job is created.
type Input struct {
	Request *request.Request
	Profile *profile.Profile
	Facts   Facts
	// Title is the default name of the job. It is used unless --job-name is specified.
	Title string
	// Script is the text to run with Args. It is empty for interactive jobs. ScriptFile is the absolute path of the
	// script's file. It is empty for the command line of --wrap, for standard input and for interactive jobs.
	Script      []byte
	ScriptFile  string
	Args        []string
	Interactive bool
	// Environ is the environment of the submitting user. ExportFile holds the variables in the file named by
	// --export-file.
	Environ, ExportFile []string
	// InJob is true if the job is submitted from inside another job.
	InJob bool
	// Program is the path of vcctl on the submitting machine.
	Program string
	// Suffix is the part that makes object names unique. Key is the secret key of the job's pods, in hexadecimal.
	Suffix, Key string
	// Namespace and Cluster are the destination, and User is the user of the job. Dir and Host are the directory and
	// the host from which the job is submitted. Line is the complete command line.
	Namespace, Cluster, User, Dir, Host, Line string
	// Submitter is the user to name in the job. If it is empty, admission writes the author of the request.
	Submitter string
	// Owner is the user on the submitting host.
	Owner Owner
}

// Owner is a user on a host. Its fields are empty if the host has no data about the user.
type Owner struct{ UID, GID, Group string }

// Facts describes a cluster.
type Facts struct {
	// Queues lists all queues. It is nil if they are unknown, in which case the API server validates the queue.
	Queues []Queue
	// Classes lists the priority classes. It is nil if they are unknown.
	Classes []string
	// QOS lists the names of the QOS. It is empty if there are none, or if they are unknown.
	QOS []string
	// Nodes lists the nodes that accept pods, grouped into sets of identical nodes. It is nil if they are unknown.
	Nodes []Node
	// NodeNames lists the names of all nodes. It is nil if they are unknown.
	NodeNames []string
	// HiddenProfile is the namespace of a profile that the user is not allowed to read, or "" if none exists.
	HiddenProfile string
	// Helper is true if all nodes are process nodes, on which vc-step is available without an image.
	Helper bool
	// ServiceAccount is true if the namespace has the service account named in the profile.
	ServiceAccount bool
}

// Queue is a queue of the cluster.
type Queue struct {
	Name string
	Open bool
	// Admits reports whether jobs in the queue may run on the nodes of a group. If it is nil, all nodes are permitted.
	Admits func(group string) bool
	// Limits are the limits of the queue's jobs.
	Limits schedulingv1beta1.EffectiveJobLimits
}
