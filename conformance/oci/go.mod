// Pins the conformance suite of the OCI distribution specification, version 1.1.
module guildhall/conformance/oci

go 1.24.0

require github.com/opencontainers/distribution-spec/conformance v0.0.0-20260831232431-97274622c111
