#!/bin/sh
# Sourced: uv with the settings of pip, from its environment or its files, none of which uv reads.

# Nothing where there is none.
setting() {
    for section in :env: install global; do
        .venv/bin/python -m pip config get "$section.$1" 2>/dev/null && return
    done
    return 0
}

# with_uv PYTHON ARGUMENTS of “uv pip install”
with_uv() {
    python_of=$1 && shift
    index=$(setting index-url) wheels=$(setting find-links) cert=$(setting cert)
    # Of one version pip takes the best file of all indexes, uv that of the first: for it the last
    # comes first, which as a rule was added for files that the others lack.
    extra=$(setting extra-index-url | tr -s ' ' '\n' | tac | tr '\n' ' ')
    extra=${extra% }
    [ -z "$index" ] || export UV_DEFAULT_INDEX="$index"
    [ -z "$extra" ] || export UV_INDEX="$extra"
    [ -z "$wheels" ] || export UV_FIND_LINKS="$wheels"
    [ -z "$cert" ] || export SSL_CERT_FILE="$cert"
    # Of all indexes the best match, as pip takes it; compiled, as pip leaves it.
    UV_INDEX_STRATEGY=unsafe-best-match .venv/bin/uv pip install --quiet --compile-bytecode \
        --python "$python_of" "$@"
}
