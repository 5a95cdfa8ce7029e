// Reads answers of a service, as `[{method, path, status, text}]`, from standard input, and lets every method of the Go
// client that asks one of these endpoints decode each of them. What it could not read is printed, a JSON object a line:
// {"method": "Issues.GetIssue", "endpoint": "GET /projects/:id/issues/:issue_iid", "error": "..."}; then one with what was
// read: {"methods": 900, "answers": 1500}.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	gitlab "gitlab.com/gitlab-org/api/client-go"
)

type answer struct {
	Method string
	Path   string
	Status int
	Text   string
}

type endpoint struct {
	method  string
	path    string
	pattern *regexp.Regexp
	loose   int
	answers []answer
}

var parameter = regexp.MustCompile(`:\w+`)

func newEndpoint(method, path string) *endpoint {
	pattern := parameter.ReplaceAllString(regexp.QuoteMeta(path), `[^/]+`)
	return &endpoint{
		method:  method,
		path:    path,
		pattern: regexp.MustCompile("^/api/v4" + strings.ReplaceAll(pattern, `\*`, `.+`) + "$"),
		// Where several fit, the one with the fewest parameters is meant: `/projects/:id/jobs/artifacts`.
		loose: len(parameter.FindAllString(path, -1)) + 5*strings.Count(path, "*"),
	}
}

func read(in io.Reader) ([]*endpoint, error) {
	var answers []answer
	if err := json.NewDecoder(in).Decode(&answers); err != nil {
		return nil, err
	}
	byName := map[string]*endpoint{}
	var endpoints []*endpoint
	for _, one := range answers {
		name := one.Method + " " + one.Path
		if byName[name] == nil {
			byName[name] = newEndpoint(one.Method, one.Path)
			endpoints = append(endpoints, byName[name])
		}
		byName[name].answers = append(byName[name].answers, one)
	}
	slices.SortStableFunc(endpoints, func(a, b *endpoint) int { return a.loose - b.loose })
	return endpoints, nil
}

var errNotServed = errors.New("nothing is served there")

// replay answers the requests of the client with what the service has answered before.
type replay struct {
	endpoints []*endpoint
	// Which of the answers of an endpoint comes next.
	turn int
	// The endpoint that was asked last.
	asked *endpoint
}

func (r *replay) RoundTrip(request *http.Request) (*http.Response, error) {
	for _, one := range r.endpoints {
		if one.method == request.Method && one.pattern.MatchString(request.URL.EscapedPath()) {
			r.asked = one
			given := one.answers[r.turn%len(one.answers)]
			return &http.Response{
				StatusCode: given.Status,
				Header:     http.Header{"Content-Type": {"application/json"}},
				Body:       io.NopCloser(strings.NewReader(given.Text)),
				Request:    request,
			}, nil
		}
	}
	return nil, errNotServed
}

// Any value of a type; what is sent does not matter, only that the client accepts it.
func anything(t reflect.Type) reflect.Value {
	switch t.Kind() {
	case reflect.String:
		return reflect.ValueOf("x").Convert(t)
	case reflect.Int, reflect.Int64:
		return reflect.ValueOf(1).Convert(t)
	case reflect.Pointer:
		return reflect.New(t.Elem())
	case reflect.Interface:
		if content := reflect.ValueOf(bytes.NewReader([]byte("x"))); content.Type().Implements(t) && t.NumMethod() > 0 {
			return content
		}
		if t.NumMethod() == 0 {
			return reflect.ValueOf(1)
		}
	}
	return reflect.Zero(t)
}

func call(method reflect.Value) (err error) {
	// Some methods look into what they are given before they ask.
	defer func() {
		if recover() != nil {
			err = errNotServed
		}
	}()
	in := method.Type().NumIn()
	if method.Type().IsVariadic() {
		in--
	}
	given := make([]reflect.Value, in)
	for i := range given {
		given[i] = anything(method.Type().In(i))
	}
	results := method.Call(given)
	if len(results) == 0 {
		return nil
	}
	err, _ = results[len(results)-1].Interface().(error)
	return err
}

func run(in io.Reader, out io.Writer) error {
	endpoints, err := read(in)
	if err != nil {
		return err
	}
	answers := &replay{endpoints: endpoints}
	client, err := gitlab.NewClient("token",
		gitlab.WithBaseURL("http://service.test"),
		gitlab.WithHTTPClient(&http.Client{Transport: answers}),
		gitlab.WithCustomRetryMax(0))
	if err != nil {
		return err
	}
	print := json.NewEncoder(out)
	methods, decoded := 0, 0
	services := reflect.ValueOf(client).Elem()
	for i := range services.NumField() {
		field := services.Type().Field(i)
		if !field.IsExported() || field.Type.Kind() != reflect.Interface || services.Field(i).IsNil() {
			continue
		}
		for j := range field.Type.NumMethod() {
			name := field.Type.Method(j).Name
			answers.asked = nil
			answers.turn = 0
			err := call(services.Field(i).MethodByName(name))
			if answers.asked == nil {
				continue
			}
			methods++
			for {
				decoded++
				if err != nil {
					told := map[string]string{
						"method":   field.Name + "." + name,
						"endpoint": answers.asked.method + " " + answers.asked.path,
						"error":    err.Error(),
					}
					if err := print.Encode(told); err != nil {
						return err
					}
					break
				}
				answers.turn++
				if answers.turn == len(answers.asked.answers) {
					break
				}
				err = call(services.Field(i).MethodByName(name))
			}
		}
	}
	return print.Encode(map[string]int{"methods": methods, "answers": decoded})
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
