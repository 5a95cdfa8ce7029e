// Pins the conformance suite of the OCI distribution specification, as of version 1.1.1.
module guildhall/conformance/oci

go 1.21

require github.com/opencontainers/distribution-spec/conformance v0.0.0-20250220192232-583e014d1541
