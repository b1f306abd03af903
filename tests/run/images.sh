#!/usr/bin/env bash
# Environments as container images: made here by umoci and skopeo, without a registry.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
# shellcheck disable=SC2154 # top and work come from run.sh
for program in umoci skopeo busybox; do
	if ! command -v $program >/dev/null; then
		tap_skip "images" "images: $program is missing"
		tap_done # and out
	fi
done
umask 022
export PROCTOR_IMAGES=$work/cache
image=$top/tests/tools/image.py

# --- two images on the same layers, and one as docker save writes it
for part in base compiler; do
	python3 "$image" $part $part && tar -C $part -cf $part.tar --owner 0 --group 0 .
done
tap_ok $? "the layers are made"
umoci init --layout layout
for tag in one two; do
	mkdir -p $tag.d/usr/share/image $tag.d/etc
	echo $tag >$tag.d/usr/share/image/tag
	tar -C $tag.d -cf $tag.tar --owner 0 --group 0 usr/share/image
	umoci new --image layout:$tag
	for layer in base compiler $tag; do
		umoci raw add-layer --image layout:$tag "$layer.tar"
	done
	umoci config --image layout:$tag --config.env IMAGE_TAG=$tag --config.env LANG=C --config.env HOME=/root \
		--config.env PATH=/usr/bin:/bin --config.user root --config.workingdir /root
done >umoci.txt 2>&1
chmod -R a+rX layout
TMPDIR=$work skopeo --insecure-policy copy -q oci:layout:one docker-archive:one.tar.docker:test/one:v1 2>skopeo.txt
tap_ok $? "skopeo writes a docker-archive"

cp -r "$top/examples/calc" task
# task_on NAME ROOTFS: the C example on that root file system.
task_on()
{
	sed "s|\"rootfs\": \"host\"|\"rootfs\": \"$2\", \"env\": {\"LANG\": \"C.UTF-8\"}|" "$top/examples/calc/task.json" >task/"$1".json
}
task_on one oci:../layout:one
task_on two oci:../layout:two
task_on docker docker-archive:../one.tar.docker:test/one:v1
# grade NAME OUT PATCH: verdict of the example.
grade()
{
	proctor grade --task task/"$1".json --patch "$3" --out "$2" >"$2.txt" 2>&1 </dev/null
	run_field "$2/verdict.json" verdict
}
count()
{
	find cache/"$1" -mindepth 1 -maxdepth 1 | wc -l
}

# --- grading and running in an image
tap_is "$(grade one g-one task/reference.diff)" resolved "the C example is graded in an image"
sed 's/^/# /' g-one.txt
tap_is "$(grade one g-empty /dev/null)" unresolved "and an empty patch is not resolved there"
inode=$(stat -c %i cache/images/*/rootfs/usr/bin/make)
when=$(stat -c %Z cache/layers/*/usr/bin/make)
tap_is "$(grade one g-again task/reference.diff)" resolved "a second time"
tap_is "$(stat -c '%i %Z' cache/images/*/rootfs/usr/bin/make)" "$inode $when" "nothing was unpacked for it"
tap_is "$(grade docker g-docker task/reference.diff) $(count images)" "resolved 1" \
	"docker-archive: the same image is the same"
tap_is "$(run_field g-one/verdict.json verifier_digest)" "$(run_field g-docker/verdict.json verifier_digest)" \
	"and the same task"
tap_is "$(grade two g-two task/reference.diff) $(count images) $(count layers)" "resolved 2 4" \
	"another image: one layer of its own"
tap_is "$(stat -c %i cache/images/*/rootfs/usr/bin/make | sort -u)" "$inode" "the files of the others are shared"
tap_ok "$([ "$(run_field g-one/verdict.json verifier_digest)" != "$(run_field g-two/verdict.json verifier_digest)" ]; echo $?)" \
	"another image is another task"

# shellcheck disable=SC2016 # expands in the box
proctor run -q --no-tty --task task/one.json --out run -- sh -c 'echo "$IMAGE_TAG $LANG $HOME $(id -un) $(cat /usr/share/image/tag)"
	cat /etc/image; echo changed >/etc/image; touch /usr/bin/mine && ls /host 2>&1; exit 3' </dev/null >run.txt 2>&1
tap_is "$(sed -n 1,2p run/output.log 2>/dev/null || sed -n 1,2p run.txt)" $'one C.UTF-8 /home/agent agent one\nthe base image' \
	"an agent runs in an image: its environment below the task's, its user and home are ours"
