// Package fields names what the runner writes in its own log.
package fields

const (
	HTTPStatusCode = "status"
	DurationS      = "duration_s"
)

// Field is the new name of an old one.
type Field struct{ Standard string }

var (
	Deprecated     = map[string]Field{}
	VariantVersion = map[string]int{}
)
