# An S3 server for tests, and a proxy that does wrong when told. Sourced after test-lib.sh, which keeps the user's own
# AWS settings out.
# shellcheck shell=sh disable=SC2154 # test-lib.sh sets what is not set here

# shellcheck source=t/lib-servers.sh
. "$TEST_DIRECTORY/lib-servers.sh"

# start_s3: the server has one bucket, 'lakes'; commands are given what they need to reach it.
start_s3() {
	s3_python=$target/venv-moto/bin/python
	start s3 "$s3_python" "$TEST_DIRECTORY/s3server.py" "$TRASH_DIRECTORY/s3.port"
	s3_port=$port
	AWS_ENDPOINT_URL=http://127.0.0.1:$s3_port
	AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=test-key AWS_SECRET_ACCESS_KEY=test-secret
	AWS_EC2_METADATA_DISABLED=true
	export AWS_ENDPOINT_URL AWS_REGION AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_EC2_METADATA_DISABLED
	s3 PUT /lakes </dev/null >/dev/null || exit 1
}

# start_faults: from here on commands go through the proxy.
start_faults() {
	start_proxy "$s3_port"
	AWS_ENDPOINT_URL=http://127.0.0.1:$port
}

# s3 METHOD PATH [HEADER: VALUE]...: a request past fdl and the proxy, signed so that the server takes it, with standard
# input as the body of a PUT or POST; prints the status, the headers and the body of the answer.
s3() {
	"$s3_python" -c '
import http.client, sys
port, method, path, *headers = sys.argv[1:]
connection = http.client.HTTPConnection("127.0.0.1", int(port))
body = sys.stdin.buffer.read() if method in ("PUT", "POST") else None
signed = "AWS4-HMAC-SHA256 Credential=test-key/20261201/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"
headers = {"Authorization": signed} | dict(header.split(": ", 1) for header in headers)
connection.request(method, path, body, headers)
answer = connection.getresponse()
print(answer.status)
for name, value in answer.getheaders():
    print(f"{name.lower()}: {value}")
print()
sys.stdout.flush()
sys.stdout.buffer.write(answer.read())
sys.exit(answer.status >= 400)
' "$s3_port" "$@"
}

# both COMMAND...: the command with FDL_REPO a folder, and with FDL_REPO in the bucket.
both() {
	for FDL_REPO in "$TRASH_DIRECTORY/repo" s3://lakes/repo
	do
		export FDL_REPO
		"$@" || {
			echo "in $FDL_REPO"
			return 1
		}
	done
}

# iam ACTION NAME=VALUE...: a request to the server's user administration.
iam() {
	"$s3_python" -c '
import sys, urllib.parse, urllib.request
port, action, *rest = sys.argv[1:]
form = {"Action": action, "Version": "2010-05-08"} | dict(pair.split("=", 1) for pair in rest)
signed = "AWS4-HMAC-SHA256 Credential=x/20261201/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0"
body = urllib.parse.urlencode(form).encode()
request = urllib.request.Request(f"http://127.0.0.1:{port}/", body, {"Authorization": signed})
print(urllib.request.urlopen(request).read().decode())
' "$s3_port" "$@"
}

# element NAME FILE: the text of an XML element.
element() {
	sed -n "s,.*<$1>\(.*\)</$1>.*,\1,p" "$2"
}

# check_signatures YES: from now on the server looks at signatures and rights, or does not.
check_signatures() {
	"$s3_python" -c '
import sys, urllib.request
count = b"0" if sys.argv[2] == "yes" else b"inf"
url = f"http://127.0.0.1:{sys.argv[1]}/moto-api/reset-auth"
urllib.request.urlopen(urllib.request.Request(url, count, {"Content-Type": "text/plain"}))
' "$s3_port" "$1"
}

# as KEY SECRET COMMAND...
as() {
	(
		AWS_ACCESS_KEY_ID=$1 AWS_SECRET_ACCESS_KEY=$2
		shift 2
		"$@"
	)
}
