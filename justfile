# The long loops, whose short and seeded forms are part of the tests.

# Lets bash, dash and zsh judge 20,000 lines that the policy allows; another seed finds other lines.
shells seed="7":
    SAYSO_SHELL_LINES=20000 SAYSO_SHELL_SEED={{seed}} cargo test --release --locked --test it shells -- --nocapture

# 100,000 cases for each property of the policy.
properties:
    PROPTEST_CASES=100000 cargo test --release --locked --lib policy

# Random commands against what bash runs, for so many seconds.
fuzz seconds="600":
    cargo test --release --locked --test fuzz_policy -- {{seconds}}
