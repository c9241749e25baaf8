#!/bin/sh

test_description='names and texts that a shell, SQL or a terminal would take apart'

. "${0%/*}/test-lib.sh"

newline='
'

# main_job REPOSITORY CATALOG: the whole job with these names, from the folder that they are in.
main_job() {
	fdl init -- "$1" &&
	fdl checkout -- "$1" "$2" >attach &&
	duck "$(cat attach) CREATE TABLE lake.t AS SELECT 1 AS i" &&
	fdl status -- "$2" >out &&
	fdl commit -m 'One' -- "$2" >one &&
	fdl push -- "$2" &&
	duck "$(cat attach) INSERT INTO lake.t VALUES (2)" &&
	fdl commit -m 'Two' -- "$2" &&
	fdl push -- "$2" &&
	fdl log --oneline -- "$1" >lines &&
	test_line_count 2 lines &&
	duck "$(fdl url --sql -- "$1" HEAD~1) FROM lake.t" >actual &&
	echo 1 >expect &&
	test_cmp expect actual &&
	duck "$(fdl url --sql -- "$2") SELECT sum(i) FROM lake.t" >actual &&
	echo 3 >expect &&
	test_cmp expect actual &&
	fdl checkout --force -- "$1" "$2" >again &&
	test_cmp attach again
}

test_expect_success 'spaces, quotes, dollar signs, leading dashes, glob characters' - <<\END
	for name in 'a b' "it's" 'say "x"' '$HOME `id`' '-rf' '--help' '*' 'a;b&c|d' 'naïve 北' '~' '#x' 'a=b' '[a]' '!'
	do
		mkdir folder && (cd folder && main_job "$name" "$name.lake") && rm -rf folder || return 1
	done
END

test_expect_success 'a newline, also at the end' '
	for name in "a${newline}b" "a$newline"
	do
		mkdir folder && (cd folder && main_job "$name" "x$name.lake") && rm -rf folder || return 1
	done
'

test_expect_success 'folders above with such names' - <<\END
	mkdir -p "a'b \"c\" \$d/-e" &&
	(cd "a'b \"c\" \$d/-e" && main_job "$PWD/r" "$PWD/l")
END

test_expect_success 'a name that would end a statement or a URL' '
	mkdir folder &&
	(cd folder && main_job "x'\''); DROP TABLE t; --" "y%20z?a#b.lake") &&
	rm -rf folder
'

test_expect_success 'a repository without the right to a folder of the same name in HOME or CDPATH' - <<\END
	mkdir -p elsewhere/towns folder &&
	(cd folder && CDPATH=../elsewhere && export CDPATH && main_job towns l.sqlite)
END

test_expect_success 'variables of the shell that would change what scripts do' - <<\END
	mkdir clean && cd clean &&
	IFS=/ LC_ALL=tr_TR.UTF-8 POSIXLY_CORRECT=1 GREP_OPTIONS=-v GREP_COLOR=1 ENV=/dev/null TMPDIR="$TRASH_DIRECTORY/clean" \
		fdl init r &&
	export IFS=/ && fdl checkout r l >/dev/null && fdl status l | grep -q 'nothing to commit'
END

# cut_short SIGNAL: sends it to a commit that waits for its message.
cut_short() {
	env --default-signal setsid fdl commit lake.sqlite -F message &
	until test -n "$(ls tmp)"
	do
		sleep 0.1
	done
	# dash's own kill knows no process groups.
	python3 -c 'import os, signal, sys; os.killpg(int(sys.argv[2]), signal.Signals["SIG" + sys.argv[1]])' "$1" $! &&
	! wait $!
}

test_expect_success 'temporary files go away, however a command ends' - <<\END
	mkdir tmp && TMPDIR=$TRASH_DIRECTORY/tmp && export TMPDIR &&
	setup_towns &&
	fdl status lake.sqlite &&
	test_must_fail fdl commit lake.sqlite -m m &&
	fdl show towns &&
	test_must_fail fdl push nowhere &&
	mkfifo message &&
	for signal in TERM HUP
	do
		work "INSERT INTO lake.towns (name) VALUES ('x')" &&
		cut_short $signal || return 1
	done &&
	ls -A tmp >left &&
	test_line_count 0 left
END

test_expect_success 'names of tables' - <<\END
	unset TMPDIR &&
	rm -rf towns lake.sqlite* && fdl init towns && fdl checkout towns lake.sqlite &&
	work "CREATE SCHEMA lake.\"s p\"; CREATE TABLE lake.\"s p\".\"T.a\"\"b 'c' 北\" (\"Select\" INTEGER);
		INSERT INTO lake.\"s p\".\"T.a\"\"b 'c' 北\" VALUES (1)" &&
	fdl commit lake.sqlite -m m &&
	fdl push lake.sqlite &&
	duck "$(fdl url --sql towns) FROM lake.\"s p\".\"T.a\"\"b 'c' 北\"" >actual &&
	echo 1 >expect &&
	test_cmp expect actual &&
	fdl show towns | grep "T.a\"b 'c' 北"
END

test_expect_success 'a table name that drives a terminal is shown escaped' - <<\END
	work "CREATE TABLE lake.\"$(printf 'x\033[31m\ny')\" AS SELECT 1 AS i" &&
	fdl status lake.sqlite >status &&
	fdl commit lake.sqlite -m "$(printf 'red \033[31m message')" &&
	fdl push lake.sqlite &&
	{ fdl show towns && fdl log towns && fdl log --oneline towns && cat status; } >shown &&
	! grep "$(printf '\033')" shown &&
	test_grep 'u{1b}' shown
END

test_done
