package golden

// JobFile is a file that contains a job in JSON, and the job's queue and ConfigMap in YAML. One of the texts in it
// contains a line "---".
const JobFile = `{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "filed"},
 "spec": {"queue": "fresh", "minAvailable": 1, "tasks": [{"name": "main", "replicas": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}]}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: fresh}
spec: {weight: 1}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: script}
data:
  run.sh: |
    echo one
    ---
    echo two
`
