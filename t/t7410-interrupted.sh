#!/bin/sh

test_description='a push that is interrupted from the keyboard: it ends, leaves no rubbish, and is gone on with'

. "${0%/*}/test-lib.sh"

# interrupting WHEN COMMAND: from now on, a push is interrupted before or after it runs the command.
interrupting() {
	rm -rf exec && mkdir exec &&
	ln -s "$FDL_TEST_PREFIX"/bin/fdl* exec/ &&
	rm "exec/$2" &&
	before='' after='' &&
	case $1 in
	before) before='kill -INT 0 && sleep 60' ;;
	after) after='kill -INT 0 && sleep 60' ;;
	esac &&
	printf '#!/bin/sh\n%s\n"%s" "$@" || exit\n%s\n' "$before" "$FDL_TEST_PREFIX/bin/$2" "$after" >"exec/$2" &&
	chmod +x "exec/$2"
}

# interrupted COMMAND...: it ends as an interrupted command does, and its temporary folder is gone.
interrupted() {
	rm -rf tmp && mkdir tmp &&
	# A shell in the background ignores the signal, and what it starts inherits that.
	test_expect_code 130 env --default-signal=INT TMPDIR="$PWD/tmp" FDL_EXEC_PATH="$PWD/exec" \
		setsid --wait "$PWD/exec/fdl" "$@" &&
	ls -A tmp >left &&
	test_line_count 0 left
}

# readable ID: the branch holds this version, and a reader reads it.
readable() {
	test "$(fdl-resolve-ref --repo towns main)" = "$1" &&
	duck "$(fdl url --sql towns) SELECT count(*) FROM lake.towns" &&
	fdl-ls-version --repo towns HEAD | fdl-check-objects --repo towns
}

test_expect_success 'setup' '
	setup_towns &&
	fdl checkout --stage towns staged.sqlite &&
	duck "$(fdl attach-sql --repo towns --working staged.sqlite) INSERT INTO lake.towns VALUES ('\''New'\'', '\''NN'\'', 5000000)" &&
	old=$(fdl-resolve-ref --repo towns main) &&
	new=$(fdl commit staged.sqlite -m "Add New") &&
	cp -R towns towns.old && cp -R staged.sqlite.fdl work.old
'

while read -r when command holds
do
	test_expect_success "$when $command" "
		rm -rf towns staged.sqlite.fdl && cp -R towns.old towns && cp -R work.old staged.sqlite.fdl &&
		interrupting $when $command &&
		interrupted push staged.sqlite &&
		readable \"\$$holds\" &&
		fdl push staged.sqlite &&
		readable \"\$new\" &&
		fdl push staged.sqlite | grep 'everything is pushed'
	"
done <<\END
before fdl-send-files old
after fdl-send-files old
after fdl-send-version old
before fdl-update-ref old
after fdl-update-ref new
before fdl-update-server-info new
after fdl-update-server-info new
END

test_expect_success 'a commit' - <<\END
	duck "$(fdl attach-sql --repo towns --working staged.sqlite) INSERT INTO lake.towns VALUES ('Newer', 'NN', 1)" &&
	tree staged.sqlite.fdl >expect &&
	for command in fdl-freeze-catalog fdl-ls-files fdl-check-objects
	do
		interrupting after $command &&
		interrupted commit staged.sqlite -m 'Add Newer' &&
		tree staged.sqlite.fdl >actual &&
		test_cmp expect actual || return 1
	done &&
	fdl commit staged.sqlite -m 'Add Newer'
END

test_done
