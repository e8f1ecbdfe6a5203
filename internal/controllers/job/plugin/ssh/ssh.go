// Package ssh implements the job plugin that lets the pods of a job log in to each other without a password. It
// creates one key pair per job in a Secret, and mounts the Secret as the .ssh directory, together with a config file
// that lists every host of the job.
package ssh

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"

	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/pluginapi"
)

// Name is the key in spec.plugins.
const Name = batchv1alpha1.PluginSSH

// Keys of the Secret, which are also the names of the files.
const (
	PrivateKey     = "id_rsa"
	PublicKey      = "id_rsa.pub"
	AuthorizedKeys = "authorized_keys"
	Config         = "config"
)

const (
	defaultPath = "/root/.ssh"
	defaultPort = 22
	keyBits     = 2048
)

type plugin struct {
	path       string
	privateKey string
	publicKey  string
	port       int32
}

// New returns the plugin. An invalid port is replaced by 22, as in Volcano.
func New(arguments batchv1alpha1.PluginArguments) pluginapi.Plugin {
	p := &plugin{
		path:       arguments.String("ssh-key-file-path"),
		privateKey: arguments.String("ssh-private-key"),
		publicKey:  arguments.String("ssh-public-key"),
		port:       arguments.Int("ssh-port"),
	}
	if p.port < 1 || p.port > 65535 {
		p.port = defaultPort
	}
	return p
}

// SecretName returns the name of the Secret with the job's keys.
func SecretName(job *batchv1alpha1.Job) string { return job.Name + "-ssh" }

func (p *plugin) Pod(pod *corev1.Pod, job *batchv1alpha1.Job, _ int, _ int32) {
	mode := int32(0o600)
	if p.path != defaultPath {
		mode = 0o644 // another user owns the home directory, and that user's sshd must be able to read the files
	}
	source := &corev1.SecretVolumeSource{SecretName: SecretName(job), DefaultMode: &mode}
	for _, key := range []string{PrivateKey, PublicKey, AuthorizedKeys, Config} {
		source.Items = append(source.Items, corev1.KeyToPath{Key: key, Path: ".ssh/" + key})
	}
	name := SecretName(job)
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: source}})
	pluginapi.EachContainer(pod, func(c *corev1.Container) {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: p.path, SubPath: ".ssh"})
	})
}

func (p *plugin) Objects(job *batchv1alpha1.Job) []pluginapi.Object {
	wanted := &corev1.Secret{ObjectMeta: pluginapi.ObjectMeta(job, SecretName(job))}
	config := p.clientConfigFor(job)
	return []pluginapi.Object{{Wanted: wanted, Merge: func(existing client.Object, random io.Reader) (client.Object, bool, error) {
		if there, ok := existing.(*corev1.Secret); ok && len(there.Data[PrivateKey]) > 0 {
			return refreshConfig(there, config)
		}
		data, err := p.loadOrCreateKeys(random)
		if err != nil {
			return nil, false, err
		}
		data[Config] = config
		secret := wanted.DeepCopy()
		if there, ok := existing.(*corev1.Secret); ok {
			secret = there.DeepCopy() // an existing Secret without a key
		}
		secret.Data = data
		return secret, true, nil
	}}}
}

// refreshConfig keeps the keys, because running pods use them, and updates the config file.
func refreshConfig(there *corev1.Secret, config []byte) (client.Object, bool, error) {
	if bytes.Equal(there.Data[Config], config) {
		return there, false, nil
	}
	update := there.DeepCopy()
	update.Data[Config] = config
	return update, true, nil
}

// loadOrCreateKeys returns the key pair from the arguments, or a new one.
func (p *plugin) loadOrCreateKeys(random io.Reader) (map[string][]byte, error) {
	if p.privateKey != "" && p.publicKey != "" {
		public := []byte(p.publicKey)
		return map[string][]byte{PrivateKey: []byte(p.privateKey), PublicKey: public, AuthorizedKeys: public}, nil
	}
	if random == nil {
		random = rand.Reader
	}
	key, err := rsa.GenerateKey(random, keyBits)
	if err != nil {
		return nil, fmt.Errorf("plugin ssh: generate a key: %w", err)
	}
	public, err := ssh.NewPublicKey(&key.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("plugin ssh: public key: %w", err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	line := ssh.MarshalAuthorizedKey(public)
	return map[string][]byte{PrivateKey: private, PublicKey: line, AuthorizedKeys: line}, nil
}
