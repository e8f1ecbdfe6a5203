package extender

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	// answerSize is the maximum size of an answer, as in Volcano.
	answerSize = 10 << 20
	// timeouts is the time limit for all requests in a cycle together, in multiples of the timeout for one request.
	timeouts = 10
)

// asker posts JSON to the server, within the time limit for a cycle.
type asker struct {
	client  *http.Client
	prefix  string
	timeout time.Duration
	until   time.Time
}

// Errors with constant messages, so that the same problem has the same message for all requests.
var (
	errLate    = errors.New("the server did not respond in time")
	errRefused = errors.New("no connection")
)

// beginCycle starts the time limit for a cycle.
func (a *asker) beginCycle() { a.until = time.Now().Add(timeouts * a.timeout) }

// postRequest sends body to the URL of a verb and decodes the answer into reply. An empty answer leaves reply
// unchanged.
func (a *asker) postRequest(verb string, body, reply any) error {
	ctx, cancel := context.WithDeadline(context.Background(), a.until)
	defer cancel()
	if ctx.Err() != nil {
		return errLate
	}
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.prefix+"/"+verb, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := a.client.Do(request)
	if err != nil {
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			return errLate
		}
		return errRefused
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", verb, response.Status)
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, answerSize+1))
	switch {
	case err != nil:
		return errLate
	case len(answer) > answerSize:
		return fmt.Errorf("%s: the response is larger than 10 MiB", verb)
	case len(bytes.TrimSpace(answer)) == 0:
		return nil
	}
	if err := json.Unmarshal(answer, reply); err != nil {
		return fmt.Errorf("%s: the response has an unexpected format", verb)
	}
	return nil
}
