//! Commands as coding agents write them, under rules that name their programs.

use super::*;

const PROGRAMS: &[&str] = &[
    "git *",
    "rg *",
    "grep *",
    "cat",
    "head",
    "cat *",
    "wc *",
    "find *",
    "cargo *",
    "tail *",
    "head *",
    "echo *",
    "ls",
    "ls *",
    "npm run *",
    "npm test*",
    "sed *",
    "sort",
    "sort *",
    "uniq *",
    "cd *",
    "mkdir *",
    "jq *",
    "python3 -m pytest *",
    "pytest *",
    "go test *",
    "make *",
    "diff *",
    "which *",
    "pwd",
    "tree *",
    "file *",
    "stat *",
    "du *",
    "date",
    "date *",
    "cut *",
    "tr *",
    "basename *",
    "tsc *",
    "wc",
    "npx tsc *",
    "test *",
];

#[test]
fn everyday_commands_pass_without_a_question() {
    let config = policy(PROGRAMS, &["git push*", "rm *"], "ask");
    check(
        &config,
        Decision::Allow,
        &[
            "git diff HEAD~1",
            "git diff HEAD~3..HEAD -- src/main.rs",
            "git log main..HEAD@{1}",
            "git show HEAD^:src/main.rs | head -50",
            "git stash show -p stash@{0}",
            "git log --oneline -5 2>&1 | cat",
            "git log --format=\"%h %s\" | head -n 3",
            "git status || true",
            "git status && git diff --stat",
            "git add src/*.rs tests/*.rs && git commit -m \"fix: it's done (v1.2)\"",
            "cd /srv/app && git log --oneline -10",
            "rg \"fn \\w+\" src",
            "rg -n 'impl .* for' src/ | wc -l",
            "rg -l \"foo\\(\" --type rust | sort | uniq -c",
            "grep -E \"^x$\" f",
            "grep -rn NOTE --include=*.py .",
            "grep -n \"a\\|b\" src/lib.rs",
            "grep -rn \"^use \" src/*.rs | sort -u",
            "cat src/*.rs | wc -l",
            "cat \"src/a b.rs\" 2>/dev/null || echo \"none\"",
            "find . -type f \\( -name '*.ts' -o -name '*.tsx' \\)",
            "find src -name '*.rs' | xargs grep -n foo",
            "find . -name \"*.py\" -not -path \"./node_modules/*\" | head -20",
            "find . -name '*.toml' -print0 | xargs -0 wc -l",
            "ls -la ~/.config",
            "ls src/**/*.rs",
            "cargo build 2>&1 | tail -5; echo \"exit: $?\"",
            "cargo test --workspace -- --nocapture 2>&1 | grep -E \"^test result\" | head",
            "cargo test \\\n  --workspace \\\n  --locked",
            "cargo clippy --all-targets -- -D warnings 2>&1 | tail -30",
            "RUST_BACKTRACE=1 cargo test foo",
            "if [ -d x ]; then ls x; fi",
            "if test -f Cargo.toml; then cargo check; else echo no; fi",
            "[ -f package.json ] && npm run build",
            "for f in a b; do cat \"$f\"; done",
            "for f in src/*.rs; do wc -l \"$f\"; done | sort -n",
            "for i in 1 2 3; do echo \"run $i\"; cargo test -q; done",
            "timeout 5 git log",
            "timeout 120s cargo test",
            "timeout -k 5 60 npm run test",
            "time git status",
            "nice -n 10 cargo build --release",
            "NODE_ENV=test npm run test",
            "CI=1 npm test",
            "(cd web && npm run lint)",
            "{ git status; git diff; } 2>&1",
            "sed -n '1,40p' src/main.rs",
            "sed -n \"10,20p\" f | cat",
            "echo '---'; ls; echo \"=== done ===\"",
            "echo $?",
            "make -j4 test 2>&1 | tail -20",
            "jq -r '.scripts | keys[]' package.json",
            "python3 -m pytest tests/test_a.py -k \"not slow\" -x",
            "go test ./... 2>&1 | tail -5",
            "mkdir -p build/out",
            "diff -u a.txt b.txt || true",
            "head -c 100 f | tr -d '\\n'",
            "du -sh ./* | sort -h",
            "which cargo && cargo --version",
        ],
    );
}

