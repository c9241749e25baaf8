#!/bin/sh

test_description='who may sign is read as ssh-keygen reads it'

. "${0%/*}/test-lib.sh"

test_expect_success 'setup' '
	setup_towns &&
	ssh-keygen -q -t ed25519 -N "" -C "" -f key &&
	ssh-keygen -q -t ed25519 -N "" -C "" -f other &&
	fdl sign --repo towns --key key HEAD
'
id=$(fdl resolve-ref --repo towns HEAD)
version=towns/versions/$id/version.json
K=$(cut -d ' ' -f 1,2 key.pub)
O=$(cut -d ' ' -f 1,2 other.pub)
now=$(date -u -d "$(fdl cat-version --repo towns --format %aI HEAD)" +%Y%m%d%H%M%S)Z

# verdicts STATUS: both say the same of the files 'allowed' and perhaps 'revoked' for alice@example.com.
verdicts() {
	set -- "$1" ${revoked:+"$revoked"}
	ssh-keygen -Y verify -f allowed -I alice@example.com -n fdl-version -Overify-time="$now" ${2:+-r "$2"} \
		-s "$version.sig" <"$version" >theirs.out 2>&1
	theirs=$?
	fdl verify-signature --repo towns --allowed-signers allowed ${2:+--revoked "$2"} \
		--principal alice@example.com HEAD >ours.out 2>&1
	ours=$?
	if test "$ours" != "$1" || test "$((ours == 0))" != "$((theirs == 0))"
	then
		echo "ours $ours, expected $1; ssh-keygen $theirs"
		cat ours.out theirs.out
		return 1
	fi
}

# judge_lines: reads verdicts and the files they are about, a line each, in the escapes of printf.
judge_lines() {
	revoked='' count=0
	while read -r status text
	do
		# shellcheck disable=SC2059 # the text is a format
		printf "$(printf '%s' "$text" | sed "s,@K@,$K,g; s,@O@,$O,g")" >allowed || return 1
		verdicts "$status" || {
			echo "not on: $text"
			return 1
		}
		count=$((count + 1))
	done
}

test_expect_success 'lists of allowed signers give the same verdict' - <<\END
	cat >lines <<-\LINES &&
	0 alice@example.com @K@\n
	0 alice@example.com @K@
	8 alice@example.com @O@\n
	8 bob@example.com @K@\n
	8 Alice@example.com @K@\n
	0 *@example.com @K@\n
	0 al?ce@* @K@\n
	8 *@example.com,!alice@example.com @K@\n
	8 !alice@example.com,*@example.com @K@\n
	8 !bob@example.com @K@\n
	0 bob@example.com,alice@example.com @K@\n
	8 bob@example.com, alice@example.com @K@\n
	0 "alice@example.com" @K@\n
	0 "alice b,alice@example.com" @K@\n
	8 "alice@example.com @K@\n
	0 \talice@example.com\t@K@\n
	0 alice@example.com   @K@\n
	0 alice@example.com @K@\r\n
	0 # comment\n\n  # more\nalice@example.com @K@\n
	8 #alice@example.com @K@\n
	0 alice@example.com @K@ a comment # of words\n
	8 \357\273\277alice@example.com @K@\n
	8 alice@example.com\n
	8 alice@example.com ssh-ed25519\n
	8 alice@example.com ssh-ed25519 AAAA\n
	8 alice@example.com garbage @K@\n
	8 alice@example.com cert-authority @K@\n
	0 alice@example.com namespaces="fdl-version" @K@\n
	0 alice@example.com namespaces="git,fdl-*" @K@\n
	8 alice@example.com namespaces="git" @K@\n
	8 alice@example.com namespaces="*,!fdl-version" @K@\n
	0 alice@example.com NameSpaces="fdl-version" @K@\n
	8 alice@example.com namespaces=fdl-version @K@\n
	8 alice@example.com namespaces="fdl-version @K@\n
	8 alice@example.com namespaces="a",namespaces="fdl-version" @K@\n
	0 alice@example.com valid-after="20200101Z" @K@\n
	9 alice@example.com valid-after="20990101Z" @K@\n
	0 alice@example.com valid-before="20990101Z" @K@\n
	9 alice@example.com valid-before="20200101Z" @K@\n
	0 alice@example.com valid-after="20200101Z",valid-before="209901011200Z" @K@\n
	8 alice@example.com valid-after="20990101Z",valid-before="20200101Z" @K@\n
	8 alice@example.com valid-after="20200101Z",valid-before="20200101Z" @K@\n
	8 alice@example.com valid-after="2020Z" @K@\n
	8 alice@example.com valid-after="20201301Z" @K@\n
	8 alice@example.com unknown @K@\n
	8 alice@example.com namespaces="fdl-version", @K@\n
	0 alice@example.com unknown @K@\nalice@example.com @K@\n
	0 alice@example.com valid-before="20200101Z" @K@\nalice@example.com @K@\n
	0 alice@example.com namespaces="git" @K@\nalice@example.com @K@\n
	0 bob@example.com @K@\n*@example.com @K@\n
	LINES
	judge_lines <lines && test "$count" -ge 50
