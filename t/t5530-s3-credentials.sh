#!/bin/sh

test_description='keys, regions and endpoints are found where the AWS tools find them, and what is wrong is said in a line'

. "${0%/*}/test-lib.sh"
# shellcheck source=t/lib-s3.sh
. "$TEST_DIRECTORY/lib-s3.sh"
# shellcheck source=t/lib-http.sh
. "$TEST_DIRECTORY/lib-http.sh"
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

test_expect_success 'a pod exchanges its token for the keys of a role, and the token is in no URL' '
	faults &&
	iam CreateRole RoleName=pod Path=/ "AssumeRolePolicyDocument={\"Version\":\"2012-10-17\",\"Statement\":[]}" >role &&
	echo the-token >token &&
	without_keys env AWS_WEB_IDENTITY_TOKEN_FILE="$PWD/token" AWS_ROLE_ARN="$(element Arn role)" \
		fdl-attach-sql --with-keys --working lake.sqlite >sql &&
	test_grep "KEY_ID .ASIA" sql &&
	test_grep "SESSION_TOKEN ." sql &&
	test_grep "^POST / -$" "$log" &&
	! grep the-token "$log" &&
	without_keys refused 128 "AWS_WEB_IDENTITY_TOKEN_FILE is set and AWS_ROLE_ARN is not" \
		env AWS_WEB_IDENTITY_TOKEN_FILE="$PWD/token" fdl-ls-objects &&
	without_keys refused 128 "cannot read the token in .*/no-token." \
		env AWS_WEB_IDENTITY_TOKEN_FILE="$PWD/no-token" AWS_ROLE_ARN=x fdl-ls-objects &&
	faults "* 403 POST ." &&
	without_keys refused 6 "no keys of the web identity.s role: .* answers 403" \
		env AWS_WEB_IDENTITY_TOKEN_FILE="$PWD/token" AWS_ROLE_ARN="$(element Arn role)" fdl-ls-objects
'

# metadata: a service as EC2 has it, which wants a token of its own with each question, and hands out the user's keys.
# shellcheck disable=SC2154 # the first fact sets $key and $secret
metadata() {
	start metadata python3 -c '
import http.server, json, os, sys, threading, time
port_file, key, secret = sys.argv[1:]
keys = {"AccessKeyId": key, "SecretAccessKey": secret, "Expiration": "2099-01-01T00:00:00Z"}
roles = "/latest/meta-data/iam/security-credentials/"
answers = {roles: "lake-role", roles + "lake-role": json.dumps(keys)}
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_args):
        pass
    def do_PUT(self):
        asked = self.path == "/latest/api/token" and self.headers["X-aws-ec2-metadata-token-ttl-seconds"]
        self.answer("session" if asked else None)
    def do_GET(self):
        self.answer(answers.get(self.path) if self.headers["X-aws-ec2-metadata-token"] == "session" else None)
    def answer(self, text):
        self.send_response(200 if text else 401)
        self.end_headers()
        self.wfile.write((text or "").encode())
def end_with(parent):
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
open(port_file + ".new", "w").write(str(server.server_port))
os.rename(port_file + ".new", port_file)
server.serve_forever()
' "$TRASH_DIRECTORY/metadata.port" "$key" "$secret"
}

test_expect_success 'a machine has the keys of its role' '
	faults &&
	metadata &&
	check_signatures yes &&
	test_when_finished "check_signatures no" &&
	unset AWS_EC2_METADATA_DISABLED &&
	without_keys env AWS_EC2_METADATA_SERVICE_ENDPOINT="http://127.0.0.1:$port" fdl-ls-objects >/dev/null &&
	without_keys refused 6 "no keys of the instance.s role: cannot ask .http://127.0.0.1:1/latest/api/token." \
		env AWS_EC2_METADATA_SERVICE_ENDPOINT=http://127.0.0.1:1 fdl-ls-objects &&
	without_keys refused 6 "access denied, and no credentials were found" env AWS_EC2_METADATA_DISABLED=true \
		AWS_EC2_METADATA_SERVICE_ENDPOINT="http://127.0.0.1:$port" fdl-ls-objects
'

test_expect_success 'a wrong region is told with the right one' '
	faults "* elsewhere GET fdl.json" &&
	refused 6 "the bucket .lakes. is in the region .eu-central-1., not in .us-east-1." fdl-ls-objects &&
	test_grep "^hint: set AWS_REGION=eu-central-1" refused.err
'

test_expect_success 'a server with a certificate of its own is believed where AWS_CA_BUNDLE says so' '
	mkdir tls && make_certificate "$PWD/tls" &&
	start tls "$s3_python" "$TEST_DIRECTORY/s3server.py" "$TRASH_DIRECTORY/tls.port" "$PWD/tls/cert.pem" "$PWD/tls/key.pem" &&
	AWS_ENDPOINT_URL=https://127.0.0.1:$port &&
	refused 6 "cannot reach .https://127.0.0.1:$port. safely: invalid peer certificate" fdl-ls-objects &&
	refused 6 "there is no bucket .lakes." env AWS_CA_BUNDLE="$PWD/tls/ca.pem" fdl-ls-objects &&
	refused 128 "cannot read .*/no-file. of AWS_CA_BUNDLE" env AWS_CA_BUNDLE="$PWD/no-file" fdl-ls-objects &&
	refused 128 "holds no certificate" env AWS_CA_BUNDLE="$PWD/role" fdl-ls-objects
'

test_done
