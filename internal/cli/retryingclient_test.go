package cli

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli/iostreams"
)

// lists answers the List calls in order and repeats the last answer.
type lists struct {
	client.WithWatch
	answers []error
	asked   int
}

func (l *lists) List(context.Context, client.ObjectList, ...client.ListOption) error {
	answer := l.answers[min(l.asked, len(l.answers)-1)]
	l.asked++
	return answer
}

func TestAPatientClientWaitsForTheServer(t *testing.T) {
	t.Parallel()
	refused := error(syscall.ECONNREFUSED)
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "jobs"}, "", errors.New("no"))
	closedWhileIdle := &url.Error{Op: "Post", URL: "https://127.0.0.1:6443/apis", Err: errors.New("http: server closed idle connection")}
	unavailable := apierrors.NewServiceUnavailable("starting")
	cases := map[string]struct {
		answers []error
		want    error
		code    int
		notes   int
	}{
		"a server that answers is asked once":                    {[]error{nil}, nil, 0, 0},
		"a short absence is ridden out and told once":            {[]error{refused, refused, unavailable, nil}, nil, 0, 2},
		"a server that stops closes its idle connections":        {[]error{closedWhileIdle, refused, nil}, nil, 0, 2},
		"a server that starts has no rights yet":                 {[]error{refused, forbidden, nil}, nil, 0, 2},
		"a refusal without an absence is an answer":              {[]error{forbidden}, forbidden, ExitForbidden, 0},
		"after five minutes it gives up with a code of its own":  {[]error{refused}, refused, ExitUnreachable, 1},
		"a refusal that stays after an absence becomes an error": {[]error{refused, forbidden}, forbidden, ExitForbidden, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				streams, _, said := iostreams.TestStreams("", 0)
				f := NewFactory("vcctl", &streams)
				began := time.Now()
				err := f.RetryingClient(&lists{answers: tc.answers}).List(t.Context(), &corev1.PodList{})
				if !errors.Is(err, tc.want) {
					t.Errorf("got %v, want %v", err, tc.want)
				}
				if err != nil && HumanizeError(err, Connection{}).Code != tc.code {
					t.Errorf("the exit code is %d, want %d", HumanizeError(err, Connection{}).Code, tc.code)
				}
				if got := strings.Count(said.String(), "\n"); got != tc.notes {
					t.Errorf("%d lines were said, want %d:\n%s", got, tc.notes, said)
				}
				if took := time.Since(began); took > GivesUpAfter+lastRetry {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

func TestAPatientClientEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		streams, _, _ := iostreams.TestStreams("", 0)
		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
		defer cancel()
		began := time.Now()
		err := NewFactory("vcctl", &streams).RetryingClient(&lists{answers: []error{syscall.ECONNREFUSED}}).List(ctx, &corev1.PodList{})
		if err == nil || time.Since(began) != 7*time.Second {
			t.Errorf("it ended after %s with %v", time.Since(began), err)
		}
	})
}
