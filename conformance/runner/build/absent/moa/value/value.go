package value

import (
	"errors"
	"iter"
)

type Kind string

const (
	NullKind   Kind = "null"
	StringKind Kind = "string"
	NumberKind Kind = "number"
	BoolKind   Kind = "boolean"
	ArrayKind  Kind = "array"
	ObjectKind Kind = "object"
)

var (
	ErrAttributeNotFound = errors.New("attribute not found")
	ErrInvalidKey        = errors.New("invalid key")
)

type Mapper interface {
	All() iter.Seq2[Value, Value]
	Attr(string) (Value, error)
	Get(Value) (Value, error)
	Keys() iter.Seq[Value]
	Values() iter.Seq[Value]
	Len() int
	WithMarks(uint16) Mapper
}

type Value struct {
	kind Kind
	text string
}

func Null() Value                      { return Value{kind: NullKind} }
func String(text string) Value         { return Value{kind: StringKind, text: text} }
func Object(Mapper) Value              { return Value{kind: ObjectKind} }
func (v Value) Kind() Kind             { return v.kind }
func (v Value) String() string         { return v.text }
func (v Value) HasMarks(uint16) bool   { return false }
func (v Value) WithMarks(uint16) Value { return v }
