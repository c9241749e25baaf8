#!/bin/sh

test_description='versions are shown, whole or in a format, and drive no terminal'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

escape=$(printf '\033')
hostile=01900000-0000-7000-8000-00000000000e

# shows FORMAT NAME TEXT
shows() {
	shown=$(fdl-cat-version --format "$1" "$2") || return
	test "$shown" = "$3" || {
		printf '%s\n' "$shown"
		return 1
	}
}

# quiet FILE: there is nothing in it that could drive a terminal: no C0 but newline, no DEL, C1 or mark of direction.
quiet() {
	tr -d '\n' <"$1" >one.line &&
	! grep -q '[[:cntrl:]]' one.line &&
	! grep -q "$(printf '\302\233')" one.line &&
	! grep -q "$(printf '\342\200\256')" one.line
}

test_expect_success 'a first version, a second one with refs, and one that is gone' '
	fdl-create-repository repo &&
	one=$(write_version one --date 2026-12-01T12:34:56Z) &&
	printf "Subject\n\nMore,\nin lines.\n" >message &&
	two=$(write_parts -F message --parent "$one" --date 2026-12-02T00:00:00Z) &&
	gone=$(write_version gone --parent "$two" --date 2026-12-03T00:00:00Z) &&
	take_away "$gone" withdrawn "names a person" &&
	fdl-update-ref refs/heads/main "$two" &&
	fdl-update-ref refs/heads/a/b "$two" &&
	fdl-update-ref refs/tags/v1 "$two"
'

test_expect_success 'without a format it is version.json, byte for byte' '
	fdl-cat-version "$one" main >out &&
	cat "repo/versions/$one/version.json" "repo/versions/$two/version.json" >expect &&
	cmp expect out
'

test_expect_success 'the placeholders' '
	shows "%H %P" main "$two $one" &&
	shows "[%P]" "$one" "[]" &&
	shows "%an|%ae|%aI" main "A U Thor|author@example.com|2026-12-02T00:00:00Z" &&
	shows "%s" main Subject &&
	shows "%B" main "$(cat message)" &&
	shows "%D" main "HEAD -> main, a/b, tag: v1" &&
	shows "[%D]" "$one" "[]" &&
	shows "%E" "$gone" withdrawn &&
	shows "[%E]" main "[]" &&
	shows "a%nb%x41%%%x2dc" main "a${newline}bA%-c" &&
	shows "é %s é" main "é Subject é" &&
	test "$(fdl-cat-version --format "" main | od -An -c | tr -d " ")" = "\\n"
'

test_expect_success 'what is no placeholder is wrong usage' '
	for format in % %Z "%s %" %a %x %x4 %xzz %xff %80 %h "% s" %é
	do
		test_expect_code 129 fdl-cat-version --format "$format" main >out 2>err &&
		test_grep "^fatal: unknown placeholder" err &&
		test_line_count 0 out || return 1
	done
'

test_expect_success 'oneline' '
	shows oneline "$one" "$one one" &&
	shows oneline main "$two (HEAD -> main, a/b, tag: v1) Subject" &&
	shows oneline "$gone" "$gone (withdrawn) gone"
'

test_expect_success 'medium' '
	cat >expect <<-END &&
	version $two (HEAD -> main, a/b, tag: v1)
	Author:  A U Thor <author@example.com>
	Date:    2026-12-02T00:00:00Z

	    Subject
	    
	    More,
	    in lines.

	END
	fdl-cat-version --format medium main >out &&
	test_cmp expect out &&
	fdl-cat-version --format medium "$gone" >out &&
	test_grep "^Gone:    withdrawn since 2026-12-01T12:34:56Z: names a person$" out
'

test_expect_success 'json is version.json on a line, with the refs, and with what became of it' '
	fdl-cat-version --format json main "$gone" >out &&
	test_line_count 2 out &&
	python3 - "repo/versions/$two/version.json" <<-\END
	import json, sys
	two, gone = [json.loads(line) for line in open("out")]
	assert two.pop("refs") == ["HEAD -> main", "a/b", "tag: v1"]
	assert two == json.load(open(sys.argv[1]))
	assert gone["refs"] == []
	assert gone["expired"]["reason"] == "withdrawn" and gone["expired"]["message"] == "names a person"
	END
'

test_expect_success 'fields of a newer minor version are kept' '
	forge 01900000-0000-7000-8000-00000000000a "$one" "s/\"fdl\": \"1.0\"/\"fdl\": \"1.9\", \"new\": {\"a\": [1]}/" &&
	fdl-cat-version --format json 01900000-0000-7000-8000-00000000000a >out &&
	test_grep "\"new\":{\"a\":\[1\]}" out
'

