#!/bin/sh

test_description='bins/install builds, and puts commands and pages below a prefix'

. "${0%/*}/test-lib.sh"

# What is installed stands for what was built, and this cargo for the real one: it notes how it was called.
CARGO_TARGET_DIR=$TRASH_DIRECTORY/target
export CARGO_TARGET_DIR
mkdir -p target/release tools
cp "$FDL_TEST_PREFIX"/bin/* target/release
cargo_ends() {
	printf '#!/bin/sh\nprintf "%%s\\n" "$*" >>"%s/cargo.log"\nexit %s\n' "$TRASH_DIRECTORY" "$1" >tools/cargo &&
	chmod +x tools/cargo
}
cargo_ends 0
PATH=$TRASH_DIRECTORY/tools:$PATH

install=$root/bins/install

test_expect_success 'it builds, installs, and says where and what the search path lacks' '
	"$install" --prefix "$PWD/p" >out &&
	echo "build --release --locked --manifest-path $root/Cargo.toml" >expect &&
	test_cmp expect cargo.log &&
	printf "%s\n" "installed fdl in '\''$PWD/p/bin'\''" \
		"add it to your search path: PATH='\''$PWD/p/bin'\'':\$PATH" >expect &&
	test_cmp expect out &&
	p/bin/fdl --version &&
	p/bin/fdl help commit >actual &&
	test_cmp "$root/Documentation/fdl-commit.md" actual
'

test_expect_success 'what it installs are the commands and pages of the sources, with their modes' '
	{
		(cd "$root/bins" && ls */fdl-*.rs porcelain/* && echo x/fdl-catalog) | sed "s,.*/,bin/,; s,\.rs$,," &&
		(cd "$root/Documentation" && ls) | sed "s,^,share/doc/fdl/,"
	} | sort >expect &&
	(cd p && find . -type f) | sed "s,^\./,," | sort >actual &&
	test_cmp expect actual &&
	(cd p && find . -type f ! -perm 755) | sed "s,^\./,," | sort >actual &&
	{ grep "\.md$" expect && echo bin/fdl-sh-setup; } | sort >plain &&
	test_cmp plain actual &&
	(cd p && find . -type f -perm 644) | sed "s,^\./,," | sort >actual &&
	test_cmp plain actual
'

test_expect_success 'on the search path already, and with --quiet, it says less' '
	PATH=$PWD/p/bin:$PATH "$install" --prefix="$PWD/p" >out &&
	echo "installed fdl in '\''$PWD/p/bin'\''" >expect &&
	test_cmp expect out &&
	"$install" --quiet --prefix "$PWD/p" >out 2>err &&
	test ! -s out &&
	test ! -s err &&
	test_grep "^build --quiet --release" cargo.log
'

test_expect_success 'without --prefix it goes to ~/.local' '
	HOME=$PWD/home "$install" --quiet &&
	home/.local/bin/fdl --version
'

test_expect_success 'installed again, it replaces what is there and leaves the rest' '
	echo old >p/bin/fdl-log &&
	echo mine >p/bin/fdl-mine &&
	"$install" --quiet --prefix "$PWD/p" &&
	cmp "$root/bins/porcelain/fdl-log" p/bin/fdl-log &&
	echo mine >expect &&
	test_cmp expect p/bin/fdl-mine &&
	test -z "$(find p -name "*.new")"
'

test_expect_success 'a command that runs meanwhile keeps its file' '
	exec 4<p/bin/fdl-cat-object &&
	"$install" --quiet --prefix "$PWD/p" &&
	cmp - p/bin/fdl-cat-object <&4 &&
	exec 4<&- &&
	ls -i p/bin/fdl-log >before &&
	"$install" --quiet --prefix "$PWD/p" &&
	ls -i p/bin/fdl-log >after &&
	test_expect_code 1 cmp -s before after
'

test_expect_success 'a prefix may have any name, and be relative' '
	for name in "it'\''s \"odd\" \$HOME" "a\\b*" relative
	do
		"$install" --quiet --prefix "$PWD/$name" && "$PWD/$name/bin/fdl" --version || return 1
	done &&
	rm -r relative &&
	"$install" --quiet --prefix relative/to/here &&
	relative/to/here/bin/fdl --version
'

test_expect_success '-h prints the usage and builds nothing' '
	rm cargo.log &&
	for option in -h --help
	do
		"$install" $option >out && echo "usage: bins/install [--quiet] [--prefix FOLDER]" >expect &&
		test_cmp expect out || return 1
	done &&
	test_path_is_missing cargo.log
'

test_expect_success 'what it does not know is refused before it builds' '
	cargo_ends 101 &&
	test_when_finished "cargo_ends 0" &&
	for arguments in "--prefx x" x "--quiet x" -q --prefix "--prefix=" "--prefix \"\""
	do
		eval "refused 129 \"^fatal: \" \"\$install\" $arguments" || return 1
	done &&
	test_path_is_missing cargo.log
'

test_expect_success 'without cargo, or a C++ compiler, it says what to install' '
	mkdir bare &&
	for tool in dirname basename cat cp
	do
		ln -s "$(command -v $tool)" bare || return 1
	done &&
	(PATH=$PWD/bare && "$install" --prefix p 2>err || test $? = 1) &&
	one_line err &&
	test_grep "^fatal: there is no cargo: install Rust" err &&
	ln -s ../tools/cargo bare &&
	(PATH=$PWD/bare && "$install" --prefix p 2>err || test $? = 1) &&
	one_line err &&
	test_grep "^fatal: there is no C++ compiler: " err &&
	test_path_is_missing cargo.log
'

test_expect_success 'nothing is installed when the build fails' '
	cargo_ends 101 &&
	test_when_finished "cargo_ends 0" &&
	refused 1 "^fatal: the build failed" "$install" --prefix new &&
	test_path_is_missing new
'

test_expect_success 'a prefix that cannot be written is told' '
	echo file >file &&
	test_expect_code 1 "$install" --prefix file >out 2>err &&
	test_grep "^fatal: cannot make folders in .file." err &&
	mkdir -p full/bin &&
	ln -s /nowhere/file full/bin/fdl-log.new &&
	test_expect_code 1 "$install" --prefix full >out 2>err &&
	test_grep "^fatal: cannot write .full/bin/fdl-log." err &&
	test ! -s out
'

test_done
