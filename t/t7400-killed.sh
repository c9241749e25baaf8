#!/bin/sh

test_description='a writer killed after each of its writes: readers see the old version or the new one'

. "${0%/*}/test-lib.sh"

# cut_off LEAST COMMAND...: runs it so that its n-th change to a folder kills it, for n = 1, 2, ... until it gets through,
# which it must not before LEAST kills. After each kill 'whole' must hold; 'again' prepares each run.
cut_off() {
	least=$1 n=1
	shift
	while :
	do
		again || return 1
		echo "$n" >left
		FDL_TEST_KILL_AFTER=$TRASH_DIRECTORY/left setsid --wait "$@" >out 2>&1
		status=$?
		case $status in
		0) break ;;
		137) whole || return 1 ;;
		*)
			echo "exit status $status after $n writes" && cat out
			return 1
			;;
		esac
		n=$((n + 1))
	done
	echo "killed $((n - 1)) times" && test "$n" -gt "$least"
}

# readable REPOSITORY: every ref leads to a version that a reader reads to its last value; prints what was read.
readable() {
	fdl-for-each-ref --repo "$1" >refs &&
	while read -r id _
	do
		duck "$(fdl url --sql "$1" "$id") SELECT count(*), sum(population), min(name) FROM lake.towns" &&
		fdl-ls-version --repo "$1" "$id" | fdl-check-objects --repo "$1" || return 1
	done <refs
}

test_expect_success 'init' - <<\END
	again() { rm -rf new; } &&
	whole() {
		# Whatever is there, init makes a repository of it, or finds one.
		fdl init new >out 2>&1
		case $? in 0 | 1) ;; *) return 1 ;; esac
		fdl checkout new new.sqlite && rm -rf new.sqlite*
	} &&
	cut_off 2 fdl init new
END

test_expect_success 'setup' '
	setup_towns &&
	readable towns >old.read &&
	cp -R towns towns.old && cp lake.sqlite lake.old && cp -R lake.sqlite.fdl work.old
'

test_expect_success 'checkout' - <<\END
	again() { rm -rf co.sqlite*; } &&
	whole() {
		# Half a checkout is no working catalog; a whole one, whose statement was not printed any more, is.
		fdl commit co.sqlite -m m >out 2>&1
		case $? in
		1) test_grep 'nothing to commit' out ;;
		128) test_grep 'check out again\|does not exist' out ;;
		*) false ;;
		esac || return 1
		fdl checkout towns co.sqlite >attach && fdl status co.sqlite | grep 'nothing to commit'
	} &&
	cut_off 8 fdl checkout towns co.sqlite
END

test_expect_success 'commit' - <<\END
	work "INSERT INTO lake.towns VALUES ('New', 'NN', 5000000)" &&
	cp lake.sqlite lake.new && tree towns >before &&
	again() { rm -rf lake.sqlite.fdl && cp -R work.old lake.sqlite.fdl; } &&
	whole() {
		tree towns >after && test_cmp before after || return 1
		# The version was made, or it can be made.
		fdl commit lake.sqlite -m 'Again' >out 2>&1 || grep 'nothing to commit' out || return 1
		fdl-rev-list --repo lake.sqlite.fdl HEAD ^refs/remotes/origin/main >ids && test_line_count 1 ids
	} &&
	cut_off 5 fdl commit lake.sqlite -m 'Add New' &&
	again &&
	fdl commit lake.sqlite -m 'Add New' &&
	rm -rf work.new && cp -R lake.sqlite.fdl work.new
END

test_expect_success 'push' - <<\END
	again() {
		rm -rf towns lake.sqlite.fdl && cp -R towns.old towns && cp -R work.new lake.sqlite.fdl &&
		cp -R towns.data/. towns/data/
	} &&
	cp -R towns/data towns.data &&
	again && fdl push lake.sqlite && readable towns >new.read && ! cmp old.read new.read &&
	whole() {
		readable towns >seen || return 1
		cmp -s seen old.read || cmp -s seen new.read || { cat seen && return 1; }
		fdl push lake.sqlite && readable towns >seen && test_cmp new.read seen || return 1
		python3 -c "import json; print(*json.load(open('towns/refs.json'))['refs'].values())" >json &&
		fdl-resolve-ref --repo towns HEAD >expect && test_cmp expect json &&
		fdl push lake.sqlite | grep 'everything is pushed'
	} &&
	cut_off 6 fdl push lake.sqlite
END

test_expect_success 'the first push of all' - <<\END
	fdl init first && fdl checkout first one.sqlite &&
	duck "$(fdl attach-sql --repo first --working one.sqlite) CREATE TABLE lake.towns AS SELECT 1 AS population, 'x' AS name" &&
	fdl commit one.sqlite -m 'One' &&
	cp -R first first.old && cp -R one.sqlite.fdl one.old &&
	again() { rm -rf first one.sqlite.fdl && cp -R first.old first && cp -R one.old one.sqlite.fdl; } &&
	whole() {
		readable first >seen && fdl push one.sqlite && readable first >seen && test_line_count 1 seen
	} &&
	cut_off 6 fdl push one.sqlite
END

test_expect_success 'several versions in one push' - <<\END
	duck "$(fdl attach-sql --repo first --working one.sqlite) INSERT INTO lake.towns VALUES (2, 'y')" &&
	fdl commit one.sqlite -m 'Two' &&
	duck "$(fdl attach-sql --repo first --working one.sqlite) INSERT INTO lake.towns VALUES (3, 'z')" &&
	fdl commit one.sqlite -m 'Three' &&
	rm -rf first.old one.old && cp -R first first.old && cp -R one.sqlite.fdl one.old &&
	whole() {
		readable first >seen && test_line_count 1 seen || return 1
		fdl push one.sqlite && readable first >seen && printf '3\t6\tx\n' >expect && test_cmp expect seen &&
		fdl log --oneline first >log && test_line_count 3 log
	} &&
	cut_off 12 fdl push one.sqlite
END

test_done
