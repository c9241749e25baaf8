#!/bin/sh

test_description='porcelain takes its options before, among and after its operands, as Git does'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

# wrong_usage PATTERN COMMAND ARGUMENT...: it is refused with a line that matches and the usage, and makes nothing.
wrong_usage() {
	pattern=$1
	shift
	ls -A >before &&
	test_expect_code 129 fdl "$@" >out 2>err &&
	test ! -s out &&
	fdl "$1" -h >expect &&
	sed 1d err >actual &&
	test_cmp expect actual &&
	head -n 1 err >first &&
	test_grep "^fatal: $pattern" first &&
	ls -A >after &&
	test_cmp before after
}

# same COMMAND...: it prints what is in 'expect'.
same() {
	"$@" >actual && test_cmp expect actual
}

test_expect_success 'setup' '
	write_three &&
	fdl-update-ref refs/heads/main "$three" &&
	fdl-update-ref refs/heads/other "$two" &&
	touch before after out err expect actual first
'

test_expect_success 'an unknown option is refused and named' '
	for command in branch checkout commit diff expire init log push revert show status tag url
	do
		for option in -x --none --none=x -zx --fo -- -=
		do
			test $option = -- || wrong_usage "unknown option .$option.$" $command $option repo || return 1
		done
	done
'

test_expect_success 'no option may be cut short or put together with another' '
	wrong_usage "unknown option .--one." log --one repo &&
	wrong_usage "unknown option .-zn1." log -zn1 repo &&
	wrong_usage "unknown option .--oneline=x." log --oneline=x repo &&
	wrong_usage "unknown option .--force=." checkout --force= repo x &&
	wrong_usage "unknown option .-ma." commit -ma x
'

test_expect_success 'an option that wants a value and has none is refused' '
	while read -r command option
	do
		wrong_usage "option .$option. wants a value$" $command $option &&
		wrong_usage "option .$option. wants a value$" $command repo $option || return 1
	done <<-\END
	checkout --as
	checkout -b
	commit --author
	commit --date
	commit -m
	commit --message
	commit -F
	commit --file
	init --branch
	log -n
	log --format
	revert --author
	revert --branch
	revert -m
	revert --message
	url --as
	END
'

test_expect_success 'too few operands, and too many, are refused' '
	for command in branch checkout commit diff expire init log push revert show status tag url
	do
		wrong_usage ".* wanted" $command &&
		wrong_usage ".* wanted" $command -- &&
		wrong_usage ".* wanted" $command a b c d || return 1
	done &&
	for command in commit init push status
	do
		wrong_usage ".* wanted" $command a b || return 1
	done &&
	wrong_usage "a REPOSITORY and a CATALOG are wanted" checkout repo
'

test_expect_success 'commit wants a message, and one only' '
	wrong_usage "what is it about? -m MESSAGE is missing" commit x &&
	wrong_usage "what is it about?" commit -m "" x &&
	wrong_usage "-m and -F do not go together" commit -m a -F b x
'

test_expect_success 'options may stand before, among and after the operands' '
	fdl log -n 1 --format %s repo other >expect &&
	echo two >two &&
	test_cmp two expect &&
	same fdl log repo other -n 1 --format %s &&
	same fdl log repo -n 1 other --format %s &&
	same fdl log --format %s repo -n 1 other &&
	fdl url --sql --as x repo HEAD~1 >expect &&
	test_grep " AS x (" expect &&
	same fdl url repo HEAD~1 --sql --as x &&
	same fdl url repo --as x HEAD~1 --sql &&
	fdl init new --branch topic &&
	test "$(fdl-symbolic-ref --repo new --short HEAD)" = topic
'

test_expect_success 'a value may be the next argument, follow "=", or follow -n at once' '
	echo three >expect &&
	same fdl log repo -n 1 --format %s &&
	same fdl log repo -n1 --format=%s &&
	fdl url --sql --as=x repo >expect &&
	same fdl url --sql --as x repo &&
	fdl init --branch=topic again &&
	test "$(fdl-symbolic-ref --repo again --short HEAD)" = topic
'

test_expect_success 'a value may look like an option, an operand after "--" too' '
	echo -x >expect &&
	same fdl log -n 1 --format -x repo &&
	echo -- >expect &&
	same fdl log -n 1 --format -- repo &&
	fdl init -- -x >out &&
	test_grep "/-x/" out &&
	fdl init -- --help &&
	test_path_is_file ./-x/fdl.json &&
	test_path_is_file ./--help/fdl.json &&
	refused 3 "holds no version yet" fdl log -- -x &&
	refused 3 "holds no version yet" fdl show -- -x &&
	fdl init -- -- &&
	test_path_is_file ./--/fdl.json
'

test_expect_success 'what comes after "--" is an operand, whatever it looks like' '
	wrong_usage "one REPOSITORY is wanted" init x -- --branch=y &&
	refused 128 "bad ref name .*--oneline" fdl log repo -- --oneline &&
	refused 128 "bad ref name .*--sql" fdl url repo -- --sql &&
	fdl log -n 1 --oneline repo >expect &&
	same fdl log -n 1 --oneline -- repo &&
	same fdl log repo -n 1 --oneline --
'

test_expect_success 'of an option that is given twice the last value holds' '
	echo two >expect &&
	same fdl log -n 3 -n 1 --format x --format %s repo other
'

test_expect_success '-h prints the usage wherever it stands, but not after "--" or as a value' '
	fdl log -h >expect &&
	same fdl log repo --oneline -h &&
	same fdl log --help repo a b c &&
	echo -h >expect &&
	same fdl log -n 1 --format -h repo &&
	refused 128 "bad ref name .*-h" fdl log repo -- -h
'

test_expect_success 'an empty operand is no name and no place' '
	for command in "log" "show" "url" "init" "checkout"
	do
		operands=$(test $command != checkout || echo x) &&
		refused 128 "the repository.s path is empty" fdl $command "" $operands || return 1
	done &&
	for command in "log repo" "show repo" "url repo" "checkout repo new.sqlite"
	do
		refused 128 "bad ref name" fdl $command "" || return 1
	done &&
	for command in push status "commit -m x"
	do
		refused 128 "^fatal: .. does not exist" fdl $command "" || return 1
	done &&
	test_path_is_missing new.sqlite &&
	refused 128 "Is a directory" fdl checkout repo ""
'

test_expect_success 'an empty value is not the same as none' '
	fdl init lakes &&
	fdl checkout lakes lake.sqlite &&
	test_expect_code 129 fdl log -n "" repo >out 2>err &&
	test_grep "^fatal: .. is not a number" err &&
	test ! -s out &&
	wrong_usage "option .--as. wants a name" url --sql --as "" repo &&
	wrong_usage "option .--as. wants a name" checkout --as= lakes new.sqlite &&
	refused 128 "bad ref name" fdl init --branch "" new.repo &&
	refused 128 "bad date .." fdl commit --date "" -m x lake.sqlite &&
	refused 128 "bad author .." fdl commit --author= -m x lake.sqlite &&
	test -z "$(fdl-resolve-ref --repo lake.sqlite.fdl --or-none HEAD)" &&
	author=x date=x limit=x fdl commit -m x lake.sqlite
'

test_done
