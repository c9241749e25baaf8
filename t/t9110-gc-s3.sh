#!/bin/sh

test_description='fdl gc in a bucket: its requests, pushes at the same time, answers that are lost'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"
# shellcheck source=t/lib-gc.sh
. "$TEST_DIRECTORY/lib-gc.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"
start_s3
direct=$AWS_ENDPOINT_URL
start_faults

local=$TRASH_DIRECTORY/repo

# bucket NAME: the versions and files of line in a new repository of that name, without the version side.
bucket() {
	FDL_REPO=s3://lakes/$1 && export FDL_REPO && faults &&
	fdl-create-repository --like "$local" --single-writer "$FDL_REPO" &&
	fdl-ls-objects --repo "$local" data | while IFS='	' read -r key size _
	do
		printf '%s\t%s\t%s\n' "$key" "$local/$key" "$size" || return 1
	done >list &&
	fdl-send-files <list >out &&
	for id in $one $two $three
	do
		fdl-send-version --from "$local" "$id" || return 1
	done &&
	fdl-update-ref refs/heads/main "$three" &&
	fdl-update-server-info
}

# has WANTED: these data files are in the bucket.
has() {
	AWS_ENDPOINT_URL=$direct fdl-ls-objects data >objects &&
	sed 's,	.*,,; s,.*-0*\([0-9]*\).parquet,\1,' objects | sort -n | tr '\n' ' ' | sed 's/ $//' >there &&
	echo "$1" >wanted && tr -d '\n' <wanted | test_cmp - there
}

test_expect_success 'setup: nothing names 4 and 5 in the bucket, the version side is not sent yet' '
	line
'

test_expect_success 'a request for each version and each ref, two lists of versions, one request for all that goes' - <<\END
	bucket counted && sleep 1.1 &&
	requests fdl gc --grace 1s --force $FDL_REPO >all &&
	sed "s,versions/[^/ ]*/,," all | sort -k 2 | uniq -c | sed "s/^ *//" >actual &&
	cat >expect <<-EOF &&
	1 GET ?uploads 200
	1 LIST data/ 200
	1 POST ?delete 200
	1 GET fdl.json 200
	3 GET files.json 200
	1 DELETE gc.json 204
	2 GET gc.json 200
	1 GET refs.json 200
	2 HEAD gc.json 200
	2 PUT gc.json 200
	1 LIST refs/ 200
	1 GET refs/heads/main 200
	3 GET version.json 200
	2 LIST versions/ 200
	EOF
	sort expect >e && sort actual >a && test_cmp e a &&
	has '1 2 3'
END

# during COMMAND OTHER CHECK: the program 'other' runs after the n-th request of a command, for each n there is; each time
# in a new repository, and then 'check' must hold. The command may be told that it lost.
prepare=:
during() {
	number=1
	while :
	do
		bucket "$1-$2-$number" && $prepare && sleep 1.1 && rm -f ran &&
		printf '%s\n' '#!/bin/sh' "AWS_ENDPOINT_URL=$direct FDL_REPO=$FDL_REPO" 'export AWS_ENDPOINT_URL FDL_REPO' 'echo ran >ran' "./$2 >other.out 2>other.err" \
			'echo $? >other.status' >"$rules.meanwhile" &&
		chmod +x "$rules.meanwhile" &&
		faults "$number meanwhile * ." || return 1
		"./$1" >out 2>err
		status=$?
		test -e ran || break
		"$3" || {
			echo "after request $number, status $status and $(cat other.status):" && cat err other.err
			return 1
		}
		number=$((number + 1))
	done &&
	echo "$((number - 1)) requests" && test "$number" -gt 10
}

# What a push does that names 2 and 4: the version, a look at its files, the ref.
cat >push <<END
#!/bin/sh
set -e
fdl-send-version --from '$local' $side
fdl-ls-version --repo '$local' $side >side.list
fdl-check-objects --settle <side.list >side.faults
fdl-update-ref refs/heads/topic $side ''
END

cat >collect <<\END
#!/bin/sh
fdl gc --grace 1s --force "$FDL_REPO"
END
chmod +x push collect

# whole: every ref leads to a version with all its files.
whole() (
	export AWS_ENDPOINT_URL="$direct" &&
	fdl-for-each-ref >held &&
	while read -r id _
	do
		fdl-ls-version "$id" | fdl-check-objects &&
		fdl-ls-objects "versions/$id" >objects &&
		test_grep ducklake.duckdb objects &&
		test_grep files.json objects &&
		! grep expired.json objects || return 1
	done <held
)

# pushed_or_told: the push has all its files, or it has lost and was told so; gc has taken what nothing names.
pushed_or_told() (
	whole && { has '1 2 3 4' || has '1 2 3'; } &&
	push_status=$(test "$1" = push && echo "$status" || cat other.status) &&
	if grep topic held
	then
		test "$push_status" = 0 && has '1 2 3 4' && echo won >>outcomes
	else
		case $push_status in
		# Its files were gone, its version was forgotten, or a file was about to go.
		1 | 4 | 75) echo "lost $push_status" >>outcomes ;;
		*) return 1 ;;
		esac
	fi
)

push_meanwhile() { test "$status" = 0 && pushed_or_told collect; }

