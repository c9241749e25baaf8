# The test library, in the manner of Git's. A test file sets $test_description, sources this file, states facts with
# test_expect_success and ends with test_done. See README.md beside it.
# shellcheck shell=sh

LC_ALL=C
TZ=UTC
export LC_ALL TZ
unset CDPATH ENV BASH_ENV GREP_OPTIONS
for variable in $(env | sed -n 's/^\(FDL_[A-Z_]*\|GIT_[A-Z_]*\|XDG_[A-Z_]*\|AWS_[A-Z_]*\|[A-Za-z]*_[Pp][Rr][Oo][Xx][Yy]\)=.*/\1/p')
do
	case $variable in
	FDL_TEST_PREFIX) ;;
	*) unset "$variable" ;;
	esac
done

verbose='' immediate='' only=''
for argument
do
	case $argument in
	-v | --verbose) verbose=t ;;
	-i | --immediate) immediate=t ;;
	--run=*) only=,${argument#*=}, ;;
	-h | --help)
		printf '%s\n' "${test_description?}"
		exit 0
		;;
	*)
		printf "usage: %s [--verbose] [--immediate] [--run=N,N...]\n" "$0" >&2
		exit 129
		;;
	esac
done

TEST_DIRECTORY=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=t/paths
. "$TEST_DIRECTORY/paths"
test -x "$FDL_TEST_PREFIX/bin/fdl" || {
	printf '%s\n' "nothing is built: 't/run' builds, and runs this test" >&2
	exit 1
}
PATH=$FDL_TEST_PREFIX/bin:$TEST_DIRECTORY:$PATH
FDL_AUTHOR='A U Thor <author@example.com>'
export PATH TEST_DIRECTORY FDL_AUTHOR

test_name=$(basename "$0" .sh)
TRASH_DIRECTORY="$test_target/trash folder.$test_name"
rm -rf "$TRASH_DIRECTORY"
mkdir -p "$TRASH_DIRECTORY" || exit 1
cd "$TRASH_DIRECTORY" || exit 1
TRASH_DIRECTORY=$(pwd -P)
HOME=$TRASH_DIRECTORY
export HOME TRASH_DIRECTORY

test_count=0
test_failures=0
test_log=$test_target/$test_name.log
test_finished=''
exec 5>&1

# A test file that ends in any other way than by test_done has failed.
trap 'test -n "$test_finished" || { echo "Bail out! $test_name ended early" >&5; exit 1; }' 0

# test_expect_success TITLE BODY: a fact, and the commands that show it; BODY is - where they come on standard input, as
# is easier to read with many quotes in them.
test_expect_success() {
	test_count=$((test_count + 1))
	case $2 in
	-) set -- "$1" "$(cat)" ;;
	esac
	case $only in
	'' | *,$test_count,*) ;;
	*)
		echo "ok $test_count - $1 # not run" >&5
		return
		;;
	esac
	test_cleanup=:
	# In a body whose && chain is whole, nothing runs after the first failure.
	(eval "(exit 117) && $2$newline") >/dev/null 2>&1 </dev/null
	if test $? -ne 117
	then
		echo 'the && chain is broken' >"$test_log"
		test_result=1
	elif test -n "$verbose"
	then
		test_body "$2" >&2 2>&2 </dev/null
		test_result=$?
		: >"$test_log"
	else
		test_body "$2" >"$test_log" 2>&1 </dev/null
		test_result=$?
	fi
	if test "$test_result" = 0
	then
		echo "ok $test_count - $1" >&5
		return
	fi
	test_failures=$((test_failures + 1))
	echo "not ok $test_count - $1" >&5
	{ printf '%s\n' "$2" && cat "$test_log"; } | sed 's/^/#   /' >&5
	test -z "$immediate" || test_done
}

newline='
'

# Runs a body and what it wants to be done afterwards. The body may change folder and variables, not more.
test_body() {
	test_eval "$1"
	body_status=$?
	test_eval "$test_cleanup"
	cleanup_status=$?
	cd "$TRASH_DIRECTORY" || return 1
	test $body_status = 0 && test $cleanup_status = 0
}

# A function of its own, for a body may return.
test_eval() {
	eval "$1$newline"
}

