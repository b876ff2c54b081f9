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
git log --stat -3
git show HEAD --name-only
git diff HEAD -- src/
git diff --exit-code
git stash list
git stash pop
git branch --show-current
git rev-list --count HEAD
git log -1 --pretty=%B
git push --force-with-lease
git push origin --delete x
git pull --ff-only
git fetch upstream pull/12/head:pr-12
git cherry-pick --continue
git merge --abort
git rebase -i HEAD~3
git rebase --abort
git remote get-url origin
git blame src/a.rs
git log --follow -p a
git diff -O order
git checkout -- a
git checkout HEAD~1 -- a
git tag v1.0 -m "x"
git log --exclude=x --all
git log --extended-regexp --grep=x
git ls-remote --tags origin
git cat-file -p HEAD
git notes list
git worktree remove x
git sparse-checkout list
rg --files
rg --files-with-matches x
rg -uu --hidden x
rg -tpy "import (\w+)" -o -r '$1'
rg --no-heading --context 3 x
find . -newer a -mtime -1 -size +1M
find . -name x -prune -o -type f -print
find . -type d -empty
sed -n '10p' f
sed -n '5,10p;20q' f
sed '/foo/d' f
sed '/start/,/end/d' f
sed -n '/start/,$p' f
sed -r 's/(a|b)+/x/g' f
sed 's#a#b#g' f
sed 's/\\/\//g' f
sed -n "s/^.*'\(.*\)'.*$/\1/p" f
sed 's/.*/"&"/' f
sed '1d;$d' f
sed 's/[[:space:]]*$//' f
sed 's/[][]//g' f
sed '/^$/N;/^\n$/D' f
sed '2,4!d' f
sed 's/,$//' f
sed -e '1,/^---$/d' f
sed '/x/{s/a/b/;p}' f
sed 's/a/b/;s/c/d/;t end;p;:end' f
sed 'y/abc/ABC/' f
awk '{sum += $1} END {print sum}' f
awk -F'|' '{print $2}' f
awk -F "\t" '{print $2}' f
awk '/start/,/end/' f
awk '{printf "%s %d\n", $1, $2}' f
awk 'NR==FNR{a[$1];next} ($1 in a)' a b
awk '{ if ($1 > 3) print $2 }' f
awk '{gsub(/foo/, "bar"); print}' f
awk -F/ '{print $NF}' f
awk '$1 ~ /^a/ && $2 != "" {print $0}' f
awk '{print substr($0, 1, 80)}' f
awk 'BEGIN {while (i < 3) {i++; print i}}'
awk '{print ($1 > 2) ? "a" : "b"}' f
awk '{print $1*100/$2 "%"}' f
awk '{s+=$1} END {print s/NR/2}' f
awk -v OFS=, '{$1=$1; print}' f
cargo test foo::bar -- --exact --test-threads=1
cargo build -p foo --features a,b
cargo test --no-run
cargo test --test it
cargo fmt --all -- --check
cargo update -p serde
cargo metadata --no-deps --format-version 1
cargo test -q
cargo check --all-features --message-format short
cargo clippy --fix --allow-dirty
cargo -q test
cargo --version
go test -bench=. -benchmem ./...
go test -coverprofile=c.out ./...
go build -v ./cmd/x
go get ./...
go doc fmt.Println
go version
go env GOPATH
npm run build:prod
npm run typecheck
npm run lint:fix
npm run dev
npm audit
npm view react version
npm run test -- -t "name"
npm install --save-dev jest
npm uninstall x
npm ci --prefer-offline
npm test -- src/a.test.ts
yarn add react
yarn lint --fix
pnpm add -D vitest
pnpm --filter a build
pnpm build
pip install --upgrade pip
pip freeze
pip3 install pytest
python -m pip install -r requirements.txt
python -m unittest discover -s tests
python manage.py migrate
python manage.py test
python setup.py build
python3 -m mypy src
python3 -m compileall src
node dist/index.js --port 3000
node --check a.js
node --experimental-vm-modules node_modules/jest/bin/jest.js
tsc --build
eslint --max-warnings 0 src
jest --watchAll=false --testPathPattern=x
vitest run src/a.test.ts
playwright test
prettier --write .
docker ps --format '{{.Names}}'
docker images -q
docker build -t x:latest -f Dockerfile.dev .
docker compose build
docker compose up -d
docker-compose logs web
docker pull nginx
docker network ls
docker stats --no-stream
docker volume ls
kubectl get pods -A
kubectl get deploy -o yaml
kubectl logs deploy/x -c y
kubectl config current-context
kubectl config get-contexts
kubectl rollout status deploy/x
kubectl top pods
kubectl port-forward svc/x 8080:80
make lint
make all -j 8
make -k check
make test ARGS=-v
make -s help
make VERBOSE=1
cmake .. -G Ninja
cmake --build . --target test
cmake -B build -DBUILD_TESTING=ON
pytest
pytest --lf
pytest -s -v tests/
pytest --cov=app --cov-report=term-missing
pytest -k "a and not b" --maxfail=1
pytest --co -q
pytest -rA
jq . a.json
jq -c '.[] | select(.x > 1)' a
jq --arg x 1 '.a == $x' f
jq -e .x f
jq length f
curl -X POST http://localhost:3000/api -d @body.json
curl -v http://localhost:3000
curl --silent --fail http://x
curl -L https://x
curl -H "Authorization: Bearer x" https://api
curl --request GET --url https://x
curl -u a:b https://x
curl -s "https://api/x?y=1"
curl -F file=@a https://x
sort -n -r f
sort -k1,1 -k2n f
sort -V
sort --unique f
tar -czvf a.tar.gz dir
tar xvf a.tar
tar -tzf a.tgz
tar --list -f a.tar
tar -C out -xf a.tar
cp -a src/. dst/
cp a.txt b/c/
mv a.txt b.txt
ln -sf a b
tee a.log
tee -a b.log
rsync -a src/ dst/
rsync -avz --exclude node_modules ./ host:app/
ssh host ls -la
scp a host:b
scp host:a .
psql -U me -d db -c 'select * from users limit 5'
psql -l
psql -h localhost -d db -c "\d users"
sqlite3 a.db "select * from x where y = 1"
sqlite3 a.db .schema
mysql -u root -e 'show tables' db
gh pr diff 12
gh pr checks
gh api repos/a/b/pulls
gh run list
gh repo view
systemctl is-active x
systemctl list-units --type=service
journalctl -f -u x
ps aux
top -b -n 1
terraform init
terraform plan -var x=1
terraform output
helm template x
ruff check src tests
black .
mypy --strict src
bundle install
rspec spec/a_spec.rb
ruby -c a.rb
php -l a.php
php artisan test
perl -c a.pl
javac A.java
mvn clean package -DskipTests
gradle clean build
./gradlew :app:test
dotnet test --filter X
swift build
zig version
gcc -o a a.c
g++ -std=c++17 -O2 a.cpp -o a
rustup toolchain list
openssl x509 -noout -dates -in a
gzip -dc x.gz
unzip -q x.zip
zip -q a.zip b
date -d yesterday
date "+%Y"
bash -n a.sh
bash ./a.sh arg
sh -x a.sh
env
printenv PATH
test -n x
[ x = y ]
read -r x
man 3 printf
xxd -l 16 f
base64 f
diff -r a b
patch -p1 --dry-run -i x
fd -t f -e ts
fd foo src
bat -p f
file -b f
tree -I node_modules
xargs
top
"#;

#[test]
fn everyday_commands_use_no_trapdoor() {
    for line in EVERYDAY.trim().lines() {
        assert_eq!(open(line), Vec::<String>::new(), "{line}");
    }
}
