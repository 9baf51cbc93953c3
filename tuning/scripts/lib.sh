# shellcheck shell=bash
# The common part of the tuning scripts: options, CPU lists, changes with a record, and undo.
#
# A script sets $script, sources this file, passes unknown options to parse_common, and makes each change by set_value,
# write_file, add_to_file or set_affinity. Without --apply these only print the change. All paths are below $root, which is empty
# for this machine; below another root no command is run.
#
# A change has a record before it is made: the file var/lib/ringpoll/undo/SCRIPT/NUMBER with a line KEY=VALUE for each of
#
#     kind     value, file, affinity, or a kind of the script itself
#     boot     the id of the boot in which the change was made
#     path     the changed file, without leading slash
#     before   the value, or the hash of the file, or "absent"
#     wanted   the value that the script is about to write, or the hash of the file
#     end      the record is complete; without this line nothing was changed
#     after    what was read after the change
#     command  of a file: makes its readers read it; run after the change, and again after its undo
#     done     the command has succeeded
#
# NUMBER.before is the content of the file before the change, NUMBER.added the text that the change adds to it. Records are
# undone from the last to the first: what is still as the script left it is restored; everything else stays and is named.
caller_locale="${LC_ALL-}"
export LC_ALL=C

: "${script:?is set by the script that sources this}"
root="${ROOT:-}"
mode=show
changes=0
failures=0
# Functions return text in REPLY: a subshell for each of thousands of values would take seconds.
REPLY=""

say() { printf '%s\n' "$*"; }
# In one line, whatever a word of the caller or a file has in it.
warn() {
    local text="$*"
    printf '%s: %s\n' "$script" "${text//[[:cntrl:]]/?}" >&2
}
fail() {
    warn "$@"
    exit 1
}
wrong_usage() {
    warn "$*; see --help"
    exit 2
}

common_usage() {
    cat <<'USAGE'
  --apply      make the changes, which otherwise are only shown, and record what was there
  --undo       restore what was recorded, if it is still as the script left it; name the rest. Takes no other option
  --root DIR   work on the tree below DIR instead of this machine (also: environment variable ROOT); runs no commands
  --help       this text
USAGE
}

# --- options ---------------------------------------------------------------------------------------------------------

own_options=no

set_mode() { # apply|undo
    [ "$mode" = show ] || [ "$mode" = "$1" ] || wrong_usage "--apply and --undo exclude each other"
    mode="$1"
}

# parse_common OPTION [VALUE]: sets $shift_by to the number of words that it took
parse_common() {
    # shellcheck disable=SC2034 # the callers shift by it
    shift_by=1
    case "$1" in
        --apply) set_mode apply ;;
        --undo) set_mode undo ;;
        --root)
            # An empty one would be this machine: the caller's variable may have no value.
            if [ $# -lt 2 ] || [ -z "$2" ]; then wrong_usage "--root needs a folder"; fi
            root="$2"
            # shellcheck disable=SC2034
            shift_by=2
            ;;
        --help | -h)
            usage
            common_usage
            exit 0
            ;;
        *) wrong_usage "unknown option '$1'" ;;
    esac
}

