//! One test binary, one module a theme.