# test_when_finished COMMANDS: runs them when the body has ended, whether it worked or not; the last one first.
test_when_finished() {
	test_cleanup="{ $*
} && $test_cleanup"
}

test_done() {
	test_finished=t
	echo "1..$test_count" >&5
	if test "$test_failures" = 0
	then
		cd "$test_target" && chmod -R u+w "$TRASH_DIRECTORY" && rm -rf "$TRASH_DIRECTORY" "$test_log"
		exit 0
	fi
	exit 1
}

# test_expect_code STATUS COMMAND...: the command exits so.
test_expect_code() {
	want=$1
	shift
	"$@"
	got=$?
	test "$got" = "$want" || {
		echo "exit status $got instead of $want: $*"
		return 1
	}
}

# test_must_fail COMMAND...: the command fails by itself, not by a signal, a panic or because it is not there.
test_must_fail() {
	"$@"
	got=$?
	case $got in
	[1-9] | 10 | 75 | 128 | 129) ;;
	*)
		echo "exit status $got is no failure of fdl's: $*"
		return 1
		;;
	esac
}

# one_line FILE: the file holds one line, but for a hint after it.
one_line() {
	test "$(grep -cv '^hint: ' "$1")" = 1 || {
		echo "not one line:"
		cat "$1"
		return 1
	}
}

# refused STATUS PATTERN COMMAND...: it exits so, with one line on standard error that matches the pattern.
refused() {
	want=$1 pattern=$2
	shift 2
	test_expect_code "$want" "$@" >refused.out 2>refused.err || {
		cat refused.out refused.err
		return 1
	}
	one_line refused.err && test_grep "$pattern" refused.err
}

test_cmp() {
	diff -u "$1" "$2"
}

test_grep() {
	grep -e "$1" "$2" >/dev/null || {
		echo "nothing matches '$1' in $2:"
		cat "$2"
		return 1
	}
}

test_line_count() {
	test "$(wc -l <"$2")" -eq "$1" || {
		echo "not $1 lines in $2:"
		cat "$2"
		return 1
	}
}

test_path_is_file() {
	test -f "$1" || {
		echo "there is no file $1"
		return 1
	}
}

test_path_is_missing() {
	if test -e "$1" || test -L "$1"
	then
		echo "$1 exists"
		return 1
	fi
}

# tree FOLDER: every file below it with its digest, to tell whether anything changed.
tree() {
	(cd "$1" && find . -type f ! -name .fdl-lock -exec sha256sum {} + | sort -k 2)
}

# sqlite FILE SQL: changes or reads a SQLite file as nobody else would; rows are lines, columns are separated by TAB.
sqlite() {
	python3 -c '
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
for statement in sys.argv[2].split(";\n"):
    for row in connection.execute(statement):
        print(*row, sep="\t")
connection.commit()
' "$1" "$2"
}

# dump FILE: the whole content of a SQLite file as SQL, to tell whether anything changed.
dump() {
	python3 -c 'import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).iterdump(), sep="\n")' "$1"
}

# work SQL: runs SQL in the working catalog lake.sqlite of the repository towns, attached as lake.
work() {
	duck "$(fdl attach-sql --repo towns --working lake.sqlite) $1"
}

# hold SQL: a writer who has run SQL in lake.sqlite and keeps the transaction open until 'release' is called.
hold() {
	rm -f held release &&
	attach=$(fdl attach-sql --repo towns --working lake.sqlite) || return 1
	"$target/venv-1.5.5/bin/python" "$TEST_DIRECTORY/hold.py" "$attach" "$1" &
	holder=$!
	until test -e held
	do
		kill -0 "$holder" || return 1
		sleep 0.1
	done
}

release() {
	touch release && wait "$holder"
}

# publish SQL MESSAGE: changes the lake, commits and pushes.
publish() {
	work "$1" && fdl commit lake.sqlite -m "$2" && fdl push lake.sqlite
}

# setup_towns: a repository 'towns' with two versions, and the working catalog 'lake.sqlite'.
setup_towns() {
	fdl init towns &&
	fdl checkout towns lake.sqlite &&
	publish "CREATE TABLE lake.towns AS SELECT name, country, population FROM read_csv('$TEST_DIRECTORY/fixtures/towns.csv')" 'Add towns' &&
	publish "DELETE FROM lake.towns WHERE population < 100000" 'Leave out small towns'
}
