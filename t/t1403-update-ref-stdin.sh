#!/bin/sh

test_description='many refs are moved by one command'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-versions.sh
. "$TEST_DIRECTORY/lib-versions.sh"

# refs_are LINE...: these are the refs, as fdl-for-each-ref lists them.
refs_are() {
	printf '%s\n' "$@" >expect &&
	fdl-for-each-ref >actual &&
	test_cmp expect actual
}

# stops STATUS PATTERN RECORD: a command that reads this record fails so, and changes nothing.
stops() {
	printf '%b\n' "$3" >list &&
	unchanged refused "$1" "$2" fdl-update-ref --stdin <list
}

test_expect_success 'records are carried out one after another' '
	write_three &&
	cat >list <<-END &&
	update	refs/heads/main	$one
	update	refs/heads/main	$two	$one
	update	refs/heads/b	$one	
	update	refs/tags/v1	$one	
	delete	refs/heads/b	$one
	update	refs/heads/b/c	$three
	END
	fdl-update-ref --stdin <list &&
	refs_are "$three	refs/heads/b/c" "$two	refs/heads/main" "$one	refs/tags/v1"
'

test_expect_success 'an empty list does nothing' '
	unchanged fdl-update-ref --stdin </dev/null
'

test_expect_success 'the first that fails ends the command; those before it are done, those after it are not' '
	cat >list <<-END &&
	update	refs/heads/main	$three	$two
	update	refs/tags/v1	$two
	delete	refs/heads/b/c
	END
	refused 2 "a tag never moves" fdl-update-ref --stdin <list &&
	refs_are "$three	refs/heads/b/c" "$three	refs/heads/main" "$one	refs/tags/v1"
'

test_expect_success 'a list that stopped is given again' '
	cat >list <<-END &&
	update	refs/heads/main	$three	$two
	update	refs/heads/last	$three	
	END
	fdl-update-ref --stdin <list &&
	fdl-update-ref --stdin <list &&
	refs_are "$three	refs/heads/b/c" "$three	refs/heads/last" "$three	refs/heads/main" "$one	refs/tags/v1"
'

test_expect_success 'OLD holds for records as for operands' '
	stops 2 "holds $three now" "delete\trefs/heads/last\t$two" &&
	stops 2 "holds $three now" "delete\trefs/heads/last\t" &&
	stops 2 "holds $one now" "update\trefs/tags/v1\t$two\t" &&
	stops 2 "does not exist any more" "update\trefs/heads/none\t$two\t$one" &&
	stops 3 "does not exist in" "delete\trefs/heads/none" &&
	stops 3 "is not in" "update\trefs/heads/none\t$nowhere"
'

test_expect_success 'what is no record is refused' '
	for record in "" update "update\trefs/heads/x" "update refs/heads/x $one" "update\trefs/heads/x\t$one\t$two\t$three" \
		"delete" "delete\trefs/heads/last\t$three\tx" "UPDATE\trefs/heads/x\t$one" "create\trefs/heads/x\t$one" \
		"verify\trefs/heads/last" "update\trefs/heads/x\t$one " "update\t main\t$one" "update\trefs/heads/x\t\t$one"
	do
		stops 128 "^fatal: " "$record" || return 1
	done &&
	stops 128 "^fatal: .create.trefs/heads/x.t$one. is neither an update nor a delete" "create\trefs/heads/x\t$one" &&
	stops 128 "record 1 of standard input is not valid UTF-8" "update\trefs/heads/\0377\t$one"
'

test_expect_success 'a record that was cut off is refused, wherever: it could lose the condition, or name another ref' '
	record="delete	refs/heads/last	$three" &&
	for length in 1 7 20 22 23 24 59
	do
		printf "%s" "$record" | head -c $length >list &&
		unchanged refused 128 "^fatal: record 1 of standard input was cut off" fdl-update-ref --stdin <list || return 1
	done &&
	test ${#record} = 59
'

test_expect_success '-z wants records that end with NUL' '
	printf "update\trefs/heads/z\t%s\0delete\trefs/heads/last\0" "$one" >list &&
	fdl-update-ref --stdin -z <list &&
	refs_are "$three	refs/heads/b/c" "$three	refs/heads/main" "$one	refs/heads/z" "$one	refs/tags/v1" &&
	printf "delete\trefs/heads/z\n" >list &&
	unchanged refused 128 "record 1 of standard input was cut off" fdl-update-ref --stdin -z <list
'

test_expect_success 'two hundred records are one command' '
	for i in $(seq 200)
	do
		printf "update\trefs/tags/many/%s\t%s\t\n" "$i" "$one" || return 1
	done >list &&
	fdl-update-ref --stdin <list &&
	fdl-for-each-ref refs/tags/many >out &&
	test_line_count 200 out
'

test_done
