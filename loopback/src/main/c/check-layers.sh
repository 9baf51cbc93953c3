#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# check-layers.sh DIRECTORY OBJECT...
#
# Fails if headers of DIRECTORY include each other in a circle, or if object files use each other's functions or data in
# one, and prints the files of the circle with the reasons. A pointer that a higher file passes down is no such use.
set -euo pipefail
export LC_ALL=C

(($# > 1)) || { echo "usage: ${0##*/} DIRECTORY OBJECT..." >&2; exit 2; }
directory=$1
shift

# Lines "from to reason": the headers and the headers that they include.
includes() {
    local header
    for header in "$directory"/*.h; do
        sed -n "s|^#[ ]*include \"\(.*\)\".*|${header##*/} \1 includes|p" "$header"
    done
}

# The same: source files that use a global symbol of another one, by their objects.
uses() {
    local object name
    for object in "$@"; do
        name=${object##*/}
        "${NM:-nm}" -P "$object" | sed "s|^|${name%.o}.c |"
    done | awk '
        $3 ~ /^[TDBRC]$/ { defined[$2] = $1 }
        $3 == "U" { used[$1 " " $2] }
        END {
            for (use in used) {
                split(use, part, " ")
                if (part[2] in defined)
                    print part[1], defined[part[2]], part[2]
            }
        }'
}

# Removes all that only begins or only ends a path; the rest is circles, and is printed.
circles() {
    sort | awk -v kind="$1" '
        { reasons[$1 " " $2] = reasons[$1 " " $2] " " $3 }
        END {
            do {
                left = 0
                split("", from)
                split("", to)
                for (edge in reasons) {
                    split(edge, part, " ")
                    from[part[1]]
                    to[part[2]]
                }
                removed = 0
                for (edge in reasons) {
                    split(edge, part, " ")
                    if (!(part[1] in to) || !(part[2] in from)) {
                        delete reasons[edge]
                        removed = 1
                    } else {
                        left++
                    }
                }
            } while (removed)
            for (edge in reasons) {
                split(edge, part, " ")
                print "circle of " kind ": " part[1] " -> " part[2] ":" reasons[edge]
            }
            exit left > 0
        }'
}

# Without definitions the check would pass unseen.
all=$(uses "$@")
[[ -n $all ]] || { echo "${0##*/}: no use between the objects found: are they not compiled, or without symbols?" >&2; exit 1; }
failed=0
includes | circles headers | sort >&2 || failed=1
circles "source files" <<<"$all" | sort >&2 || failed=1
if ((failed)); then
    echo "${0##*/}: move a declaration or function to the lower file, or pass a function pointer" \
      "(docs/internals/loopback.md, Source)" >&2
fi
exit "$failed"
