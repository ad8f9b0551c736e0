// Package agenttest is the contract that every agent must pass.
package agenttest