END

test_expect_success 'lists of revoked keys give the same verdict' '
	echo "alice@example.com $K" >allowed && revoked=revoked &&
	: >revoked && verdicts 0 &&
	echo "$O" >revoked && verdicts 0 &&
	printf "# comment\n\n%s\n%s of mine\n" "$O" "$K" >revoked && verdicts 10 &&
	printf "  %s\r\n" "$K" >revoked && verdicts 10 &&
	echo garbage >revoked && verdicts 128 &&
	rm revoked && verdicts 128
'

test_expect_success 'a KRL is refused in words, never passed over' '
	ssh-keygen -q -k -f krl other.pub &&
	refused 128 "is a KRL" fdl verify-signature --repo towns --allowed-signers allowed --revoked krl HEAD
'

test_expect_success 'a time without a time zone is refused in words' '
	echo "alice@example.com valid-after=\"20200101\" $K" >allowed &&
	refused 128 "line 1: .20200101. has no time zone" fdl verify-signature --repo towns --allowed-signers allowed HEAD &&
	test_grep "20200101Z" refused.err
'

test_expect_success 'the moments at which a key begins and ends to be valid' '
	revoked= && second=${now%Z} &&
	echo "alice@example.com valid-after=\"$now\" $K" >allowed && verdicts 0 &&
	echo "alice@example.com valid-before=\"$now\" $K" >allowed && verdicts 0 &&
	echo "alice@example.com valid-before=\"$(($second - 1))Z\" $K" >allowed && verdicts 9
'

test_expect_success 'good, unsigned, unknown, expired, revoked and bad are told apart' '
	echo "alice@example.com $K" >allowed && cp allowed good &&
	check() {
		fdl verify-signature --repo towns --allowed-signers allowed --revoked revoked "${1:-HEAD}"
	} &&
	: >revoked && check >actual && test_grep "^good	alice@example.com	ED25519 SHA256:" actual &&
	refused 7 "is not signed" check HEAD~1 &&
	cut -d " " -f 2,3 good >revoked && refused 10 "by a revoked key: ED25519 SHA256:" check &&
	: >revoked && echo "alice@example.com $O" >allowed && refused 8 "by an unknown key: ED25519" check &&
	echo "alice@example.com valid-before=\"20200101Z\" $K" >allowed && refused 9 "by an expired key" check &&
	cp good allowed && cp "$version" kept && sed "s/Leave/leave/" kept >"$version" &&
	refused 5 "bad signature" check && cp kept "$version" && check &&
	refused 128 "nobody was said to be allowed" fdl verify-signature --repo towns HEAD &&
	fdl config set gpg.ssh.allowedSignersFile "~/allowed" && fdl verify-signature --repo towns HEAD
'

# both_refuse FILTER: a signature changed so is good for nobody.
both_refuse() {
	cp signature "$version.sig" && eval "$1" <signature >"$version.sig" &&
	test_must_fail fdl verify-signature --repo towns --allowed-signers allowed HEAD 2>err && test_grep "bad signature" err
}

test_expect_success 'armor that is not strict is refused' '
	cp "$version.sig" signature && test_when_finished "cp signature \"$version.sig\"" &&
	both_refuse "sed \"s/\\$/\r/\"" &&
	both_refuse "sed 1i\\\\\\\\" &&
	both_refuse "cat signature -" &&
	both_refuse "sed \"\\\$a text\"" &&
	both_refuse "head -n 3" &&
	both_refuse "cat /dev/null" &&
	both_refuse "tr A-Z a-z" &&
	ssh-keygen -q -Y sign -f key -n git <"$version" >"$version.sig" &&
	refused 5 "was made for .git., not for .fdl-version." \
		fdl verify-signature --repo towns --allowed-signers allowed HEAD &&
	{ head -n 1 signature && sed "1d; \$d" signature | tr -d "\n" && echo && tail -n 1 signature; } >"$version.sig" &&
	fdl verify-signature --repo towns --allowed-signers allowed HEAD
'

# flip FROM TO AT: a copy with one bit changed.
flip() {
	python3 -c '
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[int(sys.argv[3])] ^= 1
open(sys.argv[2], "wb").write(data)' "$@"
}

test_expect_success 'no bit of what was signed can change' '
	cp "$version" kept && test_when_finished "cp kept \"$version\"" &&
	size=$(wc -c <kept) &&
	for at in 0 1 50 100 200 300 $((size - 2)) $((size - 1))
	do
		flip kept "$version" $at &&
		refused 5 "bad signature" fdl verify-signature --repo towns --allowed-signers allowed HEAD || return 1
	done
'

test_expect_success 'no bit of a signature can change' '
	cp "$version.sig" kept && test_when_finished "cp kept \"$version.sig\"" &&
	size=$(wc -c <kept) && at=0 &&
	while test $at -lt $((size - 1))
	do
		flip kept "$version.sig" $at &&
		test_must_fail fdl verify-signature --repo towns --allowed-signers allowed HEAD || return 1
		at=$((at + 3))
	done
'

test_done
