package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/net"

	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/wire"
)

// accountingRegistration is the APIService with which accounting registers its API.
const accountingRegistration = wire.Version + "." + wire.GroupName

// maxMessageBytes limits the length of the reason in a response.
const maxMessageBytes = 1 << 10

// accountingFacts holds the response of the API server to a query of the accounting database.
type accountingFacts struct {
	namespace string
	// isInstalled is true if the StatefulSet exists.
	isInstalled bool
	// code and message are the status of the response.
	code    int
	message string
	// isCutOff is true if a list of records began, but did not end.
	isCutOff bool
	// warnings lists the warnings of the response.
	warnings []string
	// err is the error if there is no response.
	err *Finding
	// backlogs holds what is known about records that wait for the database.
	backlogs []backlogFacts
}

// readAccountingAuthorities reads the authorities with which the API server verifies the accounting API. found is false
// if the API is not registered.
func (r *reader) readAccountingAuthorities(ctx context.Context) (authorities []byte, found bool, problem *Finding) {
	const title = "APIService " + accountingRegistration
	response, err := r.request(ctx, "apis/apiregistration.k8s.io/v1/apiservices/"+accountingRegistration, "")
	if err != nil {
		unknown := r.unreadable(err, title)
		return nil, false, &unknown
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusNotFound:
		return nil, false, nil
	case http.StatusForbidden:
		forbidden := skipped("you may not read %s", title)
		return nil, false, &forbidden
	}
	var registration struct {
		Spec struct {
			CABundle []byte `json:"caBundle"`
		} `json:"spec"`
	}
	err = json.NewDecoder(response.Body).Decode(&registration)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("the response is %s", response.Status)
	}
	if err != nil {
		unknown := r.unreadable(err, title)
		return nil, false, &unknown
	}
	return registration.Spec.CABundle, true, nil
}

// checkAccounting sends a query that selects at most one record.
func checkAccounting(ctx context.Context, r *reader) []Finding {
	facts := accountingFacts{namespace: r.namespace, isInstalled: r.accounting != nil}
	if facts.isInstalled {
		facts.backlogs = r.readBacklogs(ctx)
	}
	query, err := wire.EncodeQuery(accounting.Query{From: r.o.f.Now(), Limit: 1})
	var response *http.Response
	if err == nil {
		response, err = r.request(ctx, wire.RecordsPath, query)
	}
	if err != nil {
		unknown := r.unreadable(err, "the accounting database")
		facts.err = &unknown
		return decideAccounting(&facts)
	}
	defer response.Body.Close()
	facts.code = response.StatusCode
	if facts.code != http.StatusOK {
		facts.message = readMessage(response)
		return decideAccounting(&facts)
	}
	warnings, _ := net.ParseWarningHeaders(response.Header["Warning"]) // other warnings than the API server's have other forms
	for _, w := range warnings {
		facts.warnings = append(facts.warnings, w.Text)
	}
	for _, err := range wire.ReadRecords(response.Body) {
		if err != nil {
			facts.isCutOff, facts.message = true, err.Error()
		}
	}
	return decideAccounting(&facts)
}

// readMessage returns the reason in a response with an error. The API server sends a text if it does not reach a server.
func readMessage(response *http.Response) string {
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxMessageBytes)) // a part of a text is better than none
	var status metav1.Status
	if json.Unmarshal(text, &status) == nil && status.Message != "" {
		return status.Message
	}
	return firstText(strings.TrimSpace(string(text)), response.Status)
}

func decideAccounting(facts *accountingFacts) []Finding {
	return append(decideAnswer(facts), decideBacklogs(facts.namespace, facts.backlogs)...)
}

// decideAnswer returns the findings about the response to the query.
func decideAnswer(facts *accountingFacts) []Finding {
	look := leaseHolders[deploy.AccountingLease].describeLogs(facts.namespace)
	answers := facts.code == http.StatusOK && !facts.isCutOff
	switch {
	case facts.err != nil:
		return []Finding{*facts.err}
	case answers && len(facts.warnings) > 0:
		return []Finding{warning("run the command again in some minutes; if the warning stays, the database is too slow: "+look, "%s", strings.Join(facts.warnings, "; "))}
	case answers:
		return []Finding{ok("the accounting database answers")}
	case facts.code == http.StatusForbidden:
		return []Finding{skipped("you may not query the accounting database")}
	case facts.code != http.StatusNotFound:
		return []Finding{failed(look, "the accounting database does not answer: %s", facts.message)}
	case facts.isInstalled:
		return []Finding{failed(look, "APIService %s does not exist: vc-accounting has not registered its API", accountingRegistration)}
	}
	return []Finding{ok("accounting is not enabled: no history of deleted jobs is kept")}
}
