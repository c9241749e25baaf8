#!/bin/sh

test_description='fdl X runs fdl-X, from wherever it is installed'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

pages=$root/Documentation
usage='usage: fdl [--version] [--help] COMMAND [ARGUMENT]...'

# outside COMMAND...: runs it as somebody does who has nothing of fdl's on the search path.
outside() {
	env PATH=/usr/local/bin:/usr/bin:/bin "$@"
}

# on_terminal COMMAND...: runs it with a terminal for standard output, and prints what it wrote there.
on_terminal() {
	python3 -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$@" | tr -d '\r'
}

# own NAME: a command of the user's, on the search path, with the lines on standard input.
own() {
	{ echo '#!/bin/sh' && cat; } >"own/$1" && chmod +x "own/$1"
}

test_expect_success 'setup' '
	write_three &&
	fdl-update-ref refs/heads/main "$three" &&
	mkdir own
'

test_expect_success 'without a command it lists them on standard error' '
	for none in "fdl" "fdl \"\""
	do
		test_expect_code 129 eval "$none" >out 2>err &&
		test ! -s out &&
		test "$(head -n 1 err)" = "$usage" || return 1
	done &&
	fdl -h >out &&
	test_cmp err out
'

test_expect_success 'help, -h and --help list them on standard output' '
	for help in help -h --help "help \"\""
	do
		eval "fdl $help" >actual 2>err && test ! -s err && test_cmp out actual || return 1
	done &&
	for command in "$root"/bins/porcelain/fdl-*
	do
		command=${command##*/fdl-}
		test $command = sh-setup || test_grep "^    $command  *[a-z]" out || return 1
	done
'

test_expect_success '--version prints the version' '
	version=$(sed -n "s/^version = \"\(.*\)\"$/\1/p" "$root/Cargo.toml") &&
	echo "fdl version $version" >expect &&
	fdl --version >actual &&
	test_cmp expect actual &&
	fdl-rev-list --version >actual &&
	test_cmp expect actual
'

test_expect_success 'help NAME shows the page of a command, of fdl or of the format' '
	for name in commit update-ref fdl-update-ref format fdl-format fdl
	do
		page=fdl-${name#fdl-} &&
		PAGER=false fdl help $name >actual &&
		test_cmp "$pages/${page%-fdl}.md" actual || return 1
	done
'

test_expect_success 'help of nothing is refused' '
	for name in nothing fdl-nothing ../fdl /etc/passwd ../../../bin/fdl commit/ -h " "
	do
		refused 3 "^error: there is no page about " fdl help "$name" || return 1
	done
'

test_expect_success 'on a terminal a pager shows the page' '
	PAGER="sed -n s/^##.NAME/shown/p" on_terminal fdl help log >actual &&
	echo shown >expect &&
	test_cmp expect actual
'

test_expect_success 'without PAGER it is less, and where there is no less the page comes as it is' '
	mkdir tools &&
	ln -s "$(command -v cat)" tools/cat &&
	{ echo "#!/bin/sh" && echo "echo less \"\${1##*/}\""; } >tools/less &&
	chmod +x tools/less &&
	(unset PAGER && on_terminal env PATH="$TRASH_DIRECTORY/tools" "$FDL_TEST_PREFIX/bin/fdl" help log) >actual &&
	echo "less fdl-log.md" >expect &&
	test_cmp expect actual &&
	rm tools/less &&
	(unset PAGER && on_terminal env PATH="$TRASH_DIRECTORY/tools" "$FDL_TEST_PREFIX/bin/fdl" help log) >actual &&
	test_cmp "$pages/fdl-log.md" actual
'

test_expect_success 'what is no command is refused, and so is what is not to be run by its name' '
	for name in nothing ../x ./fdl-log /bin/ls "log " "log HEAD" sh-setup "*" Log
	do
		refused 129 "^fatal: .* is not a fdl command$" fdl "$name" &&
		test_grep "^hint: .fdl help. lists the commands" refused.err || return 1
	done
'

test_expect_success 'a command is looked for on the search path only' '
	mkdir fdl-folder &&
	printf "#!/bin/sh\n" >fdl-folder/x &&
	cp fdl-folder/x fdl-here &&
	chmod +x fdl-folder/x fdl-here &&
	refused 129 "is not a fdl command" fdl folder/x &&
	refused 129 "is not a fdl command" fdl here
'

test_expect_success 'an unknown option before the command is refused' '
	for option in -x --none -- -
	do
		test_expect_code 129 fdl $option log repo >out 2>err &&
		test ! -s out &&
		printf "%s\n" "fatal: unknown option '\''$option'\''" "$usage" >expect &&
		test_cmp expect err || return 1
	done
'

test_expect_success 'a command of your own is one of fdl'\''s, with its arguments, its input and its exit status' '
	own fdl-mine <<-\EOF &&
	printf "<%s>" "$@"
	cat
	exit 42
	EOF
	echo input | PATH=$TRASH_DIRECTORY/own:$PATH test_expect_code 42 fdl mine "" "a  b" -x -- "*" >actual &&
	echo "<><a  b><-x><--><*>input" >expect &&
	test_cmp expect actual &&
	chmod -x own/fdl-mine &&
	(PATH=$TRASH_DIRECTORY/own:$PATH && refused 129 "is not a fdl command" fdl mine)
'

test_expect_success 'fdl X and fdl-X are the same' '
	fdl log repo >expect &&
	test "$(grep -c "^version " expect)" = 3 &&
	fdl-log repo >actual &&
	test_cmp expect actual &&
	outside "$FDL_TEST_PREFIX/bin/fdl" log repo >actual &&
	test_cmp expect actual &&
	outside "$FDL_TEST_PREFIX/bin/fdl-log" repo >actual &&
	test_cmp expect actual
'

test_expect_success 'the exit status and what is on standard error are those of the command' '
	refused 3 "^error: .none. is neither a ref nor a version" fdl log repo none &&
	cp refused.err expect &&
	refused 3 "^error: .none. is neither a ref nor a version" fdl-log repo none &&
	test_cmp expect refused.err
'

test_expect_success 'fdl is found through symbolic links, also of links' '
	mkdir links links/more &&
	ln -s "$FDL_TEST_PREFIX/bin/fdl" links/fdl &&
	ln -s ../fdl links/more/data &&
	fdl log repo >expect &&
	for link in "$TRASH_DIRECTORY/links/fdl" links/fdl links/more/data ./links/more/data
	do
		outside "$link" log repo >actual && test_cmp expect actual || return 1
	done &&
	(PATH=$TRASH_DIRECTORY/links:/usr/bin:/bin && fdl log repo) >actual &&
	test_cmp expect actual &&
	outside links/more/data help log >actual &&
	test_cmp "$pages/fdl-log.md" actual
'

test_expect_success 'by a relative path it serves also a command that changes the folder' '
	own fdl-away <<-\EOF &&
	cd / && fdl-log "$1"
	EOF
	fdl log repo >expect &&
	repo=$PWD/repo &&
	own=$TRASH_DIRECTORY/own &&
	mkdir decoy decoy/bin &&
	cd "$FDL_TEST_PREFIX" &&
	PATH=$own:/usr/bin:/bin bin/fdl away "$repo" >"$TRASH_DIRECTORY/actual" &&
	CDPATH=$TRASH_DIRECTORY/decoy PATH=$own:/usr/bin:/bin bin/fdl away "$repo" >"$TRASH_DIRECTORY/again" &&
	cd "$TRASH_DIRECTORY" &&
	test_cmp expect actual &&
	test_cmp expect again
'

test_expect_success 'FDL_EXEC_PATH says where the commands are' '
	cp -R "$FDL_TEST_PREFIX" other &&
	printf "#!/bin/sh\necho the other one\n" >other/bin/fdl-log &&
	FDL_EXEC_PATH=$PWD/other/bin fdl log repo >actual &&
	echo "the other one" >expect &&
	test_cmp expect actual &&
	FDL_EXEC_PATH="" fdl log repo >actual &&
	fdl-log repo >expect &&
	test_cmp expect actual
'

test_expect_success 'a prefix may have any name' '
	for name in "it'\''s \"odd\" \$HOME \`x\` %s" -x "*" "a\\b"
	do
		mv other "./$name" &&
		cp "$FDL_TEST_PREFIX/bin/fdl-log" "./$name/bin/fdl-log" &&
		fdl log repo >expect &&
		outside "./$name/bin/fdl" log repo >actual &&
		test_cmp expect actual &&
		outside "./$name/bin/fdl-log" repo >actual &&
		test_cmp expect actual &&
		ln -s "$PWD/$name/bin/fdl" odd &&
		outside ./odd log repo >actual &&
		test_cmp expect actual &&
		outside ./odd help log >actual &&
		test_cmp "$pages/fdl-log.md" actual &&
		rm odd &&
		mv "./$name" other || return 1
	done
'

test_done
