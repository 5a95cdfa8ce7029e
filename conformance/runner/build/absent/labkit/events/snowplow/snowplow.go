// Package snowplow stands for the sending of usage events, which nothing here asks for.
package snowplow

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"gitlab.com/gitlab-org/labkit/v2/events/snowplow/metrics"
	"gitlab.com/gitlab-org/labkit/v2/events/snowplow/oidc"
)

var errAbsent = errors.New("usage events are not part of this build")

type (
	SendResult struct {
		EventCount, StatusCode int
		Err                    error
	}
	SendCallback  func(successes []SendResult, failures []SendResult)
	Emitter       struct{}
	Tracker       struct{}
	EmitterOption func()

	BillingEventRequiredInput struct {
		Category, EventType, Realm, UnitOfMeasure string
		Quantity                                  float64
	}
	BillingEventOptionalInput struct {
		Subject, DeploymentType, InstanceID, UniqueInstanceID   string
		ProjectID, NamespaceID, RootNamespaceID, OrganizationID int64
		Metadata                                                map[string]any
	}
)

func WithCallback(SendCallback) EmitterOption                              { return func() {} }
func WithTokenSource(*oidc.Source) EmitterOption                           { return func() {} }
func WithMetricsCollectorOptions(...metrics.CollectorOption) EmitterOption { return func() {} }
func NewEmitter(string, ...EmitterOption) (*Emitter, error)                { return nil, errAbsent }
func NewTracker(string, *Emitter) (*Tracker, error)                        { return nil, errAbsent }
func (*Emitter) Collector() prometheus.Collector                           { return nil }
func (*Tracker) Stop()                                                     {}
func (*Tracker) TrackBillingEventWithOptionalInput(BillingEventRequiredInput, BillingEventOptionalInput) error {
	return errAbsent
}
