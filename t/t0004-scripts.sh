#!/bin/sh

test_description='scripts are POSIX, short and clean, and test files look alike'

. "${0%/*}/test-lib.sh"

# scripts: every shell script that Git has; what is sourced says so in its comment for shellcheck.
scripts() {
	git -c safe.directory="$root" -C "$root" ls-files | while read -r file
	do
		head -n 15 "$root/$file" | grep -q -e '^#!/bin/sh$' -e '^# shellcheck shell=sh' && echo "$file"
	done
}

# each CHECK <FILES: the check holds for every file, in the top folder.
each() {
	while read -r file
	do
		(cd "$root" && "$1" "$file") </dev/null || {
			echo "$1 does not hold for '$file'"
			return 1
		}
	done
}

test_expect_success 'setup' '
	scripts >scripts &&
	grep "^t/t[0-9]" scripts >tests &&
	grep "^bins/porcelain/fdl" scripts | grep -v sh-setup >porcelain &&
	for file in bins/install bins/porcelain/fdl-sh-setup t/run t/paths t/test-lib.sh
	do
		grep -x $file scripts || return 1
	done
'

test_expect_success 'all porcelain is shell' '
	(cd "$root" && ls bins/porcelain/*) | grep -v sh-setup >expect &&
	test_cmp expect porcelain
'

parses() {
	dash -n "$1"
}

test_expect_success 'dash can read every script' '
	each parses <scripts &&
	echo "if" >bad &&
	! parses bad
'

test_expect_success 'shellcheck finds nothing' '
	command -v shellcheck &&
	(cd "$root" && xargs shellcheck -x -s sh <"$TRASH_DIRECTORY/scripts") &&
	printf "#!/bin/sh\necho \$1\n" >bad &&
	test_expect_code 1 shellcheck -s sh bad
'

short() {
	test "$(wc -l <"$1")" -le 119
}

test_expect_success 'porcelain is short' '
	each short <porcelain &&
	seq 120 >long &&
	! short long
'

# What porcelain calls is a command; its messages and comments name commands as well.
calls_commands() {
	grep -o '\<fdl-[a-z][a-z-]*' "$1" | sort -u | while read -r name
	do
		test "$(find bins -name "$name" -o -name "$name.rs")" || return 1
	done
}

test_expect_success 'porcelain is made of commands that there are' '
	each calls_commands <porcelain &&
	echo fdl-none >bad &&
	! (cd "$root" && calls_commands "$TRASH_DIRECTORY/bad")
'

# What is sourced is not run.
is_run() {
	case $(head -c 2 "$1") in
	'#!') test -x "$1" ;;
	*) test ! -x "$1" ;;
	esac
}

test_expect_success 'a script that begins with "#!" can be executed, another cannot' '
	each is_run <scripts &&
	echo "#!/bin/sh" >bad &&
	! is_run bad &&
	echo "# sourced" >bad &&
	chmod +x bad &&
	! is_run bad
'

has_name() {
	echo "$1" | grep -x 't/t[0-9]\{4\}-[a-z0-9-]*\.sh'
}

test_expect_success 'the name of a test has a number of four digits, and no two have the same' '
	each has_name <tests &&
	cut -c 1-7 tests | uniq -d >twice &&
	test_line_count 0 twice
'

has_frame() {
	# shellcheck disable=SC2016 # as it stands in the file
	printf '%s\n' '#!/bin/sh' '' "test_description='" '' '. "${0%/*}/test-lib.sh"' test_done >"$TRASH_DIRECTORY/expect" &&
	{ head -n 5 "$1" && tail -n 1 "$1"; } | sed "s/^\(test_description='\).*'\$/\1/" >"$TRASH_DIRECTORY/actual" &&
	test_cmp "$TRASH_DIRECTORY/expect" "$TRASH_DIRECTORY/actual"
}

test_expect_success 'a test has a description and sources the library first, and its last word is test_done' '
	each has_frame <tests &&
	! has_frame "$root/t/run"
'

has_own_titles() {
	sed -n "s/^test_expect_success '\([^']*\)'.*/\1/p" "$1" | sort | uniq -d >"$TRASH_DIRECTORY/twice" &&
	test_line_count 0 "$TRASH_DIRECTORY/twice"
}

test_expect_success 'no two facts of a test have one title' '
	each has_own_titles <tests &&
	printf "test_expect_success %s true\n" "'\''a'\''" "'\''a'\''" >bad &&
	! has_own_titles bad
'

test_done
