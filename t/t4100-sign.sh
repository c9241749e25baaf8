#!/bin/sh

test_description='ssh-keygen accepts every signature of ours, and we accept every one of its'

. "${0%/*}/test-lib.sh"

# The agent of this test, which is ended with it.
start_agent() {
	eval "$(ssh-agent -s)" >agent.out
}

# fresh: a copy of the repository in which nothing is signed.
fresh() {
	rm -rf repo && cp -a towns repo
}

# theirs KEY: ssh-keygen accepts the signature of HEAD in repo.
theirs() {
	ssh-keygen -Y verify -f allowed -I author -n fdl-version -s "$version.sig" <"$version"
}

ours() {
	fdl verify-signature --repo repo --allowed-signers allowed --principal author HEAD
}

# sign_with KEY: signs with fdl; both accept it.
sign_with() {
	fresh && echo "author $(cat "$2")" >allowed &&
	fdl sign --repo repo --key "$1" HEAD && theirs && ours
}

# signed_by_theirs KEY PUB: signs with ssh-keygen; both accept it.
signed_by_theirs() {
	fresh && echo "author $(cat "$2")" >allowed &&
	ssh-keygen -q -Y sign -f "$1" -n fdl-version "$version" && theirs && ours
}

test_expect_success 'setup' '
	setup_towns &&
	for kind in "ed25519 256" "ecdsa 256" "ecdsa 384" "ecdsa 521" "rsa 2048" "rsa 3072"
	do
		set -- $kind && ssh-keygen -q -t "$1" -b "$2" -N "" -C "a comment" -f "key-$1-$2" &&
		echo "key-$1-$2" >>keys || return 1
	done &&
	ssh-keygen -q -t ed25519 -N secret -f encrypted &&
	ssh-keygen -q -t ed25519 -N "" -f authority
'
id=$(fdl resolve-ref --repo towns HEAD)
version=repo/versions/$id/version.json
created=$(fdl cat-version --repo towns --format %aI HEAD)

test_expect_success 'with a key of each type' '
	while read -r key
	do
		sign_with "$key" "$key.pub" && signed_by_theirs "$key" "$key.pub" || return 1
	done <keys &&
	test_line_count 6 keys
'

test_expect_success 'plain keys need no ssh-keygen' '
	fresh && echo "author $(cat key-ed25519-256.pub)" >allowed &&
	mkdir none && printf "#!/bin/sh\nexit 1\n" >none/ssh-keygen && chmod +x none/ssh-keygen &&
	PATH=$PWD/none:$PATH fdl sign --repo repo --key key-ed25519-256 HEAD &&
	ours >actual &&
	fingerprint=$(ssh-keygen -l -f key-ed25519-256.pub | cut -d " " -f 2) &&
	printf "good\tauthor\tED25519 %s\n" "$fingerprint" >expect &&
	test_cmp expect actual
'

test_expect_success 'with an encrypted key, whose passphrase SSH_ASKPASS tells' '
	printf "#!/bin/sh\necho secret\n" >askpass && chmod +x askpass &&
	export SSH_ASKPASS="$PWD/askpass" SSH_ASKPASS_REQUIRE=force &&
	sign_with encrypted encrypted.pub && signed_by_theirs encrypted encrypted.pub &&
	fresh && printf "#!/bin/sh\necho wrong\n" >askpass &&
	test_expect_code 128 fdl sign --repo repo --key encrypted HEAD &&
	test_path_is_missing "$version.sig"
'

test_expect_success 'with a key in an agent' '
	start_agent && test_when_finished "kill $SSH_AGENT_PID" &&
	cp key-ed25519-256 agents && cp key-ed25519-256.pub agents.pub &&
	ssh-add -q agents && rm agents &&
	sign_with agents.pub agents.pub && signed_by_theirs agents.pub agents.pub
'

# authorities OPTION...: certificates of the authority are allowed.
authorities() {
	printf 'author cert-authority %s\n' "$(cat authority.pub)" >allowed
}

# certify NAME OPTION...: a certificate of the authority for key-ed25519-256.
certify() {
	name=$1 && shift &&
	cp key-ed25519-256 "$name" && cp key-ed25519-256.pub "$name.pub" &&
	ssh-keygen -q -s authority -I "$name" "$@" "$name.pub"
}