gc_meanwhile() { test "$(cat other.status)" = 0 && pushed_or_told push; }

test_expect_success 'a push after each request of gc: its files are there, or it is told' '
	: >outcomes &&
	during collect push push_meanwhile &&
	for outcome in won "lost 1" "lost 75"
	do
		test_grep "^$outcome$" outcomes || return 1
	done
'

test_expect_success 'gc after each request of a push: the same' '
	: >outcomes &&
	during push collect gc_meanwhile &&
	test_grep won outcomes &&
	test_grep "lost 1" outcomes
'

# The branch gets another name, as fdl branch gives it one.
cat >rename <<END
#!/bin/sh
set -e
fdl-update-ref refs/heads/trunk $three ''
fdl-symbolic-ref HEAD refs/heads/trunk
fdl-update-ref -d refs/heads/main
fdl-update-server-info
END

# What was cut off before version.json, and marked then, is pushed again.
cat >again <<\END
#!/bin/sh
./push
END
chmod +x rename again

# history_is_whole: nothing in it was taken away.
history_is_whole() {
	case $status in 0 | 2 | 75) ;; *) return 1 ;; esac
	test "$(cat other.status)" = 0 && whole && AWS_ENDPOINT_URL=$direct fdl-rev-list trunk >line &&
	while read -r id
	do
		AWS_ENDPOINT_URL=$direct fdl-resolve-ref --live "$id" || return 1
	done <line
}

test_expect_success 'a branch that is renamed after each request of gc loses nothing' '
	during collect rename history_is_whole
'

# Of the version side there is a mark, and what a push had written before it was cut off.
before_again() {
	fdl-put-object "versions/$side/files.json" <"$local/versions/$side/files.json" &&
	fdl-put-object "versions/$side/expired.json" <mark
}

again_or_told() {
	case $status in 0 | 2 | 75) ;; *) return 1 ;; esac
	whole && case $(cat other.status) in
	0) test_grep topic held ;;
	1 | 4 | 75) ! grep topic held ;;
	*) return 1 ;;
	esac
}

test_expect_success 'a push that was cut off, marked and is run again after each request of gc: whole, or refused' '
	printf "{\"fdl\":\"1.0\",\"reason\":\"expired\",\"at\":\"2026-12-01T00:00:00Z\",\"message\":\"\"}" >mark &&
	prepare=before_again &&
	during collect again again_or_told
'
prepare=:

# Of a repository with more to do: a version is expired and one is forgotten, and without a grace all of it goes at once.
# shellcheck disable=SC2154 # lib-gc.sh sets $side
busy() {
	bucket "$1" && fdl-send-version --from "$local" "$side" && echo "$one" | fdl-expire-version
}

at_once() {
	fdl gc --grace 0 --force "$FDL_REPO"
}

test_expect_success 'whatever happens to the answer to a write, the next run comes to the same end' - <<\END
	busy straight && at_once &&
	fdl-ls-objects >out && sed 's/	.*//' out >expect &&
	for fault in 'drop-after PUT' 'drop-after POST' 'drop-after DELETE' '500-after PUT' 'drop-before POST'
	do
		number=1
		while :
		do
			busy "${fault% *}-${fault#* }-$number" >out && faults "$number $fault ." || return 1
			at_once >out 2>err
			status=$?
			hit=$(grep -c " ${fault% *}" "$log")
			faults
			case $status in 0 | 2 | 6 | 75) ;; *) false ;; esac &&
			whole && at_once &&
			fdl-ls-objects >out && sed 's/	.*//' out >actual && test_cmp expect actual || {
				echo "$fault $number: status $status" && cat err
				return 1
			}
			test "$hit" != 0 || break
			number=$((number + 1))
		done
		test $number -gt 1 || return 1
	done
END

test_expect_success 'a store that does not delete: the exit is not 0, and what stays is no loss' '
	bucket denied && sleep 1.1 &&
	faults "* 403 POST delete" &&
	test_expect_code 6 ./collect >out 2>err &&
	test_grep "may not delete" err &&
	test ! -s out &&
	faults &&
	has "1 2 3 4 5" && whole &&
	fdl-ls-objects >out && ! grep gc.json out
'

test_expect_success 'a clock that is not ours: nothing is deleted' '
	bucket skewed && sleep 1.1 &&
	faults "* late HEAD gc.json" &&
	refused 128 "is 7[0-9]* s ahead of this machine.s, so the age of files is not known; nothing was deleted" ./collect &&
	faults &&
	has "1 2 3 4 5"
'

test_expect_success 'uploads in parts that were cut off are ended' - <<\END
	bucket parts &&
	truncate -s 64M large &&
	key=data/$(path 9) &&
	faults "1 403 PUT partNumber=2" '* 403 DELETE uploadId' &&
	test_must_fail fdl-put-object "$key" <large &&
	faults &&
	./collect >out &&
	printf '%s\t0\tleft over\n' "$key" >expect &&
	grep 'left over' out >actual &&
	test_cmp expect actual &&
	./collect >out &&
	test ! -s out &&
	faults '* 403 GET uploads' &&
	./collect >out 2>err &&
	test_grep '^warning: .* what writes have left behind was not looked for' err
END

test_done
