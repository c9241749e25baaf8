#!/bin/sh

test_description='whatever request of a push goes wrong, the branch holds the old or the new version, and the next push ends it'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"
start_s3
start_faults

towns=s3://lakes/towns
old='' new=''

test_expect_success 'a version that is pushed, and one that is not' '
	fdl init $towns &&
	sql=$(fdl checkout --with-keys $towns lake.sqlite) &&
	duck "$sql CREATE TABLE lake.t AS SELECT 1 AS n" &&
	old=$(fdl commit lake.sqlite -m one) &&
	fdl push lake.sqlite &&
	duck "$sql INSERT INTO lake.t VALUES (2)" &&
	new=$(fdl commit lake.sqlite -m two) &&
	mkdir kept &&
	cp -R lake.sqlite lake.sqlite.fdl kept &&
	fdl-cat-object --repo $towns refs.json >first.json
'

# before_push: everything is as it was when the version was committed.
before_push() {
	faults &&
	rm -rf lake.sqlite lake.sqlite.fdl &&
	cp -R kept/* . &&
	fdl-ls-objects --repo "$towns" "versions/$new" | cut -f 1 >leftover &&
	fdl-rm-objects --repo "$towns" <leftover >/dev/null &&
	echo "$old" | fdl-put-object --repo "$towns" refs/heads/main &&
	fdl-put-object --repo "$towns" refs.json <first.json
}

# ended_well STATUS: the branch holds the version that the status says, or where it says nothing the old or the new one.
ended_well() {
	faults &&
	now=$(fdl-resolve-ref --repo "$towns" main) || return 1
	case $1.$now in
	"0.$new" | [67]*."$old" | [67]*."$new") ;;
	*)
		echo "exit status $1, and the branch holds $now"
		cat push.err
		return 1
		;;
	esac
	fdl push lake.sqlite >push.again &&
	test "$(fdl-resolve-ref --repo "$towns" main)" = "$new" &&
	fdl-rev-list --repo "$towns" main >actual &&
	printf "%s\n" "$new" "$old" >expect &&
	test_cmp expect actual &&
	fdl-cat-object --repo "$towns" refs.json | grep "$new"
}

# each_request FAULT METHOD LEAST: a push with the fault at its first request of that method, at its second, and so on, until
# one meets none.
each_request() {
	n=1
	while true
	do
		before_push &&
		faults "$n $1 $2 ." || return 1
		fdl push lake.sqlite >push.out 2>push.err
		status=$?
		met=$(grep -c " $1\$" "$log")
		ended_well "$status" || {
			echo "$1 at $2 number $n"
			return 1
		}
		test "$met" != 0 || break
		n=$((n + 1))
	done
	# A push has so many of them; fewer would mean that the loop ended too soon.
	test "$n" -gt "$3"
}

for fault in drop-before drop-after 500-after 409 412
do
	test_expect_success "$fault at any PUT of a push" "each_request $fault PUT 6"
done

for fault in drop-after 500
do
	test_expect_success "$fault at any GET of a push" "each_request $fault GET 10"
done

test_expect_success 'the answer to any HEAD is lost' 'each_request drop-after HEAD 1'

test_done
