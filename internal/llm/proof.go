package llm

import "strings"

// A signature carries the mark of the dialect that made it, for only there is it worth something: a conversation may
// go on with another provider, which would refuse what it did not sign.
const (
	anthropicProof = "anthropic:"
	redactedProof  = "anthropic-redacted:"
	googleProof    = "google:"
	reasoningProof = "reasoning_content" // no signature, but a field in which thoughts came and must go back
)

func proofOf(mark, signature string) string { return mark + signature }

// proven returns a signature without its mark, and whether it bears that one.
func proven(mark, signature string) (string, bool) { return strings.CutPrefix(signature, mark) }
