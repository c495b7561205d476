# What a developer types. Everything but proto-lint needs cargo and nothing else.
.PHONY: test lint doc bench proto-lint

test: ## every test; profile.test is optimised, the games are real
	cargo test --all-targets
	cargo test --doc

lint: ## what CI refuses
	cargo fmt --check
	cargo clippy --all-targets -- -D warnings

doc: ## the crate's documentation, warnings refused
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps

bench: ## micro-benchmarks with named playfields
	cargo bench

proto-lint: ## the proto files, as buf sees them (npm install @bufbuild/buf)
	buf lint && buf format --diff --exit-code
