#!/bin/sh

test_description='settings are in the syntax of Git, and an edit keeps the rest of the file'

. "${0%/*}/test-lib.sh"

config=$HOME/.config/fdl/config

# agree OPTION...: fdl and git read the same as 'a.b' from the file 'config', or both find nothing, or both find it bad.
agree() {
	git config --file config ${1:+--type="$1"} -z a.b >git.out 2>git.err
	git_status=$?
	fdl config --file config get ${1:+--type "$1"} -z a.b >fdl.out 2>fdl.err
	case $git_status,$? in
	0,0) cmp git.out fdl.out ;;
	1,1 | 128,128) ;;
	*)
		echo "git exits with $git_status:"
		cat git.err fdl.err
		return 1
		;;
	esac
}

# agree_on TYPE: they agree on each value on standard input.
agree_on() {
	while read -r value
	do
		printf '[a]\nb = %s\n' "$value" >config
		agree "$1" || {
			echo "not on '$value'"
			return 1
		}
	done
}

test_expect_success 'files are read as Git reads them' - <<\END
	# Each line is a file, in the escapes of printf.
	cat >texts <<-\TEXTS &&
	[a]\nb = c
	[A]\n B=c
	[a] b = c
	[a]\nb = c d  e\t
	[a]\nb = "c d "
	[a]\nb = "c"d"e"
	[a]\nb = c # d
	[a]\nb = c#d
	[a]\nb = c;d
	[a]\nb = "c#d" ; e
	[a]\nb = c \\\n  d
	[a]\nb = c \\\r\n  d
	[a]\nb = "c \\\n  d"
	[a]\nb = c\\td\\ne\\bf\\\\g\\"h
	[a]\nb = c\\x
	[a]\nb = "c
	[a]\nb = "c\nd"
	[a]\nb = "c # d"
	[a]\nb =
	[a]\nb = ""
	[a]\nb = c\\
	[a]\nb = "c\\
	[a]\r\nb = c\r\n
	[a]\nb = c\rd\n
	[a]\nb = c\r\r\n
	[a]\n\tb\t=\tc\t
	[a]\nb c
	[a]\nb # c
	[a]\n1b = c
	[a]\n-b = c
	[a]\nb_c = d
	[a]\nb = c\n[a]\nb = d
	[a]\nb = c\n[d]\nb = e
	[a][d]\nb = c
	[a]; comment\n# comment\n\n;\nb = c
	[a "d"]\nb = c
	[a
	[]\nb = c
	[a d]\nb = c
	[a]\nb = \303\251
	\357\273\277[a]\nb = c
	[a]\n\013b = c
	[a]\nb = \013c\014
	[a ]\nb = c
	[a "b"\nc = d
	TEXTS
	while read -r text
	do
		printf "$text" >config
		agree '' || {
			echo "not on: $text"
			return 1
		}
	done <texts
END

test_expect_success 'names with a subsection are read as Git reads them' - <<\END
	for header in '[a "s"]' '[a "S"]' '[a "s\"t"]' '[a "s\\t"]' '[a "s\t"]' '[a.S]' '[a "s.t"]' '[a "]"]' \
		'[a"s"]' '[a "s" ]' '[a "s' '[a  "s"]' '[a.t "s"]'
	do
		printf '%s\nb = c\n' "$header" >config &&
		for name in a.s.b a.S.b 'a.s"t.b' 'a.s\t.b' a.st.b a.s.t.b 'a.].b'
		do
			git config --file config "$name" >git.out
			git_status=$?
			fdl config --file config get "$name" >fdl.out
			test $? = $git_status && cmp git.out fdl.out || {
				echo "not on $header, $name: $git_status"
				return 1
			}
		done || return 1
	done
END

test_expect_success 'yes, no and numbers are read as Git reads them' '
	printf "%s\n" true TRUE yes on 1 2 -1 false no off 0 "" "\"\"" maybe 1k 0k k >values &&
	agree_on bool <values &&
	printf "[a]\nb\n" >config &&
	agree bool &&
	printf "%s\n" 0 1 -7 +7 2k 3M 4g 9223372036854775807 9223372036854775808 99999999999g 1x k 1.5 "\"\"" >values &&
	agree_on int <values
'

test_expect_success 'a path begins at the home' '
	printf "%s\n" "~/c" "c/~/d" /c >values &&
	agree_on path <values
'

test_expect_success 'bad syntax is told in one line, with file and line' '
	printf "[a]\n\nb = \"c\n" >config &&
	refused 128 "bad config line 3 in .config.: a quote has no end" fdl config --file config get a.b &&
	printf "[a]\nb = x\n" >config &&
	refused 128 "bad config line 2 in .config.: .a.b. is .x., which is no number" \
		fdl config --file config get --type int a.b &&
	printf "[a]\nb = \\377\n" >config &&
	refused 128 "not valid UTF-8" fdl config --file config get a.b &&
	mkdir folder &&
	refused 128 "cannot read .folder." fdl config --file folder get a.b
'

test_expect_success 'names that are none are wrong usage, and make no file' '
	for name in a .b a. a.1 a_b.c a.b_c "" "a b.c" "a.b c"
	do
		test_expect_code 129 fdl config get "$name" &&
		test_expect_code 129 fdl config set "$name" x || return 1
	done &&
	test_path_is_missing "$config" &&
	for words in "" add get "set a.b" "list a" "set --all --add a.b c" "get --type none a.b"
	do
		test_expect_code 129 fdl config $words || return 1
	done
'

test_expect_success 'what is set is read by fdl and by Git' - <<\END
	for value in x 'a b' ' a' 'a ' '' '#' 'a;b' '"' '\' 'a\nb' "a${newline}b" '	' "$(printf 'a\rb')" é -x
	do
		fdl config set some.Sub.key -- "$value" &&
		printf '%s\0' "$value" >expect &&
		fdl config get -z some.Sub.key >actual &&
		test_cmp expect actual &&
		git config --file "$config" -z some.Sub.key >actual &&
		test_cmp expect actual || return 1
	done
END

test_expect_success 'an edit keeps comments, order and everything else' '
	printf "%s\n" "# about me" "[user]" "  name = A   # not my real one" "; about work" "[Work \"x\"]	key" >config &&
	sed "s/name = A/name = B/" config >expect &&
	fdl config --file config set user.name B &&
	test_cmp expect config &&
	fdl config --file config set user.email b@example.com &&
	fdl config --file config unset user.email &&
	test_cmp expect config &&
	fdl config --file config set work.x.other 1 &&
	fdl config --file config unset work.x.key &&
	fdl config --file config list >actual &&
	printf "user.name\tB\nwork.x.other\t1\n" >expect &&
	test_cmp expect actual &&
	test_grep "# about me" config
'

test_expect_success 'several settings of one name are changed only when told so' '
	printf "[a]\nb = 1\nc\nb = 2\n" >config &&
	cp config before &&
	refused 2 "set several times" fdl config --file config set a.b 3 &&
	refused 2 "set several times" fdl config --file config unset a.b &&
	test_cmp before config &&
	fdl config --file config get a.b >actual &&
	fdl config --file config get --all a.b >>actual &&
	printf "%s\n" 2 1 2 >expect &&
	test_cmp expect actual &&
	fdl config --file config set --add a.b 3 &&
	fdl config --file config get --all a.b >actual &&
	printf "%s\n" 1 2 3 >expect &&
	test_cmp expect actual &&
	fdl config --file config set --all a.b 4 &&
	printf "[a]\nc\n\tb = 4\n" >expect &&
	sed "s/^b/	b/" config >actual &&
	test_cmp expect actual &&
	fdl config --file config unset --all a.b &&
	refused 3 "is not set" fdl config --file config unset a.b
'

# says_nothing COMMAND...: it exits with 1 and prints nothing at all.
says_nothing() {
	test_expect_code 1 "$@" >out 2>err && test ! -s out && test ! -s err
}

test_expect_success 'get of what is not set exits with 1, or prints a default' '
	says_nothing fdl config get none.such &&
	says_nothing fdl config get --all none.such &&
	fdl config get --default 7 none.such >out &&
	echo 7 >expect &&
	test_cmp expect out
'

test_expect_success 'the file is made where the XDG specification says, and a link stays a link' '
	XDG_CONFIG_HOME="$PWD/xdg" fdl config set a.b c &&
	test_path_is_file xdg/fdl/config &&
	XDG_CONFIG_HOME=relative fdl config set a.b d &&
	test_path_is_missing relative &&
	fdl config get a.b &&
	printf "[a]\n" >real && chmod 640 real && ln -s "$PWD/real" link &&
	fdl config --file link set a.b c &&
	test -L link && test_grep "b = c" real &&
	test "$(stat -c %a real)" = 640
'

set_many() {
	for n in 1 2 3 4 5 6 7 8
	do
		fdl config --file many set "a.k$n" "$n" &
	done
	wait
}

test_expect_success 'edits at the same time lose nothing' '
	set_many &&
	fdl config --file many list >actual &&
	test_line_count 8 actual
'

# make_version NAME: makes a version and notes who made it.
make_version() {
	work "CREATE TABLE lake.$1 (i INTEGER)" &&
	fdl commit lake.sqlite -m "$1" &&
	fdl cat-version --repo lake.sqlite.fdl --format "%an <%ae>" HEAD >>authors
}

test_expect_success 'the author comes from FDL_AUTHOR, then from the settings, then from Git' '
	fdl init towns && fdl checkout towns lake.sqlite &&
	make_version one &&
	FDL_AUTHOR= &&
	work "CREATE TABLE lake.two (i INTEGER)" &&
	refused 128 "who are you" fdl commit lake.sqlite -m none &&
	git config --global user.name Git && git config --global user.email git@example.com &&
	make_version three &&
	fdl config set user.name Fdl &&
	make_version four &&
	printf "%s\n" "A U Thor <author@example.com>" "Git <git@example.com>" "Fdl <git@example.com>" >expect &&
	test_cmp expect authors
'

test_expect_success 'a config file that is bad stops a commit' '
	FDL_AUTHOR= &&
	printf "[user\n" >"$config" &&
	work "CREATE TABLE lake.five (i INTEGER)" &&
	refused 128 "bad config line 1" fdl commit lake.sqlite -m none
'

test_done
