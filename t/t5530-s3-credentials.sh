#!/bin/sh

test_description='keys, regions and endpoints are found where the AWS tools find them, and what is wrong is said in a line'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"
start_s3
start_faults

FDL_REPO=s3://lakes/repo
export FDL_REPO

test_expect_success 'a user with all rights, and one without' '
	fdl-create-repository s3://lakes/repo &&
	iam CreateUser UserName=all >/dev/null &&
	iam PutUserPolicy UserName=all PolicyName=p \
		"PolicyDocument={\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"s3:*\",\"Resource\":\"*\"}]}" >/dev/null &&
	iam CreateAccessKey UserName=all >all &&
	iam CreateUser UserName=none >/dev/null &&
	iam CreateAccessKey UserName=none >none &&
	key=$(element AccessKeyId all) secret=$(element SecretAccessKey all) &&
	test -n "$key" && test -n "$secret"
'

everything() {
	printf "x" | fdl-put-object "a b/c+d=é" &&
	printf "x" | fdl-put-object "data/plain" &&
	fdl-cat-object "a b/c+d=é" &&
	fdl-ls-objects "a b" &&
	printf "a b/c+d=é\t1\n" | fdl-check-objects &&
	printf "%s\n" "a b/c+d=é" data/plain | fdl-rm-objects &&
	head -c 70000000 /dev/zero | fdl-put-object large
}

test_expect_success 'every kind of request has a signature that holds' '
	check_signatures yes &&
	test_when_finished "check_signatures no" &&
	as "$key" "$secret" everything
'

test_expect_success 'a wrong secret, an unknown key and a missing right are told apart' '
	check_signatures yes &&
	test_when_finished "check_signatures no" &&
	as "$key" wrong refused 6 "^error: the secret for the access key .$key. is wrong; it comes from AWS_ACCESS_KEY_ID" fdl-ls-objects &&
	as AKIANOBODY "$secret" refused 6 "does not know the access key .AKIANOBODY., which comes from AWS_ACCESS_KEY_ID" fdl-ls-objects &&
	as "$(element AccessKeyId none)" "$(element SecretAccessKey none)" \
		refused 6 ".fdl.json. in .s3://lakes/repo.: the access key .* may not read it" fdl-ls-objects
'

test_expect_success 'the secret is never printed' '
	check_signatures yes &&
	test_when_finished "check_signatures no" &&
	as "$key" "$secret" env FDL_TRACE=1 fdl-ls-objects >out 2>&1 &&
	! grep -F "$secret" out &&
	as "$key" wrong-secret test_expect_code 6 env FDL_TRACE=1 fdl-ls-objects >out 2>&1 &&
	! grep -F wrong-secret out
'

# without_keys COMMAND...: no keys in the environment.
without_keys() {
	(unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY && "$@")
}

test_expect_success 'without keys requests are not signed; it is said where that is not enough' '
	faults &&
	without_keys refused 6 "access denied, and no credentials were found" fdl-ls-objects &&
	test_grep "^hint: set AWS_PROFILE" refused.err &&
	fdl-ls-objects >/dev/null
'

test_expect_success 'keys come from either file, of the profile that is asked for' '
	check_signatures yes &&
	test_when_finished "check_signatures no" &&
	mkdir -p .aws &&
	printf "[default]\naws_access_key_id=%s\naws_secret_access_key=%s\n" "$key" "$secret" >.aws/credentials &&
	without_keys fdl-ls-objects >/dev/null &&
	printf "[profile lake]\naws_access_key_id = %s\naws_secret_access_key = %s # mine\n" "$key" "$secret" >elsewhere &&
	without_keys env AWS_PROFILE=lake AWS_CONFIG_FILE="$PWD/elsewhere" fdl-ls-objects >/dev/null &&
	without_keys refused 128 "profile .none. is neither in .*/config. nor in .*/credentials." env AWS_PROFILE=none fdl-ls-objects &&
	printf "[default]\naws_access_key_id=%s\n" "$key" >.aws/credentials &&
	without_keys refused 128 "the profile .default. has half a key" fdl-ls-objects &&
	rm -r .aws
'

test_expect_success 'a profile that wants a program or a browser is told with the way out' '
	for way in role_arn credential_process sso_session
	do
		printf "[profile lake]\n%s = x\n" $way >config &&
		without_keys refused 128 "the profile .lake. gets its keys by .$way., which fdl does not do" \
			env AWS_PROFILE=lake AWS_CONFIG_FILE="$PWD/config" fdl-ls-objects &&
		test_grep "^hint: run: .*aws configure export-credentials --profile lake" refused.err || return 1
	done
'

test_expect_success 'half a key in the environment is bad input' '
	(unset AWS_SECRET_ACCESS_KEY && refused 128 "AWS_ACCESS_KEY_ID is set and AWS_SECRET_ACCESS_KEY is not" fdl-ls-objects)
'

test_expect_success 'the endpoint comes from the environment or the profile' '
	url=$AWS_ENDPOINT_URL &&
	(
		unset AWS_ENDPOINT_URL &&
		AWS_ENDPOINT_URL_S3=$url fdl-ls-objects >/dev/null &&
		printf "[profile a]\nendpoint_url=%s\n[profile b]\nservices=mine\n[services mine]\ns3 =\n  endpoint_url = %s\n" "$url" "$url" >config &&
		export AWS_CONFIG_FILE="$PWD/config" &&
		AWS_PROFILE=a fdl-ls-objects >/dev/null &&
		AWS_PROFILE=b fdl-ls-objects >/dev/null
	) &&
	refused 6 "cannot reach .http://127.0.0.1:1.: connection refused" env AWS_ENDPOINT_URL=http://127.0.0.1:1 fdl-ls-objects &&
	refused 128 "bad endpoint .lakes:9000." env AWS_ENDPOINT_URL=lakes:9000 fdl-ls-objects
'

test_expect_success 'a container hands out keys, and only one nearby' '
	printf "{\"AccessKeyId\":\"%s\",\"SecretAccessKey\":\"%s\",\"Token\":\"t\",\"Expiration\":\"2099-01-01T00:00:00Z\"}" "$key" "$secret" |
		s3 PUT /lakes/keys "x-amz-acl: public-read" &&
	without_keys env AWS_CONTAINER_CREDENTIALS_FULL_URI="$AWS_ENDPOINT_URL/lakes/keys" fdl-ls-objects >/dev/null &&
	grep "^GET /lakes/keys" "$log" &&
	without_keys refused 128 "keys are not asked from .http://example.com/k." \
		env AWS_CONTAINER_CREDENTIALS_FULL_URI=http://example.com/k fdl-ls-objects &&
	without_keys refused 128 "cannot read the token in .*/no-token." \
		env AWS_CONTAINER_CREDENTIALS_FULL_URI="$AWS_ENDPOINT_URL/lakes/keys" \
		AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE="$PWD/no-token" fdl-ls-objects &&
	without_keys refused 6 "no keys of the container.s role: .*/lakes/none. answers 404" \
		env AWS_CONTAINER_CREDENTIALS_FULL_URI="$AWS_ENDPOINT_URL/lakes/none" fdl-ls-objects
'

test_done