test_expect_success '--stdin reads the names' '
	printf "%s\n" "$one" main~ HEAD >names &&
	fdl-cat-version --stdin --format %H <names >out &&
	printf "%s\n" "$one" "$one" "$two" >expect &&
	test_cmp expect out &&
	printf "main\0v1\0" >names &&
	fdl-cat-version --stdin -z --format %H <names >out &&
	printf "%s\0%s\0" "$two" "$two" >expect &&
	cmp expect out &&
	fdl-cat-version --stdin </dev/null >out &&
	test_line_count 0 out
'

test_expect_success '-z ends a version with NUL and leaves its text as it is' '
	fdl-cat-version -z --format "%s%n%B" main "$one" >out &&
	{ printf "Subject\n%s\0" "$(cat message)" && printf "one\none\0"; } >expect &&
	cmp expect out
'

test_expect_success 'the text of a version cannot drive a terminal, whatever the format' '
	printf "red \033[31m\007\b\n\nnew\r\nDEL \177 C1 \302\233 RTL \342\200\256 line" >message &&
	id=$(write_parts -F message --parent "$two") &&
	forge $hostile "$id" "s/\"author\": \".*\"/\"author\": \"E\\\\u001b[2J \\\\u009b <\\\\u202e@x>\"/
		s/\"created\": \".*\"/\"created\": \"\\\\u001b]0;title\\\\u0007\"/" &&
	take_away $hostile expired "\\u001b[2J\\u009b" &&
	for format in medium oneline json "%s %B %an %ae %aI %E"
	do
		fdl-cat-version --format "$format" $hostile >out &&
		test -s out &&
		quiet out || return 1
	done &&
	shows "%s" $hostile "red \u{1b}[31m\u{7}\u{8}" &&
	shows "%an|%aI" $hostile "E\u{1b}[2J \u{9b}|\u{1b}]0;title\u{7}"
'

test_expect_success 'with -z it can, for a program wants the text itself' '
	fdl-cat-version -z --format "%s" $hostile >out &&
	test_grep "red $escape\[31m" out &&
	test_must_fail quiet out
'

test_expect_success 'escaped JSON is the same JSON' '
	fdl-cat-version --format json $hostile >out &&
	fdl-cat-version -z --format json $hostile | tr "\0" "\n" >raw &&
	test_must_fail cmp out raw &&
	python3 -c "import json; assert json.load(open(\"out\")) == json.load(open(\"raw\"))"
'

test_expect_success 'nor can a damaged version.json, by what is said of it' '
	forge 01900000-0000-7000-8000-00000000000f "$one" "s/\"fdl\": \".*\"/\"fdl\": \"$escape[2J\"/" &&
	refused 128 "is damaged" fdl-cat-version 01900000-0000-7000-8000-00000000000f &&
	quiet refused.err &&
	sed -i "s/\"fdl\": \".*\"/\"fdl\": \"\\\\u009b2J\"/" repo/versions/01900000-0000-7000-8000-00000000000f/version.json &&
	refused 128 "has format version" fdl-cat-version 01900000-0000-7000-8000-00000000000f &&
	quiet refused.err &&
	sed -i "s/\"fdl\": .*/\"fdl\": \"1.0\", \"\\\\u001b[2J\": 1, \"\\\\u001b[2J\": 2,/" \
		repo/versions/01900000-0000-7000-8000-00000000000f/version.json &&
	refused 128 "stands twice in one object" fdl-cat-version 01900000-0000-7000-8000-00000000000f &&
	quiet refused.err
'

test_expect_success 'nor can a name that the user gave' '
	refused 128 "is not a repository" fdl-cat-version --repo "$escape[2J" main &&
	quiet refused.err &&
	refused 128 "bad ref name" fdl-cat-version "$escape[2J" &&
	quiet refused.err
'

test_expect_success 'a version that is not there ends the list, after those before it' '
	refused 3 "version $nowhere is not in" fdl-cat-version --format %H "$one" $nowhere "$two" &&
	echo "$one" >expect &&
	test_cmp expect refused.out &&
	echo none | refused 3 "neither a ref nor a version" fdl-cat-version --stdin
'

test_expect_success 'a version whose id or repository is another is refused' '
	mkdir repo/versions/$nowhere &&
	cp "repo/versions/$one/version.json" repo/versions/$nowhere/ &&
	refused 5 "versions/$nowhere/version.json. holds version $one" fdl-cat-version $nowhere &&
	sed -i -e "s/\"id\": \".*\"/\"id\": \"$nowhere\"/" -e "s/\"repository\": \".*\"/\"repository\": \"$one\"/" \
		repo/versions/$nowhere/version.json &&
	refused 5 "version $nowhere belongs to repository $one, not to" fdl-cat-version $nowhere
'

test_expect_success 'names or --stdin, not both and not none' '
	test_expect_code 129 fdl-cat-version </dev/null &&
	test_expect_code 129 fdl-cat-version --stdin main </dev/null &&
	test_expect_code 129 fdl-cat-version --pretty main
'

test_done