#[test]
fn what_the_shells_would_read_differently_asks() {
    let config = policy(PROGRAMS, &[], "ask");
    check(
        &config,
        Decision::Ask,
        &[
            "wc -l *.py",
            "cat $FILE",
            "echo \"$(date)\"",
            "git log {a,b}",
            "ls ~root",
            "while true; do ls; done",
            "for f in *.rs; do cat \"$f\"; done",
            "for f in a; do cat $f; done; cat \"$f\"",
            "for f in 'x y'; do cat $f; done",
            "ls > out.txt",
            "LD_PRELOAD=x git log",
            "PATH=. ls",
            "FOO=1 git log",
            "git log &",
            "[ -v 'a[$(id)]' ] && ls",
            "[ 1 -eq 1 ] && ls",
            "nohup git log >/dev/null",
            "timeout $X git log",
            "timeout -v 5 git log",
            "find . | xargs -a f grep x",
            "find . | xargs find",
            "xargs -I {} {} x",
            "sed -n ./*/p f",
        ],
    );
    let spelled = policy(&["FOO=* git log*", "A=1 ls *"], &[], "ask");
    check(&spelled, Decision::Allow, &["FOO=1 git log -1", "A=1 ls x"]);
    check(
        &spelled,
        Decision::Ask,
        &[
            "FOO=1 BAR=2 git log",
            "A=2 ls x",
            "FOO=x LD_PRELOAD=y git log",
        ],
    );
}

/// `true` beside commands is no question, and neither is it alone where anything is allowed at all.
#[test]
fn commands_without_effect_count_as_allowed() {
    let some = policy(&["ls"], &[], "ask");
    check(
        &some,
        Decision::Allow,
        &[
            "true",
            "ls || :",
            "ls && false",
            "[ a = b ] || ls",
            "[ ! -e x ] || ls",
        ],
    );
    check(&policy(&[], &[], "ask"), Decision::Ask, &["true"]);
}

/// A relative path is in the working directory only as long as nothing leaves it.
#[test]
fn nothing_is_written_where_a_cd_leads() {
    let config = policy(&["cd *", "cp *", "tee *", "ls", "cat *"], &[], "ask");
    check(
        &config,
        Decision::Allow,
        &[
            "cp a b",
            "cd src && cp a b",
            "cd /srv && ls",
            "cat a | tee out",
        ],
    );
    check(
        &config,
        Decision::Ask,
        &[
            "cd /etc && cp a b",
            "cd ~ && tee x",
            "cd .. ; cat a | tee b",
            "cd - && cp a b",
            "(cd ../x; cp a b)",
            "for d in /etc; do cd \"$d\"; tee x; done",
        ],
    );
}

/// An unknown wrapper does not carry a denied command past a lax default.
#[test]
fn a_default_allow_carries_nothing_denied() {
    let config = policy(&[], &["git push*", "rm *"], "allow");
    check(
        &config,
        Decision::Ask,
        &[
            "retry 3 git push",
            "chronic git push",
            "systemd-run --user git push",
            "docker exec x git push",
            "uv run git push",
            "npx git push",
            "mise exec -- git push",
            "nix-shell --run 'git push'",
            "tmux new-session 'git push'",
            "mywrap git push",
            "mywrap /usr/bin/git push",
            "mywrap -x sudo git -C . push",
            "mywrap --run 'cd x && git push -f'",
            "mywrap sh -c 'rm x'",
            "mywrap --cmd='git push'",
            "mywrap --cmd=git push",
            "mywrap -c'git push -f'",
            "mywrap run:git push",
            "mywrap git 'push'",
            "ls; retry rm x",
        ],
    );
    check(
        &config,
        Decision::Allow,
        &[
            "retry 3 git log",
            "docker exec x ls",
            "git commit -m 'push it'",
            "npx tsc --noEmit",
            "make firmware",
        ],
    );
}