# value_of OPTION [VALUE]: sets REPLY to the value
value_of() {
    if [ $# -lt 2 ] || [ -z "$2" ]; then wrong_usage "$1 needs a value"; fi
    own_options=yes
    REPLY="$2"
}

# number_of OPTION VALUE UNIT: sets REPLY to the number, which is decimal whatever zeros it begins with
number_of() {
    [[ "$2" =~ ^[0-9]{1,9}$ ]] || wrong_usage "$1 '$2' is not a number${3:+ of $3}"
    REPLY=$((10#$2))
}

# open_root: makes $root absolute and without links; empty for this machine
open_root() {
    [ -n "$root" ] || return 0
    [ -d "$root" ] || wrong_usage "--root $root is not a folder"
    root=$(readlink -f -- "$root")
    root="${root%/}"
}

check_root() {
    local folder
    open_root
    if [ "$mode" != show ] && [ -n "$root" ]; then
        for folder in etc proc sys var; do
            [ ! "$root/$folder" -ef "/$folder" ] ||
                wrong_usage "--root $root: its /$folder is that of this machine, which would be changed"
        done
    fi
    if [ "$mode" = undo ] && [ "$own_options" = yes ]; then
        wrong_usage "--undo takes back all that $script has changed: give no other option"
    fi
    if [ "$mode" != show ] && [ -z "$root" ] && [ "$(id -u)" != 0 ]; then
        fail "changing this machine needs root: run it by sudo"
    fi
}

# --- CPU lists -------------------------------------------------------------------------------------------------------

# expand LIST ARRAY: sets ARRAY[N]=1 for each CPU N of a list like 0-3,8; fails if it is no such list
expand() {
    local part first last cpu total=0
    local -n expanded="$2"
    expanded=()
    [ -n "$1" ] || return 0
    [[ "$1" =~ ^[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*$ ]] || return 1
    for part in ${1//,/ }; do
        first=$((10#${part%-*}))
        last=$((10#${part#*-}))
        # No list has more unless it repeats CPUs, for which a caller would wait for minutes.
        total=$((total + last - first))
        [ "$first" -le "$last" ] && [ "$total" -lt 100000 ] || return 1
        # shellcheck disable=SC2034 # the caller's array
        for ((cpu = first; cpu <= last; cpu++)); do expanded[cpu]=1; done
    done
}

# list_of NUMBER...: sets REPLY to ascending numbers as a list
list_of() {
    local cpu first="" last="" out=""
    for cpu in "$@" end; do
        if [ -n "$first" ] && [ "$cpu" != "$((last + 1))" ]; then
            out+="${out:+,}$first"
            [ "$first" = "$last" ] || out+="-$last"
            first=""
        fi
        [ -n "$first" ] || first="$cpu"
        last="$cpu"
    done
    REPLY="$out"
}

# ranges LIST ARRAY: sets ARRAY[FIRST]=LAST for each range of a list; fails if it is no list. A machine has as many interrupts as
# CPUs, so that the common sets below take time for each range, not for each CPU.
ranges() {
    local part first last end=-2 start=-2
    local -a given=()
    local -n found="$2"
    found=()
    [ -n "$1" ] || return 0
    [[ "$1" =~ ^[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*$ ]] || return 1
    for part in ${1//,/ }; do
        first=$((10#${part%-*}))
        last=$((10#${part#*-}))
        [ "$first" -le "$last" ] || return 1
        [ "$last" -le "${given[first]:--1}" ] || given[first]="$last"
    done
    for first in "${!given[@]}"; do
        last="${given[first]}"
        if [ "$first" -gt "$((end + 1))" ]; then start="$first" end="$last"; fi
        [ "$last" -le "$end" ] || end="$last"
        # shellcheck disable=SC2034 # the caller's array
        found[start]="$end"
    done
}

# add_range FIRST LAST: adds a range to the list in the caller's $out
add_range() {
    out+="${out:+,}$1"
    [ "$1" = "$2" ] || out+="-$2"
}

# minus, both, either LIST LIST: set REPLY to the CPUs of the first list without, with only, or with those of the second
minus() {
    local first last begin next=0 out=""
    local -a left=() right=() begins=()
    ranges "$1" left
    ranges "$2" right
    begins=("${!right[@]}")
    for first in "${!left[@]}"; do
        last="${left[first]}"
        # Ranges of the second list that end before this one cannot reach a later one.
        while [ "$next" -lt "${#begins[@]}" ] && [ "${begins[next]}" -le "$last" ]; do
            begin="${begins[next]}"
            [ "$begin" -le "$first" ] || add_range "$first" "$((begin - 1))"
            [ "${right[begin]}" -lt "$first" ] || first=$((right[begin] + 1))
            [ "$first" -le "$last" ] || break
            next=$((next + 1))
        done
        [ "$first" -gt "$last" ] || add_range "$first" "$last"
    done
    REPLY="$out"
}
both() {
    minus "$1" "$2"
    minus "$1" "$REPLY"
}
either() {
    local first out=""
    local -a all=()
    ranges "$1${1:+${2:+,}}$2" all
    for first in "${!all[@]}"; do add_range "$first" "${all[first]}"; done
    REPLY="$out"
}

# is_single LIST: whether it is one CPU
is_single() { [[ "$1" =~ ^[0-9]+$ ]]; }

# read_online: sets $online
read_online() {
    read_line sys/devices/system/cpu/online || fail "$root/sys/devices/system/cpu/online cannot be read"
    online="$REPLY"
}

# check_cpus OPTION LIST: sets REPLY to the list as the kernel writes it; ends with wrong usage unless all are online
check_cpus() {
    local -a given=()
    if [ -z "$2" ] || ! expand "$2" given; then wrong_usage "$1 '$2' is not a list of CPUs like 2-5,8"; fi
    read_online
    minus "$2" "$online"
    [ -z "$REPLY" ] || wrong_usage "$1: CPU $REPLY is not online (online: $online)"
    list_of "${!given[@]}"
}

# mask_of LIST LIKE: sets REPLY to the list as a mask of the same form as the kernel's mask LIKE
mask_of() {
    local cpu group out="" part
    local -a members=() groups=()
    expand "$1" members
    for cpu in "${!members[@]}"; do groups[cpu / 32]=$((${groups[cpu / 32]:-0} | 1 << cpu % 32)); done
    for ((group = ${#2} / 9; group >= 0; group--)); do
        printf -v part '%08x' "${groups[group]:-0}"
        out+="${out:+,}$part"
    done
    REPLY="${out: -${#2}}"
}

# list_of_mask MASK: sets REPLY to the CPUs of a mask
list_of_mask() {
    local bits="" digit cpu
    local -a members=()
    bits="${1//,/}"
    for ((digit = 0; digit < ${#bits}; digit++)); do
        for ((cpu = 0; cpu < 4; cpu++)); do
            if (((16#${bits: -digit - 1:1} >> cpu & 1) == 1)); then members[digit * 4 + cpu]=1; fi
        done
    done
    list_of "${!members[@]}"
}

# --- records ---------------------------------------------------------------------------------------------------------

undo_folder() {
    target_of "var/lib/ringpoll/undo/$script"
    REPLY="$root/$REPLY"
}

# read_line PATH: sets REPLY to the only line of a file of the kernel; of several choices, the one in brackets
read_line() {
    REPLY=""
    { IFS= read -r REPLY || [ -n "$REPLY" ]; } 2>/dev/null < "$root/$1" || return 1
    case "$REPLY" in *\[*\]*) REPLY="${REPLY#*\[}" REPLY="${REPLY%%\]*}" ;; esac
}

read_boot() {
    read_line proc/sys/kernel/random/boot_id || REPLY=unknown
    boot="$REPLY"
}

# lock_records: one run of a script at a time
lock_records() {
    undo_folder
    records="$REPLY"
    if ! { (umask 022 && mkdir -p "${records%/*}") && mkdir -p "$records" && chmod 700 "$records" &&
        exec {lock}> "$records/lock"; } 2>/dev/null; then
        fail "$records cannot be written: nothing was changed"
    fi
    # Another one that has ended meanwhile may have removed the folder, and with it the lock.
    if ! flock -n "$lock" || [ ! "$records/lock" -ef "/proc/self/fd/$lock" ]; then
        fail "another $script is running: try again when it has ended"
    fi
    read_boot
}

# all_records: sets the array $entries, the first record first
all_records() {
    local file
    entries=()
    for file in "$records"/*; do
        [[ "${file##*/}" =~ ^[0-9]{6}$ ]] && [ -f "$file" ] && entries+=("$file")
    done
    return 0
}

# next_record: sets $entry to the file of a new record
next_record() {
    if [ -z "${records:-}" ]; then lock_records; fi
    if [ -z "${record_number:-}" ]; then
        all_records
        record_number=0
        [ "${#entries[@]}" = 0 ] || record_number=$((10#${entries[-1]##*/}))
    fi
    record_number=$((record_number + 1))
    printf -v entry '%s/%06d' "$records" "$record_number"
}

# record KIND PATH BEFORE WANTED [KEY=VALUE...]: writes the record $entry; the change may follow when it is complete
record() {
    printf '%s\n' "kind=$1" "boot=$boot" "path=$2" "before=$3" "wanted=$4" "${@:5}" "end=" 2>/dev/null > "$entry" ||
        fail "$entry cannot be written: /$2 stays as it is"
}

# amend ENTRY KEY VALUE: adds a line to a record
amend() { printf '%s=%s\n' "$2" "$3" >> "$1"; }

drop() { rm -f "$1" "$1".*; }

# load ENTRY: reads a record into the array $field; the last line of a key counts
load() {
    local line
    field=()
    while IFS= read -r line; do
        [[ ! "$line" =~ ^[a-z]+[0-9]*= ]] || field["${line%%=*}"]="${line#*=}"
    done < "$1"
}

# is_record: whether the loaded record can be undone; another version, or somebody's editor, may have written it
is_record() {
    local key
    for key in kind boot path before wanted; do
        [ -n "${field[$key]+set}" ] || return 1
    done
    case "${field[kind]}" in
        affinity) key=start ;;
        file) key=made ;;
    esac
    [ -n "${field[$key]+set}" ] && declare -F "undo_${field[kind]}" >/dev/null
}

# is_incomplete ENTRY: whether its writing was interrupted, before the change
is_incomplete() {
    local start
    start=$(head -c 5 "$1" | tr '\0' '?')
    [ -z "${field[end]+set}" ] && [[ kind= == "$start"* ]]
}

# --- values of the kernel --------------------------------------------------------------------------------------------

# try_value PATH VALUE: fails if the file cannot be read (REPLY is empty) or does not take the value (REPLY is the value it has)
try_value() {
    local old
    read_line "$1" || return 1
    old="$REPLY"
    if [ "$old" = "$2" ]; then
        say "as it should be: /$1 = $2"
        return 0
    fi
    changes=$((changes + 1))
    if [ "$mode" = show ]; then
        say "would set /$1: $old -> $2"
        return 0
    fi
    next_record
    record value "$1" "$old" "$2"
    if ! { printf '%s\n' "$2" > "$root/$1"; } 2>/dev/null && read_line "$1" && [ "$REPLY" = "$old" ]; then
        drop "$entry"
        changes=$((changes - 1))
        return 1
    fi
    read_line "$1" || REPLY=""
    amend "$entry" after "$REPLY"
    say "set /$1: $old -> $REPLY"
    if [ "$REPLY" != "$2" ]; then
        warn "/$1 is $REPLY, not $2 as asked"
        failures=$((failures + 1))
    fi
}

# set_value PATH VALUE: as try_value, where a failure is one of the script
set_value() {
    try_value "$1" "$2" && return 0
    if [ -z "$REPLY" ]; then
        warn "/$1 cannot be read: left as it is"
    else
        warn "the kernel does not take '$2' for /$1: it stays '$REPLY'"
    fi
    failures=$((failures + 1))
}

# of_earlier_boot: whether the loaded record is of another boot, which has set the kernel's values anew since
of_earlier_boot() {
    [ "${field[boot]}" = "$boot" ] && return 1
    earlier=$((earlier + 1))
}

# left_alone NAME NOW: names what is not as the script left it
left_alone() {
    warn "$1 is '$2', not '${field[after]-${field[wanted]}}' as $script left it: it stays (before: '${field[before]}')"
    failures=$((failures + 1))
}

# is_ours VALUE: whether the script left this value
is_ours() { [ "$1" = "${field[after]-${field[wanted]}}" ] || [ "$1" = "${field[wanted]}" ]; }

# The functions undo_KIND ENTRY undo the loaded record; a record is kept if they fail.
undo_value() {
    local path="${field[path]}"
    if of_earlier_boot; then return 0; fi
    if ! read_line "$path"; then
        say "/$path is no longer there"
    elif [ "$REPLY" = "${field[before]}" ]; then
        say "as before: /$path = $REPLY"
    elif ! is_ours "$REPLY"; then
        left_alone "/$path" "$REPLY"
    else
        { printf '%s\n' "${field[before]}" > "$root/$path"; } 2>/dev/null || true
        read_line "$path" || true
        if [ "$REPLY" != "${field[before]}" ]; then
            warn "/$path could not be set back to '${field[before]}': it is '$REPLY'; --undo tries again"
            amend "$1" after "$REPLY"
            failures=$((failures + 1))
            return 1
        fi
        say "set back /$path: $REPLY"
    fi
}

# --- affinities of threads -------------------------------------------------------------------------------------------

# read_affinity PID/TID: sets REPLY to its CPUs
read_affinity() {
    local key value
    while read -r key value; do
        if [ "$key" = Cpus_allowed_list: ]; then
            REPLY="$value"
            return 0
        fi
    done 2>/dev/null < "$root/proc/${1%/*}/task/${1#*/}/status"
    return 1
}

# read_start PID/TID: sets REPLY to its time of start, which another thread of the same number would not have
read_start() {
    local line
    local -a words=()
    REPLY=""
    { IFS= read -r line; } 2>/dev/null < "$root/proc/${1%/*}/task/${1#*/}/stat" || return 0
    # The name, in parentheses, may have spaces.
    read -r -a words <<< "${line##*) }"
    REPLY="${words[19]:-}"
}

# set_affinity PID/TID LIST: fails if the thread could not be moved
set_affinity() {
    local old
    read_affinity "$1" || return 0
    old="$REPLY"
    changes=$((changes + 1))
    if [ "$mode" = show ]; then
        say "would move thread ${1#*/}: $old -> $2"
        return 0
    fi
    next_record
    read_start "$1"
    record affinity "$1" "$old" "$2" "start=$REPLY"
    if [ -n "$root" ]; then
        say "not run below $root: taskset -pc $2 ${1#*/}"
    elif ! taskset -pc "$2" "${1#*/}" >/dev/null 2>&1; then
        drop "$entry"
        read_affinity "$1" || return 0
        warn "thread ${1#*/} could not be moved from $old to $2"
        failures=$((failures + 1))
        return 1
    elif read_affinity "$1"; then
        amend "$entry" after "$REPLY"
        say "moved thread ${1#*/}: $old -> $REPLY"
    fi
}

undo_affinity() {
    local thread="${field[path]}"
    if of_earlier_boot; then return 0; fi
    read_start "$thread"
    if [ "$REPLY" != "${field[start]}" ] || ! read_affinity "$thread"; then
        say "thread ${thread#*/} has ended"
    elif [ -n "$root" ]; then
        say "not run below $root: taskset -pc ${field[before]} ${thread#*/}"
    elif [ "$REPLY" = "${field[before]}" ]; then
        say "as before: thread ${thread#*/} on CPU $REPLY"
    elif ! is_ours "$REPLY"; then
        left_alone "the affinity of thread ${thread#*/}" "$REPLY"
    elif taskset -pc "${field[before]}" "${thread#*/}" >/dev/null 2>&1; then
        say "moved thread ${thread#*/} back: ${field[before]}"
    else
        warn "thread ${thread#*/} could not be moved back to ${field[before]}; --undo tries again"
        failures=$((failures + 1))
        return 1
    fi
}

# --- files -----------------------------------------------------------------------------------------------------------

# read_text PATH: sets REPLY to the whole content, with the line feeds at its end
read_text() {
    REPLY=$(cat -- "$root/$1" 2>/dev/null && printf x) || return 1
    REPLY="${REPLY%x}"
}

hash_of_text() {
    REPLY=$(printf '%s' "$1" | sha256sum)
    REPLY="${REPLY%% *}"
}

# hash_of PATH: sets REPLY to the hash of a file, or "absent"
hash_of() {
    REPLY=absent
    [ -e "$root/$1" ] || return 0
    REPLY=$(sha256sum < "$root/$1")
    REPLY="${REPLY%% *}"
}

# target_of PATH: sets REPLY to the file itself if PATH, or a folder in it, is a symbolic link
target_of() {
    REPLY=$(readlink -m -- "$root/$1")
    [[ "$REPLY" == "$root"/* ]] || fail "/$1 is a link to $REPLY, outside $root"
    REPLY="${REPLY#"$root"/}"
}

# replace PATH TEXT: at once, so that a reader sees the old file or the new one; owner, mode and attributes stay
replace() {
    local file="$root/$1" temporary
    temporary="${file%/*}/.${file##*/}.ringpoll"
    rm -f "$temporary"
    { if [ -e "$file" ]; then cp -a -- "$file" "$temporary"; else (umask 022 && : > "$temporary"); fi; } &&
        { printf '%s' "$2" > "$temporary"; } && sync "$temporary" && mv -f "$temporary" "$file" && sync "${file%/*}" && return 0
    rm -f "$temporary"
    return 1
} 2>/dev/null

# first_missing FOLDER: sets REPLY to the outermost folder that does not exist, or nothing
first_missing() {
    local folder="$1"
    REPLY=""
    while [ -n "$folder" ] && [ ! -d "$root/$folder" ]; do
        REPLY="$folder"
        [[ "$folder" == */* ]] || break
        folder="${folder%/*}"
    done
}

# run_for ENTRY: runs the command of the loaded record
run_for() {
    local command="${field[command]:-}"
    [ -n "$command" ] || return 0
    if [ -n "$root" ]; then
        say "not run below $root: $command"
    elif ! command -v "${command%% *}" >/dev/null; then
        say "${command%% *} is not here: make the readers of /${field[path]} read it by this system's own means"
    else
        say "running: $command"
        # The scripts' own words, without quotes.
        # shellcheck disable=SC2086
        if ! $command {lock}>&-; then
            warn "'$command' failed"
            failures=$((failures + 1))
            return 1
        fi
    fi
    amend "$1" "done" ""
}

# run_outstanding PATH: runs the command of a change that was interrupted before it
run_outstanding() {
    local file
    [ "$mode" = apply ] || return 0
    undo_folder
    [ -d "$REPLY" ] || return 0
    [ -n "${records:-}" ] || lock_records
    all_records
    for file in "${entries[@]}"; do
        load "$file"
        if [ "${field[kind]:-}" = file ] && [ "${field[path]}" = "$1" ] && [ -z "${field[done]+set}" ]; then
            run_for "$file" || true
        fi
    done
}

# change_file PATH TEXT ADDED [WORD...]: makes TEXT the content of a file, then runs the command of WORDs; ADDED is the part that
# an undo may remove if the rest was changed since, or empty
change_file() {
    local path text="$2" added="$3" old="" before made
    target_of "$1"
    path="$REPLY"
    hash_of "$path"
    before="$REPLY"
    if [ "$before" != absent ]; then
        read_text "$path" || fail "/$path cannot be read"
        old="$REPLY"
        hash_of_text "$old"
        [ "$before" = "$REPLY" ] || fail "/$path is not a text file: it stays as it is"
        if [ "$old" = "$text" ]; then
            say "as it should be: /$path"
            run_outstanding "$path"
            return 0
        fi
    fi
    changes=$((changes + 1))
    if [ "$mode" = show ]; then
        say "would write /$path:"
        # diff ends with 1 because there is a difference.
        { diff <(printf '%s' "$old") <(printf '%s' "$text") || true; } |
          sed -n 's/^< \(..*\)/    - \1/p; s/^> \(..*\)/    + \1/p'
        [ $# = 3 ] || say "would run: ${*:4}"
        return 0
    fi
    next_record
    if [ "$before" != absent ]; then
        cp -p -- "$root/$path" "$entry.before" 2>/dev/null || fail "$entry.before cannot be written: /$path stays as it is"
    fi
    if [ -n "$added" ]; then
        { printf '%s' "$added" > "$entry.added"; } 2>/dev/null || fail "$entry.added cannot be written: /$path stays as it is"
    fi
    first_missing "${path%/*}"
    made="$REPLY"
    hash_of_text "$text"
    record file "$path" "$before" "$REPLY" "command=${*:4}" "made=$made"
    sync "$entry"* "$records"
    if ! (umask 022 && mkdir -p "$root/${path%/*}") 2>/dev/null || ! replace "$path" "$text"; then
        remove_made
        drop "$entry"
        warn "/$path cannot be written: it stays as it is"
        failures=$((failures + 1))
        return 0
    fi
    hash_of "$path"
    amend "$entry" after "$REPLY"
    say "wrote /$path"
    load "$entry"
    run_for "$entry" || true
}

write_file() { change_file "$1" "$2" "" "${@:3}"; } # PATH TEXT [WORD...]

# add_to_file PATH TEXT [WORD...]: adds lines to the end of a file
add_to_file() {
    local old added="$2"
    read_text "$1" || fail "/$1 cannot be read"
    old="$REPLY"
    [ -z "$old" ] || [ "${old: -1}" = $'\n' ] || added=$'\n'"$added"
    # A backslash would join the last line with the first one of ours.
    [[ "$old" != *\\ && "$old" != *\\$'\n' ]] || added=$'\n'"$added"
    change_file "$1" "$old$added" "$added" "${@:3}"
}

# remove_made: removes the folders that the loaded or new change made, if they are empty
remove_made() {
    local folder="${path%/*}"
    [ -n "${made:-}" ] || return 0
    # An interrupted undo may have removed the first ones.
    while { [ ! -e "$root/$folder" ] || rmdir "$root/$folder" 2>/dev/null; } && [ "$folder" != "$made" ]; do
        folder="${folder%/*}"
    done
    return 0
}

# restore_file ENTRY: fails if the file cannot be written
restore_file() {
    local path="${field[path]}" made="${field[made]}"
    if [ "${field[before]}" = absent ]; then
        rm -f "$root/$path" || return 1
        remove_made
        say "removed /$path"
    else
        read_text_of "$1.before" && replace "$path" "$REPLY" || return 1
        say "restored /$path"
    fi
}

# read_text_of FILE: as read_text, for a file of the records
read_text_of() {
    REPLY=$(cat -- "$1" 2>/dev/null && printf x) || return 1
    REPLY="${REPLY%x}"
}

# remove_added ENTRY: takes the added text out of a file that was changed since; fails if it is not there once, as it was added
remove_added() {
    local added text
    [ -e "$1.added" ] && read_text_of "$1.added" || return 1
    added="$REPLY"
    read_text "${field[path]}" || return 1
    text="$REPLY"
    [[ "$text" == *"$added"* && "${text#*"$added"}" != *"$added"* ]] || return 1
    # Line feeds at either end of the added text end other lines.
    [[ "$added" != $'\n'* ]] || added="${added#$'\n'}"
    text="${text%%"$added"*}${text#*"$added"}"
    # From now on this is the former content, to which an interrupted undo comes back.
    hash_of_text "$text"
    amend "$1" before "$REPLY" && amend "$1" after "" && replace "${field[path]}" "$text" || return 1
    say "removed what was added to /${field[path]}, which was changed since"
}

# keep_copy ENTRY: keeps the former content of a file that stays; sets REPLY to a text that names the copy, or to the copy if
# it cannot be written
keep_copy() {
    local copy
    if [ "${field[before]}" = absent ]; then
        REPLY="before it did not exist"
        return 0
    fi
    copy="${records%/*}/kept/$script-$(date +%Y%m%d-%H%M%S)-${1##*/}-${field[path]##*/}"
    REPLY="$copy"
    # A link takes no space on a full disk.
    { mkdir -p "${copy%/*}" && chmod 700 "${copy%/*}" && ln "$1.before" "$copy"; } 2>/dev/null || return 1
    REPLY="its former content is $copy"
}

undo_file() {
    local path="${field[path]}"
    rm -f "$root/${path%/*}/.${path##*/}.ringpoll"
    hash_of "$path"
    if [ "$REPLY" = "${field[before]}" ]; then
        say "as before: /$path"
        made="${field[made]}" remove_made
        # Interrupted before the change: its readers know no other content.
        [ -n "${field[after]+set}" ] || return 0
    elif is_ours "$REPLY"; then
        [ -n "${field[after]+set}" ] || amend "$1" after "$REPLY"
        if ! restore_file "$1"; then
            warn "/$path could not be restored; --undo tries again"
            failures=$((failures + 1))
            return 1
        fi
    elif ! remove_added "$1"; then
        failures=$((failures + 1))
        if ! keep_copy "$1"; then
            warn "/$path was changed since: it stays as it is; its former content cannot be kept as $REPLY, and stays as $1.before"
            return 1
        fi
        warn "/$path was changed since: it stays as it is; $REPLY"
        return 0
    fi
    run_for "$1"
}

# --- undo ------------------------------------------------------------------------------------------------------------

undo() {
    local number
    undo_folder
    if [ ! -d "$REPLY" ]; then
        say "nothing is recorded: $script has changed nothing here, or it is undone already"
        remove_folders
        return 0
    fi
    lock_records
    all_records
    earlier=0
    [ "${#entries[@]}" -gt 0 ] || say "nothing is recorded: $script has changed nothing here, or it is undone already"
    for ((number = ${#entries[@]} - 1; number >= 0; number--)); do
        load "${entries[number]}"
        if is_incomplete "${entries[number]}"; then
            drop "${entries[number]}"
        elif [ -z "${field[end]+set}" ] || ! is_record; then
            warn "${entries[number]} is no record of this $script: it stays, and what it is about is not undone"
            failures=$((failures + 1))
        elif "undo_${field[kind]}" "${entries[number]}"; then
            drop "${entries[number]}"
        fi
    done
    [ "$earlier" = 0 ] || say "values set before the last boot, which has set them anew and which stay: $earlier"
    all_records
    if [ "${#entries[@]}" = 0 ]; then
        rm -rf "$records"
        remove_folders
    fi
}

# remove_folders: those of the records, if they are empty
remove_folders() { rmdir "$root/var/lib/ringpoll/undo" "$root/var/lib/ringpoll" 2>/dev/null || true; }

# restore_environment: for a command of the user
restore_environment() {
    if [ -n "$caller_locale" ]; then export LC_ALL="$caller_locale"; else unset LC_ALL; fi
}

# finish: the last line, and the exit code
finish() {
    if [ "$mode" = show ] && [ "$changes" -gt 0 ]; then
        say "nothing was changed; --apply makes these changes, --undo takes them back"
    fi
    [ "$failures" = 0 ] || exit 1
}

declare -A field=()
declare -a entries=()
