#!/bin/sh

test_description='random lives of a repository, against a model of what must hold'

. "${0%/*}/test-lib.sh"

# These make more of them, and longer ones.
seeds=${MODEL_SEEDS:-1 2}
steps=${MODEL_STEPS:-80}

test_expect_success 'setup' - <<\END
	mkdir pool &&
	for n in $(seq 0 39)
	do
		printf "COPY (SELECT %s::INTEGER AS a) TO 'pool/%s.parquet' (FIELD_IDS {a: 1});\n" "$n" "$n"
	done >sql &&
	duck "$(cat sql)" &&
	fdl init first &&
	duck "$(fdl checkout first lake.sqlite) CREATE TABLE lake.t AS SELECT 0::INTEGER AS a" &&
	fdl commit lake.sqlite -m first &&
	fdl push lake.sqlite
END

for seed in $seeds
do
	export seed
	test_expect_success "in a folder, seed $seed, $steps steps" - <<\END
		mkdir "$seed" && cp -R first "$seed/repo" && cd "$seed" &&
		python3 "$TEST_DIRECTORY/model.py" repo "$PWD/repo" ../pool "$seed" "$steps"
END
done

test_done
