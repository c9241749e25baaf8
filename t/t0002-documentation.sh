#!/bin/sh

test_description='the examples of each page work'

. "${0%/*}/test-lib.sh"

pages=$root/Documentation

# take_examples PAGE: writes each sh block among the examples of a page into a file of its own, example-1 and so on.
take_examples() {
	rm -f example-* &&
	awk '
		/^## / { among = ($0 == "## EXAMPLES") }
		/^```/ { if (file) close(file); file = "" }
		file { print >file }
		among && /^```sh$/ { file = "example-" ++n; printf "" >file }
	' "$1" &&
	test -s example-1
}

# run_examples PAGE: each example works in a folder as t/README.md describes it. It is always the same folder, as its
# working catalog knows where its repository is.
run_examples() {
	take_examples "$1" || {
		echo 'there is no example'
		return 1
	}
	for example in example-*
	do
		rm -rf work && cp -a prepared work || return 1
		if ! (cd work && sh -eux "../$example") >out 2>err || grep '^fatal: \|^error: ' err
		then
			echo "$example of $1 fails"
			cat out err
			return 1
		fi
	done
}

test_expect_success 'setup' '
	mkdir work &&
	cd work &&
	setup_towns &&
	cd .. &&
	cp -a work prepared
'

# page TEXT: makes the page 'page' with this among its examples.
page() {
	printf '## DESCRIPTION\n\n```sh\nfalse\n```\n\n## EXAMPLES\n\n%s\n\n## SEE ALSO\n\n```sh\nfalse\n```\n' "$1" >page
}

block='```sh
%s
```'

# block TEXT...: prints each text as an example.
block() {
	# shellcheck disable=SC2059 # it is a format
	printf "$block\n" "$@"
}

test_expect_success 'what stands among the examples is run, and nothing else' '
	page "$(block "echo one >../ran" "echo two >>../ran")" &&
	run_examples page &&
	printf "%s\n" one two >expect &&
	test_cmp expect ran
'

test_expect_success 'an example fails with the first of its commands that does' '
	rm ran &&
	for text in false "fdl log none" "echo \$unset" "(" "fdl log none | cat"
	do
		page "$(block true "$text" "touch ../ran")" &&
		test_must_fail run_examples page &&
		test_path_is_missing ran || return 1
	done &&
	page "$(block "false${newline}touch ../ran")" &&
	test_must_fail run_examples page &&
	test_path_is_missing ran
'

test_expect_success 'a page without an example fails' '
	page "nothing" &&
	test_must_fail run_examples page &&
	page "\`\`\`${newline}true${newline}\`\`\`" &&
	test_must_fail run_examples page &&
	page "$(block "")" &&
	run_examples page &&
	printf "## EXAMPLES\n\n" >page &&
	test_must_fail run_examples page
'

test_expect_success 'an example sees nothing of the one before' '
	page "$(block "fdl init new && rm lake.sqlite" "fdl init new && fdl status lake.sqlite")" &&
	run_examples page
'

for page in "$pages"/*.md
do
	name=$(basename "$page" .md)
	test "$name" = fdl-format ||
	test_expect_success "the examples of $name" 'run_examples "$page"'
done

test_done
