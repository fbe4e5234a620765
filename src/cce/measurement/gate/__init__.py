"""The gate: a policy, its baseline, and the rules that refuse a change."""