for i in cache/images/*; do
	[ "$(cat "$i"/rootfs/usr/share/image/tag)" = one ] && ours=$i/rootfs
done
tap_is "$(run_field run/run.json image)" "$(basename "$(dirname "$ours")")" \
	"run.json names the image"
tap_is "$(cat cache/images/*/rootfs/etc/image | sort -u)" "the base image" "what it writes stays in its box"
tap_is "$(find cache -name mine | wc -l)" 0 "likewise a new file"

# --- an independent unpacker sees the same tree
TMPDIR=$work umoci unpack --rootless --image layout:one bundle >unpack.txt 2>&1
tap_try "umoci unpacks the same files" diff -r --no-dereference bundle/rootfs "$ours"
modes()
{
	(cd "$1" && find . \( -type f -o -type l \) -printf '%P %y %m %s %T@ %l\n' | LC_ALL=C sort)
}
tap_is "$(diff <(modes bundle/rootfs) <(modes "$ours") | grep -c '^[<>] .* f ')" 0 "with the same modes and times"

# --- killed at any moment
bad=0
for delay in 0.02 0.05 0.1 0.2 0.3 0.5 0.8 1.2; do
	rm -rf killed && mkdir -m 700 killed
	PROCTOR_IMAGES=$work/killed "$PROCTOR" grade --task task/one.json --patch /dev/null --out k1 </dev/null >/dev/null 2>&1 &
	pid=$!
	# Not a wait for something: the moment of the kill is what is varied.
	timeout "$delay" tail --pid=$pid -f /dev/null
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	for i in killed/images/*; do
		[ -e "$i" ] && ! diff -r --no-dereference -q "$i/rootfs" "$ours" >/dev/null && bad=$((bad + 1))
	done
	rm -rf k1 k2
	PROCTOR_IMAGES=$work/killed proctor grade --task task/one.json --patch task/reference.diff --out k2 </dev/null >/dev/null 2>&1
	[ "$(run_field k2/verdict.json verdict)" = resolved ] && [ -z "$(ls -A killed/work 2>/dev/null)" ] || bad=$((bad + 1))
done
tap_is "$bad" 0 "kill -9 while it unpacks: what is there is whole, the next call does the rest"

# --- two at once
rm -rf killed && mkdir -m 700 killed
for n in a b; do
	PROCTOR_IMAGES=$work/killed proctor grade --task task/one.json --patch task/reference.diff --out "at-$n" </dev/null >at-$n.txt 2>&1 &
done
wait
tap_is "$(run_field at-a/verdict.json verdict) $(run_field at-b/verdict.json verdict) $(find killed/images killed/layers -mindepth 1 -maxdepth 1 | wc -l)" \
	"resolved resolved 4" "two at once: one unpacks, both are graded"

# --- what is wrong is said
printf '{"schema": "proctor.task/1", "instance_id": "a", "problem_statement": "x", "source": "repo", "environment": {"rootfs": "%s"}}' \
	oci:../layout:three >task/three.json
tap_like "$(proctor run -q --task task/three.json --out none -- true 2>&1 </dev/null)" "no image .three.; there is: .*one" \
	"an unknown tag: the tags there are"
sed -i 's|oci:[^"]*|docker:x|' task/three.json
tap_like "$(proctor run -q --task task/three.json --out none -- true 2>&1 </dev/null)" "oci:LAYOUT" "the forms there are"
task_on gone oci:../gone
proctor grade --task task/gone.json --patch /dev/null --out g-gone >gone.txt 2>&1 </dev/null
tap_is "$? $(run_field g-gone/verdict.json verdict)" "3 absent" "an image that is not there is no verdict"
tap_like "$(cat gone.txt)" "gone: no such directory or file" "but said"

# --- the command that looks after the cache
tap_is "$(proctor images list | grep -c '^[0-9a-f]')" 2 "images list"
tap_is "$(proctor images list --json | python3 -c 'import json,sys; print(len(json.load(sys.stdin)["images"]))')" 2 "as JSON"
proctor images prune --older-than 1h >prune.txt
tap_is "$(count images)" 2 "nothing is old"
proctor images prune --older-than 0 >prune.txt
tap_is "$(count images) $(count layers) $(grep -c removed prune.txt)" "0 0 2" "images prune"
tap_done
