//! Commands as people and agents write them every day: none uses a trapdoor that a rule for its program leaves closed.

use super::open;

const EVERYDAY: &str = r#"
git diff HEAD~1
git log --oneline -5
git log main..HEAD@{1}
git commit -m "fix: x"
git commit -am "apply config run"
git commit --amend --no-edit
git add -A
git add src/a.rs
git status --short
git status -sb
git stash push -m x
git stash show -p stash@{0}
git show HEAD^:src/main.rs
git show --stat HEAD
git checkout -b feature/x
git switch -c x
git branch -vv
git branch -d x
git fetch origin
git fetch --all --prune
git pull --rebase
git pull origin main
git push origin main
git push -u origin HEAD
git rebase origin/main
git rebase --continue
git merge --no-ff x
git cherry-pick abc
git remote -v
git remote add origin https://github.com/a/b.git
git clone https://github.com/a/b
git clone git@github.com:a/b.git
git config --get user.name
git config user.email
git config --list
git -C sub log --oneline
git --no-pager log -3 --format="%h %s"
git log -p -S foo -- src/x.rs
git log --all --graph --decorate --oneline
git grep -n foo src
git blame -L 1,20 src/a.rs
git rev-parse --short HEAD
git ls-files src
git worktree list
git tag -l
git diff --stat main...HEAD
git diff --cached --name-only
git diff --no-ext-diff
git diff -w --word-diff
git bisect good
git submodule update --init --recursive
git reset --hard HEAD~1
git restore --staged a
git clean -fd
git hash-object --stdin
git shortlog -sn
git describe --tags
git reflog -5
git revert abc --no-edit
git log --grep=push
git log --author=me --since="2 weeks ago"
git log -- apply
git rm -r --cached x
git mv a b
grep -rn x src
rg -n "fn \w+" src
rg -l foo --type rust -g '!target'
rg --pretty foo
rg -C3 -i foo src
sed -n '1,20p' f
sed 's/a/b/' f
sed 's/a/b/g; s/c/d/' f
sed -E 's/^[0-9]+ (.*)$/\1/' f
sed -n '/^fn main/,/^}/p' src/main.rs
sed 's|/usr/[^/]*|x|g'
sed -e 's/a/b/' -e 's/c/d/' f
sed '/^#/d;/^$/d' f
sed '$!N;P;D' f
sed ':a;N;$!ba;s/\n/ /g' f
sed -n '$=' f
sed 5q f
sed '1i\header' f
sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml
sed 's/[^/]*$//' f
sed 's/\x1b\[[0-9;]*m//g'
sed 's/^/  /'
sort -u f
sort -k2 -n
sort -t, -k2,2nr f
sort -to f
sort -rn -k1,1 f
sort --key=2 f
sort -h
tar tf x.tgz
tar xzf a.tgz
tar -xzf a.tgz -C out
tar czf out.tgz src
tar -tvf x.tar.gz
tar --exclude=target -czf a.tgz .
find . -name '*.rs' -type f
find src -type f \( -name '*.ts' -o -name '*.tsx' \)
find . -maxdepth 2 -not -path './x/*' -print0
fd -e rs foo
fd --extension rs --exclude target
cargo test --workspace
cargo test -- --nocapture
cargo build --release
cargo +nightly fmt
cargo clippy --all-targets -- -D warnings
cargo check
cargo add serde --features derive
cargo tree -i serde
cargo doc --no-deps
cargo bench
cargo test --target x86_64-unknown-linux-gnu foo
cargo test --locked --test it policy
go test ./...
go test -run TestX -v -count=1 ./pkg
go build ./...
go vet ./...
go mod tidy
go fmt ./...
go test -race -cover ./...
go list -m all
npm test
npm test -- --watch=false
npm run build
npm run test
npm run lint -- --fix
npm run test:unit
npm ci
npm install
npm i
npm install lodash
npm install -D @types/node
npm ls
npm outdated
npm --version
npm run build --workspace=a
yarn test
yarn build
yarn install --frozen-lockfile
pnpm install
pnpm test
pnpm run build
pnpm -r test
pnpm lint
bun test
awk '{print $1}' f
awk -F: '{print $1}' /etc/passwd
awk -F, '{s+=$2} END {print s/NR}' data.csv
awk 'NR>=10 && NR<=20' f
awk '$3 > 5 {print $1}' f
awk '/foo|bar/ {print $2}' f
awk 'length($0) > 80' src/x.rs
awk -v n=3 'NR==n' f
awk '{print $1/2}' f
awk '{a[$1]++} END {for (k in a) print k, a[k]}' f
awk 'BEGIN{FS="\t"} {print $2}' f
awk '!seen[$0]++' f
jq -r .a f
jq '.scripts | keys[]' package.json
jq -s 'map(.x)' f
curl -s https://x
curl -sSL https://x/y
curl -I https://x
curl -s -X POST -H 'Content-Type: application/json' -d '{"a":1}' http://localhost:8080/x
curl -fsS --retry 3 --max-time 5 http://localhost/health
curl -w '%{http_code}' -s https://x
wget -qO- https://x
wget -O - https://x
curl -s -o /dev/null -w '%{http_code}' https://x
curl -sSo /dev/null https://x
curl -so/dev/null https://x
wget -q --spider https://x
make -j4 test
make test
make -C sub build
make build V=1
make -n
make clean all
pytest -q tests/a.py -k name
pytest -x --tb=short
pytest -n auto --cov=src
pytest tests/test_a.py::test_x -vv
pytest -m "not slow"
python3 script.py
python3 script.py -c x -m foo
python3 -m pytest tests/test_a.py -k "not slow" -x
python -m json.tool f
python3 -m venv .venv
python3 --version
python3 -u script.py
node script.js
node script.js -e x
node --test
node --version
node -v
ruby script.rb
perl script.pl
php artisan migrate
docker ps
docker ps -a
docker ps --filter name=run
docker images
docker logs -f x
docker inspect x
docker build -t x .
docker compose ps
docker compose logs -f web
docker compose down
docker stop x
kubectl get pods
kubectl get pods -n kube-system -o wide
kubectl describe pod x
kubectl logs -f x --tail=50
kubectl -n foo get svc
psql -c 'select 1'
psql -d mydb -c "select count(*) from users"
sqlite3 db.sqlite 'select * from t'
sqlite3 db.sqlite .tables
tee out.log
cp a b
cp -r src dst
cp /tmp/a.json fixtures/a.json
mv a b
ln -s a b
dd if=a bs=1 count=1
tree -L 2
file x
ssh host uptime
rsync -av src/ dst/
make
test -f x
[ -d x ]
printf "%s\n" x
read line
export -p
bash script.sh
sh scripts/test.sh
bash -x script.sh
bash -n script.sh
bash -e script.sh
cmake -S . -B build
cmake --build build
cmake --build build -j4
cmake -DCMAKE_BUILD_TYPE=Release ..
cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug
ctest --output-on-failure
ctest -R foo
ninja -C build
ninja -j4
tsc --noEmit
tsc -p tsconfig.json
eslint src --fix
eslint . --ext .ts
prettier --check .
prettier --write src/a.ts
jest --coverage
jest src/a.test.ts -t name
vitest run
mypy src
ruff check .
ruff check --fix .
ruff format .
black --check .
pip install -r requirements.txt
pip install -e .
pip list
pip show x
pip install requests
uv pip install x
uv sync
poetry install
gh pr view 1
gh pr list
gh pr create --title x --body y
gh run view 1 --log
gh issue list
systemctl status nginx
journalctl -u nginx -n 50
terraform plan
terraform validate
terraform fmt
mvn test
mvn -q test -Dtest=Foo
mvn clean install
gradle build
./gradlew test
gradle test --tests Foo
dotnet build
dotnet test
date
date +%s
date -u +%Y-%m-%d
uniq -c
uniq -c f
gzip -d x.gz
gzip -k x
zip -r out.zip src
unzip -l x.zip
unzip x.zip
split -l 100 f
diff -u a b
xxd f
base64 -d f
column -t f
ip addr
dig example.com
openssl version
openssl x509 -in a.pem -noout -text
openssl rand -hex 16
rustc --version
rustup show
gcc -Wall -c a.c
java -version
java -jar app.jar
rake test
cargo nextest run
man ls
less f
iconv -f latin1 -t utf8 f
bat f
patch -p1 -i a.diff
hostname
helm list
mysql -e 'select 1'
ffprobe x
ffmpeg -i a.mp4 b.mp3
"#;

#[test]
fn everyday_commands_use_no_trapdoor() {
    for line in EVERYDAY.trim().lines() {
        assert_eq!(open(line), Vec::<String>::new(), "{line}");
    }
}
