package slurm

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/slurm/getopt"
)

var sbatchTable = getopt.Table{Program: "sbatch", Operands: "SCRIPT [ARGS...]", Stop: true, Options: []getopt.Option{
	{Long: "job-name", Short: 'J', Arg: getopt.Required, Value: "NAME", Help: "Name of the job"},
	{Long: "wrap", Arg: getopt.Required, Value: "COMMAND", Help: "Run a command of a shell instead of a script"},
	{Long: "parsable", Help: "Print the number alone"},
}}

func newSbatch(f *cli.Factory) *cobra.Command {
	return command(f, program{table: &sbatchTable, run: sbatch,
		short: "Submit a batch script",
		long: `
			Submit a script that runs once, on the first pod of the job; srun in it starts
			steps on all of them.`,
		example: `
			# A command
			vcctl slurm sbatch --wrap='echo hello'

			# A script
			vcctl slurm sbatch run.sh`,
	})
}

func sbatch(ctx context.Context, c *call) error {
	script := ""
	title := "sbatch"
	if wrap, given := c.parsed.Last("wrap"); given {
		script, title = "#!/bin/sh\n"+wrap+"\n", "wrap"
	} else if len(c.parsed.Operands) > 0 {
		text, err := os.ReadFile(c.parsed.Operands[0])
		if err != nil {
			return err
		}
		script, title = string(text), c.parsed.Operands[0]
	}
	namespace, err := c.f.Namespace()
	if err != nil {
		return err
	}
	cl, err := c.f.Client()
	if err != nil {
		return err
	}
	mode := int32(0o755)
	name := "sbatch-" + rand.String(5)
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Annotations: map[string]string{keys.JobTitle: title}},
		Spec: batchv1alpha1.JobSpec{SchedulerName: "volcano", MinAvailable: 1, Tasks: []batchv1alpha1.TaskSpec{{Name: "head", Replicas: 1,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
				Volumes:    []corev1.Volume{{Name: "slurm", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name + "-slurm"}, DefaultMode: &mode}}}},
				Containers: []corev1.Container{{Name: "main", Image: "none", Command: []string{"/etc/vc-slurm/script"}, VolumeMounts: []corev1.VolumeMount{{Name: "slurm", MountPath: "/etc/vc-slurm"}}}},
			}}}}}}
	if err := cl.Create(ctx, job); err != nil {
		return err
	}
	err = cl.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name + "-slurm", Namespace: namespace,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1alpha1.GroupVersion.WithKind("Job"))}}, Data: map[string]string{"script": script}})
	if err != nil {
		_ = cl.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))
		return err
	}
	_, err = fmt.Fprintf(c.f.Streams.Out, "Submitted batch job %s\n", job.Labels[keys.JobID])
	return err
}
