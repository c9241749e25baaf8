#!/bin/sh

test_description='each command has its file, its page and a test, and looks like the others'

. "${0%/*}/test-lib.sh"

pages=$root/Documentation

# Files that Git has, whoever they belong to.
tracked() {
	git -c safe.directory="$root" -C "$root" ls-files "$@"
}

# names FILE...: the names of commands, from their files.
names() {
	for file
	do
		basename "$file" .rs
	done
}

# each CHECK <NAMES: the check holds for every name.
each() {
	while read -r name
	do
		"$1" "$name" </dev/null || {
			echo "$1 does not hold for '$name'"
			return 1
		}
	done
}

# usage NAME: what -h prints, in the form of a page.
usage() {
	"$1" -h | sed -e 's/^usage: //' -e 's/^   or: //' -e 's/^       //'
}

# synopsis NAME, options NAME: these parts of a page.
synopsis() {
	sed -n '/^## SYNOPSIS$/,/^## /s/^    //p' "$pages/$1.md"
}

options() {
	sed -n '/^## OPTIONS$/,/^## /s/^`\(-.*\)`$/\1/p' "$pages/$1.md"
}

test_expect_success 'setup' '
	names "$root"/bins/*/fdl-*.rs "$root"/bins/porcelain/fdl* | grep -vx fdl-sh-setup | sort >commands &&
	grep -vx fdl commands >subcommands &&
	names "$root"/bins/catalog/fdl-*.rs >linking-duckdb &&
	names "$root"/bins/[!cp]*/fdl-*.rs >not-linking-duckdb &&
	for list in subcommands linking-duckdb not-linking-duckdb
	do
		test -s $list || return 1
	done
'

test_expect_success 'the top folder holds what it should' '
	printf "%s\n" Cargo.lock Cargo.toml Documentation LICENSE README.md bins lib t >expect &&
	tracked >files &&
	sed "s,/.*,," files | grep -v "^\." | sort -u >actual &&
	test_cmp expect actual
'

test_expect_success 'no command has two files' '
	uniq -d commands >twice &&
	test_line_count 0 twice
'

test_expect_success 'Cargo.toml names each file under bins' '
	(cd "$root/bins" && ls [!cp]*/*.rs catalog/main.rs) | sort >expect &&
	sed -n "s/^path = \"\(.*\.rs\)\"$/\1/p" "$root/bins/Cargo.toml" | sort >actual &&
	test_cmp expect actual &&
	{ echo fdl-catalog && cat not-linking-duckdb; } | sort >expect &&
	sed -n "/^\[\[bin/,\$s/^name = \"\(.*\)\"$/\1/p" "$root/bins/Cargo.toml" | sort >actual &&
	test_cmp expect actual
'

installed() {
	test -f "$FDL_TEST_PREFIX/bin/$1" && test -x "$FDL_TEST_PREFIX/bin/$1"
}

test_expect_success 'each command is installed' '
	each installed <commands &&
	! installed fdl-none
'

answers() {
	for option in -h --help
	do
		"$1" "$option" >out 2>err && test ! -s err && head -n 1 out | grep "^usage: $1 " || return 1
	done
}

test_expect_success '-h and --help print the usage' '
	each answers <commands
'

refuses() {
	"$1" -h | sed '/^$/,$d' >usage &&
	test_expect_code 129 "$1" --no-such-option >out 2>err &&
	test ! -s out &&
	head -n 1 err | grep "^fatal: .*--no-such-option" &&
	sed 1d err >actual &&
	test_cmp usage actual
}

test_expect_success 'an unknown option is refused with the usage on standard error' '
	each refuses <commands
'

has_page() {
	cmp "$pages/$1.md" "$FDL_TEST_PREFIX/share/doc/fdl/$1.md"
}

test_expect_success 'each command has a page, and it is installed' '
	each has_page <commands &&
	has_page fdl-format
'

test_expect_success 'no page is without a command' '
	{ echo fdl-format && cat commands; } | sort >expect &&
	(cd "$pages" && ls) | sed "s/\.md$//" | sort >actual &&
	test_cmp expect actual
'

has_sections() {
	printf '%s\n' "# $1" '## NAME' "$1 - " '## SYNOPSIS' '## DESCRIPTION' '## OPTIONS' '## EXIT STATUS' \
		'## EXAMPLES' '## SEE ALSO' >expect &&
	grep -e '^##* ' -e "^$1 - [a-zG]" "$pages/$1.md" | sed "s/^$1 - .*/$1 - /" >actual &&
	test_cmp expect actual
}

test_expect_success 'the parts of a page stand in their order' '
	each has_sections <subcommands &&
	grep -e "^## " "$pages/fdl.md" | grep -v -e CONVENTIONS -e ENVIRONMENT -e REQUESTS >actual &&
	grep -e "^## " "$pages/fdl-init.md" >expect &&
	test_cmp expect actual
'

tells_usage() {
	synopsis "$1" >expect && test -s expect && usage "$1" >actual && test_cmp expect actual
}

test_expect_success 'a page has the synopsis that -h prints' '
	each tells_usage <subcommands &&
	synopsis fdl >expect &&
	fdl -h | sed -n "1s/^usage: //p" >actual &&
	test_cmp expect actual
'

tells_options() {
	options "$1" >told
	synopsis "$1" | grep -o -e ' -[a-zA-Z]\>' -e '[[( ]--*[a-z][a-z-]*' | tr -d '[( ' | sort -u | while read -r option
	do
		grep -e "\(^\|, \)$option\( \|,\|\$\)" told || {
			echo "$option is not told"
			return 1
		}
	done
}

test_expect_success 'a page tells each option of the synopsis' '
	each tells_options <commands
'

is_listed() {
	grep -F "[$1]($1.md)" "$pages/fdl.md"
}

test_expect_success 'fdl.md lists each command' '
	each is_listed <subcommands
'

is_there() {
	test -f "$pages/$1"
}

test_expect_success 'what a page links to is there' '
	grep -oh "]([a-z/.-]*)" "$pages"/*.md | tr -d "]()" | sort -u >links &&
	test -s links &&
	each is_there <links
'

is_tested() {
	grep -l "fdl[- ]${1#fdl-}\([^a-z-]\|\$\)" "$TEST_DIRECTORY"/t[0-9]*.sh
}

test_expect_success 'each command is run by a test' '
	each is_tested <subcommands
'

# Names of DuckDB's classes, and a message of SQLite's, which no linker takes out.
duckdb=N6duckdb
sqlite='unable to open database file'

# is_small NAME: it is no bigger than 8 MB and holds neither.
is_small() {
	test "$(wc -c <"$FDL_TEST_PREFIX/bin/$1")" -lt 8388608 &&
	! grep -qaF -e "$duckdb" -e "$sqlite" "$FDL_TEST_PREFIX/bin/$1"
}

test_expect_success 'only what reads catalogs links DuckDB and SQLite' '
	each is_small <not-linking-duckdb &&
	! is_small fdl-catalog &&
	grep -qaF "$duckdb" "$FDL_TEST_PREFIX/bin/fdl-catalog" &&
	grep -qaF "$sqlite" "$FDL_TEST_PREFIX/bin/fdl-catalog"
'

is_link() {
	test "$(find "$FDL_TEST_PREFIX/bin/$1" -samefile "$FDL_TEST_PREFIX/bin/fdl-catalog")"
}

test_expect_success 'what links DuckDB is one file under many names, and wants to be called by one of them' '
	each is_link <linking-duckdb &&
	! is_link fdl-cat-object &&
	refused 129 "run under the name of one of its commands" fdl-catalog
'

test_done