# agree STATUS: both give the same verdict; ours has this status.
agree() {
	ssh-keygen -Y verify -f allowed -I author -n fdl-version -Overify-time="$(date -u -d "$created" +%Y%m%d%H%M%SZ)" \
		-s "$version.sig" <"$version"
	theirs=$?
	test_expect_code "$1" ours && case $theirs,$1 in
	0,0) ;;
	0,* | *,0)
		echo "ssh-keygen exits with $theirs"
		return 1
		;;
	esac
}

# certified STATUS OPTION...: signs with such a certificate; both say the same of it.
certified() {
	status=$1 && shift && fresh && rm -f cert* && certify cert "$@" &&
	ssh-add -q cert && ssh-keygen -q -Y sign -f cert-cert.pub -n fdl-version "$version" &&
	authorities && agree "$status"
	result=$?
	ssh-add -q -d cert
	return "$result"
}

test_expect_success 'with a certificate, which both judge alike' '
	start_agent && test_when_finished "kill $SSH_AGENT_PID" &&
	certified 0 -n author &&
	certified 0 -n other,author &&
	certified 8 -n other &&
	certified 8 &&
	certified 8 -h -n author &&
	certified 9 -n author -V 20200101:20200201 &&
	certified 0 -n author -V 20200101:21000101 &&
	fresh && certify mine -n author && ssh-add -q mine &&
	fdl sign --repo repo --key mine-cert.pub HEAD && agree 0 &&
	ssh-keygen -q -t ed25519 -N "" -f stranger &&
	echo "author cert-authority $(cat stranger.pub)" >allowed && agree 8 &&
	echo "author $(cat key-ed25519-256.pub)" >allowed && agree 8
'

test_expect_success 'signing again with the same key changes nothing, with another is refused' '
	fresh && fdl sign --repo repo --key key-ecdsa-256 HEAD &&
	tree repo >before &&
	fdl sign --repo repo --key key-ecdsa-256 HEAD &&
	refused 2 "is signed already, by ECDSA SHA256:" fdl sign --repo repo --key key-ed25519-256 HEAD &&
	tree repo >after &&
	test_cmp before after
'

test_expect_success 'keys that are not there or are none are refused, and nothing is written' '
	fresh && tree repo >before &&
	refused 128 "no key to sign with is known" fdl sign --repo repo HEAD &&
	refused 3 "does not exist" fdl sign --repo repo --key nokey HEAD &&
	echo garbage >garbage && chmod 600 garbage &&
	test_expect_code 128 fdl sign --repo repo --key garbage HEAD &&
	refused 3 "neither a ref nor a version" fdl sign --repo repo --key key-ed25519-256 01234567 &&
	tree repo >after &&
	test_cmp before after
'

test_expect_success 'commit -S signs, and push sends the signature' '
	work "CREATE TABLE lake.a (i INTEGER)" &&
	refused 128 "no key to sign with is known" fdl commit -S lake.sqlite -m none &&
	work "CREATE TABLE lake.b (i INTEGER)" &&
	FDL_SIGNING_KEY=$PWD/key-ed25519-256 fdl commit -S lake.sqlite -m one &&
	fdl config set user.signingKey "~/key-rsa-2048" &&
	work "CREATE TABLE lake.c (i INTEGER)" &&
	fdl commit -S lake.sqlite -m two &&
	work "CREATE TABLE lake.d (i INTEGER)" &&
	fdl commit --sign=key-ecdsa-384 lake.sqlite -m three &&
	fdl push lake.sqlite &&
	cat key-*.pub | sed "s/^/author /" >allowed &&
	fdl verify-signature --repo towns --allowed-signers allowed HEAD~2 HEAD~1 HEAD >actual &&
	cut -f 3 actual | cut -d " " -f 1 >kinds &&
	printf "%s\n" ED25519 RSA ECDSA >expect &&
	test_cmp expect kinds
'

test_expect_success 'a commit that cannot be signed is none' '
	before=$(fdl resolve-ref --repo lake.sqlite.fdl HEAD) &&
	work "CREATE TABLE lake.e (i INTEGER)" &&
	refused 3 "does not exist" fdl commit --sign=nokey lake.sqlite -m none &&
	test "$(fdl resolve-ref --repo lake.sqlite.fdl HEAD)" = "$before"
'

test_done
