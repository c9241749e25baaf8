# Web servers for tests: two that only serve files, and a small host that takes what is written. Sourced after
# test-lib.sh. Whatever happens to the test, they end by themselves.
# shellcheck shell=sh disable=SC2154 # test-lib.sh sets what is not set here

# shellcheck source=t/lib-servers.sh
. "$TEST_DIRECTORY/lib-servers.sh"

# start_python FOLDER: serves it with Python's own server; sets $url. That one knows neither tags nor ranges.
start_python() {
	start python sh -c '
		timeout 900 python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$1" &
		trap "kill $!" 15
		until port=$(sed -n "s/.* port \([0-9]*\) .*/\1/p" "$2.out") && test -n "$port"
		do
			sleep 0.1
		done
		echo "$port" >"$2.new" && mv "$2.new" "$2.port"
		wait' - "$1" "$TRASH_DIRECTORY/python"
	url=http://127.0.0.1:$port
}

# make_certificate FOLDER: a key and a certificate for 127.0.0.1, and in ca.pem the authority that it is from.
make_certificate() {
	(
		cd "$1" &&
		openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj "/CN=Test authority" -days 2 &&
		openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -subj "/CN=127.0.0.1" -days 2 \
			-CA ca.pem -CAkey ca.key -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=CA:FALSE
	) >"$1/openssl.out" 2>&1
}

# start_nginx FOLDER: serves it with nginx; sets $url, and $tls to the same over TLS.
start_nginx() {
	nginx=$TRASH_DIRECTORY/nginx
	mkdir -p "$nginx" && make_certificate "$nginx" || exit 1
	free=$(python3 -c '
import socket
both = [socket.socket(), socket.socket()]
for one in both:
    one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in both))')
	tls=https://127.0.0.1:${free#* } free=${free% *}
	cat >"$nginx/nginx.conf" <<-END
	daemon off;
	user $(id -un) $(id -gn);
	worker_processes 1;
	pid "$nginx/pid";
	error_log stderr;
	events {}
	http {
		access_log off;
		client_body_temp_path "$nginx/body";
		proxy_temp_path "$nginx/proxy";
		fastcgi_temp_path "$nginx/fastcgi";
		uwsgi_temp_path "$nginx/uwsgi";
		scgi_temp_path "$nginx/scgi";
		server {
			listen 127.0.0.1:$free;
			listen ${tls#https://} ssl;
			ssl_certificate "$nginx/cert.pem";
			ssl_certificate_key "$nginx/key.pem";
			root "$1";
		}
	}
	END
	# A process that is not root's may not open the log that is compiled in, which -e replaces.
	start nginx sh -c '
		PATH=$PATH:/usr/sbin
		timeout 900 nginx -e stderr -c "$1/nginx.conf" -p "$1" &
		trap "kill $!" 15
		until python3 -c "import socket; socket.create_connection((\"127.0.0.1\", $2))" 2>/dev/null
		do
			kill -0 $! || exit
			sleep 0.1
		done
		echo "$2" >"$1.port"
		wait' - "$nginx" "$free"
	url=http://127.0.0.1:$port
}

# start_host FOLDER: the repositories in the folder behind a host of ours, see httphost.py, and that behind the proxy; sets
# $host and $url. The file $settings says how the host behaves, and its own requests are in $seen.
start_host() {
	settings=$TRASH_DIRECTORY/settings seen=$TRASH_DIRECTORY/seen
	: >"$settings"
	: >"$seen"
	start host python3 "$TEST_DIRECTORY/httphost.py" "$1" "$TRASH_DIRECTORY/host.port" "$settings" "$seen"
	host=http://127.0.0.1:$port
	start_proxy "$port"
	url=http://127.0.0.1:$port
}

# behave SETTING...: how the host behaves from now on.
behave() {
	: >"$seen"
	: >"$settings"
	test $# -eq 0 || printf '%s\n' "$@" >"$settings"
}
