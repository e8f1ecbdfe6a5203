package agent_test

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/slurm/step/agent"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

func identityOf(t *testing.T, digits string) *tls.Config {
	t.Helper()
	config, err := protocol.NewIdentity(strings.Repeat(digits, 32))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestOnlyWhoKnowsTheJobsKeyIsAnswered(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	close(closed)
	stranger := identityOf(t, "bb")
	anonymous := &tls.Config{InsecureSkipVerify: true}
	cases := map[string]struct {
		client *tls.Config
		ok     bool
	}{
		"a pod of the job":                        {identityOf(t, "aa"), true},
		"a pod of another job":                    {stranger, false},
		"somebody without any key":                {anonymous, false},
		"a pod of another job that takes anybody": {&tls.Config{Certificates: stranger.Certificates, InsecureSkipVerify: true}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := tls.Listen("tcp", "127.0.0.1:0", identityOf(t, "aa"))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			a := &agent.Agent{Ready: closed, Head: func(conn *protocol.Conn, _ *protocol.Request) error {
				return conn.SendFrame(protocol.AnswerFrame, 0, []byte("{}"))
			}}
			go a.ServeConnections(l)
			connection, err := tls.Dial("tcp", l.Addr().String(), c.client)
			if err == nil {
				conn := protocol.NewConn(connection)
				if err = conn.SendJSON(protocol.AskFrame, 0, protocol.Request{Job: true}); err == nil {
					err = conn.ReceiveAnswer(nil, nil)
				}
				_ = conn.Close()
			}
			if (err == nil) != c.ok {
				t.Errorf("answered: %v (%v)", err == nil, err)
			}
		})
	}
}

func TestPodWithTheKeyRejectsClientsWithoutIt(t *testing.T) {
	t.Parallel()
	l, err := tls.Listen("tcp", "127.0.0.1:0", identityOf(t, "bb"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go (&agent.Agent{}).ServeConnections(l)
	if _, err := tls.Dial("tcp", l.Addr().String(), identityOf(t, "aa")); err == nil || !strings.Contains(err.Error(), "does not have this job's key") {
		t.Errorf("%v", err)
	}
}
