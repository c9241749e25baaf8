# Servers that a test file starts, and a proxy before one of them that does wrong when told. Sourced after test-lib.sh.
# shellcheck shell=sh disable=SC2154 # test-lib.sh sets what is not set here

servers=''
trap 'end_servers; test -n "$test_finished" || { echo "Bail out! $test_name ended early" >&5; exit 1; }' 0

end_servers() {
	for pid in $servers
	do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	servers=''
}

# start NAME COMMAND...: starts a server that writes its port to the file NAME.port; sets $port. It is not part of the
# test file's output: whoever reads that must not wait for the server to end.
start() {
	started=$1
	shift
	"$@" >"$TRASH_DIRECTORY/$started.out" 2>&1 5>&- </dev/null &
	servers="$! $servers"
	tries=0
	while ! test -s "$TRASH_DIRECTORY/$started.port"
	do
		tries=$((tries + 1))
		if test $tries -gt 600 || ! kill -0 "${servers%% *}" 2>/dev/null
		then
			echo "Bail out! $started did not start: $(tail -n 1 "$TRASH_DIRECTORY/$started.out")" >&5
			exit 1
		fi
		sleep 0.1
	done
	port=$(cat "$TRASH_DIRECTORY/$started.port")
}

# start_proxy PORT: stands before the server at that port; sets $port to its own.
start_proxy() {
	rules=$TRASH_DIRECTORY/rules log=$TRASH_DIRECTORY/requests
	: >"$rules"
	: >"$log"
	start faults python3 "$TEST_DIRECTORY/faults.py" "$1" "$TRASH_DIRECTORY/faults.port" "$rules" "$log"
}

# faults RULE...: what goes wrong from now on; see faults.py. Without a rule, nothing.
faults() {
	: >"$log"
	: >"$rules"
	test $# -eq 0 || printf '%s\n' "$@" >"$rules"
}

# requests COMMAND...: runs it and prints the requests that it made: method, key, status.
requests() {
	rm -f trace &&
	FDL_TRACE=$PWD/trace "$@" >requests.out &&
	cut -f 1,2 trace | tr '\t' ' '
}
