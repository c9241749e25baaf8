#!/bin/sh

test_description='one bit changed anywhere in a version is found and named'

. "${0%/*}/test-lib.sh"

# flip FILE AT: changes one bit of it.
flip() {
	chmod u+w "$1" && python3 -c '
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(int(sys.argv[2]))
    byte = file.read(1)[0]
    file.seek(int(sys.argv[2]))
    file.write(bytes([byte ^ 1]))' "$@"
}

# fresh: a copy of the repository in which all is well.
fresh() {
	rm -rf towns && cp -a kept towns
}

# bad STATUS PATTERN OPTION...: verify says so of HEAD.
bad() {
	status=$1 pattern=$2 && shift 2 &&
	refused "$status" "$pattern" fdl verify "$@" towns &&
	test_grep "^$id	bad	.*$pattern" refused.out
}

test_expect_success 'setup' '
	setup_towns &&
	ssh-keygen -q -t ed25519 -N "" -f key &&
	echo "alice@example.com $(cat key.pub)" >allowed &&
	fdl config set gpg.ssh.allowedSignersFile "~/allowed" &&
	fdl sign --repo towns --key key HEAD && mv towns kept && fresh
'
id=$(fdl resolve-ref --repo towns HEAD)
first=$(fdl resolve-ref --repo towns HEAD~1)
folder=towns/versions/$id

test_expect_success 'a version that is whole is good, and how far the proof reaches is said' '
	fdl verify towns >actual &&
	test_grep "^$id	good	signed by alice@example.com with ED25519 SHA256:[^	]*	catalog and sizes of [1-9][0-9]* files hold" actual &&
	fdl verify towns HEAD~1 >actual &&
	test_grep "^$first	good	not signed	catalog and sizes" actual &&
	fdl verify --all towns >all && test_line_count 2 all &&
	fdl verify --history towns "$id" >history && test_cmp all history &&
	fdl verify lake.sqlite >actual &&
	test_line_count 1 actual &&
	fdl config unset gpg.ssh.allowedSignersFile &&
	fdl verify towns >actual &&
	fdl config set gpg.ssh.allowedSignersFile "~/allowed" &&
	test_grep "^$id	good	signature not checked	" actual
'

test_expect_success 'one bit of version.json' '
	size=$(wc -c <"$folder/version.json") &&
	for at in 0 40 $((size / 2)) $((size - 1))
	do
		fresh && flip "$folder/version.json" $at && bad 5 "version $id: bad signature" || return 1
	done
'

test_expect_success 'one bit of the signature' '
	fresh && flip "$folder/version.json.sig" 0 && bad 5 "bad signature" &&
	fresh && flip "$folder/version.json.sig" 200 && bad 5 "bad signature"
'

test_expect_success 'one bit of the catalog' '
	size=$(wc -c <"$folder/ducklake.duckdb") &&
	for at in 0 4096 $((size / 2)) $((size - 1))
	do
		fresh && flip "$folder/ducklake.duckdb" $at &&
		bad 5 "versions/$id/ducklake.duckdb. has sha256" || return 1
	done
'

test_expect_success 'one bit of files.json' '
	fresh && flip "$folder/files.json" 10 && bad 5 "versions/$id/files.json. has sha256"
'

test_expect_success 'one byte more or less in a data file, and one that is missing' '
	fresh && file=$(find towns/data -name "*.parquet" | head -n 1) && key=${file#towns/} &&
	chmod u+w "$file" && echo >>"$file" && bad 5 "$key. has [0-9]* bytes, not" &&
	fresh && rm "$file" && bad 5 "$key. is not in"
'

test_expect_success 'one bit of the parent, which is not signed itself' '
	fresh && sed "s/Add towns/add towns/" "towns/versions/$first/version.json" >changed &&
	cp changed "towns/versions/$first/version.json" &&
	bad 5 "versions/$first/version.json. has sha256" &&
	fdl verify towns "$first"
'

test_expect_success 'a signature moved from another version' '
	fresh && mv "$folder/version.json.sig" "towns/versions/$first/" &&
	refused 5 "version $first: bad signature" fdl verify towns HEAD~1 &&
	fdl verify towns >actual && test_grep "not signed" actual
'

test_expect_success 'a version of another repository, signed or not' '
	fdl init other && fresh && mkdir -p other/versions && cp -a "$folder" other/versions &&
	refused 5 "belongs to repository" fdl verify other "$id"
'

test_expect_success 'an id that is not that of its folder' '
	fresh && another=$(echo "$id" | tr 0123456789abcdef 1032547698badcfe | cut -c 33-) &&
	another=$(echo "$id" | cut -c -32)$another &&
	cp -a "$folder" "towns/versions/$another" &&
	refused 5 "holds version $id" fdl verify towns "$another"
'

test_expect_success 'all versions are looked at, and the first that is bad decides the status' '
	fresh && flip "towns/versions/$first/files.json" 10 &&
	test_expect_code 5 fdl verify --all towns >actual 2>err &&
	cut -f 2 actual >verdicts && printf "%s\n" good bad >expect && test_cmp expect verdicts &&
	ssh-keygen -q -t ed25519 -N "" -f stranger && fresh && rm "$folder/version.json.sig" &&
	fdl sign --repo towns --key stranger HEAD && bad 8 "is signed by an unknown key" &&
	cut -d " " -f 1,2 key.pub >revoked && fdl config set gpg.ssh.revocationFile "~/revoked" &&
	fresh && bad 10 "is signed by a revoked key"
'

test_expect_success 'options that do not go together' '
	test_expect_code 129 fdl verify --all towns HEAD &&
	test_expect_code 129 fdl verify --all --history towns &&
	test_expect_code 129 fdl verify &&
	test_expect_code 129 fdl verify-version --repo towns
'

test_done
